"""When readers are told that what they keep is old."""

import threading

import anyio
import pytest

from relayd.home import Home, furnish, prepare
from relayd.store import open_store

LIMIT_S = 30.0


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "home")
    prepare(made)
    furnish(made)
    return made


async def test_a_change_counts_when_it_is_on_disk_though_its_caller_went_away(home):
    """Whoever reads between a caller's end and the commit keeps nothing that stays old."""
    begun, may_end = threading.Event(), threading.Event()

    def slow(connection):
        begun.set()
        assert may_end.wait(LIMIT_S)
        connection.execute("INSERT INTO upkeep (name, value) VALUES ('tried', 1)")

    async with open_store(home) as store:
        async with anyio.create_task_group() as group:
            group.start_soon(store.access.change, slow)
            assert await anyio.to_thread.run_sync(begun.wait, LIMIT_S)
            group.cancel_scope.cancel()
        assert store.changes.memory == 0
        told = store.changes.next_in_feed()
        may_end.set()
        with anyio.fail_after(LIMIT_S):
            await told.wait()
        assert store.changes.memory == 1


async def test_a_change_counts_beside_what_only_adds_to_the_feed(home):
    """What is committed together with an event of the feed makes old what was read before, whichever comes first."""
    begun, may_end = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        assert may_end.wait(LIMIT_S)

    def add(name):
        return lambda connection: connection.execute("INSERT INTO upkeep VALUES (?, 1)", [name]).rowcount

    async with open_store(home) as store:
        async with anyio.create_task_group() as group:
            group.start_soon(store.access.write, slow)
            assert await anyio.to_thread.run_sync(begun.wait, LIMIT_S)
            group.start_soon(store.access.change, add("a"))
            group.start_soon(store.access.write, add("b"))
            await anyio.wait_all_tasks_blocked()
            may_end.set()
        assert store.changes.memory == 1


async def test_what_only_adds_to_the_feed_makes_no_brief_old(home):
    """A write of the feed wakes its followers and leaves the memory's count alone."""
    async with open_store(home) as store:
        told = store.changes.next_in_feed()
        await store.access.write(
            lambda connection: connection.execute("INSERT INTO upkeep VALUES ('tried', 1)").rowcount
        )
        with anyio.fail_after(LIMIT_S):
            await told.wait()
        assert store.changes.memory == 0
