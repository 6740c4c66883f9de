"""JSON objects as other processes write them."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ("read_object",)


def read_object(text: bytes) -> dict[str, Any]:
    """Read a JSON object; anything else is an empty one, since no field of it can be relied on."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # the latter for brackets without end
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- JSON keys are str
