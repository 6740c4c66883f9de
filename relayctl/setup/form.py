"""The two forms that settings have, JSON and TOML, edited by one set of words."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from relayctl.edits import json_text, toml_text
from relayctl.edits.place import Path

__all__ = ("JSON", "TOML", "Form", "Table")

Table: TypeAlias = dict[str, Any]
"""What is put in is always one."""


class Form(Protocol):
    """Edits a text of settings; all but the changed part keeps its bytes. A module that has these names is one."""

    EMPTY: str
    """The text of settings that say nothing."""

    def parse(self, text: str) -> Any:  # noqa: ANN401 -- JSON is anything
        """Read it; raises EditRefused."""
        ...

    def append(self, text: str, path: Path, value: Table) -> str:
        """Add an element to a list, which is made if it is not there."""
        ...

    def replace_element(self, text: str, path: Path, index: int, value: Table) -> str:
        """Put another element in the place of one."""
        ...

    def drop_element(self, text: str, path: Path, index: int) -> str:
        """Take an element out of a list."""
        ...

    def set_member(self, text: str, path: Path, value: Table) -> str:
        """Set a member of a table, which is made if it is not there."""
        ...

    def drop_member(self, text: str, path: Path) -> str:
        """Take a member out of a table."""
        ...


JSON: Form = json_text
TOML: Form = toml_text
