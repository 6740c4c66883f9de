"""What setup will do: every file as it is and as it shall be, before any is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from relayctl.edits import file
from relayctl.edits.errors import EditRefused
from relayctl.setup import claude, codex, grok
from relayctl.setup.agent import Agent
from relayctl.setup.backup import digest, fetch
from relayctl.setup.diff import between
from relayctl.setup.errors import ForeignSettings, SettingsRefused
from relayctl.setup.record import Kept, Record, read
from relayctl.setup.target import Edited, Target, holds_ours, installed, removed

__all__ = ("FileChange", "Plan", "plan_install", "plan_remove", "targets_of")


class FileChange(NamedTuple):
    """One file that will be written, or removed.

    Args:
        cli: Whose settings it holds.
        read: The file as it was found.
        new: What it shall hold; None if it goes.
        kept: What is recorded of it then; None if nothing.
        directories: Those that setup made for it, which go with it if nothing else is in them.
    """

    cli: str
    read: file.Read
    new: bytes | None
    kept: Kept | None
    directories: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where it is, as one would name it."""
        return self.read.path

    @property
    def old(self) -> bytes | None:
        """What it holds; None if it is not there."""
        return self.read.content

    @property
    def diff(self) -> str:
        """What becomes different, without any text of others'."""
        return between(self.path, self.old, self.new)


class Plan(NamedTuple):
    """All that will be done.

    Args:
        changes: Files that will be written, in this order.
        notes: By CLI, what is to be said of it.
    """

    changes: list[FileChange]
    notes: list[tuple[str, str]]


class _Draft:
    """A plan in the making: what can be planned, and what is wrong with the rest."""

    def __init__(self) -> None:
        self.reads: dict[str, file.Read] = {}
        self.changes: list[FileChange] = []
        self.notes: list[tuple[str, str]] = []
        self.flaws: list[tuple[str, str]] = []
        self.faulty: set[str] = set()

    def look(self, path: str) -> bytes | None:
        """Read a file, once: all that is planned goes by the same bytes."""
        return self.read(path).content

    def read(self, path: str) -> file.Read:
        if path not in self.reads:
            self.reads[path] = file.read(path)
        return self.reads[path]

    def attempt(self, cli: str, path: str, work: Callable[[], None]) -> None:
        """Do one part of the planning; a file that cannot be used is remembered, and the others are looked at."""
        try:
            work()
        except EditRefused as refused:
            self._fault(cli, refused.file or path, _told(refused))
        except ForeignSettings as foreign:
            self._fault(cli, path, foreign.rule)
        except OSError as error:
            self._fault(cli, error.filename or path, error.strerror or str(error))

    def _fault(self, cli: str, path: str, rule: str) -> None:
        self.flaws.append((path, rule))
        self.faulty.add(cli)

    def done(self, clis: Iterable[str]) -> Plan:
        if self.flaws:
            raise SettingsRefused(self.flaws, [cli for cli in clis if cli not in self.faulty])
        return Plan(self.changes, self.notes)


def plan_install(home: str, agents: Sequence[Agent]) -> Plan:
    """Plan to put relay into agent CLIs.

    Raises:
        SettingsRefused: Not all of their files can be used; it names each that cannot.
    """
    draft = _Draft()
    for agent in agents:
        record = read(home, agent.cli)
        for target in targets_of(agent, home, draft.look):
            draft.attempt(agent.cli, target.path, lambda: _install(draft, target, record))  # noqa: B023
    return draft.done(agent.cli for agent in agents)


def plan_remove(home: str, agents: Sequence[Agent]) -> Plan:
    """Plan to take relay out of agent CLIs, also where it was put when their settings lay elsewhere.

    Raises:
        SettingsRefused: Not all of their files can be used; it names each that cannot.
    """
    draft = _Draft()
    for agent in agents:
        record = read(home, agent.cli)
        for target in _known_targets(agent, home, record):
            draft.attempt(agent.cli, target.path, lambda: _remove(draft, target, record, home))  # noqa: B023
    return draft.done(agent.cli for agent in agents)


def targets_of(agent: Agent, home: str, look: Callable[[str], bytes | None]) -> list[Target]:
    """List the files that a CLI is set up with."""
    if agent.cli == "claude":
        return claude.targets(agent, home)
    return codex.targets(agent, home, look) if agent.cli == "codex" else grok.targets(agent, home)


def _known_targets(agent: Agent, home: str, record: Record) -> list[Target]:
    makers: dict[str, tuple[Callable[[str, str], Target], list[str]]] = {
        "claude": (claude.target, [claude.hooks_path(agent), claude.server_path(agent)]),
        "codex": (codex.target, [codex.hooks_path(agent), codex.config_path(agent)]),
        "grok": (grok.target, [grok.hooks_path(agent), grok.config_path(agent)]),
    }
    make, usual = makers[agent.cli]
    return [make(path, home) for path in dict.fromkeys([*usual, *record])]


def _install(draft: _Draft, target: Target, record: Record) -> None:
    found = draft.read(target.path)
    edited = installed(target, found.content)
    draft.notes += [(target.cli, note) for note in edited.notes]
    if edited.new is not None and edited.new != found.content:
        kept = _kept(target, found, edited, record.get(target.path))
        draft.changes.append(FileChange(target.cli, found, edited.new, kept))


def _kept(target: Target, found: file.Read, edited: Edited, known: Kept | None) -> Kept:
    """Say what to remember of a file, so that it can be brought back as it was before the first change."""
    assert edited.new is not None  # noqa: S101 -- the caller looked
    old = found.content
    wrote, clean = digest(edited.new), not holds_ours(target, old)
    missing = (*_missing_above(found.real_path), *(one for one in target.beside if not os.path.lexists(one)))
    directories = (*(known.directories if known else ()), *missing)
    if known is None or clean:
        before = None if old is None else digest(old)
        # What another home's setup made here, or a hand, is not known: then all goes that is empty.
        made = edited.made if clean else tuple(path for part in target.parts for path in part.tables)
        return Kept(clean, before, None, wrote, old is None, made, directories)
    made = tuple(dict.fromkeys((*known.made, *edited.made)))
    same = old is not None and digest(old) == known.wrote
    return known._replace(whole=known.whole and same, wrote=wrote, made=made, directories=directories)


def _missing_above(path: str) -> list[str]:
    """Name the directories that have to be made for a file, the outermost first."""
    missing: list[str] = []
    above = os.path.dirname(path)
    while not os.path.isdir(above):
        missing.insert(0, above)
        above = os.path.dirname(above)
    return missing


def _remove(draft: _Draft, target: Target, record: Record, home: str) -> None:
    found, kept = draft.read(target.path), record.get(target.path)
    if found.content is None:
        return
    made, created = (None, False) if kept is None else (kept.made, kept.created)
    edited = removed(target, found.content, made, created=created)
    if (whole := _brought_back(kept, found.content, home)) is not None:
        edited = whole._replace(notes=edited.notes)
    draft.notes += [(target.cli, note) for note in edited.notes]
    if edited.new != found.content:
        directories = () if kept is None else kept.directories
        draft.changes.append(FileChange(target.cli, found, edited.new, None, directories))


def _brought_back(kept: Kept | None, content: bytes, home: str) -> Edited | None:
    """Give what a file held before the first setup, if nothing was changed in it since and that is known."""
    if kept is None or not kept.whole or digest(content) != kept.wrote:
        return None
    if kept.before is None:
        return Edited(None)
    before = None if kept.backup is None else fetch(home, kept.backup, kept.before)
    return None if before is None else Edited(before)


def _told(refused: EditRefused) -> str:
    where = "" if refused.line is None else f"line {refused.line}, column {refused.column}: "
    return f"{where}{refused.rule}"
