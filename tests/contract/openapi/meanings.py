"""What a shape and its members mean, from the docstrings of the code, in words of the wire."""

from __future__ import annotations

import inspect
import re
from collections.abc import Container
from typing import Any

from relayd.brief.recollection import MOST, Question
from relayd.memory.decisions import NewDecision
from relayd.store.decisions import Decision

__all__ = ("meaning_of",)

_REFERRED: dict[str, Any] = {one.__name__: one for one in (NewDecision, Decision, Question)}
_REFERENCE = re.compile(r"; the members are as in `(\w+)`(, times are RFC 3339)?")
_EVERYWHERE = {
    "project": "A project, by slug or alias.",
    "directory": "An absolute path: its project is meant.",
    "global": "What is of all projects is meant.",
    "author": "Who says so; null is the user of the daemon.",
    "as_of": "What was true then, as an instant with a zone; null is now.",
    "known_at": "What had been recorded by then, as an instant with a zone; null is now.",
}
"""Members that mean the same in every request to the memory."""

_WIRE = {"None": "null", "True": "true", "False": "false", "`MOST`": str(MOST)}
_OF_THE_CODE = re.compile(
    r", (?:on the )?wall clock, Unix milliseconds(?:, as [^;.]*)?|, in the column order of [^;.]*(?:\.sql`)?"
)


def meaning_of(docstring: str, members: Container[str]) -> tuple[str, dict[str, str]]:
    """Tell what a shape is, and what some of its members mean.

    Args:
        docstring: Of its class.
        members: The names of all it has.
    """
    about, told = _taken_apart(docstring)
    if reference := _REFERENCE.search(about):
        referred = _taken_apart(_REFERRED[reference[1]].__doc__ or "")[1]
        told = {name.removesuffix("_ms"): meaning for name, meaning in referred.items()} | told
        about = _REFERENCE.sub("; times are RFC 3339" if reference[2] else "", about)
    asks_the_memory = "directory" in members and ("global" in members or "author" in members)
    return about, (_EVERYWHERE | told if asks_the_memory else told)


def _taken_apart(docstring: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its first paragraph and what it says of each member."""
    about, _, rest = inspect.cleandoc(docstring).partition("\n\nArgs:\n")
    entries = re.split(r"^    (?=\w+: )", rest.partition("\n\n")[0], flags=re.MULTILINE)
    members = (entry.partition(": ")[::2] for entry in entries if entry.strip())
    return _on_the_wire(about.partition("\n\n")[0]), {name: _on_the_wire(text) for name, text in members}


def _on_the_wire(text: str) -> str:
    words = re.sub(r"\b(?:None|True|False)\b|`MOST`", lambda found: _WIRE[found[0]], text)
    return re.sub(r"\s+", " ", _OF_THE_CODE.sub("", words)).strip()
