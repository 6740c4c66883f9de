"""Schemas of what goes over the wire, from the types that encode and decode it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from relayd.brief.compiler import Omitted
from tests.contract.openapi import answers
from tests.contract.openapi.meanings import meaning_of

__all__ = ("Schemas", "closed")

_OPEN = frozenset(one.__name__ for one in (answers.SessionNamed, answers.BatchItem))
"""Shapes whose further members are someone else's business."""

_SPARSE = frozenset(one.__name__ for one in (Omitted,))
"""Shapes that leave out what has nothing to say."""


class Schemas:
    """The schemas of some types.

    Args:
        types: Every one that `of` will be asked for.
    """

    def __init__(self, types: Iterable[Any]) -> None:
        listed = list(types)
        made, components = msgspec.json.schema_components(listed, ref_template="#/components/schemas/{name}")
        self._of = list(zip(listed, made, strict=True))
        self.components = {name: _told(name, components[name]) for name in sorted(components)}

    def of(self, shape: Any) -> dict[str, Any]:
        """Give the schema of one of the types."""
        return next(schema for known, schema in self._of if known == shape)


def closed(schema: Any) -> Any:
    """Give a schema under which every object has only the members that it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(one) for name, one in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        inner.setdefault("additionalProperties", False)
    return inner


def _told(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Put a docstring where it belongs, and say of an answer that all its members are there."""
    told = {key: value for key, value in schema.items() if key != "title"}
    properties = told.setdefault("properties", {})
    about, members = meaning_of(told.get("description", ""), properties.keys())
    told["description"] = about
    for member, meaning in members.items():
        if member in properties:
            properties[member] = {"description": meaning, **properties[member]}
    if name in _OPEN:
        told["additionalProperties"] = True
    if "additionalProperties" not in told and name not in _SPARSE:
        required = [one for one, inner in properties.items() if one in told["required"] or "default" in inner]
        told["required"] = required
        told["properties"] = {
            one: {key: value for key, value in inner.items() if key != "default"}
            for one, inner in properties.items()
        }
    return told
