"""What a text must be to be remembered: within its limit, and such that it can be stored and shown."""

from __future__ import annotations

import unicodedata

from relayd.errors import ParameterRefused
from relayd.places import default_actor

__all__ = ("author_or_own", "bounded", "bounded_or_none", "name", "name_or_none")

_AUTHOR_CHARS = 64
_CONTROL = "Cc"


def bounded(field: str, text: str, most_bytes: int) -> str:
    """Give a text without the white space around it.

    Args:
        field: Its name in a request.
        text: As it was given.
        most_bytes: Its limit, as UTF-8.

    Raises:
        ParameterRefused: It is empty, over its limit, or cannot be stored.
    """
    kept = text.strip()
    if not any(char.isprintable() and not char.isspace() for char in kept):
        raise ParameterRefused(
            field, "must not be empty" if not kept else "must hold something that can be seen"
        )
    try:
        size = len(kept.encode())
    except UnicodeEncodeError:
        raise ParameterRefused(field, "must not hold half of a surrogate pair") from None
    if "\0" in kept:
        raise ParameterRefused(field, "must not hold the character U+0000")
    if size > most_bytes:
        over = f"{size - most_bytes:,} too many"
        raise ParameterRefused(field, f"must be at most {most_bytes:,} bytes as UTF-8; these are {over}")
    return kept


def bounded_or_none(field: str, text: str | None, most_bytes: int) -> str | None:
    """Do the same for a text that may be missing; an empty one is."""
    return bounded(field, text, most_bytes) if text is not None and text.strip() else None


def name(field: str, text: str, most_chars: int, *, spaces: bool = True) -> str:
    """Give what something is called, without the white space around it, composed as NFC says.

    Args:
        field: As for `bounded`.
        text: As it was given.
        most_chars: Its limit.
        spaces: Whether white space may be in it.

    Raises:
        ParameterRefused: It is empty, over its limit, or holds what no name may.
    """
    kept = bounded(field, unicodedata.normalize("NFC", text), 4 * most_chars)
    if len(kept) > most_chars:
        raise ParameterRefused(field, f"must be at most {most_chars} characters")
    if any(unicodedata.category(char) == _CONTROL for char in kept):
        raise ParameterRefused(field, "must not hold control characters")
    if not spaces and len(kept.split()) > 1:
        raise ParameterRefused(field, "must not hold white space")
    return kept


def name_or_none(field: str, text: str | None, most_chars: int) -> str | None:
    """Do the same for a name that may be missing; an empty one is."""
    return name(field, text, most_chars) if text is not None and text.strip() else None


def author_or_own(author: str | None, field: str = "author") -> str:
    """Give who said it: the one named, else this user.

    Args:
        author: As it was given.
        field: Its name in a request.

    Raises:
        ParameterRefused: It is no name.
    """
    return name_or_none(field, author, _AUTHOR_CHARS) or default_actor()
