"""Briefs of a memory of 10,000 decisions in 50 projects, asked of a real daemon."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from itertools import count

from tests import stage
from tests.bench.line import Line
from tests.bench.row import Row
from tests.corpus import Corpus, build, fill_home

DECISIONS = 10_000
PROJECTS = 50
RUNS = 400
WARM_UP = 20
P50_MS = 5.0
P99_MS = 20.0
_NUMBERS = count(1)
_TITLE_WORDS = 6
_SEARCHED = "most of it is the search"


def rows() -> list[Row]:
    """Without an intent as at a session's start, and with one; never the same request twice, but for the last row."""
    corpus = build(DECISIONS, PROJECTS)
    with stage.home() as home:
        fill_home(home, corpus)
        with stage.daemon(home) as running, Line(running) as line:
            start = _took(line, _starts(corpus))
            intent = _took(line, _intents(corpus))
            kept = _took(line, lambda: _order(corpus.projects[0]))
    memory = f"{DECISIONS:,} decisions, {PROJECTS} projects"
    return [
        Row("brief, uncached, p50", statistics.median(start), "ms", P50_MS, note=memory),
        Row("brief, uncached, p99", _p99(start), "ms", P99_MS, note="without an intent"),
        Row("brief with an intent, uncached, p50", statistics.median(intent), "ms", P50_MS, note=_SEARCHED),
        Row("brief with an intent, uncached, p99", _p99(intent), "ms", P99_MS, note="titles of six words"),
        Row("brief, cached, p50", statistics.median(kept), "ms", None, note="the same request again"),
    ]


def _took(line: Line, order: Callable[[], bytes]) -> list[float]:
    """Ask for briefs one after the other; milliseconds of each."""
    for _ in range(WARM_UP):
        _ask(line, order())
    return [_ask(line, order()) for _ in range(RUNS)]


def _ask(line: Line, order: bytes) -> float:
    took, answer = line.ask("/v1/brief", order)
    if not json.loads(answer)["text"]:
        raise RuntimeError(answer)
    return took


def _starts(corpus: Corpus) -> Callable[[], bytes]:
    """Vary the lane, so that nothing is answered from what is kept; go round the projects."""

    def order() -> bytes:
        number = next(_NUMBERS)
        return _order(corpus.projects[number % PROJECTS], lane=f"lane-{number}")

    return order


def _intents(corpus: Corpus) -> Callable[[], bytes]:
    """Ask in titles, made of what decisions of all scripts and ages say, in the project they are of."""
    sentences: Iterator[tuple[str, str]] = (
        (said.project or corpus.projects[0], said.text) for said in corpus.decisions[::23]
    )

    def order() -> bytes:
        project, sentence = next(sentences)
        return _order(project, intent=" ".join(sentence.split()[:_TITLE_WORDS]))

    return order


def _order(project: str, **more: str) -> bytes:
    return json.dumps({"project": project, **more}).encode()


def _p99(took: list[float]) -> float:
    return statistics.quantiles(took, n=100)[98]
