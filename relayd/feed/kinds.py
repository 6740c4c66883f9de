"""What happened, by its name: which names there may be, and which are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from relayd.errors import ParameterRefused
from relayd.store.feed_rows import KindRange

__all__ = ("USAGE", "check_free", "ranges")

USAGE: Final = "step.usage"
"""Tokens and cost of one step of work; its data has a form of its own."""

_MAX_CHARS: Final = 64
_KIND: Final = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*", re.ASCII)
_OWN: Final = ("hook", "decision", "preference", "project", "memory")
_EVERY: Final = ".*"
# Right behind the full stop, and before everything else that a kind may hold.
_AFTER_STOP: Final = "/"
_BEFORE_ALL: Final = "!"


def check_free(kind: str) -> None:
    """Let a kind pass under which others may add events.

    Raises:
        ParameterRefused: It is no name of a kind, or the daemon's own.
    """
    if len(kind) > _MAX_CHARS or "." not in kind or _KIND.fullmatch(kind) is None:
        rule = "must be words of a-z, 0-9, _ and - with full stops between them, such as deploy.done, at most 64 characters"
        raise ParameterRefused("kind", rule)
    if kind.partition(".")[0] in _OWN:
        raise ParameterRefused(
            "kind", f"must not begin with {', '.join(_OWN[:-1])} or {_OWN[-1]}, which are relayd's own"
        )


def ranges(patterns: Iterable[str]) -> list[KindRange]:
    """Read what kinds are asked for: each by its name, or all below a word, such as `decision.*`.

    What is asked for twice, or within something else, is asked for once: every range takes its time.

    Raises:
        ParameterRefused: One is neither.
    """
    apart: list[KindRange] = []
    for first, beyond in sorted(map(_range, patterns)):
        if apart and first < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(beyond, apart[-1][1]))
        else:
            apart.append((first, beyond))
    return apart


def _range(pattern: str) -> KindRange:
    name = pattern.removesuffix(_EVERY)
    if len(pattern) > _MAX_CHARS or _KIND.fullmatch(name) is None:
        raise ParameterRefused(
            "kind", "must be a kind, such as decision.captured, or all below a word, such as decision.*"
        )
    return (name, name + _BEFORE_ALL) if name == pattern else (f"{name}.", name + _AFTER_STOP)
