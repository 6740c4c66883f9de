"""Jobs outside of any transaction: between which commits they run, and whose error is whose."""

import sqlite3
from pathlib import Path

import pytest

from relay_queue.errors import FileGone, QueueBusy, QueueClosed
from relay_queue.sqlite.group import TransactionEnded
from tests.integration.outbox.shelf import add_books, make_shelf, titles_in
from tests.integration.outbox.stalled import as_one_group, running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def book(title: str):
    """Give a job that adds one book."""

    def add(connection: sqlite3.Connection) -> str:
        add_books(connection, [{"title": title}])
        return title

    return add


def rewrite(connection: sqlite3.Connection) -> bool:
    """Do what SQLite does in no transaction; whether one was open."""
    was_open = connection.in_transaction
    connection.execute("VACUUM")
    return was_open


async def test_it_runs_in_no_transaction(path: Path) -> None:
    """A file can be written anew, and its log emptied, by the connection that writes."""

    def empty_log(connection: sqlite3.Connection) -> tuple[int, ...]:
        return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    async with running(path) as writer:
        await writer.run(book("a"))
        assert await writer.run_alone(rewrite) is False
        assert await writer.run_alone(empty_log) == (0, 0, 0)
        assert path.with_name(f"{path.name}-wal").stat().st_size == 0
        assert await writer.run(book("b")) == "b"
        assert titles_in(path) == ["a", "b"]


async def test_what_waits_with_it_is_committed_before_it(path: Path) -> None:
    """Jobs of its group are on disk as one commit when it runs, wherever it stands among them; it adds no commit."""

    def look(_: sqlite3.Connection) -> list[str]:
        return titles_in(path)

    async with running(path) as writer:
        results = await as_one_group(
            writer, writer.run(book("a")), writer.run_alone(look), writer.run(book("b"))
        )
        assert results == ["a", ["a", "b"], "b"]
        assert writer.groups == 1


async def test_several_run_one_after_another(path: Path) -> None:
    """Those that wait together run in the order they came in, and a group may hold nothing else."""
    ran: list[str] = []

    def note(name: str):
        return lambda _: ran.append(name)

    async with running(path) as writer:
        await as_one_group(writer, *(writer.run_alone(note(name)) for name in "abc"))
        assert ran == ["a", "b", "c"]
        assert writer.groups == 0


@pytest.mark.parametrize("error", [ValueError("v"), SystemExit(3)])
async def test_its_error_is_its_callers_alone(path: Path, error: BaseException) -> None:
    """What it raises undoes nobody's work, and the writer goes on."""

    def fail(_: sqlite3.Connection) -> None:
        raise error

    async def caught() -> BaseException:
        try:
            await writer.run_alone(fail)
        except BaseException as raised:  # noqa: BLE001 - it is what is looked at
            return raised
        raise AssertionError

    async with running(path) as writer:
        results = await as_one_group(writer, writer.run(book("a")), caught(), writer.run(book("b")))
        assert results == ["a", error, "b"]
        assert await writer.run(book("c")) == "c"
        assert titles_in(path) == ["a", "b", "c"]


async def test_a_job_of_the_group_that_fails_leaves_it_alone(path: Path) -> None:
    """It is carried out although nothing of its group was stored."""
    async with running(path) as writer:
        await writer.run(book("taken"))
        results = await as_one_group(writer, writer.run(book("taken")), writer.run_alone(rewrite))
        assert isinstance(results[0], sqlite3.IntegrityError)
        assert results[1] is False


@pytest.mark.parametrize("fails", [True, False])
async def test_a_transaction_that_it_leaves_open_is_undone(path: Path, fails: bool) -> None:
    """Nothing of it gets into the next commit, and its caller hears of it."""

    def untidy(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        add_books(connection, [{"title": "lost"}])
        if fails:
            raise KeyError

    async with running(path) as writer:
        with pytest.raises(KeyError if fails else TransactionEnded):
            await writer.run_alone(untidy)
        assert await writer.run(book("a")) == "a"
        assert titles_in(path) == ["a"]


async def test_an_error_of_the_file_is_told_in_our_words(path: Path) -> None:
    """A lock that another process holds is `QueueBusy` to its caller."""
    make_shelf(path, ["a"])
    async with running(path, busy_timeout_s=0.0) as writer:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueueBusy):
            await writer.run_alone(rewrite)
        other.close()
        assert await writer.run_alone(rewrite) is False


async def test_it_is_refused_where_the_file_is_gone(path: Path) -> None:
    """It does not work on a file that was deleted."""
    async with running(path) as writer:
        await writer.run(book("a"))
        path.rename(path.with_name("elsewhere.db"))
        with pytest.raises(FileGone):
            await writer.run_alone(rewrite)


async def test_a_closed_writer_takes_none(path: Path) -> None:
    """After the end nothing is carried out any more."""
    async with running(path) as writer:
        pass
    with pytest.raises(QueueClosed):
        await writer.run_alone(rewrite)
