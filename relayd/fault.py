"""Telling of an exception without the text that may quote what it choked on; and whose fault it is."""

import errno
import os
import sqlite3
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import cast

from relay_queue.errors import OutboxError
from relayd.errors import MachineShort, RelaydError

__all__ = ("account", "shortage")

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

_SHORT = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM))
_NO_THREAD = "can't start new thread"
"""What Python says where the system refuses one."""

_MAX_FRAMES = 25
_MAX_LINES = 200


def account(error: BaseException) -> str:
    """Tell what went wrong and where, one line a step: the error first, then what caused it.

    Members of exception groups follow; values of variables and source lines are left out.
    """
    lines: list[str] = []
    for one in _chain(error):
        if len(lines) >= _MAX_LINES:
            break
        lines += [_headline(one), *_frames(one.__traceback__)]
    return "\n".join(lines[:_MAX_LINES])


def shortage(error: BaseException) -> MachineShort | None:
    """Tell what the machine had too little of, if that is what an error, or what caused it, says; else None."""
    for one in _chain(error):
        if isinstance(one, OSError) and one.errno in _SHORT:
            return MachineShort(os.strerror(one.errno))
        if isinstance(one, MemoryError):
            return MachineShort(os.strerror(errno.ENOMEM))
        if isinstance(one, RuntimeError) and str(one) == _NO_THREAD:
            return MachineShort(_NO_THREAD)
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Walk from an error to what caused it, each once; members of exception groups follow."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        todo.append(one.__cause__ or (None if one.__suppress_context__ else one.__context__))
        if isinstance(one, BaseExceptionGroup):
            todo.extend(cast("BaseExceptionGroup[BaseException]", one).exceptions)


def _headline(error: BaseException) -> str:
    text = f": {error}" if isinstance(error, _SPEAKING) else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{text}"


def _frames(trace: TracebackType | None) -> list[str]:
    steps = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)
    return [f"  {step.filename}:{step.lineno} {step.name}" for step in steps[-_MAX_FRAMES:]]
