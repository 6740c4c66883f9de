"""Questions over 100,000 items in 50 projects, in one process with the store: how fast, and how well answered."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from sqlite3 import Connection

import uvloop

from relayd.home import Home
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store
from relayd.store.index import Entry
from tests import stage
from tests.bench import evaluation_set
from tests.bench.line import Line
from tests.bench.row import Row

ITEMS = 100_000
PROJECTS = 50
ASKED_IN = 1
"""The project with the items of the evaluation set, among as many others as each project has."""

P50_MS = 10.0
WORST_MS = 50.0
_SLICE = 500
_ROUNDS = 3
_VOCABULARY = 30_000
_FROM_SET = 0.15
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "Service", "_id", ".py")
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
_CYRILLIC = dict(zip("abdefgiklmnoprstuvz", "абдефгиклмнопрстувз", strict=True))
_LINES = {
    "hit@1": 95,
    "hit@5": 98,
    "MRR": 96,
}


def rows() -> list[Row]:
    """Quality of all questions and of each group, and times of them all."""
    with stage.home() as home:
        found = uvloop.run(_measure(home))
        with stage.daemon(home) as running, Line(running) as line:
            asked = _best([_asked(line) for _ in range(_ROUNDS)])
    return [
        *found,
        Row("POST /v1/recall, p50", statistics.median(asked), "ms", P50_MS, note="the same through a daemon"),
        Row("POST /v1/recall, the worst question", asked[-1], "ms", WORST_MS, note="the best of three each"),
    ]


async def _measure(home: Path) -> list[Row]:
    async with filled(home, ITEMS) as search:
        ranks = await evaluation_set.judge(evaluation_set.questions(), partial(keys, search))
        times = [await _times(search) for _ in range(_ROUNDS)]
    best = _best(times)
    scores = evaluation_set.by_group(ranks)
    everything = scores.pop("all")
    note = f"{len(ranks)} questions, {ITEMS:,} items in {PROJECTS} projects, in process"
    worst = ", ".join(f"{group} {score.mrr:.2f}" for group, score in scores.items() if score.mrr < 1)
    return [
        *(
            Row(
                f"recall: {name}",
                100 * value,
                "%",
                _LINES[name],
                at_least=True,
                note=worst if name == "MRR" else note,
            )
            for name, value in zip(_LINES, everything, strict=True)
        ),
        Row("recall over 100,000 items, p50", statistics.median(best), "ms", P50_MS),
        Row("the same, the worst question", best[-1], "ms", WORST_MS, note="the best of three each"),
    ]


@asynccontextmanager
async def filled(home: Path, items: int) -> AsyncGenerator[Search]:
    """A store with the evaluation set in one project, and with made-up items around it."""
    index = SearchIndex()
    async with open_store(Home(home), index=index) as store:
        search = Search(store, index)
        await search.catch_up()  # of nothing: what is filled in now is indexed as it comes
        await fill(store, items)
        yield search


async def fill(store: RelayStore, items: int) -> None:
    """Store and index items as decisions do."""
    entries = _entries(items)
    await store.access.change(_projects)
    while some := list(islice(entries, _SLICE)):
        await store.access.change(partial(_put, entries=some, store=store))


async def keys(search: Search, text: str) -> list[str]:
    """What is found in the project of the evaluation set."""
    return evaluation_set.keys(hit.id for hit in await search.find(text, project_id=ASKED_IN))


async def _times(search: Search) -> list[float]:
    times = []
    for question in evaluation_set.questions():
        start = time.perf_counter()
        await search.find(question.text, project_id=ASKED_IN)
        times.append(1_000 * (time.perf_counter() - start))
    return times


def _asked(line: Line) -> list[float]:
    orders = ({"project": f"project-{ASKED_IN}", "text": one.text} for one in evaluation_set.questions())
    return [line.ask("/v1/recall", json.dumps(order).encode())[0] for order in orders]


def _best(times: Sequence[Sequence[float]]) -> list[float]:
    """Give the best time of each question in milliseconds, the shortest first."""
    return sorted(map(min, zip(*times, strict=True)))


def _projects(connection: Connection) -> None:
    connection.executemany(
        "INSERT INTO project (id, slug, created_at_ms, changed_at_ms) VALUES (?, ?, 1, 1)",
        [(number, f"project-{number}") for number in range(1, PROJECTS + 1)],
    )


def _put(connection: Connection, *, entries: Sequence[Entry], store: RelayStore) -> None:
    connection.executemany(
        "INSERT INTO decision (id, project_id, text, digest, author, source, valid_from_ms, recorded_at_ms) "
        "VALUES (?, ?, ?, ?, 'ana', 'human', ?, ?)",
        [(e.id, e.project_id, e.text, e.id, e.valid_from_ms, e.recorded_at_ms) for e in entries],
    )
    store.access.index.put(connection, entries)


def _entries(count: int) -> Iterator[Entry]:
    """The evaluation set, spread among as many other items as its project has, and all other projects."""
    random = Random(7)
    asked = iter(evaluation_set.entries(ASKED_IN))
    every = max(1, count // PROJECTS // (len(evaluation_set.items()) + 1)) * PROJECTS
    words = list(_words(random))
    usual = [word for text in evaluation_set.items().values() for word in text.split() if word.isalpha()]
    for number in range(count):
        at_ms = evaluation_set.AT_MS + number
        entry = next(asked, None) if number % every == 0 else None
        text = _text(random, words, usual) if entry is None else entry.text
        item_id = evaluation_set.item_id(count + number) if entry is None else entry.id
        yield Entry("decision", item_id, number % PROJECTS + 1, None, text, at_ms, None, at_ms, None, None)


def _text(random: Random, words: Sequence[str], usual: Sequence[str]) -> str:
    """Eight to thirty words; a few of them are very frequent, most are rare."""
    return " ".join(
        random.choice(usual)
        if random.random() < _FROM_SET
        else words[int(random.paretovariate(0.35)) % len(words)]
        for _ in range(random.randint(8, 30))
    )


def _words(random: Random) -> Iterator[str]:
    """Made-up words and identifiers; every fifth is in Cyrillic."""
    for number in range(_VOCABULARY):
        word = "".join(random.choice(_SYLLABLES) for _ in range(random.randint(1, 4)))
        if number % 5 == 4:
            yield "".join(_CYRILLIC[letter] for letter in word)
        else:
            yield word + random.choice(_ENDINGS)
