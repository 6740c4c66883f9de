"""What a brief may cost: two hard caps, of tokens and of characters."""

from __future__ import annotations

from typing import Final

__all__ = ("BYTES_A_TOKEN", "Budget", "tokens")

BYTES_A_TOKEN: Final = 4
"""Bytes of UTF-8; about right for English, and more than enough for other scripts."""


def tokens(text: str) -> int:
    """Estimate how many tokens a text is, rounded up."""
    return -(-_bytes(text) // BYTES_A_TOKEN)


class Budget:
    """What is left of both caps.

    Args:
        max_chars: Code points; None has no cap.
    """

    def __init__(self, max_tokens: int, max_chars: int | None = None) -> None:
        self._bytes = max_tokens * BYTES_A_TOKEN
        self._chars = max_chars

    def take(self, text: str) -> bool:
        """Pay for a text if both caps allow it; whether they did."""
        size = _bytes(text)
        if size > self._bytes or (self._chars is not None and len(text) > self._chars):
            return False
        self._bytes -= size
        if self._chars is not None:
            self._chars -= len(text)
        return True

    def part(self, of: int) -> Budget:
        """Give a budget of a part of what is left, such as a half with 2; taking from it takes nothing from here."""
        part = Budget(0, None if self._chars is None else self._chars // of)
        part._bytes = self._bytes // of
        return part


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
