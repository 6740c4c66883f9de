"""Reading standard input, which may be a terminal."""

from __future__ import annotations

import sys

from relayctl.cli.show import warn

__all__ = ("read_stdin",)


def read_stdin(max_bytes: int, *, asking_for: str) -> bytes:
    """Read standard input to its end, never more of it than one byte over a limit.

    Args:
        max_bytes: The limit.
        asking_for: What a person at a terminal is to write.
    """
    if sys.stdin.isatty():
        warn(f"reading {asking_for} from the terminal; Ctrl-D ends them")
    return sys.stdin.buffer.read(max_bytes + 1)
