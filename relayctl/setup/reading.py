"""What settings say, where nothing is changed in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relayctl.edits import file
from relayctl.edits.document import decode
from relayctl.setup.form import JSON, TOML
from relayctl.setup.shape import as_table

__all__ = ("Look", "look", "settings")

Look = Callable[[str], bytes | None]
"""Reads a file; None if it is not there."""


def look(path: str) -> bytes | None:
    """Read a file; None if it is not there.

    Raises:
        EditRefused: It cannot be read.
    """
    return file.read(path).content


def settings(path: str, look: Look = look) -> Mapping[str, Any]:
    """Read a file's settings, TOML by its ending, else JSON; none if it is not there or blank.

    Raises:
        EditRefused: It cannot be read.
    """
    text = decode(look(path)).text
    if not text.strip():
        return {}
    return as_table((TOML if path.endswith(".toml") else JSON).parse(text))
