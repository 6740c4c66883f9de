"""`.relay/rules.json`: what a repository says of itself. It comes with every clone, so it is a hint and never a permission."""

from __future__ import annotations

import msgspec

from relayd.projects.slug import is_slug
from relayd.projects.small_file import read_small

__all__ = ("VERSION", "slug_in")

VERSION = 1
"""What this daemon reads."""

_MAX_BYTES = 64 * 1024


class _Rules(msgspec.Struct, frozen=True):
    version: int
    project: str


def slug_in(root: str) -> str | None:
    """Read the project that a directory's rules name; None if they name none that could be used."""
    raw = read_small(f"{root}/.relay/rules.json", _MAX_BYTES)
    if raw is None:
        return None
    try:
        rules = msgspec.json.decode(raw, type=_Rules)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return rules.project if rules.version == VERSION and is_slug(rules.project) else None
