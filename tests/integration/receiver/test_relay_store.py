import sqlite3
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest

from relay_queue.clock import QueueClock
from relay_queue.errors import QueueDamaged, SchemaRefused, StorageFailed
from relay_queue.sqlite.database import Schema, open_writer
from relay_queue.sqlite.named import load, load_migrations
from relayd.home import Home
from relayd.store import Arrival, BoundQueue, Pruned, open_store
from relayd.store.admit import Admission
from relayd.store.prune import SLICE
from relayd.store.relay_store import APPLICATION_ID

DAY_MS = 86_400_000

ARRIVAL = Arrival(
    at_ms=1_000,
    received_at_ms=2_000,
    ingest_key="k-1",
    actor="ana",
    producer="maker",
    agent="codex",
    session_id="s-1",
    workspace="work",
    project="shop",
    event="stop",
    source_event="stop",
    subagent=False,
    drop_subagent=False,
    excerpt="text",
)


class Ticks:
    """Clocks that stand until they are moved."""

    def __init__(self):
        self.wall = 1_800_000_000_000
        self.boot = 5_000

    def wall_ms(self):
        return self.wall

    def boot_ms(self):
        return self.boot

    def advance(self, ms):
        self.wall += ms
        self.boot += ms


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@asynccontextmanager
async def look(home):
    """A connection beside the store's own."""
    connection = sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)
    try:
        yield connection
    finally:
        connection.close()


async def count(home, table):
    async with look(home) as connection:
        return connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own name


def arrival(n, **changes):
    return msgspec.structs.replace(ARRIVAL, ingest_key=f"k-{n}", session_id=f"s-{n}", **changes)


async def test_the_file_is_ours_and_private(home):
    """It is made with our mark, readable by nobody else, whatever the umask is."""
    async with open_store(home):
        assert home.database.stat().st_mode & 0o777 == 0o600
        async with look(home) as connection:
            assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
            assert connection.execute("PRAGMA user_version").fetchone() == (4,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_event_key_excerpt_and_session_are_one_commit(home):
    """What is stored of an arrival is there in all tables once it is acknowledged."""
    async with open_store(home) as store:
        assert await store.admit([ARRIVAL]) == ["stored"]
        (row,) = await store.feed.since(0, limit=10)
        assert (row.at_ms, row.kind, row.actor, row.producer, row.agent) == (
            1_000,
            "hook",
            "ana",
            "maker",
            "codex",
        )
        assert (row.session_id, row.workspace, row.project, row.event, row.excerpt) == (
            "s-1",
            "work",
            "shop",
            "stop",
            "text",
        )
        async with look(home) as connection:
            assert connection.execute("SELECT ingest_key, workspace, project FROM ingest_key").fetchall() == [
                ("k-1", "work", "shop")
            ]
            assert connection.execute(
                "SELECT dedupe_key, received_at_ms, tokens_in, cost_micros FROM event"
            ).fetchall() == [("k-1", 2_000, None, None)]
            assert connection.execute("SELECT session_id, agent, state FROM capture_session").fetchall() == [
                ("s-1", "codex", "live")
            ]


async def test_keys_and_sessions_are_known_after_a_restart(home):
    """A repeat, a collision and a second end are seen by the next daemon too."""
    end = msgspec.structs.replace(ARRIVAL, event="session-end", ingest_key="k-2")
    async with open_store(home) as store:
        assert await store.admit([ARRIVAL, end]) == ["stored", "stored"]
    async with open_store(home) as store:
        other = msgspec.structs.replace(ARRIVAL, agent="grok", ingest_key="k-3")
        assert await store.admit([ARRIVAL, end, other]) == ["replayed", "ignored_end", "dropped_collision"]
        assert len(await store.feed.since(0, limit=10)) == 2


async def test_a_batch_that_fails_leaves_nothing(home):
    """If one row cannot be written no key of the batch is claimed, and the same batch works later."""
    broken = msgspec.structs.replace(arrival(2), workspace=None)
    async with open_store(home) as store:
        with pytest.raises(sqlite3.IntegrityError):
            await store.admit([arrival(1), broken])
        assert (
            await count(home, "ingest_key") == await count(home, "event") == await count(home, "excerpt") == 0
        )
        assert await store.admit([arrival(1), arrival(2)]) == ["stored", "stored"]


async def test_batches_that_wait_together_keep_their_own_outcomes(home):
    """Concurrent batches are answered each for itself, and a key that two of them have is stored once."""
    answers = {}

    async def admit(n):
        answers[n] = await store.admit([arrival(n), arrival("same"), arrival(n)])

    async with open_store(home) as store:
        async with anyio.create_task_group() as group:
            for n in range(20):
                group.start_soon(admit, n)
        assert {(first, last) for first, _, last in answers.values()} == {("stored", "replayed")}
        assert sorted(middle for _, middle, _ in answers.values()) == ["replayed"] * 19 + ["stored"]
        assert await count(home, "event") == 21


async def test_a_batch_costs_the_same_statements_at_any_size(home):
    """One look at sessions, one at keys, one id, however many arrivals there are; rows are written in bulk."""
    connection = open_writer(
        home.database, Schema(APPLICATION_ID, load_migrations("relayd.store")), create=True
    )
    asked = []
    connection.set_trace_callback(lambda sql: asked.append(sql.split()[0]))
    admission = Admission(load("relayd.store"), QueueClock.start())
    reads = []
    for size in (1, 256):
        asked.clear()
        connection.execute("BEGIN IMMEDIATE")
        admission(connection, [[arrival(f"{size}-{n}") for n in range(size)]])
        connection.execute("COMMIT")
        reads.append(asked.count("SELECT"))
        assert asked.count("INSERT") == 4 * size
    connection.close()
    assert reads == [3, 3]


async def test_excerpts_belong_to_their_events(home):
    """Where some arrivals of a batch have an excerpt and some are not stored, each text stays with its event."""
    async with open_store(home) as store:
        batch = [arrival(n, excerpt=f"text {n}" if n % 2 else None) for n in range(6)]
        await store.admit([batch[0], batch[0], *batch[1:]])
        assert [row.excerpt for row in await store.feed.since(0, limit=10)] == [
            None,
            "text 1",
            None,
            "text 3",
            None,
            "text 5",
        ]


async def test_pages_of_the_feed(home):
    """A cursor leads through all events in order of their commits, and without one the newest come, oldest first."""
    async with open_store(home) as store:
        for n in range(7):
            await store.admit([arrival(n)])
        ids = [row.id for row in await store.feed.since(0, limit=100)]
        assert ids == sorted(set(ids))
        assert [row.id for row in await store.feed.since(ids[2], limit=2)] == ids[3:5]
        assert [row.id for row in await store.feed.newest(limit=3)] == ids[-3:]
        assert await store.feed.since(ids[-1], limit=5) == []


async def test_an_unknown_event_shows_the_name_its_producer_gave(home):
    """`other` is shown only where there is no better name."""
    async with open_store(home) as store:
        await store.admit(
            [arrival(1, event="other", source_event="deploy"), arrival(2, event="other", source_event=None)]
        )
        assert [row.event for row in await store.feed.since(0, limit=10)] == ["deploy", "other"]


async def test_keys_are_kept_for_31_days_and_excerpts_for_30(home):
    """At its last moment a key still replays and a text is still shown; after it they go, and the events stay."""
    ticks = Ticks()
    async with open_store(home, ticks=ticks) as store:
        await store.admit([arrival(1), arrival(2)])
        ticks.advance(30 * DAY_MS)
        assert await store.prune() == Pruned(keys=0, excerpts=0, sessions=0)
        ticks.advance(1)
        assert await store.prune() == Pruned(keys=0, excerpts=2, sessions=0)
        ticks.advance(DAY_MS - 1)
        assert await store.prune() == Pruned(keys=0, excerpts=0, sessions=0)
        assert await store.admit([arrival(1)]) == ["replayed"]
        ticks.advance(1)
        assert await store.prune() == Pruned(keys=2, excerpts=0, sessions=0)
        assert await store.admit([arrival(1)]) == ["stored"]
        rows = await store.feed.since(0, limit=10)
        assert [(row.session_id, row.excerpt) for row in rows] == [
            ("s-1", None),
            ("s-2", None),
            ("s-1", "text"),
        ]


async def test_sessions_are_forgotten_a_year_after_they_were_last_seen(home):
    """An event of the session keeps it for another year."""
    ticks = Ticks()
    async with open_store(home, ticks=ticks) as store:
        await store.admit([arrival(1), arrival(2)])
        ticks.advance(100 * DAY_MS)
        await store.admit([msgspec.structs.replace(arrival(1), ingest_key="later")])
        ticks.advance(266 * DAY_MS + 1)
        assert (await store.prune()).sessions == 1
        ends = [arrival(n, event="session-end") for n in (1, 2)]
        assert await store.admit(ends) == ["stored", "ignored_end"]


async def test_a_jump_of_the_wall_clock_forgets_nothing(home):
    """While the store is open its ages follow the clock that does not jump."""
    ticks = Ticks()
    async with open_store(home, ticks=ticks) as store:
        await store.admit([ARRIVAL])
        ticks.wall += 400 * DAY_MS
        assert await store.prune() == Pruned(keys=0, excerpts=0, sessions=0)


async def test_a_clock_that_went_back_while_closed_counts_nothing(home):
    """The next open goes on where the last commit was, and what is old by then goes."""
    ticks = Ticks()
    async with open_store(home, ticks=ticks) as store:
        await store.admit([ARRIVAL])
    ticks.wall -= 365 * DAY_MS
    async with open_store(home, ticks=ticks) as store:
        assert (await store.prune()).keys == 0
        ticks.advance(31 * DAY_MS + 1)
        assert (await store.prune()).keys == 1


async def test_pruning_goes_on_until_nothing_old_is_left(home):
    """More rows than one slice go in several transactions."""
    ticks = Ticks()
    rows = SLICE + 5
    async with open_store(home, ticks=ticks) as store:
        await store.admit([arrival(n) for n in range(rows)])
        ticks.advance(40 * DAY_MS)
        await store.admit([arrival("new")])
        assert await store.prune() == Pruned(keys=rows, excerpts=rows, sessions=0)
        assert await count(home, "event") == rows + 1
        assert await count(home, "excerpt") == await count(home, "ingest_key") == 1


async def test_turned_off_excerpts_go_at_the_next_pruning(home):
    """Who turns excerpts off wants none kept; events and keys stay."""
    async with open_store(home) as store:
        await store.admit([ARRIVAL])
    async with open_store(home, excerpts=False) as store:
        assert not store.excerpts
        assert await store.prune() == Pruned(keys=0, excerpts=1, sessions=0)
        assert [row.excerpt for row in await store.feed.since(0, limit=10)] == [None]
        assert await store.admit([ARRIVAL]) == ["replayed"]


BINDING = {
    "name": "default",
    "server_url": "local",
    "producer": "relayd",
    "actor": "ana",
    "workspace": "default",
    "project": "default",
    "mode": "auto",
}


async def test_queues_are_listed_by_directory(home):
    """A recorded queue has its binding, is closed, and has nothing due."""
    async with open_store(home) as store:
        await store.record_queue(Path("/q/b"), **BINDING | {"name": None, "mode": "manual"})
        await store.record_queue(Path("/q/a"), **BINDING)
        first, second = await store.queues()
        assert first == BoundQueue(
            "/q/a", "default", "local", "relayd", "ana", "default", "default", "auto", 0, None, None
        )
        assert (second.queue_dir, second.name, second.mode, second.is_open) == ("/q/b", None, "manual", False)


async def test_notes_of_a_queue_survive_a_restart(home):
    """Whether it was open, when it is due and what was wrong are there for the next daemon."""
    async with open_store(home) as store:
        await store.record_queue(Path("/q/a"), **BINDING)
        await store.note_queue(
            Path("/q/a"), is_open=True, next_due_wall_ms=5, problem="the directory is missing"
        )
    async with open_store(home) as store:
        (row,) = await store.queues()
        assert (row.is_open, row.next_due_wall_ms, row.problem) == (True, 5, "the directory is missing")
        await store.note_queue(Path("/q/a"), is_open=False)
        (row,) = await store.queues()
        assert (row.is_open, row.next_due_wall_ms, row.problem) == (False, None, None)


async def test_recording_again_keeps_the_notes_but_the_problem(home):
    """A queue that was opened again has no problem any more, and its other notes stand until they are written anew."""
    async with open_store(home) as store:
        await store.record_queue(Path("/q/a"), **BINDING)
        await store.note_queue(Path("/q/a"), is_open=True, next_due_wall_ms=5, problem="broken")
        await store.record_queue(Path("/q/a"), **BINDING | {"mode": "manual"})
        (row,) = await store.queues()
        assert (row.mode, row.is_open, row.next_due_wall_ms, row.problem) == ("manual", True, 5, None)
        await store.note_queue(Path("/q/a"), is_open=True, next_due_wall_ms=5, problem="broken")
        assert (await store.queues())[0].problem == "broken"


async def test_a_note_of_an_unlisted_queue_lists_nothing(home):
    """Only a bound queue has a row."""
    async with open_store(home) as store:
        await store.note_queue(Path("/q/a"), is_open=True)
        assert await store.queues() == []


async def test_a_forgotten_queue_has_no_row_until_it_is_recorded_again(home):
    """Other rows stay; a late note does not bring it back, and the same note counts anew once it is listed."""
    async with open_store(home) as store:
        await store.record_queue(Path("/q/a"), **BINDING)
        await store.record_queue(Path("/q/b"), **BINDING)
        await store.forget_queue(Path("/q/a"))
        await store.note_queue(Path("/q/a"), is_open=True)
        await store.forget_queue(Path("/q/never"))
        assert [row.queue_dir for row in await store.queues()] == ["/q/b"]
        await store.record_queue(Path("/q/a"), **BINDING)
        await store.note_queue(Path("/q/a"), is_open=True)
        assert [row.is_open for row in await store.queues()] == [True, False]


async def test_an_unchanged_note_writes_nothing(home):
    """A courier may note the same state as often as it likes."""
    async with open_store(home) as store:
        await store.record_queue(Path("/q/a"), **BINDING)
        await store.note_queue(Path("/q/a"), is_open=True)
        async with look(home) as connection:
            before = connection.execute("PRAGMA data_version").fetchone()
            await store.note_queue(Path("/q/a"), is_open=True)
            assert connection.execute("PRAGMA data_version").fetchone() == before
            await store.note_queue(Path("/q/a"), is_open=False)
            assert connection.execute("PRAGMA data_version").fetchone() != before


async def test_a_newer_file_is_refused_untouched(home):
    """A file of a later version stays byte for byte as it is."""
    async with open_store(home):
        pass
    with sqlite3.connect(home.database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = home.database.read_bytes()
    with pytest.raises(SchemaRefused):
        async with open_store(home):
            pass
    assert home.database.read_bytes() == before


async def test_a_damaged_file_is_reported(home):
    """A file that is no database is an error that says so, and it is not replaced."""
    home.database.write_bytes(b"not a database at all" * 500)
    home.database.chmod(0o600)
    with pytest.raises(QueueDamaged):
        async with open_store(home):
            pass
    assert home.database.read_bytes().startswith(b"not a database")


async def test_a_missing_home_fails_at_open(tmp_path):
    """Without its directory the store cannot be made."""
    with pytest.raises((StorageFailed, OSError)):
        async with open_store(Home(tmp_path / "gone")):
            pass


async def test_a_full_disk_refuses_a_batch_and_the_store_recovers(home):
    """Nothing of a batch that does not fit is kept, and the same batch is taken once there is room."""
    large = [arrival(n, excerpt="x" * 2_000) for n in range(256)]

    def limit_pages(connection, pages):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    async with open_store(home) as store:
        await store._writer.run(partial(limit_pages, pages=40))
        with pytest.raises(StorageFailed):
            await store.admit(large)
        assert await count(home, "event") == await count(home, "ingest_key") == 0
        await store._writer.run(partial(limit_pages, pages=10_000))
        assert await store.admit(large) == ["stored"] * 256
