"""The project of the working directory: do hooks that run here capture anything?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.errors import RulesRefused
from relayctl.rules_file import find_rules, rules_path

__all__ = ("look",)

_NAME = "project"
_LINK = "`relayctl link`"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)


def look(subject: Subject) -> Iterator[Check]:
    """Compare the rules file at or above the working directory with what is linked on this machine."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        yield Check(_NAME, "ok", "the working directory is gone")
        return
    root = _with_rules(here)
    told = None if subject.daemon is None else _linked(subject, here)
    if told is None:
        where = (
            "no .relay/rules.json at or above the working directory" if root is None else f"rules in {root}"
        )
        yield Check(_NAME, "ok", f"{where}; only a running daemon tells what is linked")
    else:
        yield _judge(here, root, told.get("project"))


def _judge(here: str, root: str | None, linked: str | None) -> Check:
    """Judge one directory.

    Args:
        here: It.
        root: The directory at or above it that has rules; None if none has.
        linked: The project it is linked to on this machine; None if to none.
    """
    if root is None and linked is None:
        return Check(
            _NAME, "ok", f"{here} is not linked: hooks capture nothing here", f"{_LINK} changes that"
        )
    if root is None:
        told = f"{here} is linked to {linked}, but .relay/rules.json is missing, so hooks end here"
        return Check(_NAME, "warn", told, f"{_LINK} writes it")
    named = _named(root)
    if named is None:
        told = f"{rules_path(root)} names no project that could be read"
        return Check(_NAME, "warn", told, f"move it away; {_LINK} writes it anew")
    if linked is None:
        told = f"{root} says it is {named}, but is not registered on this machine: hooks capture nothing"
        return Check(_NAME, "warn", told, f"{_LINK} registers it, if you trust it")
    also = "" if named == linked else f"; its rules name {named}, what was linked counts"
    return Check(_NAME, "ok", f"{root} is linked to {linked}{also}")


def _linked(subject: Subject, here: str) -> dict[str, Any] | None:
    return subject.ask_if_known("/v1/links", directory=here)


def _named(root: str) -> str | None:
    """Read the project that rules name; None if they name none."""
    try:
        rules = find_rules(root)
    except RulesRefused:
        return None
    named = None if rules is None else rules.members.get("project")
    return named if isinstance(named, str) and _SLUG.fullmatch(named) else None


def _with_rules(directory: str) -> str | None:
    """Find the rules that a hook which runs here would find: upwards, but neither in the user's home nor in `/`."""
    none = {"/", os.path.realpath(os.path.expanduser("~"))}
    while directory not in none:
        for place in (directory, _beside_repository(directory)):
            if place and place not in none and os.path.lexists(rules_path(place)):
                return place
        directory = os.path.dirname(directory)
    return None


def _beside_repository(directory: str) -> str | None:
    """Find the directory beside the common git directory; None if this is not the top of a worktree."""
    try:
        with open(f"{directory}/.git", "rb") as file:
            pointer = os.fsdecode(file.read(4096)).removeprefix("gitdir:").strip()
        git_dir = os.path.join(directory, pointer)
        with open(f"{git_dir}/commondir", "rb") as file:
            common = os.fsdecode(file.read(4096)).strip()
    except (OSError, ValueError):
        return None
    return os.path.dirname(os.path.realpath(os.path.join(git_dir, common)))
