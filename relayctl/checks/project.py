"""The project of the working directory: do hooks that run here capture anything?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.errors import RulesRefused
from relayctl.hook import root_of
from relayctl.repository.rules_file import find_rules, rules_path
from relayctl.slug import is_slug

__all__ = ("look",)

_NAME = "project"
_LINK = "`relayctl link`"


def look(subject: Subject) -> Iterator[Check]:
    """Compare the rules file at or above the working directory with what is linked on this machine."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        yield Check(_NAME, "ok", "the working directory is gone")
        return
    user_home = os.fsencode(subject.environ.get("HOME", ""))
    found = root_of(os.fsencode(here), user_home)  # as a hook that runs here does
    root = None if found is None else os.fsdecode(found)
    told = None if subject.daemon is None else _linked(subject, here)
    if told is None:
        where = (
            "no .relay/rules.json at or above the working directory" if root is None else f"rules in {root}"
        )
        yield Check(_NAME, "ok", f"{where}; only a running daemon tells what is linked")
    else:
        yield _judge(subject, here, root, told.get("project"))


def _judge(subject: Subject, here: str, root: str | None, linked: str | None) -> Check:
    """Judge one directory.

    Args:
        subject: Knows the names of projects.
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
    also = "" if named == linked else _otherwise(subject, named, linked)
    return Check(_NAME, "ok", f"{root} is linked to {linked}{also}")


def _otherwise(subject: Subject, named: str, linked: str) -> str:
    """Say what it means that rules name another project than the one that is linked."""
    told = subject.ask_if_known("/v1/projects") or {}
    shown: list[dict[str, Any]] = told.get("projects", [])
    if any(one["slug"] == linked and named in one["aliases"] for one in shown):
        return f"; its rules name it {named}, an alias"
    if any(named in (one["slug"], *one["aliases"]) for one in shown):
        return f"; its rules name {named}: hooks go by what was linked, commands here by the rules"
    return f"; its rules name {named}, what was linked counts"


def _linked(subject: Subject, here: str) -> dict[str, Any] | None:
    return subject.ask_if_known("/v1/links", directory=here)


def _named(root: str) -> str | None:
    """Read the project that rules name; None if they name none."""
    try:
        rules = find_rules(root)
    except RulesRefused:
        return None
    named = None if rules is None else rules.members.get("project")
    return named if is_slug(named) else None
