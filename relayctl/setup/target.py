"""A file of settings and what belongs into it: from its bytes as they are to its bytes as they shall be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from relayctl.edits.document import decode
from relayctl.setup.errors import ForeignSettings
from relayctl.setup.form import Form
from relayctl.setup.part import Done, Part
from relayctl.setup.shape import as_list, as_table

__all__ = ("Edited", "Target", "holds_ours", "installed", "removed")


class Target(NamedTuple):
    """One file.

    Args:
        cli: Whose settings it holds.
        path: Absolute; may be a link.
        form: JSON or TOML.
        parts: What belongs into it, in the order in which it is put there.
        own: The file is for us alone: it goes once nothing is in it.
        beside: Directories that the daemon makes for what it keeps there.
    """

    cli: str
    path: str
    form: Form
    parts: tuple[Part, ...]
    own: bool = False
    beside: tuple[str, ...] = ()


class Edited(NamedTuple):
    """A file after a change.

    Args:
        new: What it holds; None if it goes.
        made: Tables and lists that are in it and were not before.
        notes: What is to be said of it.
    """

    new: bytes | None
    made: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def installed(target: Target, old: bytes | None) -> Edited:
    """Put in what is missing, and bring up to date what is there.

    Raises:
        ForeignSettings, EditRefused: The file cannot be used as it is.
    """
    text = _text(target, old)
    done = Done(text)
    for part in target.parts:
        more = part.install(target.form, done.text)
        done = Done(more.text, done.notes + more.notes)
    if done.text == text:
        return Edited(old, notes=done.notes)
    before, after = target.form.parse(text), target.form.parse(done.text)
    tables = [path for part in target.parts for path in part.tables]
    made = tuple(path for path in tables if _there(after, path) and not _there(before, path))
    return Edited(_bytes(done.text, old), made, done.notes)


def removed(
    target: Target, old: bytes | None, made: Collection[tuple[str, ...]] | None, *, created: bool
) -> Edited:
    """Take out what is ours.

    Args:
        target: The file.
        old: What it holds.
        made: Tables that setup made, which go if nothing else is in them; None if that is not known: then all
            that are empty go.
        created: Setup made the file, which goes if nothing else is in it.

    Raises:
        ForeignSettings, EditRefused: The file cannot be used as it is.
    """
    if old is None:
        return Edited(None)
    text = _text(target, old)
    done = Done(text)
    for part in target.parts:
        more = part.remove(target.form, done.text)
        shorter = more.text if more.text == done.text else _pruned(target.form, more.text, part, made)
        done = Done(shorter, done.notes + more.notes)
    if done.text == text:
        return Edited(old, notes=done.notes)
    if (created or target.own) and not target.form.parse(done.text) and "#" not in done.text:
        return Edited(None, notes=done.notes)
    return Edited(_bytes(done.text, old), notes=done.notes)


def holds_ours(target: Target, content: bytes | None) -> bool:
    """Tell whether anything of ours is in a file."""
    return content is not None and removed(target, content, (), created=False).new != content


def _pruned(form: Form, text: str, part: Part, made: Collection[tuple[str, ...]] | None) -> str:
    """Drop the tables that are empty now, the inner ones first."""
    for path in part.tables:
        found = _at(form.parse(text), path)
        if found is not None and not found and (made is None or path in made):
            text = form.drop_member(text, path)
    return text


def _text(target: Target, old: bytes | None) -> str:
    """Read a file as text; one without content is as good as an empty table."""
    text = decode(old).text
    if not text.strip():
        return target.form.EMPTY
    if not isinstance(target.form.parse(text), dict):
        rule = "it is not a JSON object"
        raise ForeignSettings(rule)
    return text


def _bytes(text: str, old: bytes | None) -> bytes:
    return decode(old).encode(text)


def _there(settings: object, path: tuple[str, ...]) -> bool:
    return _at(settings, path) is not None


def _at(settings: object, path: tuple[str, ...]) -> dict[str, Any] | list[Any] | None:
    """Find a table or list by its names; None if it is not there."""
    found = settings
    for name in path:
        found = as_table(found).get(name)
    if isinstance(found, dict):
        return as_table(found)  # pyright: ignore[reportUnknownArgumentType] -- keys of settings are str
    return as_list(found) if isinstance(found, list) else None  # pyright: ignore[reportUnknownArgumentType]
