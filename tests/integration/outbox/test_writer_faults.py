"""A full disk, a failing one, a held lock, a damaged file, a file that went away."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.errors import QueueBusy, QueueDamaged, StorageFailed
from tests.integration.outbox.children import run_python
from tests.integration.outbox.shelf import add_books, make_shelf, names_beside, scribble, titles_in
from tests.integration.outbox.stalled import as_one_group, running

LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from relay_queue.errors import StorageFailed
from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books, titles_in

async def main(path):
    writer = Writer(lambda: open_writer(path, SCHEMA_1, create=True), name="w", path=path)
    await writer.start()
    await writer.run(lambda connection: add_books(connection, [{"title": "before"}]))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        await writer.run(lambda connection: add_books(connection, [{"title": "large", "pages": "x" * 500_000}]))
    except StorageFailed as error:
        print(error.reason)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await writer.run(lambda connection: add_books(connection, [{"title": "after"}]))
    await writer.aclose()
    print(titles_in(path))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def book(title: str, size: int = 0):
    """Give a job that adds a book of this many characters."""

    def add(connection: sqlite3.Connection) -> str:
        add_books(connection, [{"title": title, "pages": "x" * size}])
        return title

    return add


def limit_pages(count: int):
    """Give a job that sets how large the file may become."""

    def limit(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count = {count:d}")

    return limit


async def test_a_full_disk_fails_the_group_as_one_and_the_writer_lives(path: Path) -> None:
    """Nothing of the group is stored, all its callers hear why, and with room again the writer works."""
    async with running(path, max_page_count=30) as writer:
        await writer.run(book("before"))
        results = await as_one_group(
            writer, writer.run(book("a")), writer.run(book("large", 1_000_000)), writer.run(book("b"))
        )
        assert [type(result) for result in results] == [StorageFailed] * 3
        assert all("disk is full" in str(result) for result in results)
        assert len({id(result) for result in results}) == 3
        assert titles_in(path) == ["before"]
        assert await writer.run(book("small")) == "small"
        await writer.run(limit_pages(10_000))
        assert await writer.run(book("large", 1_000_000)) == "large"
        assert titles_in(path) == ["before", "small", "large"]
        assert writer.groups == 3


async def test_a_full_disk_fails_a_merged_set_as_one(path: Path) -> None:
    """A set that does not fit is not tried again one by one: the disk is to blame, not a payload."""
    runs: list[int] = []

    def work(connection: sqlite3.Connection, books: list[dict[str, str]]) -> list[int]:
        runs.append(len(books))
        return add_books(connection, books)

    async with running(path, max_page_count=30) as writer:
        calls = [writer.merge(work, {"title": title, "pages": "x" * 60_000}) for title in "abc"]
        results = await as_one_group(writer, *calls)
        assert [type(result) for result in results] == [StorageFailed] * 3
        assert runs == [3]
        assert titles_in(path) == []
        assert await writer.merge(work, {"title": "d"}) == 1


async def test_a_hook_that_finds_the_disk_full_fails_the_group(path: Path) -> None:
    """The room for the last write of a group counts too."""

    def note(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE book SET pages = :pages", {"pages": "x" * 1_000_000})

    async with running(path, max_page_count=30, before_commit=note) as writer:
        results = await as_one_group(writer, writer.run(book("a")), writer.run(book("b")))
        assert [type(result) for result in results] == [StorageFailed] * 2
        assert titles_in(path) == []


def test_a_disk_that_fails_to_write_is_reported_and_the_writer_lives(path: Path) -> None:
    """An I/O error (a file size limit of the system) fails the job; once it is gone the writer works."""
    assert run_python(LIMITED, path) == "reading or writing failed\n['before', 'after']"


async def test_a_lock_held_elsewhere_is_waited_for(path: Path) -> None:
    """A job waits while another connection writes, within the busy timeout."""
    make_shelf(path)
    async with running(path) as writer:
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(writer.run(book("a")))
            await asyncio.sleep(0)
            await asyncio.to_thread(other.execute, "COMMIT")
            assert await waiting == "a"


async def test_a_lock_held_too_long_is_busy_and_the_writer_lives(path: Path) -> None:
    """After the busy timeout the whole group hears that the queue is busy; later jobs work."""
    make_shelf(path)
    async with running(path, busy_timeout_s=0.05) as writer:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            results = await asyncio.gather(
                *(writer.run(book(title)) for title in "ab"), return_exceptions=True
            )
            assert [type(result) for result in results] == [QueueBusy] * 2
            other.execute("ROLLBACK")
        assert await writer.run(book("c")) == "c"
        assert titles_in(path) == ["c"]


async def test_damage_parks_the_writer(path: Path) -> None:
    """A page that cannot be read fails its group and every later job as damaged; it is reported once."""
    make_shelf(path, [f"{number} {'x' * 1_000}" for number in range(4_000)])
    async with running(path) as writer:
        scribble_most(path)

        def read_all(connection: sqlite3.Connection) -> object:
            return connection.execute("SELECT sum(length(title)) FROM book NOT INDEXED").fetchall()

        results = await as_one_group(writer, writer.run(read_all), writer.run(book("a")))
        assert [type(result) for result in results] == [QueueDamaged] * 2
        for _ in range(2):
            with pytest.raises(QueueDamaged, match="is damaged"):
                await writer.run(book("b"))
        assert len(writer.damage) == 1


def scribble_most(path: Path) -> None:
    for page in range(5, path.stat().st_size // 4096 + 1):
        scribble(path, page)


async def test_a_file_moved_away_is_not_written_to(path: Path, tmp_path: Path) -> None:
    """A file that was moved or deleted takes no more jobs, no other file is made, and back in place it works."""
    async with running(path) as writer:
        await writer.run(book("a"))
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StorageFailed, match="moved or deleted"):
            await writer.run(book("b"))
        assert "shelf.db" not in names_beside(path)
        (tmp_path / "elsewhere.db").rename(path)
        assert await writer.run(book("c")) == "c"
        assert titles_in(path) == ["a", "c"]


async def test_a_file_replaced_by_another_is_not_taken_for_ours(path: Path, tmp_path: Path) -> None:
    """A backup put in place under a running writer is left alone until the writer is started again."""
    make_shelf(tmp_path / "backup.db", ["old"])
    async with running(path) as writer:
        await writer.run(book("a"))
        (tmp_path / "backup.db").replace(path)
        with pytest.raises(StorageFailed, match="moved or deleted"):
            await writer.run(book("b"))
        await writer.aclose()
        discard_log(path)
        await writer.start()
        assert await writer.run(book("c")) == "c"
        assert titles_in(path) == ["old", "c"]


def discard_log(path: Path) -> None:
    """Remove what belonged to the file that was replaced."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


async def test_a_wrong_statement_is_its_jobs_own(path: Path) -> None:
    """A fault of a statement is raised as SQLite gave it, and undoes only its job."""

    def wrong(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO missing VALUES (1)")

    async with running(path) as writer:
        results = await as_one_group(writer, writer.run(book("a")), writer.run(wrong), writer.run(book("a")))
        assert results[0] == "a"
        assert type(results[1]) is sqlite3.OperationalError
        assert type(results[2]) is sqlite3.IntegrityError
        assert titles_in(path) == ["a"]
