"""The names of projects."""

from __future__ import annotations

import re

__all__ = ("RULE", "is_slug", "slug_from")

RULE = "must be 1 to 64 of the letters a to z, digits and -, and no - at its beginning"
"""What a name that is none is told."""

_MAX_CHARS = 64
_SLUG = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{_MAX_CHARS - 1}}}")
_OTHERS = re.compile(r"[^a-z0-9]+")


def is_slug(text: object) -> bool:
    """Tell whether something can name a project."""
    return isinstance(text, str) and _SLUG.fullmatch(text) is not None


def slug_from(name: str) -> str | None:
    """Make a slug of a directory's name; None if nothing of it can stand in one."""
    return _OTHERS.sub("-", name.lower()).strip("-")[:_MAX_CHARS].rstrip("-") or None
