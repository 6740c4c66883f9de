"""The files that relay writes into a repository: `relay.md`, and its section in AGENTS.md and CLAUDE.md.

Before a file is written, `.relay/rules.json` notes the hash of what it will hold, and afterwards that it does. So
whenever a run is killed, the next one knows what is relay's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from relayctl.edits import file
from relayctl.edits.errors import EditRefused, FileRefused
from relayctl.repository.owned_section import (
    Outcome,
    Record,
    is_digest,
    is_include,
    plan_file,
    plan_removal,
    plan_section,
    plan_unfile,
)
from relayctl.repository.rules_file import find_rules, new_mode, note_files, resolved_rules
from relayctl.repository.section_text import section_text

__all__ = ("Done", "stale", "survey", "undo", "write")

_RULES = "relay.md"
_AGENTS = "AGENTS.md"
_CLAUDE = "CLAUDE.md"
_FILES = (_AGENTS, _CLAUDE, _RULES)
_WRITES = ("written", "created", "removed")
_SAME = "it is the same file as AGENTS.md"
_OURS = "it and another file that relay writes are one and the same"
_INCLUDE = "it only includes AGENTS.md"
_NOT_THERE = "it is not there, and needs not be"


class Done(NamedTuple):
    """What became, or would become, of a file.

    Args:
        file: Its name in the repository.
        state: As in `owned_section.Outcome`.
        reason: Why nothing was written; empty if there is no reason to tell.
    """

    file: str
    state: str
    reason: str = ""


class _Step(NamedTuple):
    """A file, as it was read, and what is to become of it."""

    name: str
    read: file.Read | None
    outcome: Outcome


def survey(root: str, project: str, text: str) -> list[Done]:
    """Tell what a run would do; nothing is written.

    Args:
        root: The linked directory.
        project: Its slug.
        text: What `relay.md` shall hold.

    Raises:
        RulesRefused: `rules.json` cannot be read.
    """
    steps = _plan(root, project, text, _records(root), force=False)
    return [Done(step.name, step.outcome.state, step.outcome.reason) for step in steps]


def stale(done: Done) -> bool:
    """Tell whether a file is not as it should be; one whose section was deleted is as its owner wants it."""
    return done.state in (*_WRITES, "refused")


def write(root: str, project: str, text: str, *, force: bool) -> list[Done]:
    """Make the files say what they should; one that is refused keeps no other from being written.

    Args:
        root: The linked directory; its rules are there, and nobody else is at work in it.
        project: Its slug.
        text: What `relay.md` shall hold.
        force: What somebody else wrote in relay's places may be written over.

    Raises:
        RulesRefused: `rules.json` cannot be read or written; if it is so from the beginning, nothing was written.
    """
    records = _records(root)
    return _carry_out(root, records, _plan(root, project, text, records, force=force))


def undo(root: str) -> list[Done]:
    """Take out of the files what relay wrote; what was changed since is left, and said.

    Args:
        root: The directory; nobody else is at work in it.

    Raises:
        RulesRefused: `rules.json` cannot be read or written.
    """
    records = _records(root)
    return _carry_out(root, records, [_plan_undo(root, name, record) for name, record in records.items()])


def _plan(
    root: str, project: str, text: str, records: Mapping[str, Record], *, force: bool
) -> Iterator[_Step]:
    body = section_text(project)
    agents = _read(root, _AGENTS)
    yield _section(_AGENTS, agents, records.get(_AGENTS), body, force=force)
    claude = _read(root, _CLAUDE)
    if reason := _not_needed(claude, agents):
        yield _Step(_CLAUDE, None, Outcome("skipped", reason=reason))
    else:
        yield _section(_CLAUDE, claude, records.get(_CLAUDE), body, force=force)
    rules = _read(root, _RULES)
    record = records.get(_RULES)
    if isinstance(rules, str):
        yield _Step(_RULES, None, Outcome("refused", None, record, rules))
    else:
        yield _Step(_RULES, rules, plan_file(rules.content, record, text, force=force))


def _section(name: str, read: file.Read | str, record: Record | None, body: str, *, force: bool) -> _Step:
    if isinstance(read, str):
        return _Step(name, None, Outcome("refused", None, record, read))
    return _Step(name, read, plan_section(read.content, record, body, force=force))


def _not_needed(claude: file.Read | str, agents: file.Read | str) -> str:
    """Say why CLAUDE.md gets no section; nothing if it gets one."""
    if isinstance(claude, str):
        return ""
    if claude.content is None:
        return _NOT_THERE
    if not isinstance(agents, str) and claude.real_path == agents.real_path:
        return _SAME
    return _INCLUDE if is_include(claude.content) else ""


def _plan_undo(root: str, name: str, record: Record) -> _Step:
    read = _read(root, name)
    if isinstance(read, str):
        return _Step(name, None, Outcome("refused", None, record, read))
    plan = plan_unfile if name == _RULES else plan_removal
    return _Step(name, read, plan(read.content, record))


def _read(root: str, name: str) -> file.Read | str:
    """Read a file of the repository; or say why that is not done."""
    path = f"{root}/{name}"
    try:
        read = file.read(path)
    except FileRefused as refused:
        return refused.rule
    inside = os.path.relpath(read.real_path, os.path.realpath(root)).split("/")
    if inside[0] == ".." or ".git" in inside:
        return "a symbolic link leads out of the repository's files"
    if _is_another_of_ours(root, name, read.real_path):
        return _OURS
    if read.content is None and os.path.islink(path) and name != _CLAUDE:
        return "it is a symbolic link to nothing"
    return read if read.content is not None else read._replace(mode=new_mode())


def _is_another_of_ours(root: str, name: str, real_path: str) -> bool:
    """Tell whether a file of the repository is, by a link, one that relay writes otherwise; the two with a section may be."""
    sections = (_AGENTS, _CLAUDE)
    others = (_RULES,) if name in sections else sections
    taken = (resolved_rules(root), *(os.path.realpath(f"{root}/{other}") for other in others))
    return real_path in taken


def _carry_out(
    root: str, records: Mapping[str, Record], planned: Iterator[_Step] | list[_Step]
) -> list[Done]:
    """Write the files, with a note before and after."""
    steps = list(planned)
    note_files(root, _spelt(_meant(records, steps)))
    written = [_written(step) for step in steps]
    kept = {name: record for name, record in records.items() if name not in {step.name for step in steps}}
    for step, done in zip(steps, written, strict=True):
        failed = done.state == "refused" and step.outcome.state != "refused"
        record = records.get(step.name) if failed else step.outcome.record
        if record is not None:
            kept[step.name] = record
    note_files(root, _spelt(kept))
    return written


def _meant(records: Mapping[str, Record], steps: list[_Step]) -> dict[str, Record]:
    """Give the records for the time in which files are written: with the hash that is there, and that to come.

    What is about to be taken out is noted as if it was about to be put in: should it be gone when the run is killed, it
    was not its owner who deleted it.
    """
    meant = dict(records)
    for step in steps:
        wanted, former = step.outcome.record, records.get(step.name)
        if step.outcome.state not in _WRITES:
            continue
        if wanted is not None:
            meant[step.name] = wanted._replace(hash=former and former.hash, next=wanted.hash)
        elif former is not None:
            meant[step.name] = former._replace(hash=None, next=former.hash or former.next)
    return meant


def _written(step: _Step) -> Done:
    state = step.outcome.state
    if step.read is None or state not in _WRITES:
        return Done(step.name, state, step.outcome.reason)
    try:
        if step.outcome.content is None:
            file.remove(step.read)
        else:
            file.write(step.read, step.outcome.content)
    except EditRefused as refused:
        return Done(step.name, "refused", refused.rule)
    return Done(step.name, state)


def _records(root: str) -> dict[str, Record]:
    """Read what was noted of the files; what cannot be understood is as if it was not there."""
    rules = find_rules(root)
    noted: object = rules.members.get("files") if rules is not None else None
    if not isinstance(noted, dict):
        return {}
    found = {name: _record(noted[name]) for name in _FILES if name in noted}  # pyright: ignore[reportUnknownArgumentType] -- JSON
    return {name: record for name, record in found.items() if record is not None}


def _record(noted: Any) -> Record | None:  # noqa: ANN401 -- JSON is anything
    if not isinstance(noted, dict):
        return None
    members: dict[str, Any] = noted  # pyright: ignore[reportUnknownVariableType] -- JSON keys are str
    hashes = [members.get(name) if is_digest(members.get(name)) else None for name in ("hash", "next")]
    before = members.get("before", "")
    if not any(hashes) or not isinstance(before, str) or before.strip("\r\n"):
        return None
    return Record(*hashes, created=members.get("created") is True, before=before)


def _spelt(records: Mapping[str, Record]) -> dict[str, dict[str, Any]]:
    return {
        name: {key: value for key, value in record._asdict().items() if value is not None}
        for name, record in records.items()
    }
