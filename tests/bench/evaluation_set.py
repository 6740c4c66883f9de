"""Questions with the answers that are expected, and how well a search does on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from relayd.store.index import Entry

FOLDER = Path(__file__).parent / "evaluation"
AT_MS = 1_700_000_000_000
LIMIT = 10


class Question(NamedTuple):
    """One line of `queries.tsv`.

    `group` is what it tries, such as typing errors. `expected` are keys of items, any of which answers it; none means
    that nothing may be found.
    """

    group: str
    text: str
    expected: frozenset[str]


class Score(NamedTuple):
    """Shares of questions whose first hit, or any of five, is expected; and the mean of 1 / the place of the first one."""

    hit_1: float
    hit_5: float
    mrr: float


@cache
def items() -> dict[str, str]:
    """Texts by key."""
    lines = (FOLDER / "items.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)  # type: ignore[misc]


def questions() -> list[Question]:
    """All questions, in the order of the file."""
    return _read("queries.tsv")


def prompts() -> list[Question]:
    """What people ask agents to do; most of it is about no item. Groups that end in `later` came after the rule was made."""
    return _read("prompts.tsv")


def entries(project_id: int | None) -> list[Entry]:
    """Every item as it is indexed."""
    return [
        Entry("decision", item_id(number), project_id, None, text, AT_MS, None, AT_MS + number, None, None)
        for number, text in enumerate(items().values())
    ]


def item_id(number: int) -> str:
    """Give an identifier; those of the set come first."""
    return f"01HF7YAT{number:018}"


def keys(ids: Iterable[str]) -> list[str]:
    """Give the keys of items by their identifiers; what is not of the set keeps its own."""
    known = {item_id(number): key for number, key in enumerate(items())}
    return [known.get(one, one) for one in ids]


async def judge(
    asked: Sequence[Question], find: Callable[[str], Awaitable[Sequence[str]]]
) -> dict[Question, float]:
    """Ask each question: 1 / the place of the first expected hit, 0 if none of ten is one.

    Args:
        asked: What is asked.
        find: Gives the keys of what is found, the best first.
    """
    return {one: _reciprocal(one, await find(one.text)) for one in asked}


def score(ranks: Sequence[float]) -> Score:
    """Sum up what `judge` found."""
    count = len(ranks)
    return Score(
        sum(rank == 1 for rank in ranks) / count,
        sum(rank >= 1 / 5 for rank in ranks) / count,
        sum(ranks) / count,
    )


def by_group(ranks: dict[Question, float]) -> dict[str, Score]:
    """Sum up each group, and all of them as `all`."""
    groups = dict.fromkeys(one.group for one in ranks)
    parted = {group: score([rank for one, rank in ranks.items() if one.group == group]) for group in groups}
    return {**parted, "all": score(list(ranks.values()))}


def _read(name: str) -> list[Question]:
    lines = (line.split("\t") for line in (FOLDER / name).read_text("utf-8").splitlines())
    return [Question(group, text, frozenset(keys.split(",")) - {""}) for group, text, keys in lines]


def _reciprocal(question: Question, found: Sequence[str]) -> float:
    if not question.expected:
        return float(not found)
    return next((1 / place for place, key in enumerate(found[:LIMIT], 1) if key in question.expected), 0.0)
