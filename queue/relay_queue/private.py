"""Directories and files that only their owner can use, and the lock on a directory."""

import errno
import fcntl
import os
import stat
from typing import Self

from relay_queue.errors import DirectoryRefused, NetworkFilesystem, OutboxError, StorageFailed
from relay_queue.mounts import network_filesystem

__all__ = (
    "DirectoryLock",
    "check_private_file",
    "ensure_private_dir",
    "network_filesystem",
    "open_private",
    "owner_pid",
    "refuse_network",
)

AnyPath = str | os.PathLike[str]

_DIR_MODE = 0o700
_FILE_MODE = 0o600
_OTHERS = 0o077
_PASSING = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE))
_SAFE_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # non-blocking: a planted FIFO must not hang us


def ensure_private_dir(path: AnyPath, *, create: bool, variable: str) -> None:
    """Make sure a directory is private to us; one that exists is checked, never changed.

    Args:
        path: Without `..`. Its last component is no symbolic link (parents may be), its parent exists.
        create: Make it (0700, whatever the umask) if it is missing.
        variable: What to set to choose another place; named if this one is on a network file system.

    Raises:
        DirectoryRefused: It, or its parent, is missing, or it is not private.
        StorageFailed: The disk is full, or the system cannot do more just now.
        NetworkFilesystem: Neither locks nor the WAL can be trusted there.
    """
    name = _plain_path(path)
    refuse_network(name, variable)
    if create:
        _make_dir(name)
    _check_dir(name)


def check_private_file(path: AnyPath, *, missing_ok: bool = False) -> None:
    """Refuse a file that is not regular, not ours, has a second name, or has bits for others.

    Nothing is opened: closing a second descriptor of a database would drop SQLite's locks on it.

    Raises:
        DirectoryRefused: As said, or it is missing and may not be.

    Source: sqlite.org/howtocorrupt.html, section 2.2.
    """
    name = os.fspath(path)
    try:
        found = os.lstat(name)
    except FileNotFoundError:
        if missing_ok:
            return
        raise DirectoryRefused(name, "does not exist") from None
    _check_file(name, found)


def open_private(path: AnyPath, flags: int) -> int:
    """Open a private file; one made here (`os.O_CREAT`) is 0600 from the start, whatever the umask.

    Raises:
        DirectoryRefused: It is a link or not private; see `check_private_file`.
        OSError: The opening failed.
    """
    name = os.fspath(path)
    made = _make_file(name, flags) if flags & os.O_CREAT else None
    if made is not None:
        return made
    check_private_file(name, missing_ok=True)  # names the fault better than the ELOOP that O_NOFOLLOW gives
    descriptor = os.open(name, (flags & ~(os.O_CREAT | os.O_TRUNC)) | _SAFE_OPEN)
    try:
        _check_file(name, os.fstat(descriptor))
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_network(path: AnyPath, variable: str) -> None:
    """Refuse a path on a network file system, naming the variable to set instead.

    Raises:
        NetworkFilesystem: It lies on one.
    """
    fstype = network_filesystem(path)
    if fstype is not None:
        raise NetworkFilesystem(os.fspath(path), fstype, variable)


def owner_pid(path: AnyPath, owner_file: str) -> int | None:
    """Read which process took a directory's lock; None if it gave it back.

    A killed process leaves its number behind, so only a failed `acquire` says that it is true.
    """
    try:
        descriptor = open_private(os.path.join(path, owner_file), os.O_RDONLY)  # noqa: PTH118 - no pathlib here
    except (OSError, DirectoryRefused):
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - from a descriptor
        text = file.read(32)
    return int(text) if text.strip().isdigit() else None


class DirectoryLock:
    """Sole use of a directory: `flock` on the directory's own descriptor, held until released.

    There is no lock file that someone could delete and lock again; the owner file only tells who.
    """

    def __init__(self, path: str, owner_file: str, descriptor: int) -> None:
        self.path = path
        self._owner_file = owner_file
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, path: AnyPath, owner_file: str) -> Self:
        """Take the lock without waiting and write our pid to `owner_file` in the directory.

        Raises:
            BlockingIOError: Another holds it; `owner_pid` may tell who.
            DirectoryRefused: The directory is missing, replaced just now, or may not be written to.
            StorageFailed: The disk is full, or the system cannot do more just now.
        """
        name = os.fspath(path)
        lock = cls(name, owner_file, _lock_dir(name))
        try:
            lock._write_owner()
        except OSError as error:
            lock.release()
            raise _refusal(name, "cannot be written to", error) from error
        return lock

    def release(self) -> None:
        """Remove the owner file and give the lock back; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            os.unlink(self._owner_file, dir_fd=descriptor)
        except OSError:
            pass  # deleted, or the directory became read-only: the lock is what counts
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _write_owner(self) -> None:
        """Put our pid in place whole: no reader ever sees half a number."""
        aside = f".new.{self._owner_file}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _SAFE_OPEN
        with open(os.open(aside, flags, _FILE_MODE, dir_fd=self._descriptor), "wb") as file:  # noqa: PTH123
            os.fchmod(file.fileno(), _FILE_MODE)
            file.write(b"%d\n" % os.getpid())
        os.rename(aside, self._owner_file, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)


def _plain_path(path: AnyPath) -> str:
    """Drop what would hide the last component: `link/` and `link/.` are the link itself."""
    name = os.fspath(path)
    if ".." in name.split("/"):
        raise DirectoryRefused(name, "must not contain `..`")
    return os.path.normpath(name)


def _make_dir(name: str) -> None:
    try:
        os.mkdir(name, _DIR_MODE)  # noqa: PTH102 - no pathlib before the lock
    except FileExistsError:
        return
    except FileNotFoundError:
        raise DirectoryRefused(name, "its parent directory does not exist") from None
    except OSError as error:
        raise _refusal(name, "cannot be made", error) from error
    if stat.S_IMODE(os.lstat(name).st_mode) & _DIR_MODE != _DIR_MODE:
        os.chmod(name, _DIR_MODE)  # noqa: PTH101 - an umask such as 0777 took bits we need


def _check_dir(name: str) -> None:
    try:
        found = os.lstat(name)
    except FileNotFoundError:
        raise DirectoryRefused(name, "does not exist") from None
    except OSError as error:
        raise _refusal(name, "cannot be looked at", error) from error
    if stat.S_ISLNK(found.st_mode):
        raise DirectoryRefused(name, "must not be a symbolic link")
    if not stat.S_ISDIR(found.st_mode):
        raise DirectoryRefused(name, "must be a directory")
    _check_owner(name, found, _DIR_MODE)


def _make_file(name: str, flags: int) -> int | None:
    """Make a file that nobody else ever saw open; None if it is there already and may be."""
    try:
        descriptor = os.open(name, flags | os.O_EXCL | _SAFE_OPEN, _FILE_MODE)
    except FileExistsError:
        if flags & os.O_EXCL:
            raise
        return None
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != _FILE_MODE:
        os.fchmod(descriptor, _FILE_MODE)  # an umask such as 0777 took bits we need
    return descriptor


def _check_file(name: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise DirectoryRefused(name, "must not be a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise DirectoryRefused(name, "must be a regular file")
    if found.st_nlink != 1:
        raise DirectoryRefused(name, "must not have a second name (hard link)")
    _check_owner(name, found, _FILE_MODE)


def _check_owner(name: str, found: os.stat_result, mode: int) -> None:
    if found.st_uid != os.geteuid():
        raise DirectoryRefused(name, "belongs to another user")
    if found.st_mode & _OTHERS:
        shown = stat.S_IMODE(found.st_mode)
        raise DirectoryRefused(name, f"is open to other users (mode {shown:04o}, must be {mode:04o})")


def _refusal(name: str, what: str, error: OSError) -> OutboxError:
    """Tell a place that will not do from a disk or a system that cannot do more just now."""
    reason = os.strerror(error.errno or 0)
    if error.errno in _PASSING:
        return StorageFailed(name, reason)
    return DirectoryRefused(name, f"{what} ({reason})")


def _lock_dir(name: str) -> int:
    """Lock the directory that has this name now; one moved away meanwhile would guard nothing."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _SAFE_OPEN)
    except OSError as error:
        raise _refusal(name, "cannot be opened", error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = os.path.samestat(os.fstat(descriptor), os.lstat(name))
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError as error:
        os.close(descriptor)
        raise _refusal(name, "cannot be locked", error) from error
    if not same:
        os.close(descriptor)
        raise DirectoryRefused(name, "was replaced while it was opened")
    return descriptor
