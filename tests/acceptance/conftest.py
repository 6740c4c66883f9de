"""Fixtures of the acceptance tests: homes with real daemons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agents, stage


@pytest.fixture
def home() -> Iterator[Path]:
    """A home; whatever daemon still runs on it at the end is stopped."""
    with stage.home() as path:
        yield path
        stage.relayctl("daemon", "stop", at=path)


@pytest.fixture
def running(home: Path) -> Iterator[stage.Daemon]:
    """A daemon on that home."""
    with stage.daemon(home) as started:
        yield started


@pytest.fixture
def user() -> Iterator[agents.Desk]:
    """A user with agents; no daemon runs yet."""
    with agents.desk() as made:
        yield made
