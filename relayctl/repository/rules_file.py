"""`.relay/rules.json` of a repository: says which project it is, for everybody who works in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from relayctl.edits import file, json_text
from relayctl.edits.errors import EditRefused
from relayctl.errors import RulesRefused

__all__ = (
    "Names",
    "Rules",
    "drop_if_empty",
    "find_rules",
    "make_directory",
    "new_mode",
    "note_files",
    "remove_rules",
    "resolved_rules",
    "rules_path",
    "write_rules",
)

_VERSION = 1
_MAX_BYTES = 64 * 1024
_OURS = {"version", "project"}


Names = Callable[[], Collection[str]]
"""Gives the further names of the project that is meant; asked only if a file names another one than its slug."""


def _no_names() -> Collection[str]:
    return ()


class Rules(NamedTuple):
    """What a file holds.

    Args:
        members: Of its object; empty if it is none.
        flaw: Why it cannot be changed without being told to; empty if it can.
    """

    members: dict[str, Any]
    flaw: str = ""


def rules_path(root: str) -> str:
    """Name the file of a directory."""
    return f"{root}/.relay/rules.json"


def find_rules(root: str) -> Rules | None:
    """Read the file of a directory; None if there is none.

    Raises:
        RulesRefused: It cannot be read, or a symbolic link leads out of the directory.
    """
    path = resolved_rules(root)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RulesRefused(path, "it is no file")
        return _understood(os.read(descriptor, _MAX_BYTES + 1))
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def write_rules(root: str, project: str, *, renames: bool, force: bool, aliases: Names = _no_names) -> bool:
    """Make the file say which project this is; whether anything had to be written.

    Members that are none of ours stay as they are.

    Args:
        root: Resolved; it is there.
        project: A slug.
        renames: A file that names another project may be changed.
        force: So may one that cannot be understood.
        aliases: A file with one of these says which project it is too, unless it may be changed.

    Raises:
        RulesRefused: The file says otherwise, or cannot be written.
    """
    path = rules_path(root)
    found = find_rules(root) or Rules({})
    if found.flaw and not force:
        raise RulesRefused(path, found.flaw, hint="--force writes over it")
    wanted: dict[str, Any] = {"version": _VERSION, "project": project}
    if found.members | wanted == found.members and not found.flaw:
        return False
    named = found.members.get("project", project)
    if named != project and not (renames or found.flaw):
        if named in aliases():
            return False
        raise RulesRefused(path, "it names another project", hint="--project SLUG says which it shall be")
    if found.flaw or not found.members:
        _write(root, lambda _content: _spelt(wanted | found.members | wanted))
    else:
        _write(root, lambda content: _with_members(content, found.members, wanted))
    return True


def note_files(root: str, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Note what relay wrote into files of the repository, in the member `files`; without any, it goes.

    Args:
        root: Its rules are there and can be understood.
        records: One for each file that relay wrote to.

    Raises:
        RulesRefused: The file cannot be read or written, or is gone.
    """
    found = find_rules(root)
    if found is None or found.flaw:
        raise RulesRefused(rules_path(root), found.flaw if found else "it is gone")
    files = {name: dict(records[name]) for name in sorted(records)}
    if files != found.members.get("files", {}):
        _write(root, lambda content: _with_files(content, found.members, files))


def remove_rules(root: str, project: str | None, *, aliases: Names = _no_names) -> str:
    """Remove the file, and `.relay/` if that is empty then; what was left and why, or nothing.

    Only a file that says what `write_rules` makes it say, and nothing else, is removed.

    Args:
        root: The directory that was unlinked.
        project: What it was linked to; None if it was not, so that its file is somebody else's.
        aliases: Its further names; the file may say one of them.
    """
    path = rules_path(root)
    try:
        found = find_rules(root)
        if found is None:
            return ""
        if not _says_only(found, project, aliases):
            return f"{path}: {found.flaw or _difference(found.members)}"
        os.unlink(resolved_rules(root))
        drop_if_empty(f"{root}/.relay")
    except RulesRefused as refused:
        return str(refused)
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return ""


def _says_only(found: Rules, project: str | None, aliases: Names) -> bool:
    """Tell whether a file says that it is one project, by any of its names, and nothing else."""
    named = found.members.get("project")
    if found.members != {"version": _VERSION, "project": named} or project is None:
        return False
    return named == project or named in aliases()


def _understood(text: bytes) -> Rules:
    if len(text) > _MAX_BYTES:
        return Rules({}, f"it is over {_MAX_BYTES // 1024} KiB")
    try:
        members = json.loads(text.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Rules({}, "it is no JSON")
    if not isinstance(members, dict):
        return Rules({}, "it is no JSON object")
    return Rules(members, _flaw(members))  # pyright: ignore[reportUnknownArgumentType] -- JSON keys are str


def _no_constant(_name: str) -> None:
    """Refuse Infinity and NaN, which are no JSON."""
    raise ValueError


def _flaw(members: dict[str, Any]) -> str:
    version = members.get("version")
    if type(version) is not int or version < 1:
        return "it has no version"
    if version != _VERSION:
        return "a newer relayd made it"
    return "" if isinstance(members.get("project", ""), str) else "its project is no text"


def _difference(members: dict[str, Any]) -> str:
    return (
        "it holds more than a project"
        if members.keys() - _OURS
        else "it names a project that was not linked here"
    )


def resolved_rules(root: str) -> str:
    """Resolve the file's path, which must not lead out of the directory.

    Raises:
        RulesRefused: It does.
    """
    path = rules_path(root)
    try:
        found = os.path.realpath(path)
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    inside = os.path.relpath(found, os.path.realpath(root)).split("/")
    if inside[0] == ".." or ".git" in inside:
        raise RulesRefused(path, "a symbolic link leads out of the directory, or among the files of git")
    return found


def new_mode() -> int:
    """Tell the rights that the user's new files get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def drop_if_empty(directory: str) -> None:
    """Remove a directory that nothing is in."""
    import contextlib

    with contextlib.suppress(OSError):  # it holds something else
        os.rmdir(directory)


def make_directory(directory: str) -> None:
    """Make a directory if it is missing, and never the one it is in: a repository that is gone is not made anew."""
    import contextlib

    with contextlib.suppress(FileExistsError):
        os.mkdir(directory)


def _write(root: str, change: Callable[[bytes], bytes]) -> None:
    """Change the file; its directory, if it was made for it, goes if that fails."""
    path = resolved_rules(root)
    directory = os.path.dirname(path)
    made = not os.path.isdir(directory)
    try:
        make_directory(directory)
        found = file.read(path)
        aim = found if found.content is not None else found._replace(mode=new_mode())
        file.write(aim, change(found.content or b""))
    except EditRefused as refused:
        if made:
            drop_if_empty(directory)
        raise RulesRefused(rules_path(root), refused.rule) from refused
    except OSError as error:
        raise RulesRefused(rules_path(root), f"it cannot be written: {error.strerror or error}") from error


def _with_files(content: bytes, members: Mapping[str, Any], files: Mapping[str, Any]) -> bytes:
    """Put `files` into the text, or take it out, and keep how the rest is laid out; but what relay laid out grows."""
    if content == _spelt(members) and files:
        return _spelt({**members, "files": files})
    text = content.decode()
    edited = (
        json_text.set_member(text, ("files",), files) if files else json_text.drop_member(text, ("files",))
    )
    return edited.encode()


def _with_members(content: bytes, members: Mapping[str, Any], wanted: Mapping[str, Any]) -> bytes:
    """Put members into the text that are not in it as they should be, and keep how the rest is laid out."""
    text = content.decode()
    for name, value in wanted.items():
        if members.get(name) != value:
            text = json_text.set_member(text, (name,), value)
    return text.encode()


def _spelt(members: Mapping[str, Any]) -> bytes:
    """Spell the members: on one line, or on several if there is much to tell, so that a change of it shows."""
    indent = 2 if "files" in members else None
    try:
        return (json.dumps(members, ensure_ascii=False, indent=indent) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair of somebody's, which only an escape can spell
        return (json.dumps(members, indent=indent) + "\n").encode()
