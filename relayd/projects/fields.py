"""What may be said of a project: the rules for each of its fields."""

from __future__ import annotations

import msgspec

from relayd.errors import ParameterRefused
from relayd.memory.texts import bounded_or_none
from relayd.projects.slug import RULE, is_slug
from relayd.store.projects import ProjectFields

__all__ = ("MAX_SUMMARY_BYTES", "check_name", "checked")

MAX_SUMMARY_BYTES = 8_000
"""2,000 tokens of four bytes each."""

_MAX_FIELD_BYTES = 1_024
_PRIORITIES = range(1, 6)


def check_name(member: str, name: str) -> None:
    """Make sure that something can name a project.

    Raises:
        ParameterRefused: It is no slug.
    """
    if not is_slug(name):
        raise ParameterRefused(member, RULE)


def checked(fields: ProjectFields) -> ProjectFields:
    """Make fields as they are stored: stripped, and nothing where nothing is left.

    Raises:
        ParameterRefused: One breaks its rule.
    """
    kept: dict[str, object] = {}
    for name, value in fields.given().items():
        if isinstance(value, str):
            kept[name] = _text(name, value)
        elif name == "priority" and value not in _PRIORITIES:
            raise ParameterRefused(name, "must be from 1, the highest, to 5")
        else:
            kept[name] = value
    return msgspec.structs.replace(ProjectFields(), **kept)


def _text(name: str, value: str) -> str | None:
    if name == "summary":
        return bounded_or_none(name, value, MAX_SUMMARY_BYTES)
    text = bounded_or_none(name, value, _MAX_FIELD_BYTES)
    if text is not None and len(text.splitlines()) > 1:
        raise ParameterRefused(name, "must be one line")
    return text
