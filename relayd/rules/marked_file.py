"""A file in a directory of another program, which is ours as long as nobody else changed it.

Its first line says so and has a digest of the rest. Whatever does not fit to its own first line is somebody else's, and is
neither overwritten nor removed. No symbolic link is followed but in the path of the other program's directory.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Final, Literal, NamedTuple

__all__ = ("FIRST_LINE", "Flaw", "Looked", "is_ours", "keep", "look", "marked", "remove")

Flaw = Literal["no_directory", "symlink", "foreign", "unwritable"]
"""Why a file cannot be kept: the directory above its own is missing; it, or its directory, is a symbolic link; it is
somebody else's; the system refuses."""

_DIGITS: Final = 16
_FIRST: Final = "<!-- relay {digest}: written by relayd, as long as nobody else changes this file -->\n"

FIRST_LINE: Final = _FIRST.format(digest="0" * _DIGITS)
"""How long the first line is."""

_MAX_BYTES: Final = 64 * 1024
_READING: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Looked(NamedTuple):
    """What lies at a path.

    Args:
        flaw: Why it cannot be kept; None if it is ours, or nothing is there.
        written_at_ms: When ours was written last, wall clock, Unix milliseconds; None if none is there.
    """

    flaw: Flaw | None = None
    written_at_ms: int | None = None


class _Refused(Exception):
    """The file cannot be kept."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw: Flaw = flaw


def marked(text: str) -> bytes:
    """Give a text the first line that makes it ours."""
    rest = text.encode()
    return _FIRST.format(digest=_digest(rest)).encode() + rest


def is_ours(content: bytes) -> bool:
    """Whether a file has the first line that belongs to the rest of it."""
    first, newline, rest = content.partition(b"\n")
    return first + newline == _FIRST.format(digest=_digest(rest)).encode()


def look(path: str) -> Looked:
    """Look what lies there.

    Args:
        path: Absolute.
    """
    try:
        with _directory_of(path, make=False) as directory:
            content, at_ms = _read(directory, os.path.basename(path))  # noqa: PTH119 -- beside a descriptor
    except FileNotFoundError:
        return Looked()
    except _Refused as refused:
        return Looked(refused.flaw)
    except OSError:
        return Looked("unwritable")
    return Looked(None, None if content is None else at_ms)


def keep(path: str, content: bytes) -> Looked:
    """Have the file hold what it should, if nothing is there, or what is there is ours.

    Its directory is made if only that is missing. A file that holds the same is left alone; another one is replaced by
    one of its own that nobody else may read.

    Args:
        path: Absolute.
        content: As `marked` gives it.
    """
    try:
        with _directory_of(path, make=True) as directory:
            name = os.path.basename(path)  # noqa: PTH119
            there, _ = _read(directory, name)
            if there != content:
                _replace(directory, name, content)
            return Looked(None, _read(directory, name)[1])
    except _Refused as refused:
        return Looked(refused.flaw)
    except OSError:
        return Looked("unwritable")


def remove(path: str) -> bool:
    """Remove the file if it is ours; whether it was there and is gone."""
    try:
        with _directory_of(path, make=False) as directory:
            name = os.path.basename(path)  # noqa: PTH119
            if _read(directory, name)[0] is None:
                return False
            os.unlink(name, dir_fd=directory)
    except (_Refused, OSError):
        return False
    return True


def _digest(rest: bytes) -> str:
    return sha256(rest).hexdigest()[:_DIGITS]


@contextmanager
def _directory_of(path: str, *, make: bool) -> Generator[int]:
    """Open the directory of a file.

    Raises:
        _Refused: There is none to make it in, or it is a symbolic link or no directory.
        FileNotFoundError: It is missing, and is not to be made.
    """
    above, name = os.path.split(os.path.dirname(path))  # noqa: PTH120
    try:
        parent = os.open(above, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise _Refused("no_directory") from None
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)
        try:
            directory = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        except NotADirectoryError:
            raise _Refused("symlink") from None
        except OSError as error:
            raise (_Refused("symlink") if _is_link(name, parent) else error) from None
    finally:
        os.close(parent)
    try:
        yield directory
    finally:
        os.close(directory)


def _read(directory: int, name: str) -> tuple[bytes | None, int]:
    """Read our file, and when it was written; None if nothing is there.

    Raises:
        _Refused: Something else is there.
    """
    try:
        descriptor = os.open(name, _READING, dir_fd=directory)
    except FileNotFoundError:
        return None, 0
    except OSError as error:
        raise (_Refused("symlink") if _is_link(name, directory) else error) from None
    try:
        found = os.fstat(descriptor)
        content = _content(descriptor) if stat.S_ISREG(found.st_mode) else b""
    finally:
        os.close(descriptor)
    if len(content) > _MAX_BYTES or not is_ours(content):
        raise _Refused("foreign")
    return content, found.st_mtime_ns // 1_000_000


def _content(descriptor: int) -> bytes:
    """Read to the end, or so much that it cannot be ours."""
    content = b""
    while len(content) <= _MAX_BYTES and (piece := os.read(descriptor, _MAX_BYTES)):
        content += piece
    return content


def _replace(directory: int, name: str, content: bytes) -> None:
    """Put our file in its place: a reader, or a crash, finds the old one or the new one."""
    aside = f".{name}.relay"
    with suppress(FileNotFoundError):
        os.unlink(aside, dir_fd=directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(aside, flags, 0o600, dir_fd=directory)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123
            os.fchmod(descriptor, 0o600)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        _read(directory, name)  # once more, as late as it goes
        os.replace(aside, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside, dir_fd=directory)
        raise
    os.fsync(directory)


def _is_link(name: str, directory: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
