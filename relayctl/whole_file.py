"""Files of relay's own, replaced whole: whoever reads one meanwhile finds the old or the new, never a part.

Those of others, which have an owner, rights and somebody who may be writing too, are `edits/file.py`'s.
"""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ("write_whole",)


def write_whole(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Put a file in its place once its content is on disk; nothing is left of it if that fails.

    Args:
        path: Its directory exists.
        content: All of it.
        mode: Of the new file, less what the umask takes.

    Raises:
        OSError: The file that was there before, if any, is as it was.
    """
    directory, name = os.path.split(path)
    aside = os.path.join(directory, f".{name}.{os.getpid()}.tmp")
    with suppress(FileNotFoundError):
        os.unlink(aside)  # of a process that was killed and had the same number
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(aside, flags, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
