"""Following the feed: everything once, in order, as soon as it is there."""

import anyio
import pytest

from relayd.feed.follower import Follower
from relayd.feed.kinds import ranges
from relayd.home import Home
from relayd.store import open_store
from relayd.store.event_log import Happened
from relayd.store.feed_rows import EVERYTHING, Choice

LIMIT_S = 20
LONG_S = 3600


@pytest.fixture
async def store(tmp_path):
    async with open_store(Home(tmp_path)) as store:
        yield store


def follower(store, *, cursor=0, choice=EVERYTHING, stopping=None):
    return Follower(store.feed, store.changes, stopping or anyio.Event(), cursor=cursor, choice=choice)


async def add(store, kind="a.b"):
    return (await store.feed.add(Happened(kind=kind, at_ms=1, received_at_ms=1, actor="ana"))).id


async def test_everything_comes_once_and_in_order(store):
    """Eight writers at once and three readers, one of which begins late: nobody misses and nobody repeats an event."""
    writers, each = 8, 40
    seen: dict[int, list[int]] = {0: [], 1: [], 2: []}

    async def read(reader, *, late):
        following = follower(store)
        if late:
            await news.wait()
        while len(seen[reader]) < writers * each:
            seen[reader] += [event.id for event in await following.more(within_s=LONG_S)]

    async def write():
        for _ in range(each):
            await add(store)
        news.set()

    news = anyio.Event()
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            for reader in seen:
                group.start_soon(lambda reader=reader: read(reader, late=reader == 2))
            for _ in range(writers):
                group.start_soon(write)
    assert all(ids == list(range(1, writers * each + 1)) for ids in seen.values())


class _Between:
    """Rows into which an event comes right after the first look, before its answer is there."""

    def __init__(self, store):
        self._store = store
        self._came = False

    async def since(self, cursor, *, limit, choice):
        found = await self._store.feed.since(cursor, limit=limit, choice=choice)
        if not self._came:
            self._came = True
            await add(self._store)
        return found


async def test_what_comes_during_a_look_ends_the_wait(store):
    """An event that the look just missed is not slept through."""
    following = Follower(_Between(store), store.changes, anyio.Event(), cursor=0, choice=EVERYTHING)
    with anyio.fail_after(LIMIT_S):
        assert [event.id for event in await following.more(within_s=LONG_S)] == [1]


async def test_a_kind_that_was_not_there_before_comes_too(store):
    """What is asked for by a word is looked up anew each time."""
    following = follower(store, choice=Choice(None, ranges(["deploy.*"])))
    await add(store, "deploy.done")
    with anyio.fail_after(LIMIT_S):
        assert [event.kind for event in await following.more(within_s=LONG_S)] == ["deploy.done"]
        await add(store, "other.kind")
        await add(store, "deploy.failed")
        assert [event.kind for event in await following.more(within_s=LONG_S)] == ["deploy.failed"]


async def test_what_is_not_asked_for_does_not_end_the_wait(store):
    """A follower of one kind sleeps through the others."""
    following = follower(store, choice=Choice(None, ranges(["deploy.*"])))
    got = []

    async def read():
        got.extend(await following.more(within_s=LONG_S))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for _ in range(20):
                await add(store)
            assert got == []
            await add(store, "deploy.done")
    assert [event.kind for event in got] == ["deploy.done"]


async def test_a_wait_has_an_end(store):
    """Without events it gives none when its time is over, and goes on from the same place."""
    following = follower(store)
    assert await following.more(within_s=0.001) == []
    await add(store)
    assert [event.id for event in await following.more(within_s=LONG_S)] == [1]


async def test_a_leaving_daemon_ends_it(store):
    """Whoever waits is let go at once."""
    stopping = anyio.Event()
    following = follower(store, stopping=stopping)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: following.more(within_s=LONG_S))
            await anyio.wait_all_tasks_blocked()
            stopping.set()
    assert following.is_over
    assert await following.more(within_s=LONG_S) == []


async def test_a_reader_that_is_late_gets_pages(store):
    """It is given a bounded piece at a time."""
    for _ in range(250):
        await add(store)
    following = follower(store)
    assert [len(await following.more(within_s=LONG_S)) for _ in range(3)] == [100, 100, 50]
