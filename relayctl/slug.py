"""The names of projects, as the daemon takes them."""

from __future__ import annotations

import re

__all__ = ("SLUG", "is_slug")

SLUG = "[a-z0-9][a-z0-9-]{0,63}"
"""A regular expression."""


def is_slug(text: object) -> bool:
    """Tell whether something can name a project."""
    return isinstance(text, str) and re.fullmatch(SLUG, text) is not None
