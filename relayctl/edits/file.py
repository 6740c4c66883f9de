"""Files of others, as settings and instructions: replaced whole as long as they are as they were read.

They keep their place behind links, their owner and their rights. Files of relay's own need none of that: `whole_file.py`.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import NamedTuple

from relayctl.edits.errors import FileChanged, FileRefused

__all__ = ("Read", "read", "remove", "write")

_MAX_BYTES = 64 * 1024 * 1024
_NEW_MODE = 0o600
_NEW_DIRECTORY_MODE = 0o700


class Read(NamedTuple):
    """A file as it was when it was read.

    Args:
        path: As it was asked for.
        real_path: What its symbolic links lead to; that is what is replaced.
        content: None if there is no file.
        mode: Its permission bits, or those that a new file gets.
        owner: Numbers of its user and group; None if there is no file.
    """

    path: str
    real_path: str
    content: bytes | None
    mode: int = _NEW_MODE
    owner: tuple[int, int] | None = None


def read(path: str) -> Read:
    """Read a file; a link to nothing counts as a file that is not there.

    Raises:
        FileRefused: It cannot be read, or it is no file.
    """
    try:
        real_path = os.path.realpath(path)
        descriptor = os.open(real_path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Read(path, os.path.realpath(path), None)
    except OSError as error:
        raise FileRefused(path, _reason(error)) from error
    try:
        return _read(path, real_path, descriptor)
    except OSError as error:
        raise FileRefused(path, _reason(error)) from error
    finally:
        os.close(descriptor)


def write(found: Read, content: bytes) -> tuple[str, ...]:
    """Put other content in a file's place, with the same rights and owner, once it is on disk.

    The rights are those that the file has by now; those of `found` are for a file that is not there.

    Returns:
        Directories that had to be made for it, the outermost first; `remove` takes them.

    Raises:
        FileChanged: Somebody changed the file after it was read.
        FileRefused: It cannot be replaced; it is as it was.
    """
    now = _check(found)
    made: list[str] = []
    try:
        _make_directories(os.path.dirname(found.real_path), made)
        _replace(found if now.content is None else now, content)
    except OSError as error:
        _drop_directories(made)
        raise FileRefused(found.path, f"it cannot be written: {_reason(error)}") from error
    except BaseException:
        _drop_directories(made)
        raise
    return tuple(made)


def remove(found: Read, made: tuple[str, ...] = ()) -> None:
    """Remove a file, and directories that were made for it if nothing else is in them.

    A symbolic link to it stays, so that it can be there again. A file that is not there is no error.

    Raises:
        FileChanged: Somebody changed the file after it was read.
        FileRefused: It cannot be removed; it is as it was.
    """
    _check(found)
    try:
        with suppress(FileNotFoundError):
            os.unlink(found.real_path)
    except OSError as error:
        raise FileRefused(found.path, f"it cannot be removed: {_reason(error)}") from error
    _drop_left(found.real_path)
    _drop_directories(made)


def _read(path: str, real_path: str, descriptor: int) -> Read:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise FileRefused(path, "it is no file")
    if status.st_size > _MAX_BYTES:
        raise FileRefused(path, f"it is over {_MAX_BYTES // 1024**2} MiB")
    with open(descriptor, "rb", closefd=False) as file:
        content = file.read()
    return Read(path, real_path, content, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def _check(found: Read) -> Read:
    """See that a file is as it was read, and that it may be replaced; gives it as it is now.

    A file that may not be written to could be replaced all the same: its directory decides that. But whoever took the
    right away meant it.
    """
    now = read(found.path)
    if (now.real_path, now.content) != (found.real_path, found.content):
        raise FileChanged(found.path)
    if now.content is None:
        return now
    if not now.mode & stat.S_IWUSR or not os.access(now.real_path, os.W_OK):
        raise FileRefused(found.path, "it is read-only")
    if os.stat(now.real_path).st_nlink > 1:
        raise FileRefused(found.path, "it has a second name (a hard link), which would keep the old content")
    return now


def _replace(found: Read, content: bytes) -> None:
    directory = os.path.dirname(found.real_path)
    aside = _aside(found.real_path, os.getpid())
    _drop_left(found.real_path)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(aside, flags, _NEW_MODE), "wb") as file:
            _own(found, file.fileno())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _check(found)  # once more, as late as it goes: a disk takes its time
        os.replace(aside, found.real_path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    _sync(directory)


def _aside(path: str, pid: int | str) -> str:
    """Name what a process writes before it takes a file's place."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.{pid}.tmp")


def _drop_left(path: str) -> None:
    """Remove what processes left beside a file that were killed while they wrote it: it may hold credentials."""
    directory, start = os.path.split(_aside(path, ""))
    pattern = re.compile(rf"{re.escape(start.removesuffix('.tmp'))}(\d{{1,10}})\.tmp")
    with suppress(OSError):
        for name in os.listdir(directory):
            if (left := pattern.fullmatch(name)) and not _runs(int(left[1])):
                os.unlink(os.path.join(directory, name))


def _runs(pid: int) -> bool:
    """Tell whether a process of that number is there, other than this one."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _own(found: Read, descriptor: int) -> None:
    """Give a new file the owner and the rights of the old one; the owner first, for a change of it takes rights."""
    if found.owner is not None:
        user, group = found.owner
        status = os.fstat(descriptor)
        if status.st_gid != group:
            with suppress(PermissionError):  # a group that this user is not in
                os.fchown(descriptor, -1, group)
        if status.st_uid != user:
            os.fchown(descriptor, user, -1)
    os.fchmod(descriptor, found.mode)


def _sync(directory: str) -> None:
    """Put a new name on disk, where directories can be synced."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _make_directories(directory: str, made: list[str]) -> None:
    """Make a directory and those above it that are not there; note each, the outermost first."""
    if not directory or os.path.isdir(directory):
        return
    _make_directories(os.path.dirname(directory), made)
    os.mkdir(directory, _NEW_DIRECTORY_MODE)
    made.append(directory)


def _drop_directories(made: tuple[str, ...] | list[str]) -> None:
    for directory in reversed(made):
        with suppress(OSError):  # something else is in it, or it is gone
            os.rmdir(directory)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
