"""The gate that every text passes before it is stored: what looks like a credential is refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ("Gate",)


class Gate:
    """Knows what credentials look like.

    Args:
        file: The user's own patterns; it may be missing.

    Raises:
        ConfigRefused: The file has a flaw.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def check(self, texts: Iterable[tuple[str, str | None]]) -> None:
        """Let texts pass.

        Args:
            texts: Each with the name of its field; None has nothing to hide.

        Raises:
            SecretRefused: With the kind and the place of each suspect, never a value.
        """
