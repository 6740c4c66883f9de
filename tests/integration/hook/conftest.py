"""A home with its launcher for each test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.hook import shim


@pytest.fixture
def at() -> Iterator[Path]:
    """A directory outside of any project and any home."""
    path = Path(tempfile.mkdtemp(prefix="hook-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def hook(at: Path) -> shim.Shim:
    """A hook without a daemon."""
    return shim.make(at)
