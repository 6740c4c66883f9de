"""What is committed together, in which order, and whose error is whose."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from relay_queue.errors import NotHeld, OutboxError, QueueBusy, UnknownEvent
from relay_queue.sqlite.group import TransactionEnded
from tests.integration.outbox.shelf import add_books, titles_in
from tests.integration.outbox.stalled import as_one_group, running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def book(title: str):
    """Give a job that adds one book; each is another function, so that they are not merged."""

    def add(connection: sqlite3.Connection) -> str:
        add_books(connection, [{"title": title}])
        return title

    return add


def failing(error: BaseException, title: str):
    """Give a job that adds a book and then fails."""

    def fail(connection: sqlite3.Connection) -> None:
        add_books(connection, [{"title": title}])
        raise error

    return fail


def shout(connection: sqlite3.Connection, titles: list[str]) -> list[str | OutboxError]:
    """Add all books; refuse those whose title is empty."""
    add_books(connection, [{"title": title} for title in titles if title])
    return [title.upper() if title else NotHeld("x") for title in titles]


async def test_a_job_gives_its_value_once_it_is_on_disk(path: Path) -> None:
    """What a job returned is in the file, for every other process, when its caller goes on."""
    async with running(path) as writer:
        assert await writer.run(book("a")) == "a"
        assert titles_in(path) == ["a"]


async def test_waiting_jobs_are_committed_as_one_group(path: Path) -> None:
    """Unlike jobs that wait together share one commit, and each has its own value."""
    async with running(path) as writer:
        results = await as_one_group(writer, *(writer.run(book(title)) for title in "abcde"))
        assert results == list("abcde")
        assert titles_in(path) == list("abcde")
        assert writer.groups == 1


async def test_waiting_payloads_of_one_work_run_as_one_set(path: Path) -> None:
    """Payloads for the same function are given to it together, in order of arrival."""
    sets: list[list[str]] = []

    def work(connection: sqlite3.Connection, titles: list[str]) -> list[str]:
        sets.append(titles)
        return [
            title
            for title, _ in zip(titles, add_books(connection, [{"title": t} for t in titles]), strict=True)
        ]

    async with running(path) as writer:
        assert await as_one_group(writer, *(writer.merge(work, title) for title in "abc")) == ["a", "b", "c"]
        assert sets == [["a", "b", "c"]]
        assert writer.groups == 1


async def test_merged_and_single_jobs_share_a_group(path: Path) -> None:
    """Two merged works and a single job wait together: three steps, one commit."""
    async with running(path) as writer:
        results = await as_one_group(
            writer,
            writer.merge(shout, "a"),
            writer.run(book("b")),
            writer.merge(add_books, {"title": "ccc"}),
            writer.merge(shout, "d"),
        )
        assert results == ["A", "b", 3, "D"]
        assert titles_in(path) == ["a", "d", "b", "ccc"]
        assert writer.groups == 1


async def test_a_refused_payload_is_its_callers_alone(path: Path) -> None:
    """A merged work gives an error for one payload; the others are stored."""
    async with running(path) as writer:
        results = await as_one_group(
            writer, writer.merge(shout, "a"), writer.merge(shout, ""), writer.merge(shout, "c")
        )
        assert results[::2] == ["A", "C"]
        assert isinstance(results[1], NotHeld)
        assert titles_in(path) == ["a", "c"]


@pytest.mark.parametrize("alone", [True, False])
async def test_a_payload_that_breaks_a_set_fails_alone(path: Path, alone: bool) -> None:
    """If a merged work raises, its payloads are tried one by one, so that only the guilty one fails."""
    async with running(path) as writer:
        await writer.run(book("taken"))
        calls = [writer.merge(shout, title) for title in ("a", "taken", "b")]
        results = await as_one_group(writer, *calls, *([] if alone else [writer.run(book("other"))]))
        assert results[0] == "A"
        assert isinstance(results[1], sqlite3.IntegrityError)
        assert results[2] == "B"
        assert titles_in(path) == ["taken", "a", "b", *([] if alone else ["other"])]


@pytest.mark.parametrize(
    "error", [UnknownEvent("k"), ValueError("v"), SystemExit(3), asyncio.CancelledError()]
)
async def test_a_failing_job_undoes_only_itself(path: Path, error: BaseException) -> None:
    """Whatever a job raises reaches its caller as it is, among others and alone; the writer goes on."""
    async with running(path) as writer:

        async def caught(title: str) -> BaseException:
            try:
                await writer.run(failing(error, title))
            except BaseException as raised:  # noqa: BLE001 - it is what is looked at
                return raised
            raise AssertionError

        results = await as_one_group(writer, writer.run(book("a")), caught("x"), writer.run(book("b")))
        assert results == ["a", error, "b"]
        assert await caught("y") is error
        assert await writer.run(book("c")) == "c"
        assert titles_in(path) == ["a", "b", "c"]


async def test_a_work_that_forgets_an_answer_is_told_so(path: Path) -> None:
    """A merged work that does not answer for each payload has its set undone."""

    def forgetful(connection: sqlite3.Connection, titles: list[str]) -> list[str]:
        add_books(connection, [{"title": title} for title in titles])
        return []

    async with running(path) as writer:
        results = await as_one_group(writer, writer.merge(forgetful, "a"), writer.merge(forgetful, "b"))
        assert [type(result) for result in results] == [ValueError, ValueError]
        assert titles_in(path) == []


@pytest.mark.parametrize("ending", ["COMMIT", "ROLLBACK"])
async def test_a_job_that_ends_the_transaction_fails_its_group(path: Path, ending: str) -> None:
    """Nobody is told that all is well if a job committed or rolled back by itself; the writer goes on."""

    def ends(connection: sqlite3.Connection) -> None:
        connection.execute(ending)

    async with running(path) as writer:
        results = await as_one_group(writer, writer.run(book("a")), writer.run(ends), writer.run(book("b")))
        assert [type(result) for result in results] == [TransactionEnded] * 3
        with pytest.raises(TransactionEnded):
            await writer.run(ends)
        assert await writer.run(book("c")) == "c"
        assert titles_in(path)[-1] == "c"


async def test_a_job_may_leave_savepoints_and_cursors(path: Path) -> None:
    """Open savepoints and half-read rows that a job leaves behind do not hold its group up."""

    def untidy(connection: sqlite3.Connection) -> sqlite3.Cursor:
        connection.execute("SAVEPOINT mine")
        add_books(connection, [{"title": "u"}, {"title": "v"}])
        rows = connection.execute("SELECT title FROM book")
        rows.fetchone()
        return rows

    async with running(path) as writer:
        rows, title = await as_one_group(writer, writer.run(untidy), writer.run(book("a")))
        assert title == "a"
        assert await writer.run(book("b")) == "b"
        assert titles_in(path) == ["u", "v", "a", "b"]
        del rows


async def test_a_half_read_returning_is_not_taken_for_stored(path: Path) -> None:
    """An INSERT ... RETURNING whose rows are kept back cannot be committed: its caller hears so."""

    def keep(connection: sqlite3.Connection) -> sqlite3.Cursor:
        cursor = connection.execute("INSERT INTO book (title) VALUES ('x'), ('y') RETURNING title")
        cursor.fetchone()
        return cursor

    async with running(path) as writer:
        with pytest.raises(QueueBusy):
            await writer.run(keep)
        assert titles_in(path) == []
        assert await writer.run(book("a")) == "a"


async def test_hooks_run_once_a_group_and_only_after_changes(path: Path) -> None:
    """The hook before the commit writes with the group; a group that only read has no hooks."""
    threads: list[str] = []

    def note(connection: sqlite3.Connection) -> None:
        threads.append(threading.current_thread().name)
        add_books(connection, [{"title": f"hook {len(threads)}"}])

    async with running(path, before_commit=note) as writer:
        await as_one_group(writer, writer.run(book("a")), writer.run(book("b")))
        count = await writer.run(
            lambda connection: connection.execute("SELECT count(*) FROM book").fetchone()
        )
        assert count == (3,)
        assert titles_in(path) == ["a", "b", "hook 1"]
        assert threads == ["writer under test"]
        assert writer.groups == 1


async def test_a_failing_hook_fails_the_group(path: Path) -> None:
    """What cannot be saved with its clock is not saved; the writer goes on."""
    broken = [True]

    def note(_: sqlite3.Connection) -> None:
        if broken:
            raise ValueError(broken.pop())

    async with running(path, before_commit=note) as writer:
        results = await as_one_group(writer, writer.run(book("a")), writer.run(book("b")))
        assert [type(result) for result in results] == [ValueError, ValueError]
        assert titles_in(path) == []
        assert await writer.run(book("c")) == "c"


async def test_jobs_of_one_caller_keep_their_order(path: Path) -> None:
    """What was asked for first is committed first, also when unlike jobs alternate."""
    async with running(path) as writer:
        await as_one_group(writer, *(writer.run(book(f"{number:03}")) for number in range(100)))
        assert titles_in(path) == [f"{number:03}" for number in range(100)]


async def test_more_jobs_than_fit_one_group_are_all_done(path: Path) -> None:
    """A crowd is committed in several groups, none of them lost."""
    async with running(path) as writer:
        results = await as_one_group(writer, *(writer.merge(shout, f"t{number}") for number in range(1_200)))
        assert results == [f"T{number}" for number in range(1_200)]
        assert writer.groups == 3
