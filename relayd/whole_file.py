"""Files that are replaced whole: a reader, or a crash, finds the old or the new, never a part."""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ("write_whole",)


def write_whole(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Put a file in its place; it is on disk when this returns.

    Args:
        path: Its directory exists, and is one of ours alone.
        content: All of it.
        mode: Of the file, whatever the umask.

    Raises:
        OSError: The file that was there before, if any, is as it was, unless only the directory could not be synced.
    """
    aside = path.with_name(f".{path.name}.tmp")
    try:
        aside.unlink(missing_ok=True)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, for its mode
            os.fchmod(descriptor, mode)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        aside.replace(path)
        _sync(path.parent)
    except OSError:
        with suppress(OSError):
            aside.unlink()
        raise


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
