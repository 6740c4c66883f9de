"""File systems of a test's own, where one can be mounted."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def tmpfs(at: Path, options: str) -> Iterator[None]:
    """Mount a tmpfs with these options for the length of a block; skip the test where that cannot be done."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("no mount command here")
    if subprocess.run(
        [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(at)], check=False, capture_output=True
    ).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run([umount, str(at)], check=True)
