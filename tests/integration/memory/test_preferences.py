"""Preferences in a real file: what is set, what counts, what remains of it."""

import json
import sqlite3
import time
from contextlib import asynccontextmanager

import anyio.lowlevel
import pytest

from relayd.errors import ParameterRefused, ScopeNeeded, SecretRefused, UnknownItem
from relayd.home import Home
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.preferences import NewPreference, Preferences
from relayd.store import open_store
from relayd.store.index import NoIndex
from relayd.store.projects import Project

CHANCE = "a1B2c3D4e5F6g7H8i9J0k1L2M3n4O5p6Q7r8"
SHOP = Project(7, "shop", None, None, None, 3, None, 1, 1)
DOCS = Project(8, "docs", None, None, None, 3, None, 1, 1)


class Heard(NoIndex):
    """An index that remembers what it was told."""

    def __init__(self):
        self.entries = {}

    def put(self, connection, entries):  # noqa: ARG002 -- the protocol's
        self.entries.update((one.id, one) for one in entries)


class Setup:
    """An open store with two projects, and what the index heard."""

    def __init__(self, store, home, index):
        self.store = store
        self.home = home
        self.index = index
        self.preferences = Preferences(store.preferences, Gate(home.secret_patterns))

    async def set(
        self, key, value, scope="global", scope_id=None, *, project=None, reason=None, author="ana"
    ):
        order = NewPreference(key, value, scope, scope_id, reason, author)
        return await self.preferences.set(order, project)

    async def values(self, project=None, lane=None, model=None, moment=None):
        found = await self.preferences.merged(
            None if project is None else project.id, lane=lane, model=model, moment=moment
        )
        return {one.key: one.value for one in found}

    async def events(self):
        names = ("kind", "ref", "project", "lane", "model", "actor", "data", "dedupe_key")
        rows = look(self.home, f"SELECT {', '.join(names)} FROM event ORDER BY id")  # noqa: S608 - our own names
        return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@asynccontextmanager
async def opened(home):
    index = Heard()
    async with open_store(home, index=index) as store:
        for project in (SHOP, DOCS):
            await store.access.change(
                lambda connection, project=project: connection.execute(
                    "INSERT OR IGNORE INTO project (id, slug, created_at_ms, changed_at_ms) VALUES (?, ?, 1, 1)",
                    (project.id, project.slug),
                )
            )
        yield Setup(store, home, index)


def look(home, sql):
    connection = sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


async def next_ms(after_ms):
    """Let the clock go on, so that an instant lies between two changes."""
    while time.time_ns() // 1_000_000 <= after_ms:
        await anyio.lowlevel.checkpoint()


async def test_a_narrower_scope_wins(home):
    """By key: a project's over the global one, a lane's over both, a model's over all; the others do not count."""
    async with opened(home) as at:
        await at.set("runner", "unittest")
        await at.set("style", "short")
        await at.set("runner", "vitest", "project", project=SHOP)
        await at.set("runner", "jest", "project", project=DOCS)
        await at.set("runner", "lane's", "lane", "grok")
        await at.set("runner", "model's", "model", "opus-5")
        assert await at.values() == {"runner": "unittest", "style": "short"}
        assert await at.values(SHOP) == {"runner": "vitest", "style": "short"}
        assert await at.values(DOCS) == {"runner": "jest", "style": "short"}
        assert await at.values(SHOP, lane="grok") == {"runner": "lane's", "style": "short"}
        assert await at.values(SHOP, lane="claude") == {"runner": "vitest", "style": "short"}
        assert await at.values(SHOP, lane="grok", model="opus-5") == {"runner": "model's", "style": "short"}
        assert await at.values(lane="grok") == {"runner": "lane's", "style": "short"}


async def test_the_same_again_changes_nothing(home):
    """Same value and same reason: no row, no event, the same identifier; another reason is a change."""
    async with opened(home) as at:
        first = await at.set("runner", "vitest", reason="fast")
        again = await at.set(" runner ", " vitest\n", reason="fast ")
        assert (first.created, again.created) == (True, False)
        assert again.preference == first.preference
        assert again.replaced is None
        other = await at.set("runner", "vitest", reason="faster")
        assert (other.created, other.replaced) == (True, first.preference.id)
        assert [one["kind"] for one in await at.events()] == ["preference.set", "preference.set"]


async def test_the_history_keeps_what_was(home):
    """What was replaced names its successor; what was dropped has none, and the reason for it."""
    async with opened(home) as at:
        first = (await at.set("runner", "jest")).preference
        second = (await at.set("runner", "vitest")).preference
        await at.preferences.drop("runner", "global", None, None, "no tests any more", author="ana")
        newest, oldest = await at.preferences.history(None, lane=None, model=None, moment=None)
        assert (oldest.id, oldest.value, oldest.superseded_by) == (first.id, "jest", second.id)
        assert oldest.superseded_at_ms == second.recorded_at_ms
        assert (newest.id, newest.superseded_by, newest.drop_reason) == (second.id, None, "no tests any more")
        assert await at.values() == {}


async def test_an_earlier_moment_shows_what_counted_then(home):
    """The earlier of both instants counts, in what holds and in the history; what came later is not told."""
    async with opened(home) as at:
        first = (await at.set("runner", "jest")).preference
        await next_ms(first.recorded_at_ms)
        second = (await at.set("runner", "vitest")).preference
        await next_ms(second.recorded_at_ms)
        await at.preferences.drop("runner", "global", None, None, None)
        then, later = first.recorded_at_ms, second.recorded_at_ms
        assert await at.values(moment=Moment(then - 1, then - 1)) == {}
        assert await at.values(moment=Moment(then, then)) == {"runner": "jest"}
        assert await at.values(moment=Moment(then, later)) == {"runner": "jest"}
        assert await at.values(moment=Moment(later, then)) == {"runner": "jest"}
        assert await at.values(moment=Moment(later, later)) == {"runner": "vitest"}
        (known,) = await at.preferences.history(None, lane=None, model=None, moment=Moment(then, then))
        assert known == first


async def test_a_dropped_preference_lets_the_wider_one_count(home):
    """`drop` takes one scope's value away; dropping what is not there is an error that changes nothing."""
    async with opened(home) as at:
        await at.set("runner", "unittest")
        await at.set("runner", "vitest", "project", project=SHOP)
        await at.preferences.drop("runner", "project", None, SHOP, None)
        assert await at.values(SHOP) == {"runner": "unittest"}
        with pytest.raises(UnknownItem):
            await at.preferences.drop("runner", "project", None, SHOP, None)
        with pytest.raises(UnknownItem):
            await at.preferences.drop("runner", "project", None, DOCS, None)
        assert await at.values() == {"runner": "unittest"}


async def test_the_feed_tells_of_it_without_its_text(home):
    """An event has the identifier, the scope and who did it, in the project's feed, but no key, value or reason."""
    async with opened(home) as at:
        one = (await at.set("aaa", "bbb", "project", project=SHOP, reason="ccc")).preference
        two = (await at.set("aaa", "bbb", "lane", "grok", reason="ccc")).preference
        three = (await at.set("aaa", "bbb", "model", "opus-5", reason="ccc")).preference
        await at.preferences.drop("aaa", "project", None, SHOP, "ddd", author="bea")
        told = await at.events()
        assert [
            (row["kind"], row["ref"], row["project"], row["lane"], row["model"], row["actor"]) for row in told
        ] == [
            ("preference.set", one.id, "shop", None, None, "ana"),
            ("preference.set", two.id, None, "grok", None, "ana"),
            ("preference.set", three.id, None, None, "opus-5", "ana"),
            ("preference.dropped", one.id, "shop", None, None, "bea"),
        ]
        assert {json.loads(row["data"])["scope"] for row in told} == {"project", "lane", "model"}
        written = json.dumps(told)
        assert not [text for text in ("aaa", "bbb", "ccc", "ddd") if text in written]


async def test_the_index_is_told_in_the_same_change(home):
    """Key, value and reason in one line; a lane's is of no project; what was superseded says since when."""
    async with opened(home) as at:
        old = (await at.set("runner", "jest", "project", project=SHOP)).preference
        new = (await at.set("runner", "a\nb", "project", project=SHOP, reason="fast")).preference
        lane = (await at.set("runner", "x", "lane", "grok")).preference
        before, after, of_lane = (at.index.entries[one.id] for one in (old, new, lane))
        assert (before.text, before.kind, before.project_id) == ("runner = jest", "preference", SHOP.id)
        assert before.superseded_at_ms == before.ended_ms == new.recorded_at_ms
        assert (after.text, after.superseded_at_ms) == ("runner = a b (fast)", None)
        assert (of_lane.project_id, of_lane.valid_from_ms) == (None, lane.recorded_at_ms)


async def test_many_writers_leave_one_value(home):
    """Whoever sets the same key at the same time, one value counts and every other one names its successor."""
    async with opened(home) as at:
        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(at.set, "runner", f"v{number}")
        rows = look(home, "SELECT id, superseded_by, superseded_at_ms FROM preference ORDER BY seq")
        assert [by for _, by, _ in rows] == [*(one for one, _, _ in rows[1:]), None]
        assert [at_ms is None for _, _, at_ms in rows] == [False] * 39 + [True]


async def test_changes_are_told(home):
    """Whoever keeps what counts in memory hears of every change."""
    async with opened(home) as at:
        before = at.store.changes.memory
        await at.set("runner", "jest")
        assert at.store.changes.memory > before


@pytest.mark.parametrize(
    ("key", "value", "changes", "name"),
    [
        ("", "x", {}, "key"),
        ("two words", "x", {}, "key"),
        ("x" * 65, "x", {}, "key"),
        ("a\x07b", "x", {}, "key"),
        ("key", "  ", {}, "value"),
        ("key", "é" * 2049, {}, "value"),
        ("key", "a\0b", {}, "value"),
        ("key", "a\ud800b", {}, "value"),
        ("key", "x", {"reason": "x" * 2049}, "reason"),
        ("key", "x", {"author": "x" * 65}, "author"),
        ("key", "x", {"scope_id": "grok"}, "id"),
        ("key", "x", {"scope": "lane"}, "id"),
        ("key", "x", {"scope": "model", "scope_id": "a b"}, "id"),
    ],
)
async def test_texts_have_limits(home, key, value, changes, name):
    """What breaks a rule is refused by the name of its field, and nothing is stored."""
    async with opened(home) as at:
        with pytest.raises(ParameterRefused) as refused:
            await at.set(key, value, **changes)
        assert refused.value.name == name
        assert look(home, "SELECT COUNT(*) FROM preference") == [(0,)]


async def test_the_largest_fit(home):
    """A key of 64 characters, a value of 4,096 bytes and a reason of 2,048 are taken."""
    async with opened(home) as at:
        done = await at.set("ключ" * 16, "é" * 2048, reason="r" * 2048)
        assert done.created


async def test_a_project_is_needed(home):
    """A preference of a project without one is refused."""
    async with opened(home) as at:
        with pytest.raises(ScopeNeeded):
            await at.set("key", "x", "project")


@pytest.mark.parametrize("field", ["key", "value", "reason", "author", "id"])
async def test_secrets_are_refused(home, field):
    """Each text passes the gate before anything is stored."""
    token = f"gh{'p'}_{CHANCE}"  # in pieces: no scanner is to stumble over this file
    texts = {"key": "k", "value": "v", "reason": "r", "author": "a", "id": "grok", field: token}
    async with opened(home) as at:
        with pytest.raises(SecretRefused) as refused:
            await at.set(
                texts["key"],
                texts["value"],
                "lane",
                texts["id"],
                reason=texts["reason"],
                author=texts["author"],
            )
        assert [one.field for one in refused.value.suspects] == [field]
        assert token not in str(refused.value)
        assert look(home, "SELECT COUNT(*) FROM preference") == [(0,)]
