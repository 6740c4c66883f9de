"""The two forms that settings have, JSON and TOML, edited by one set of words."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from relayctl.edits import json_text, toml_text

__all__ = ("JSON", "TOML", "Form", "Path", "Table")

Path: TypeAlias = tuple[str | int, ...]
"""Names of members and places in lists, from the top."""

Table: TypeAlias = dict[str, Any]
"""What is put in is always one."""


class Form(Protocol):
    """Edits a text of settings; all but the changed part keeps its bytes."""

    @property
    def empty(self) -> str:
        """The text of settings that say nothing."""
        ...

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
        """Take an element out of a list, which stays."""
        ...

    def set_member(self, text: str, path: Path, value: Table) -> str:
        """Set a member of a table, which is made if it is not there."""
        ...

    def drop_member(self, text: str, path: Path) -> str:
        """Take a member out of a table, which stays."""
        ...


class _Json:
    """Settings in JSON."""

    empty = "{}\n"

    def parse(self, text: str) -> Any:  # noqa: ANN401
        return json_text.parse(text)

    def append(self, text: str, path: Path, value: Table) -> str:
        return json_text.append(text, path, value)

    def replace_element(self, text: str, path: Path, index: int, value: Table) -> str:
        return json_text.replace_element(text, path, index, value)

    def drop_element(self, text: str, path: Path, index: int) -> str:
        return json_text.drop_element(text, path, index)

    def set_member(self, text: str, path: Path, value: Table) -> str:
        return json_text.set_member(text, path, value)

    def drop_member(self, text: str, path: Path) -> str:
        return json_text.drop_member(text, path)


class _Toml:
    """Settings in TOML."""

    empty = ""

    def parse(self, text: str) -> Any:  # noqa: ANN401
        return toml_text.parse(text)

    def append(self, text: str, path: Path, value: Table) -> str:
        return toml_text.append_table(text, path, value)

    def replace_element(self, text: str, path: Path, index: int, value: Table) -> str:
        return toml_text.replace_element(text, path, index, value)

    def drop_element(self, text: str, path: Path, index: int) -> str:
        return toml_text.drop_element(text, path, index)

    def set_member(self, text: str, path: Path, value: Table) -> str:
        return toml_text.set_table(text, path, value)

    def drop_member(self, text: str, path: Path) -> str:
        return toml_text.drop_table(text, path)


JSON: Form = _Json()
TOML: Form = _Toml()
