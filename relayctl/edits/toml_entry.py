"""Values inside of values of a TOML text: adding to arrays and inline tables, and taking out of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from relayctl.edits.place import Path, indent_at, newline_of
from relayctl.edits.toml_block import dotted, inline
from relayctl.edits.toml_scan import Node, Section, Statement, line_end

__all__ = ("Spot", "insert", "spot_of", "take_out")


class Spot(NamedTuple):
    """How far a path leads into the value of one statement.

    Args:
        statement: Whose value it leads into.
        way: The values on the way, the statement's first, each with the entry that the path takes.
        node: The last value it leads to.
        rest: The steps that are not there.
    """

    statement: Statement
    way: tuple[tuple[Node, int], ...]
    node: Node
    rest: Path


def spot_of(sections: list[Section], path: Path) -> Spot | None:
    """Find the statement whose value a path leads to or into; None if it leads to none."""
    for section in sections:
        for said in section.statements:
            if path[: len(said.path)] == said.path:
                return _descended(said, path[len(said.path) :])
    return None


def insert(text: str, around: Node, rest: Path, value: Any) -> str:  # noqa: ANN401 -- TOML has many types
    """Put something behind all others of an array or an inline table.

    Args:
        text: The whole.
        around: The array or table.
        rest: The key of a member, dotted if need be; empty for an element.
        value: Of it.
    """
    told = f"{dotted(rest)} = {inline(value)}" if rest else inline(value)
    if not around.entries:
        return f"{text[: around.start + 1]}{told}{text[around.start + 1 :]}"
    last = around.entries[-1]
    gap, end = _gap(text, around), _comment_end(text, last.after)
    if last.after > last.node.end:
        return f"{text[:end]}{gap}{told},{text[end:]}"
    return f"{text[: last.node.end]},{text[last.node.end : end]}{gap}{told}{text[end:]}"


def take_out(text: str, around: Node, place: int) -> str:
    """Remove an entry and what separates it from the one before it, or else from the one behind it.

    Comments between entries stay.
    """
    one = around.entries[place]
    if not place:
        return _first_out(text, around)
    before, last = around.entries[place - 1], one is around.entries[-1]
    has_comma = one.after > one.node.end
    if "#" in text[before.after : one.start]:
        text = text[: _line_before(text, one.start)] + text[one.after :]
        return text if has_comma or not last else text[: before.after - 1] + text[before.after :]
    if last and has_comma:
        return text[: before.after] + text[one.after :]
    return text[: before.after - 1] + text[one.node.end :]


def _first_out(text: str, around: Node) -> str:
    one, *others = around.entries
    start, end = one.start, one.after
    if not others and "#" not in text[around.start : one.start]:
        start = around.start + 1
    elif others and "#" not in text[one.node.end : others[0].start]:
        end = others[0].start
    return text[:start] + text[end:]


def _descended(said: Statement, rest: Path) -> Spot:
    node, way = said.node, list[tuple[Node, int]]()
    while rest:
        place = _entry(node, rest)
        if place is None:
            break
        way.append((node, place))
        rest = rest[max(1, len(node.entries[place].keys)) :]
        node = node.entries[place].node
    return Spot(said, tuple(way), node, rest)


def _entry(node: Node, rest: Path) -> int | None:
    if isinstance(rest[0], int):
        return rest[0] if node.kind == "[" and 0 <= rest[0] < len(node.entries) else None
    named = (at for at, one in enumerate(node.entries) if one.keys and rest[: len(one.keys)] == one.keys)
    return next(named, None) if node.kind == "{" else None


def _gap(text: str, around: Node) -> str:
    """Give what stands before the last entry, or what a line of its own takes if a comment ends that entry's line."""
    last = around.entries[-1]
    before = around.start + 1 if len(around.entries) == 1 else around.entries[-2].after
    line_start = text.rfind("\n", before, last.start)
    if line_start >= 0 or _comment_end(text, last.after) > last.after:
        return newline_of(text) + indent_at(text, last.start)
    return " "


def _comment_end(text: str, at: int) -> int:
    """Find where a comment ends that a line goes on with; the place itself if it does not."""
    rest = text[at : line_end(text, at)]
    return at + len(rest) if rest.lstrip(" \t").startswith("#") else at


def _line_before(text: str, at: int) -> int:
    """Go back over an indent and the end of line before it."""
    return len(text[:at].rstrip(" \t").removesuffix("\n").removesuffix("\r"))
