"""A memory of any size, always the same for the same seed: written fast into a `relay.db`, for tests and benchmarks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple, TypeVar

import anyio

from relayd.home import Home
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store, preferences
from relayd.store.decision_row import digest_of
from relayd.store.index import Entry
from relayd.store.preferences import Preference
from relayd.store.projects import ProjectFields

__all__ = ("Corpus", "Said", "Wanted", "build", "fill", "fill_home", "slugs")

BEGAN_MS = round(datetime(2025, 1, 6, 9, tzinfo=UTC).timestamp() * 1000)
"""When the first item was recorded; the last one at most 180 days later, so all of it is past."""

_SPAN_MS = 180 * 86_400_000
_SLICE = 5_000
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("corpus_words.json").read_text("utf-8"))
_LANES = ("claude", "codex", "grok")
_MODELS = ("opus-5", "gpt-7", "grok-6")

T = TypeVar("T")


class Said(NamedTuple):
    """One wording of a decision, as its row will be.

    Args:
        project: Its slug; None for what is of all projects.
        superseded_by: The id of what took its place; None with `ended_ms` for what was forgotten.
    """

    id: str
    project: str | None
    task: str | None
    text: str
    author: str
    source: str
    ref: str | None
    ref_text: str | None
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    ended_ms: int | None = None
    superseded_at_ms: int | None = None
    superseded_by: str | None = None
    reason: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether nothing took its place; what its author gave it of an end is not asked."""
        return self.superseded_at_ms is None


class Wanted(NamedTuple):
    """One value of a preference, as its row will be; `project` is a slug, for the scope `project` alone."""

    id: str
    key: str
    value: str
    scope: str
    project: str | None
    scope_id: str | None
    author: str
    reason: str | None
    recorded_at_ms: int
    superseded_at_ms: int | None = None
    superseded_by: str | None = None


class Corpus(NamedTuple):
    """What a memory holds, each list in the order it was recorded in.

    Args:
        summaries: By slug; every third project has none.
    """

    projects: list[str]
    summaries: dict[str, str]
    decisions: list[Said]
    preferences: list[Wanted]


def slugs(count: int) -> list[str]:
    """Name projects; among them are `api` and `api-gateway`, of which one name begins with the other."""
    return [
        name if turn == 0 else f"{name}-{turn}"
        for turn in range(count // len(_WORDS["projects"]) + 1)
        for name in _WORDS["projects"]
    ][:count]


def build(decisions: int = 10_000, projects: int = 50, *, values: int = 200, seed: int = 1) -> Corpus:
    """Make up a memory of so many decisions, projects, and values of preferences.

    About one decision in ten was superseded (in chains of two to four), one in fifty forgotten; one in twenty is of all
    projects, one in twenty of a task; a few have an end of their own, which is past, or a beginning in the far future.
    The first project has a quarter of all. Two thirds are English, the rest Russian and Chinese; most name something of
    the code. No two are of one text.
    """
    chance = random.Random(seed)
    names = slugs(projects)
    made = _decisions(chance, names, decisions)
    return Corpus(
        names,
        {name: _summary(chance, name) for number, name in enumerate(names) if number % 3 != 2},
        made,
        _preferences(chance, names, values),
    )


def _decisions(chance: random.Random, names: Sequence[str], count: int) -> list[Said]:
    made: list[Said] = []
    open_ends: list[int] = []
    for number in range(count):
        at_ms = BEGAN_MS + _SPAN_MS * number // max(count, 1)
        said = _said(chance, names, number, at_ms)
        if open_ends and chance.random() < 0.1:
            old_at = open_ends.pop(chance.randrange(len(open_ends)))
            old = made[old_at]
            said = said._replace(project=old.project, task=old.task, valid_from_ms=at_ms, valid_to_ms=None)
            made[old_at] = old._replace(
                ended_ms=max(old.valid_from_ms, at_ms), superseded_at_ms=at_ms, superseded_by=said.id
            )
        elif chance.random() < 0.02:
            said = said._replace(
                ended_ms=max(said.valid_from_ms, at_ms + 60_000),
                superseded_at_ms=at_ms + 60_000,
                reason="a mistake",
            )
        if said.is_current:
            open_ends = [*open_ends[-20:], number]
        made.append(said)
    return made


def _said(chance: random.Random, names: Sequence[str], number: int, at_ms: int) -> Said:
    draw = chance.random()
    first_or_any = names[0] if draw < 0.25 else names[chance.randrange(len(names))]
    day_ms = 86_400_000
    edges = chance.random()
    return Said(
        id=_ulid(chance, at_ms),
        project=None if draw > 0.95 else first_or_any,
        task=f"T-{chance.randrange(400)}" if chance.random() < 0.05 and draw <= 0.95 else None,
        text=_sentence(chance, number),
        author=chance.choice(("ana", "bo", "chen", "дима")),
        source=chance.choice(("human", "human", "claude", "codex", "grok", "pr", "nightly")),
        ref=f"example/shop#{number}" if chance.random() < 0.2 else None,
        ref_text="review thread" if chance.random() < 0.1 else None,
        valid_from_ms=at_ms + 40_000 * day_ms if edges > 0.99 else at_ms - chance.randrange(3) * day_ms,
        valid_to_ms=at_ms + 5 * day_ms if edges < 0.03 else None,
        recorded_at_ms=at_ms,
    )


def _sentence(chance: random.Random, number: int) -> str:
    draw = chance.random()
    words = _WORDS["ru" if draw < 0.2 else "zh" if draw < 0.33 else "error" if draw < 0.4 else "en"]
    return words["sentence"].format(
        thing=chance.choice(words["things"]),
        other=chance.choice(words["things"]),
        way=chance.choice(words["ways"]),
        reason=chance.choice(words["reasons"]),
        named=_named(chance, number),
        number=number,
    )


def _named(chance: random.Random, number: int) -> str:
    verb, noun, place = (chance.choice(_WORDS["code"][kind]) for kind in ("verbs", "nouns", "files"))
    snake = f"{verb}_{noun.lower()}_{number:x}"
    return chance.choice((snake, f"{verb}{noun}{number}", f"{place}/{snake}.py:{number % 900}"))


def _summary(chance: random.Random, name: str) -> str:
    lines = [
        f"The {chance.choice(_WORDS['en']['things'])} is kept {chance.choice(_WORDS['en']['ways'])}."
        for _ in range(20)
    ]
    return f"Purpose: {name} sells things.\n\n" + " ".join(lines)


def _preferences(chance: random.Random, names: Sequence[str], count: int) -> list[Wanted]:
    made: list[Wanted] = []
    newest: dict[tuple[str, str | None, str | None, str], int] = {}
    for number in range(count):
        at_ms = BEGAN_MS + _SPAN_MS * number // max(count, 1)
        scope = chance.choice(("global", "project", "project", "project", "lane", "model"))
        whose = chance.choice(names) if scope == "project" else None
        scope_id = (
            chance.choice(_LANES if scope == "lane" else _MODELS) if scope in {"lane", "model"} else None
        )
        key = (
            chance.choice(_WORDS["preference"]["keys"])
            if chance.random() < 0.5
            else f"{chance.choice(_WORDS['preference']['keys'])}_{number % 97}"
        )
        reason = chance.choice(_WORDS["en"]["reasons"]) if chance.random() < 0.3 else None
        value = f"{chance.choice(_WORDS['preference']['values'])} ({number})"
        wanted = Wanted(_ulid(chance, at_ms), key, value, scope, whose, scope_id, "ana", reason, at_ms)
        place = (scope, whose, scope_id, key)
        if (old_at := newest.get(place)) is not None:
            made[old_at] = made[old_at]._replace(superseded_at_ms=at_ms, superseded_by=wanted.id)
        newest[place] = number
        made.append(wanted)
    return made


def _ulid(chance: random.Random, at_ms: int) -> str:
    number = at_ms << 80 | chance.getrandbits(80)
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))


async def fill(store: RelayStore, corpus: Corpus) -> None:
    """Write all of it, the index too, in slices; only projects get events, as they are made one by one."""
    access = store.access
    for name in corpus.projects:
        fields = ProjectFields(f"example/{name}", "python", "make check", summary=corpus.summaries.get(name))
        await store.projects.add(name, fields, [], actor="ana")
    for part in _sliced(corpus.decisions):
        await access.change(partial(_put_decisions, part=part, store=store))
    for part in _sliced(corpus.preferences):
        await access.change(partial(_put_preferences, part=part, store=store))
    await access.change(partial(_name_successors, corpus=corpus))


def fill_home(home: Path, corpus: Corpus) -> None:
    """Write it into the `relay.db` of a home in which no daemon runs; the directory exists and is private."""

    async def work() -> None:
        index = SearchIndex()
        async with open_store(Home(home), index=index) as store:
            await Search(
                store, index
            ).catch_up()  # of nothing: else the next daemon would fill the index anew
            await fill(store, corpus)

    anyio.run(work)


def _sliced(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for at in range(0, len(items), _SLICE):
        yield items[at : at + _SLICE]


def _put_decisions(connection: Connection, *, part: Sequence[Said], store: RelayStore) -> None:
    ids = _ids(connection)
    connection.executemany(
        "INSERT INTO decision (id, project_id, task, text, digest, author, source, ref, ref_text, valid_from_ms, "
        "valid_to_ms, recorded_at_ms, ended_ms, superseded_at_ms, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                said.id,
                ids.get(said.project),
                said.task,
                said.text,
                digest_of(said.text),
                *said[4:13],
                said.reason,
            )
            for said in part
        ],
    )
    store.access.index.put(
        connection,
        [
            Entry(
                "decision", said.id, ids.get(said.project), said.task, said.text, said.valid_from_ms, said.valid_to_ms,
                said.recorded_at_ms, said.ended_ms, said.superseded_at_ms,
            )
            for said in part
        ],
    )  # fmt: skip


def _put_preferences(connection: Connection, *, part: Sequence[Wanted], store: RelayStore) -> None:
    ids = _ids(connection)
    connection.executemany(
        "INSERT INTO preference (id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, "
        "superseded_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*wanted[:4], ids.get(wanted.project), *wanted[5:10]) for wanted in part],
    )
    store.access.index.put(
        connection,
        [
            preferences.entry(
                Preference(0, *wanted[:4], ids.get(wanted.project), *wanted[5:10], wanted.superseded_by, None)
            )
            for wanted in part
        ],
    )


def _name_successors(connection: Connection, *, corpus: Corpus) -> None:
    connection.executemany(
        "UPDATE decision SET superseded_by = ? WHERE id = ?",
        [(said.superseded_by, said.id) for said in corpus.decisions if said.superseded_by],
    )
    connection.executemany(
        "UPDATE preference SET superseded_by = ? WHERE id = ?",
        [(wanted.superseded_by, wanted.id) for wanted in corpus.preferences if wanted.superseded_by],
    )


def _ids(connection: Connection) -> dict[str | None, int]:
    return dict(connection.execute("SELECT slug, id FROM project").fetchall())
