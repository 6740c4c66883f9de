"""A file of the user's in TOML: read whole, and refused for anything in it that is not understood."""

import os
import stat
from pathlib import Path
from typing import TypeVar

import msgspec

from relayd.errors import ConfigRefused

__all__ = ("read_settings",)

Shape = TypeVar("Shape")


def read_settings(file: Path, shape: type[Shape]) -> Shape:
    """Read a file of the user's as TOML of one shape.

    Raises:
        FileNotFoundError: There is none.
        ConfigRefused: It cannot be read, or is not of this shape.
    """
    try:
        text = _read_regular(file).decode()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigRefused(str(file), error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise ConfigRefused(str(file), "is not UTF-8 text") from None
    import tomllib  # not at the top: most homes have no such file

    try:
        return msgspec.convert(tomllib.loads(text), shape)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigRefused(str(file), str(error)) from None


def _read_regular(file: Path) -> bytes:
    """Read a regular file; a pipe in its place would keep the start waiting for whoever writes to it.

    Raises:
        ConfigRefused: It is something else.
    """
    with open(file, "rb", opener=_open_at_once) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise ConfigRefused(str(file), "is no regular file")
        return opened.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
