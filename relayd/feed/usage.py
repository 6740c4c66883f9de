"""Tokens and cost: as one event tells them, and summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from relayd.errors import ParameterRefused
from relayd.memory.texts import name, name_or_none
from relayd.store.feed_rows import UsageRow

__all__ = ("GROUPINGS", "Grouping", "Step", "Usage", "UsageGroup", "read_step", "summed")

Grouping = Literal["subscription", "lane", "model"]

GROUPINGS: Final[Sequence[Grouping]] = ("subscription", "lane", "model")
"""What sums can be told apart by."""

_MAX_NAME_CHARS: Final = 128
_MOST_DIGITS: Final = 12
"""Of tokens, and of whole dollars with their millionths in one event; a sum of millions of them still fits 64 bits."""

_PLACES: Final = 6
_TOKENS_RULE: Final = f"must be a whole number, 0 or more, of at most {_MOST_DIGITS} digits"
_COST_RULE: Final = f"must be a number, 0 or more, with at most {_PLACES} decimal places, below a million"


class Step(msgspec.Struct, frozen=True):
    """What one step of work used, as the columns of the feed hold it.

    Args:
        subscription: Who is billed; None if that was not said.
        lane: Which agent it was.
        cost_micros: Millionths of a US dollar.
    """

    subscription: str | None
    lane: str
    model: str
    tokens_in: int
    tokens_out: int
    cost_micros: int


class UsageGroup(msgspec.Struct, frozen=True):
    """One sum; what it is not told apart by is None.

    Args:
        calls: How many steps there were.
        cost_usd: A number with four decimals, rounded.
        cost_micros: The same exactly, in millionths.
    """

    subscription: str | None
    lane: str | None
    model: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: msgspec.Raw
    cost_micros: int


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """All sums that were asked for, the dearest first, and the sum of all of them."""

    project: str | None
    by: Sequence[Grouping]
    groups: list[UsageGroup]
    total: UsageGroup


def read_step(members: Mapping[str, object]) -> Step:
    """Read the data of a `step.usage`; other members are nothing to it.

    Raises:
        ParameterRefused: A member is missing, or is not what it must be.
    """
    return Step(
        subscription=name_or_none(
            "data.subscription", _text_or_none(members, "subscription"), _MAX_NAME_CHARS
        ),
        lane=name("data.lane", _text(members, "lane"), _MAX_NAME_CHARS),
        model=name("data.model", _text(members, "model"), _MAX_NAME_CHARS),
        tokens_in=_tokens(members, "tokens_in"),
        tokens_out=_tokens(members, "tokens_out"),
        cost_micros=_micros(members, "cost_usd"),
    )


def summed(rows: Sequence[UsageRow], *, by: Sequence[Grouping], project: str | None) -> Usage:
    """Make the answer of what the store has summed up."""
    calls = sum(row.calls for row in rows)
    tokens_in, tokens_out = sum(row.tokens_in for row in rows), sum(row.tokens_out for row in rows)
    micros = sum(row.cost_micros for row in rows)
    total = UsageGroup(None, None, None, calls, tokens_in, tokens_out, _dollars(micros), micros)
    groups = [
        UsageGroup(
            row.subscription,
            row.lane,
            row.model,
            row.calls,
            row.tokens_in,
            row.tokens_out,
            _dollars(row.cost_micros),
            row.cost_micros,
        )
        for row in rows
    ]
    return Usage(project=project, by=by, groups=groups, total=total)


def _dollars(micros: int) -> msgspec.Raw:
    """Write millionths as a number with four decimals; a half is rounded up."""
    whole, fraction = divmod((micros + 50) // 100, 10_000)
    return msgspec.Raw(f"{whole}.{fraction:04}".encode())


def _text_or_none(members: Mapping[str, object], member: str) -> str | None:
    value = members.get(member)
    if value is not None and not isinstance(value, str):
        raise ParameterRefused(f"data.{member}", "must be text")
    return value


def _text(members: Mapping[str, object], member: str) -> str:
    value = _text_or_none(members, member)
    if value is None:
        raise ParameterRefused(f"data.{member}", "must be given")
    return value


def _number(members: Mapping[str, object], member: str, rule: str) -> str:
    """Give a number as the reader spells it: whole, or whole and a power of ten."""
    value = members.get(member)
    if value is None:
        raise ParameterRefused(f"data.{member}", "must be given")
    if not isinstance(value, msgspec.Raw):
        raise ParameterRefused(f"data.{member}", rule)
    return bytes(value).decode()


def _tokens(members: Mapping[str, object], member: str) -> int:
    text = _number(members, member, _TOKENS_RULE)
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise ParameterRefused(f"data.{member}", _TOKENS_RULE)
    return int(text)


def _micros(members: Mapping[str, object], member: str) -> int:
    """Read dollars as millionths, exactly."""
    digits, _, power = _number(members, member, _COST_RULE).partition("e")
    if digits in ("0", "-0"):
        return 0
    shift = int(power or 0) + _PLACES
    if not digits.isdecimal() or shift < 0 or len(digits) + shift > _MOST_DIGITS:
        raise ParameterRefused(f"data.{member}", _COST_RULE)
    return int(digits) * 10**shift
