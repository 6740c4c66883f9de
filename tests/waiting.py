"""Wait for what must become true, with a limit that only a broken build reaches."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT_S = 30.0
LOOK_EVERY_S = 0.01


def eventually(look: Callable[[], T]) -> T:
    """Look again until the answer is truthy, and return it.

    Raises:
        AssertionError: It did not become true within the limit.
    """
    until = time.monotonic() + LIMIT_S
    while not (found := look()):
        if time.monotonic() > until:
            message = f"still not true after {LIMIT_S:.0f} s: {look}"
            raise AssertionError(message)
        select.select([], [], [], LOOK_EVERY_S)
    return found
