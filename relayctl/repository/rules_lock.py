"""One run of `link` at a time writes in a repository: `.relay/` itself is locked, so that no further file is left."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from relayctl.errors import RulesRefused
from relayctl.file_lock import locked
from relayctl.repository.rules_file import drop_if_empty, make_directory, resolved_rules

__all__ = ("holding",)

_PATIENCE_S = 10.0


@contextmanager
def holding(root: str) -> Generator[None]:
    """Keep other runs out for the length of a block; `.relay/` is made for it, and goes if nothing is in it then.

    A file system without locks is used without one.

    Raises:
        RulesRefused: The directory cannot be made, or another run is at work for too long.
    """
    directory = os.path.dirname(resolved_rules(root))
    descriptor = _locked(directory, time.monotonic() + _PATIENCE_S)
    try:
        yield
    finally:
        if _is_there(directory, descriptor):  # else another run has made a new one, and may be at work in it
            drop_if_empty(directory)
        os.close(descriptor)


def _locked(directory: str, until: float) -> int:
    """Open and lock a directory that is still there by its name when it is locked."""
    while True:
        try:
            make_directory(directory)
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as error:  # another run has just removed it, or the repository is gone
            if os.path.isdir(os.path.dirname(directory)):
                continue
            raise RulesRefused(directory, error.strerror or str(error)) from error
        except OSError as error:
            raise RulesRefused(directory, error.strerror or str(error)) from error
        try:
            _lock(descriptor, directory, until)
            if _is_there(directory, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int, directory: str, until: float) -> None:
    if not locked(descriptor, until):
        told, hint = "another `relayctl link` is at work there", "repeat it when that has ended"
        raise RulesRefused(directory, told, hint=hint)


def _is_there(directory: str, descriptor: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(directory), os.fstat(descriptor))
    return False
