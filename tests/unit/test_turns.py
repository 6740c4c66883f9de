"""Long work in the event loop leaves it to others in between."""

from __future__ import annotations

from itertools import pairwise

import anyio
import anyio.lowlevel

from relayd.turns import Turns


async def test_results_come_in_the_order_of_the_items():
    """Whether they are made in one piece or in many."""
    for piece_s in (0.0, 60.0):
        assert await Turns(piece_s).map(str, range(5)) == ["0", "1", "2", "3", "4"]
        assert await Turns(piece_s).map(str, []) == []


async def test_the_loop_looks_around_after_every_piece():
    """Here every item is a piece: a task that wants its turn has had it before the next one."""
    seen: list[int] = []
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await Turns(0.0).map(lambda _: seen.append(turns), range(10))
        tasks.cancel_scope.cancel()
    assert all(later > earlier for earlier, later in pairwise(seen))


async def test_only_one_of_many_works_at_a_time():
    """They take turns, so that two do not keep the loop for twice as long, and none waits for all of another."""
    shared, order = Turns(0.0), list[str]()

    async def work(name: str) -> None:
        await shared.map(order.append, [name] * 4)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work, "a")
        tasks.start_soon(work, "b")
    assert "".join(order) in {"abababab", "aabababb", "babababa", "bbababaa"}


async def test_work_that_fails_lets_the_next_one_in():
    """What it raises reaches who asked for it."""
    shared = Turns()
    failed = False
    try:
        await shared.map(int, ["x"])
    except ValueError:
        failed = True
    assert failed
    assert await shared.map(int, ["1"]) == [1]
