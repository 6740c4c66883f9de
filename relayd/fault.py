"""Telling of an exception without the text that may quote what it choked on."""

import sqlite3
import traceback
from types import TracebackType
from typing import cast

from relay_queue.errors import OutboxError
from relayd.errors import RelaydError

__all__ = ("account",)

_SPEAKING = (
    OutboxError,
    RelaydError,
    OSError,
    sqlite3.Error,
    ImportError,
    NameError,
    AttributeError,
    TypeError,
    RuntimeError,
)
"""Their text names things of ours; that of `ValueError` or `KeyError` may be input, so only their class is told."""

_MAX_FRAMES = 25
_MAX_LINES = 200


def account(error: BaseException) -> str:
    """Tell what went wrong and where, one line a step: the error first, then what caused it.

    Members of exception groups follow; values of variables and source lines are left out.
    """
    lines: list[str] = []
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo and len(lines) < _MAX_LINES:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        lines += [_headline(one), *_frames(one.__traceback__)]
        todo.append(one.__cause__ or (None if one.__suppress_context__ else one.__context__))
        if isinstance(one, BaseExceptionGroup):
            todo.extend(cast("BaseExceptionGroup[BaseException]", one).exceptions)
    return "\n".join(lines[:_MAX_LINES])


def _headline(error: BaseException) -> str:
    text = f": {error}" if isinstance(error, _SPEAKING) else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{text}"


def _frames(trace: TracebackType | None) -> list[str]:
    steps = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)
    return [f"  {step.filename}:{step.lineno} {step.name}" for step in steps[-_MAX_FRAMES:]]
