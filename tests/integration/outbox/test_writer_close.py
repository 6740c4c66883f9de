"""Starting and closing a writer."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import anyio
import pytest

from relay_queue.errors import NotAQueue, QueueClosed
from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.children import run_python
from tests.integration.outbox.shelf import SCHEMA_1, add_books, make_shelf, names_beside, titles_in
from tests.integration.outbox.stalled import CountedWriter, Stall, running
from tests.waiting import eventually

NEVER_CLOSED = """
import asyncio, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books

async def main(path):
    writer = Writer(lambda: open_writer(path, SCHEMA_1, create=True), name="w", path=path)
    await writer.start()
    await writer.run(lambda connection: add_books(connection, [{"title": "a"}]))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def add(connection: sqlite3.Connection, titles: list[str]) -> list[int]:
    return add_books(connection, [{"title": title} for title in titles])


def no_writer_threads() -> bool:
    return all(thread.name != "writer under test" for thread in threading.enumerate())


async def test_closing_commits_what_waits(path: Path) -> None:
    """Jobs that were taken before the closing are stored and answered; the file then stands alone."""
    writer = CountedWriter(path)
    await writer.start()
    stall = Stall()
    held = asyncio.ensure_future(writer.run(stall))
    await stall.wait_until_held()
    waiting = [asyncio.ensure_future(writer.merge(add, title)) for title in "abc"]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(writer.aclose())
    await asyncio.sleep(0)
    with pytest.raises(QueueClosed):
        await writer.merge(add, "late")
    stall.release()
    await closing
    await held
    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert names_beside(path) == ["shelf.db"]
    assert titles_in(path) == ["a", "b", "c"]


async def test_a_closed_writer_takes_nothing(path: Path) -> None:
    """After closing, and before starting, every call is refused; closing again is harmless."""
    writer = CountedWriter(path)
    for _ in range(2):
        with pytest.raises(QueueClosed):
            await writer.merge(add, "a")
        await writer.aclose()
        await writer.start()
        await writer.aclose()
    await writer.aclose()
    assert eventually(no_writer_threads)


async def test_several_may_close_at_once(path: Path) -> None:
    """Whoever closes waits for the end, whoever began it."""
    async with running(path) as writer:
        stall = Stall()
        held = asyncio.ensure_future(writer.run(stall))
        await stall.wait_until_held()
        closers = [asyncio.ensure_future(writer.aclose()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(closer.done() for closer in closers)
        stall.release()
        await asyncio.gather(held, *closers)
        assert names_beside(path) == ["shelf.db"]


@pytest.mark.parametrize("native", [False, True])
async def test_closing_outlasts_a_cancellation(path: Path, native: bool) -> None:
    """A cancelled closing still ends with the file closed: nobody may open it before."""
    writer = CountedWriter(path)
    await writer.start()
    stall = Stall()
    held = asyncio.ensure_future(writer.run(stall))
    await stall.wait_until_held()
    waiting = asyncio.ensure_future(writer.merge(add, "a"))
    scope = anyio.CancelScope()

    async def close() -> None:
        with scope:
            await writer.aclose()

    closing = asyncio.ensure_future(close())
    await asyncio.sleep(0)
    for _ in range(3):
        if native:
            closing.cancel()
        else:
            scope.cancel()
        await asyncio.sleep(0)
    assert not closing.done()
    stall.release()
    assert (await asyncio.gather(closing, return_exceptions=True))[0] is None or native
    assert closing.cancelled() == native
    assert await waiting == 1
    await held
    assert names_beside(path) == ["shelf.db"]


async def test_what_the_opening_raises_is_raised_by_start(path: Path) -> None:
    """A writer that cannot open its file says why, leaves no thread, and can be started again."""
    writer = Writer(lambda: open_writer(path, SCHEMA_1), name="writer under test", path=path)
    for _ in range(2):
        with pytest.raises(NotAQueue):
            await writer.start()
    assert eventually(no_writer_threads)
    with pytest.raises(QueueClosed):
        await writer.merge(add, "a")
    make_shelf(path)
    await writer.start()
    assert await writer.merge(add, "a") == 1
    await writer.aclose()


async def test_a_start_that_is_cancelled_leaves_nothing_open(path: Path) -> None:
    """A cancelled start waits until the file was opened, closes it and then gives way."""
    entered, free = threading.Event(), threading.Event()

    def connect() -> sqlite3.Connection:
        entered.set()
        assert free.wait(20)
        return open_writer(path, SCHEMA_1, create=True)

    writer = Writer(connect, name="writer under test", path=path)
    starting = asyncio.ensure_future(writer.start())
    assert await asyncio.to_thread(entered.wait, 20)
    starting.cancel()
    await asyncio.sleep(0)
    assert not starting.done()
    free.set()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert eventually(no_writer_threads)
    assert names_beside(path) == ["shelf.db"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_mistake_in_a_hook_ends_the_writer_but_leaves_nobody_waiting(path: Path) -> None:
    """What was committed is still answered, later callers are refused, and the file is closed."""

    def fail() -> None:
        raise ZeroDivisionError

    writer = Writer(
        lambda: open_writer(path, SCHEMA_1, create=True),
        name="writer under test",
        path=path,
        after_commit=fail,
    )
    await writer.start()
    with anyio.fail_after(20):
        assert await writer.merge(add, "a") == 1
        assert eventually(no_writer_threads)
        with pytest.raises(QueueClosed):
            await writer.merge(add, "b")
        await writer.aclose()
    assert names_beside(path) == ["shelf.db"]


def test_a_writer_that_was_never_closed_does_not_keep_the_process(path: Path) -> None:
    """A program that forgot to close ends all the same, and what it had heard of is stored."""
    assert run_python(NEVER_CLOSED, path) == ""
    assert titles_in(path) == ["a"]
