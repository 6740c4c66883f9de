"""What holds at a moment, on both axes; how the history is read."""

import sqlite3
from contextlib import closing

from relayd.memory.moment import Moment
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store.preferences import Setting
from tests.integration.memory.keeping import DAY_MS, at, kept, now_ms


async def test_what_was_true_and_what_was_known_are_asked_apart(tmp_path):
    """A decision that came to be known late is true from its day on, and known from its recording on."""
    async with kept(tmp_path) as memory:
        monday = now_ms() - 10 * DAY_MS
        old = (await memory.decide("We use A.", valid_from_ms=monday)).decision
        turn = monday + 5 * DAY_MS
        new = (await memory.decide("We use B.", supersedes=old.id, valid_from_ms=turn)).decision
        then, between = old.recorded_at_ms, old.recorded_at_ms
        assert await memory.texts(moment=at(monday)) == ["We use A."]
        assert await memory.texts(moment=at(turn - 1)) == ["We use A."]
        assert await memory.texts(moment=at(turn)) == ["We use B."]
        assert await memory.texts(moment=at(monday - 1)) == []
        if new.recorded_at_ms > between:
            assert await memory.texts(moment=at(turn, then)) == ["We use A."]
        assert await memory.texts(moment=at(turn, then - 1)) == []


async def test_what_was_known_then_does_not_tell_what_came_later(tmp_path):
    """A row that is read as it was known has no end that was only learnt afterwards."""
    async with kept(tmp_path) as memory:
        old = (await memory.decide("We use A.", valid_from_ms=1_000)).decision
        await memory.decide("We use B.", supersedes=old.id)
        (now,) = await memory.decisions.by_ids([old.id])
        before = Moment(now.superseded_at_ms - 1, now.superseded_at_ms - 1)
        if before.known_at_ms >= old.recorded_at_ms:
            (then,) = await memory.decisions.history(None, moment=before)
            assert (then.id, then.superseded_by, then.ended_ms) == (old.id, None, None)
        (known_now,) = await memory.decisions.history(None, moment=Moment(1_000, now_ms()))
        assert known_now.superseded_by == now.superseded_by


async def test_a_corrected_wording_holds_nowhere(tmp_path):
    """Whoever asks what was true reads the correction for the whole time; only what was known then has the first one."""
    async with kept(tmp_path) as memory:
        first = (await memory.decide("We use AA.", valid_from_ms=1_000)).decision
        second = (await memory.decisions.edit(first.id, "We use A.")).decision
        assert await memory.texts(moment=at(1_000)) == ["We use A."]
        assert await memory.texts(moment=at(1_000, second.recorded_at_ms - 1)) in (["We use AA."], [])
        assert await memory.texts(moment=at(1_000, first.recorded_at_ms)) in (["We use AA."], ["We use A."])


async def test_what_is_to_come_or_over_does_not_hold_now(tmp_path):
    """The time an author stated counts, the end not included."""
    async with kept(tmp_path) as memory:
        start, end = now_ms() + DAY_MS, now_ms() + 2 * DAY_MS
        await memory.new("We freeze.", memory.shop, valid_from_ms=start, valid_to_ms=end)
        await memory.new("It is over.", memory.shop, valid_from_ms=1_000, valid_to_ms=2_000)
        assert await memory.texts(memory.shop, current=True) == []
        for asked, there in ((start - 1, False), (start, True), (end - 1, True), (end, False)):
            assert (await memory.texts(memory.shop, moment=at(asked)) == ["We freeze."]) is there
        assert await memory.texts(memory.shop) == ["It is over.", "We freeze."]


async def test_a_decision_holds_until_its_successor_begins(tmp_path):
    """One that is superseded from a later day on is current until then."""
    async with kept(tmp_path) as memory:
        turn = now_ms() + DAY_MS
        old = await memory.new("We use A.")
        await memory.new("We use B.", supersedes=old, valid_from_ms=turn)
        assert await memory.texts(current=True) == ["We use A."]
        assert await memory.texts(moment=at(turn)) == ["We use B."]


async def test_nothing_of_one_project_shows_in_another(tmp_path):
    """A project's history has its own decisions and those for all projects; that for all projects has no project's."""
    async with kept(tmp_path) as memory:
        await memory.new("of the shop", memory.shop)
        await memory.new("of the pub", memory.pub)
        await memory.new("of all")
        for asked in ({}, {"current": True}, {"moment": at(now_ms())}):
            assert await memory.texts(memory.shop, **asked) == ["of all", "of the shop"]
            assert await memory.texts(memory.pub, **asked) == ["of all", "of the pub"]
            assert await memory.texts(**asked) == ["of all"]


async def test_the_latest_are_of_exactly_one_scope(tmp_path):
    """Newest first, at most so many; those of tasks are left out but for the task that is named."""
    async with kept(tmp_path) as memory:
        for number in range(4):
            await memory.new(f"shop {number}", memory.shop)
        await memory.new("task", memory.shop, task="t-1")
        await memory.new("other task", memory.shop, task="t-2")
        await memory.new("all")

        async def latest(project_id, **asked):
            rows = await memory.decisions.latest(project_id, moment=at(now_ms()), **asked)
            return [one.text for one in rows]

        assert await latest(memory.shop.id, limit=2) == ["shop 3", "shop 2"]
        assert await latest(memory.shop.id, limit=2, task="t-1") == ["task", "shop 3"]
        assert await latest(None, limit=9) == ["all"]
        assert await latest(memory.pub.id, limit=9) == []


async def test_a_history_is_read_in_pages(tmp_path):
    """Each page goes on behind the one before, also if its last row was purged meanwhile; together they are all."""
    async with kept(tmp_path) as memory:
        ids = [await memory.new(f"number {number}", memory.shop, task="t") for number in range(5)]
        first = await memory.decisions.history(memory.shop, task="t", limit=2)
        assert [one.id for one in first] == ids[:2:-1]
        await memory.store.items.purge(first[-1].id)
        rest = await memory.decisions.history(memory.shop, task="t", before=first[-1].id)
        assert [one.id for one in rest] == ids[2::-1]
        assert await memory.decisions.history(memory.shop, task="other") == []


async def test_decisions_are_found_by_their_identifiers_in_the_order_asked(tmp_path):
    """Those that are not there are left out."""
    async with kept(tmp_path) as memory:
        ids = [await memory.new(f"number {number}") for number in range(3)]
        asked = [ids[2], "0" * 26, ids[0]]
        assert [one.id for one in await memory.decisions.by_ids(asked)] == [ids[2], ids[0]]
        assert await memory.decisions.by_ids([]) == []


async def test_it_is_known_when_something_changes_by_itself(tmp_path):
    """The next beginning or end of a project's or of a global decision is told; with none there is none."""
    async with kept(tmp_path) as memory:
        now = now_ms()

        async def following(project, after_ms):
            return await memory.decisions.next_change_ms(project.id if project else None, at(after_ms))

        assert await following(memory.shop, now) is None
        old = await memory.new("a", memory.shop, valid_from_ms=1_000, valid_to_ms=now + 5 * DAY_MS)
        await memory.new("b", memory.shop, supersedes=old, valid_from_ms=now + 3 * DAY_MS)
        await memory.new("c", valid_from_ms=now + 4 * DAY_MS)
        await memory.new("d", memory.pub, valid_from_ms=now + DAY_MS)
        steps = [now + days * DAY_MS for days in (3, 4, 5)]
        assert [await following(memory.shop, after) for after in (now, *steps)] == [*steps, None]
        assert await following(None, now) == now + 4 * DAY_MS


async def test_a_clock_that_was_ahead_hides_nothing_that_comes_after(tmp_path):
    """Identifiers go on from the one of the future; it holds and can be ended now, as can what is recorded now."""
    async with kept(tmp_path) as memory:
        wrong = await memory.new("from the future")
    later, ahead_ms = wrong[:2] + "Z" + wrong[3:], now_ms() + 3650 * DAY_MS
    with closing(sqlite3.connect(tmp_path / "relay.db")) as connection, connection:
        row = {"id": later, "at": ahead_ms}
        connection.execute("UPDATE decision SET id = :id, recorded_at_ms = :at, valid_from_ms = :at", row)
    async with kept(tmp_path) as memory:
        new = (await memory.decide("We use A.")).decision
        assert new.id > later
        assert abs(new.recorded_at_ms - now_ms()) < DAY_MS
        assert await memory.texts(current=True) == ["We use A.", "from the future"]
        await memory.decisions.forget(later)
        await memory.new("We use B.", supersedes=new.id)
        assert await memory.texts(current=True) == ["We use B."]
        assert await memory.texts(moment=at(ahead_ms, ahead_ms)) == ["We use B."]


async def test_a_clock_that_was_ahead_brings_back_nothing_that_was_ended(tmp_path):
    """What was superseded or forgotten then is so now; what was to hold on until a later day still does."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.", memory.shop)
        await memory.new("We use B.", memory.shop, supersedes=old)
        await memory.decisions.forget(await memory.new("We use C.", memory.shop))
        lasting = await memory.new("We use D.", memory.shop)
        later = now_ms() + 3660 * DAY_MS
        await memory.new("We use E.", memory.shop, supersedes=lasting, valid_from_ms=later)
        await memory.store.preferences.set(Setting("k", "global"), "old", author="ana", reason=None)
        await memory.store.preferences.set(Setting("k", "global"), "new", author="ana", reason=None)
    ahead = {"by": 3650 * DAY_MS}
    with closing(sqlite3.connect(tmp_path / "relay.db")) as connection, connection:
        connection.execute(
            "UPDATE decision SET recorded_at_ms = recorded_at_ms + :by, superseded_at_ms = superseded_at_ms + :by,"
            " ended_ms = CASE ended_ms WHEN superseded_at_ms THEN ended_ms + :by ELSE ended_ms END",
            ahead,
        )
        connection.execute(
            "UPDATE preference SET recorded_at_ms = recorded_at_ms + :by, superseded_at_ms = superseded_at_ms + :by",
            ahead,
        )
    index = SearchIndex()
    async with kept(tmp_path, index=index) as memory:
        search = Search(memory.store, index)
        await search.reindex()
        assert await memory.texts(memory.shop, current=True) == ["We use D.", "We use B."]
        assert {hit.text for hit in await search.find("we use", project_id=memory.shop.id)} == {
            "We use B.",
            "We use D.",
        }
        assert [hit.text for hit in await search.find("k", project_id=None)] == ["k = new"]
        (counts,) = await memory.store.projects.counts(memory.shop.id)
        assert (counts.current, counts.decisions) == (2, 5)
        assert (await memory.decide("We use A.", memory.shop)).created
