"""Fixtures of the client's integration tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import stage
from tests.integration.client.command import run


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that is not there yet, with letters and a length that paths have in life; no daemon is left on it."""
    with stage.home() as place:
        path = place / "Ana María" / ("x" * 120)
        yield path
        assert run(path, "daemon", "stop").returncode == 0
