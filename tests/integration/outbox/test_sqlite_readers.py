"""Reading connections: beside a writer, without one, and in a directory that may not be written to."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from relay_queue.errors import NotAQueue, QueueClosed, QueueDamaged, SchemaRefused
from relay_queue.sqlite.database import close_writer, open_reader, open_writer
from relay_queue.sqlite.readers import Readers
from tests.integration.outbox.children import run_python
from tests.integration.outbox.shelf import (
    SCHEMA_1,
    SCHEMA_2,
    add_books,
    make_shelf,
    names_beside,
    scribble,
)
from tests.waiting import eventually

COUNT = "SELECT count(*) FROM book"
LONG = "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows) SELECT max(i) FROM n"
ALL = "SELECT title FROM book WHERE title >= :from ORDER BY title"
READ = """
import sys
from pathlib import Path
from relay_queue.errors import OutboxError
from relay_queue.sqlite.database import open_reader
from tests.integration.outbox.shelf import SCHEMA_1
try:
    print(open_reader(Path(sys.argv[1]), SCHEMA_1, busy_timeout_s=0.0).execute("SELECT count(*) FROM book").fetchall())
except OutboxError as error:
    print(error)
"""
LEAVE_LOG = """
import os, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books
add_books(open_writer(Path(sys.argv[1]), SCHEMA_1), [{"title": "logged"}])
os._exit(0)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_shelf(tmp_path / "shelf.db", ["a", "b"])


def reading_threads() -> int:
    return sum("_connection_worker_thread" in thread.name for thread in threading.enumerate())


def no_reading_threads() -> bool:
    return reading_threads() == 0


async def test_rows_come_back_with_parameters(path: Path) -> None:
    """One call is one statement with named parameters; all rows come as plain tuples."""
    readers = Readers(path)
    assert await readers.fetch(ALL, {"from": "b"}) == [("b",)]
    assert await readers.fetch(COUNT) == [(2,)]
    await readers.aclose()


async def test_nothing_is_opened_before_the_first_use(path: Path) -> None:
    """Readers cost no thread and no descriptor until they are needed, and none after they are closed."""
    readers = Readers(path, count=2)
    assert reading_threads() == 0
    for _ in range(5):
        await readers.fetch(COUNT)
    assert reading_threads() == 1
    await asyncio.gather(*(readers.fetch(COUNT) for _ in range(5)))
    assert reading_threads() == 2
    await readers.aclose()
    assert eventually(no_reading_threads)


async def test_a_statement_goes_where_nothing_is_done(path: Path) -> None:
    """A long one holds no short ones up: they have the other connection, all of them."""
    readers = Readers(path, count=2)
    long = asyncio.ensure_future(readers.fetch(LONG, {"rows": 2_000_000}))
    await asyncio.sleep(0)
    for _ in range(20):
        assert await readers.fetch(COUNT) == [(2,)]
    assert not long.done()
    await long
    await readers.aclose()


async def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    """While a transaction is open, readers see what was committed before it, at once."""
    readers = Readers(path, busy_timeout_s=0.0)
    with closing(open_writer(path, SCHEMA_1)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        add_books(writer, [{"title": "c"}])
        assert await readers.fetch(COUNT) == [(2,)]
        writer.execute("COMMIT")
        assert await readers.fetch(COUNT) == [(3,)]
        await readers.aclose()


async def test_readers_cannot_write(path: Path) -> None:
    """A statement that writes is refused, whoever gives it."""
    readers = Readers(path)
    with pytest.raises(Exception, match=r"readonly|read-only"):
        await readers.fetch("DELETE FROM book")
    assert await readers.fetch("PRAGMA query_only") == [(1,)]
    assert await readers.fetch(COUNT) == [(2,)]
    await readers.aclose()


async def test_a_wrong_statement_is_ours_and_the_reader_lives(path: Path) -> None:
    """A fault of a statement comes through as it is."""
    readers = Readers(path, count=1)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await readers.fetch("SELECT * FROM missing")
    assert await readers.fetch(COUNT) == [(2,)]
    await readers.aclose()


async def test_damage_is_named(path: Path) -> None:
    """A page that cannot be read is reported as damage, not as an error of SQLite."""
    with closing(open_writer(path, SCHEMA_1)) as connection:
        add_books(connection, [{"title": f"{number}", "pages": "x" * 300} for number in range(200)])
    scribble_all(path)
    readers = Readers(path)
    with pytest.raises(QueueDamaged):
        await readers.fetch("SELECT * FROM book")
    await readers.aclose()


def scribble_all(path: Path) -> None:
    for page in range(2, path.stat().st_size // 4096 + 1):
        scribble(path, page)


async def test_a_closed_reader_says_so(path: Path) -> None:
    """After closing, opened before or not, a call is refused."""
    used, unused = Readers(path), Readers(path)
    await used.fetch(COUNT)
    for readers in (used, unused):
        await readers.aclose()
        await readers.aclose()
        with pytest.raises(QueueClosed):
            await readers.fetch(COUNT)


async def test_a_missing_file_is_reported_and_can_come_later(path: Path) -> None:
    """A failed opening costs nothing: the next call tries again."""
    readers = Readers(path.with_name("later.db"))
    with pytest.raises(NotAQueue):
        await readers.fetch(COUNT)
    assert eventually(no_reading_threads)
    make_shelf(path.with_name("later.db"))
    assert await readers.fetch(COUNT) == [(0,)]
    await readers.aclose()


@pytest.mark.parametrize("native", [False, True])
async def test_cancelled_callers_lose_no_reader(path: Path, native: bool) -> None:
    """Callers cancelled at any moment, while opening too, leave all connections usable and closable."""
    readers = Readers(path, count=2)
    for yields in range(40):
        if native:
            task = asyncio.ensure_future(readers.fetch(COUNT))
            for _ in range(yields):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(readers.fetch, COUNT)
                for _ in range(yields):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
    with anyio.fail_after(20):
        assert await readers.fetch(COUNT) == [(2,)]
        await readers.aclose()


async def test_closing_outlasts_a_cancellation(path: Path) -> None:
    """A cancelled closing still closes every connection before it gives way."""
    readers = Readers(path)
    await readers.fetch(COUNT)
    await readers.fetch(COUNT)
    task = asyncio.ensure_future(readers.aclose())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert eventually(no_reading_threads)


async def test_readers_closed_first_leave_the_file_alone(path: Path) -> None:
    """With the readers closed before the writer, no log stays behind."""
    readers = Readers(path)
    writer = open_writer(path, SCHEMA_1)
    add_books(writer, [{"title": "c"}])
    assert await readers.fetch(COUNT) == [(3,)]
    await readers.aclose()
    close_writer(writer)
    assert names_beside(path) == ["shelf.db"]


async def test_a_reader_left_open_costs_no_data(path: Path) -> None:
    """If a reader of another process outlives the writer, the log is emptied into the file all the same."""
    writer = open_writer(path, SCHEMA_1)
    with closing(open_reader(path)) as reader:
        assert reader.execute(COUNT).fetchone() == (2,)
        add_books(writer, [{"title": "c"}])
        close_writer(writer)
        assert path.with_name("shelf.db-wal").stat().st_size == 0
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as alone:
        assert alone.execute(COUNT).fetchone() == (3,)


def test_a_half_read_statement_elsewhere_does_not_hold_the_closing_up(path: Path) -> None:
    """A reader that stands in the middle of its rows keeps the log, not the writer."""
    writer = open_writer(path, SCHEMA_1)
    with closing(open_reader(path)) as reader:
        rows = reader.execute("SELECT title FROM book")
        assert rows.fetchone() == ("a",)
        add_books(writer, [{"title": "c"}])
        close_writer(writer)
        assert rows.fetchall() == [("b",)]
    assert open_titles(path) == ["a", "b", "c"]


def open_titles(path: Path) -> list[str]:
    with closing(open_reader(path, SCHEMA_1)) as reader:
        return [title for (title,) in reader.execute("SELECT title FROM book ORDER BY title")]


@pytest.mark.parametrize("mode", [0o700, 0o500])
def test_a_closed_file_can_be_read_where_nothing_can_be_made(path: Path, mode: int) -> None:
    """A cleanly closed file is readable in a read-only directory, and nothing comes into being there."""
    path.parent.chmod(mode)
    try:
        assert run_python(READ, path) == "[(2,)]"
        if mode == 0o500:
            assert names_beside(path) == ["shelf.db"]
    finally:
        path.parent.chmod(0o700)


def test_a_log_in_a_read_only_directory_is_read(path: Path) -> None:
    """What a killed owner left in its log is seen in a read-only directory too."""
    run_python(LEAVE_LOG, path)
    path.parent.chmod(0o500)
    try:
        assert run_python(READ, path) == "[(3,)]"
    finally:
        path.parent.chmod(0o700)


def test_a_reader_can_insist_on_its_schema(path: Path) -> None:
    """A file of another version is refused to a reader that knows only its own, and not migrated."""
    with pytest.raises(SchemaRefused, match="found schema 1, supported is 2"):
        open_reader(path, SCHEMA_2)
    path.with_name("empty.db").touch(mode=0o600)
    with pytest.raises(NotAQueue, match="empty"):
        open_reader(path.with_name("empty.db"), SCHEMA_1)


def test_a_reader_of_a_killed_owners_file_changes_nothing(path: Path) -> None:
    """Reading does not move the log into the file."""
    run_python(LEAVE_LOG, path)
    before = path.read_bytes(), path.with_name("shelf.db-wal").read_bytes()
    assert open_titles(path) == ["a", "b", "logged"]
    assert (path.read_bytes(), path.with_name("shelf.db-wal").read_bytes()) == before
