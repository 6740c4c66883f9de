"""Who may send: a courier, or a flush that takes over."""

from __future__ import annotations

import anyio
import pytest

from relayd.delivery.turn import Turn
from relayd.errors import FlushInProgress


async def test_a_second_flush_is_refused() -> None:
    """While one flush has the turn or waits for it, another is told so."""
    turn = Turn("/q")
    with turn.claim(), pytest.raises(FlushInProgress), turn.claim():
        pass
    with turn.claim():
        assert turn.wanted


async def test_a_flush_waits_for_the_round_under_way_and_no_other_begins() -> None:
    """The courier keeps the turn it has, sees that it is wanted, and gets no new one before the flush ends."""
    turn = Turn("/q")
    order: list[str] = []

    async def flush() -> None:
        with turn.claim():
            async with turn.take():
                order.append("flush")

    async with anyio.create_task_group() as group:
        with turn.try_take() as mine:
            assert mine
            group.start_soon(flush)
            await anyio.lowlevel.checkpoint()
            assert turn.wanted
            order.append("round ends")
        with turn.try_take() as mine:
            assert not mine
        await turn.wait_free()
        order.append("courier")
    assert order == ["round ends", "flush", "courier"]


async def test_a_failed_flush_frees_the_turn() -> None:
    """Whatever ends a flush, the courier may go on."""
    turn = Turn("/q")
    with pytest.raises(RuntimeError), turn.claim():
        raise RuntimeError
    with turn.try_take() as mine:
        assert mine
