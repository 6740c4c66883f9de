"""Callers that are cancelled at any moment, by anyio and by asyncio."""

import asyncio
import random
import sqlite3
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.shelf import add_books, titles_in
from tests.integration.outbox.stalled import CountedWriter, Stall, running

CALLERS = 300


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def pair(number: int):
    """Give a job that adds two books, between which a half-done job would show."""

    def add(connection: sqlite3.Connection) -> int:
        add_books(connection, [{"title": f"{number} left"}])
        add_books(connection, [{"title": f"{number} right"}])
        return number

    return add


def add_pairs(connection: sqlite3.Connection, numbers: list[int]) -> list[int]:
    """Do the same as `pair` for a merged set."""
    for number in numbers:
        pair(number)(connection)
    return numbers


async def call(writer: Writer, number: int, done: list[int]) -> None:
    work = writer.run(pair(number)) if number % 2 else writer.merge(add_pairs, number)
    done.append(await work)


async def cancel_with_anyio(writer: Writer, number: int, yields: int, done: list[int]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(call, writer, number, done)
        for _ in range(yields):
            await checkpoint()
        group.cancel_scope.cancel()


async def cancel_with_asyncio(writer: Writer, number: int, yields: int, done: list[int]) -> None:
    task = asyncio.ensure_future(call(writer, number, done))
    for _ in range(yields):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def time_out(writer: Writer, number: int, yields: int, done: list[int]) -> None:
    with anyio.move_on_after(yields / 20_000):
        await call(writer, number, done)


@pytest.mark.parametrize("caller", [cancel_with_anyio, cancel_with_asyncio, time_out])
async def test_cancelled_callers_leave_whole_jobs_and_a_working_writer(path: Path, caller) -> None:
    """Whoever is cancelled when: no pair is half stored, what a caller heard of is stored, the writer goes on."""
    chance = random.Random(7)
    done: list[int] = []
    async with running(path) as writer:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for number in range(CALLERS):
                    group.start_soon(caller, writer, number, chance.randrange(40), done)
                    await checkpoint()
            assert await writer.run(pair(CALLERS)) == CALLERS
            assert await writer.merge(add_pairs, CALLERS + 1) == CALLERS + 1
        stored = titles_in(path)
        lefts = {title.split()[0] for title in stored if title.endswith("left")}
        assert lefts == {title.split()[0] for title in stored if title.endswith("right")}
        assert len(stored) == 2 * len(lefts)
        assert {str(number) for number in done} <= lefts


async def test_a_cancelled_callers_job_may_still_be_stored(path: Path) -> None:
    """Cancelling ends the waiting, not a job that is on its way; nothing is reported to nobody."""
    reports: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
    async with running(path) as writer:
        stall = Stall()
        held = asyncio.ensure_future(writer.run(stall))
        await stall.wait_until_held()
        waiting = [asyncio.ensure_future(writer.run(pair(number))) for number in (1, 1)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        stall.release()
        await held
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError] * 2
        assert await writer.run(pair(2)) == 2
        assert titles_in(path) == ["1 left", "1 right", "2 left", "2 right"]
    assert reports == []


def test_a_loop_that_is_gone_does_not_stop_the_writer(path: Path) -> None:
    """A loop may end while its jobs are under way; another loop uses the same writer afterwards."""
    stall = Stall()
    writer = CountedWriter(path)

    async def leave_early() -> None:
        await writer.start()
        asyncio.ensure_future(writer.run(stall))  # noqa: RUF006 - nobody is to wait for it
        await stall.wait_until_held()

    async def come_later() -> int:
        done = await writer.run(pair(1))
        await writer.aclose()
        return done

    asyncio.run(leave_early())
    stall.release()
    assert asyncio.run(come_later()) == 1
    assert titles_in(path) == ["1 left", "1 right"]
