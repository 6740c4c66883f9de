"""Long work in the event loop, in pieces: whoever has something shorter to do gets its turn in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import anyio
import anyio.lowlevel

__all__ = ("Turns",)

_PIECE_S: Final = 0.002
"""So long a piece lasts, and the last of its items."""

T = TypeVar("T")
U = TypeVar("U")


class Turns:
    """Shared by all who have such work: only one of them works between two looks at what else there is to do.

    Not a thread: that would take the interpreter from the event loop just as long, and from the writer at each row.

    Args:
        piece_s: Seconds after which the others have their turn.
    """

    def __init__(self, piece_s: float = _PIECE_S) -> None:
        self._piece_s = piece_s
        self._turn = anyio.Lock(fast_acquire=True)

    async def map(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        """Give what `work` makes of each item, in their order."""
        done: list[U] = []
        left = iter(items)
        while True:
            async with self._turn:  # in the order in which they came
                until = time.monotonic() + self._piece_s
                for item in left:
                    done.append(work(item))
                    if time.monotonic() >= until:
                        break
                else:
                    return done
            await anyio.lowlevel.checkpoint()
