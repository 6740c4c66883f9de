"""A bound queue on disk, and an outbox on it whose clock is turned by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relay_queue import Outbox, open_outbox
from relay_queue.directory import bind
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import BINDING


@pytest.fixture
def ticks() -> FakeTicks:
    """Clocks that stand still until told otherwise."""
    return FakeTicks()


@pytest.fixture
def queue_dir(tmp_path: Path, ticks: FakeTicks) -> Path:
    """A bound queue that nobody has open."""
    directory = tmp_path / "queue"
    bind(directory, BINDING, ticks=ticks)
    return directory


@pytest.fixture
async def outbox(queue_dir: Path, ticks: FakeTicks) -> AsyncIterator[Outbox]:
    """That queue, open, with the real limits and back-off without jitter: 1 s, 2 s, 4 s and so on."""
    async with open_outbox(queue_dir, ticks=ticks, random=lambda: 0.0) as opened:
        yield opened
