"""Which file system a path lies on, and whether it is a network one."""

import os
import sys
from collections.abc import Iterable, Iterator

__all__ = ("filesystem_of", "is_network", "network_filesystem", "read_mount_output", "read_mountinfo")

Mount = tuple[bytes, str]
"""Where something is mounted, and the name of its file system."""

_NETWORK = frozenset(
    {
        "9p",
        "acfs",
        "afpfs",
        "afs",
        "auristorfs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "ftp",
        "ftpfs",
        "gcsfuse",
        "glusterfs",
        "gpfs",
        "juicefs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "orangefs",
        "panfs",
        "pvfs2",
        "rclone",
        "s3fs",
        "smb2",
        "smb3",
        "smbfs",
        "sshfs",
        "webdav",
        "wekafs",
    }
)
_OCTAL_DIGITS = frozenset(b"01234567")


def network_filesystem(path: str | os.PathLike[str]) -> str | None:
    """Name the network file system a path lies on; None for a local one, or where it cannot be told.

    Symbolic links in the path are followed: what counts is where the directory really is.
    """
    fstype = filesystem_of(os.fsencode(os.path.realpath(path)), _mounts())
    return fstype if fstype is not None and is_network(fstype) else None


def is_network(fstype: str) -> bool:
    """Tell a network file system by its name; one in user space is named like `fuse.sshfs`."""
    return fstype.rpartition(".")[2].lower() in _NETWORK


def filesystem_of(path: bytes, mounts: Iterable[Mount]) -> str | None:
    """Find the file system of a resolved path: the longest mount point wins, of equal ones the last."""
    found: Mount | None = None
    for mount in mounts:
        point = mount[0]
        if _is_below(path, point) and (found is None or len(point) >= len(found[0])):
            found = mount
    return None if found is None else found[1]


def read_mountinfo(text: bytes) -> Iterator[Mount]:
    """Read Linux's table of mounts.

    A bind mount counts as the file system it shows, an overlay as `overlay`.

    Source: proc_pid_mountinfo(5): mount point is field 5, the type follows a lone hyphen.
    """
    for line in text.splitlines():
        fields, _, rest = line.partition(b" - ")
        head, tail = fields.split(b" "), rest.split(b" ")
        if len(head) > 4 and tail[0]:  # noqa: PLR2004 - five fields make a mount point
            yield _unescape(head[4]), os.fsdecode(tail[0])


def read_mount_output(text: bytes) -> Iterator[Mount]:
    """Read what macOS's `mount` prints: `source on /point (type, options)`."""
    for line in text.splitlines():
        head, _, options = line.rpartition(b" (")
        _, found, point = head.partition(b" on /")
        if found:
            yield b"/" + point, os.fsdecode(options.rstrip(b")").partition(b",")[0])


def _is_below(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")


def _unescape(field: bytes) -> bytes:
    r"""Undo the kernel's `\040`: blank, tab, newline and backslash in three octal digits."""
    first, *rest = field.split(b"\\")
    for part in rest:
        digits = part[:3]
        octal = len(digits) == 3 and _OCTAL_DIGITS.issuperset(digits)  # noqa: PLR2004 - the fixed width
        first += bytes([int(digits, 8) & 0xFF]) + part[3:] if octal else b"\\" + part
    return first


if sys.platform == "darwin":

    def _mounts() -> Iterable[Mount]:
        import subprocess  # noqa: PLC0415 - slow to import, and Linux has no need of it

        try:
            shown = subprocess.run(["/sbin/mount"], check=True, capture_output=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return ()
        return read_mount_output(shown.stdout)

else:

    def _mounts() -> Iterable[Mount]:
        try:
            with open("/proc/self/mountinfo", "rb") as table:  # noqa: PTH123 - no pathlib before the lock
                return read_mountinfo(table.read())
        except OSError:
            return ()
