"""The feed in the store: parts of it by index, additions once, sums."""

from itertools import product

import msgspec
import pytest

from relayd.feed import Feed
from relayd.feed.kinds import ranges
from relayd.home import Home
from relayd.memory.gate import Gate
from relayd.store import Arrival, open_store
from relayd.store.event_log import Happened
from relayd.store.feed_rows import Choice, Span

ARRIVAL = Arrival(
    at_ms=1_000,
    received_at_ms=2_000,
    ingest_key=None,
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
PATTERNS = (
    [],
    ["deploy.done"],
    ["deploy.*"],
    ["deploy.*", "step.usage"],
    ["deploy.*", "deploy.done"],
    ["hook", "no.such"],
    ["no.such"],
    ["no.*"],
)
KINDS = ("deploy.done", "deploy.failed", "deployed.x", "step.usage")


@pytest.fixture
async def store(tmp_path):
    async with open_store(Home(tmp_path)) as store:
        yield store


async def sql(store, text, *values):
    """Change rows as no room of the daemon does."""
    return await store.access.change(
        lambda connection: connection.execute(text, values).lastrowid, indexed=False
    )


async def project(store, slug):
    return await sql(store, "INSERT INTO project (slug, created_at_ms, changed_at_ms) VALUES (?, 1, 1)", slug)


def happened(kind, n=0, **members):
    return Happened(kind=kind, at_ms=n, received_at_ms=n, actor="ana", **members)


async def fill(store, *, projects):
    """Sixty events of four kinds in turn over projects, and hooks between."""
    for n in range(60):
        await store.feed.add(happened(KINDS[n % 4], n, project_id=projects[n % len(projects)]))
        if n % 7 == 0:
            await store.admit([msgspec.structs.replace(ARRIVAL, session_id=f"s-{n}")])


async def test_every_part_is_what_a_look_at_each_event_finds(store):
    """By project, by kinds and by both; from a cursor on, and the newest; page by page, none twice and none left out."""
    projects = {"shop": await project(store, "shop"), "site": await project(store, "site"), None: None}
    await fill(store, projects=[*projects.values()])
    everything = await store.feed.since(0, limit=1000)
    for patterns, slug in product(PATTERNS, projects):
        choice = Choice(projects[slug], ranges(patterns))
        wanted = [
            row.id
            for row in everything
            if (not patterns or any(first <= row.kind < beyond for first, beyond in choice.kinds))
            and (slug is None or row.project == slug)
        ]
        assert [row.id for row in await store.feed.since(0, limit=1000, choice=choice)] == wanted
        assert [row.id for row in await store.feed.newest(limit=5, choice=choice)] == wanted[-5:]
        assert await paged(store, choice) == wanted


async def paged(store, choice):
    found, cursor = [], 0
    while page := await store.feed.since(cursor, limit=4, choice=choice):
        assert len(page) <= 4
        found += [row.id for row in page]
        cursor = found[-1]
    return found


async def test_a_hooks_event_is_in_the_feed_of_its_project(store):
    """It is found by the project that its slug names when it comes, and stays there when that is renamed."""
    shop = await project(store, "shop")
    await store.admit([ARRIVAL])
    await sql(store, "UPDATE project SET slug = 'store' WHERE id = ?", shop)
    other = await project(store, "shop")
    await store.admit([msgspec.structs.replace(ARRIVAL, session_id="s-2")])
    (former,) = await store.feed.since(0, limit=9, choice=Choice(shop))
    (later,) = await store.feed.since(0, limit=9, choice=Choice(other))
    assert (former.project, former.session_id) == ("store", "s-1")
    assert (later.project, later.session_id) == ("shop", "s-2")
    assert (former.kind, former.event, former.excerpt, former.data) == ("hook", "stop", "text", None)


async def test_a_hooks_event_of_no_project_keeps_its_name(store):
    """A name that no project has is shown as it came."""
    await store.admit([ARRIVAL])
    (row,) = await store.feed.newest(limit=1)
    assert row.project == "shop"


async def test_a_dedupe_key_counts_once_for_a_kind_and_a_project(store):
    """A repeat finds the first event; another kind, another project and none at all have keys of their own."""
    shop = await project(store, "shop")
    first = await store.feed.add(happened("a.b", dedupe_key="k", project_id=shop))
    assert first.created
    assert await store.feed.add(happened("a.b", 5, dedupe_key="k", project_id=shop)) == (first.id, False)
    for other in (
        happened("a.b", dedupe_key="k"),
        happened("a.c", dedupe_key="k", project_id=shop),
        happened("a.b", dedupe_key="l", project_id=shop),
        happened("a.b", project_id=shop),
        happened("a.b", project_id=shop),
    ):
        assert (await store.feed.add(other)).created
    assert (await store.feed.add(happened("a.b", dedupe_key="k"))).created is False
    assert len(await store.feed.since(0, limit=99)) == 6


async def test_an_addition_leaves_the_memory_as_it_was(store):
    """Those who keep what they read of the memory need not read it anew; followers are told."""
    memory, news = store.changes.memory, store.changes.next_in_feed()
    await store.feed.add(happened("a.b"))
    assert (store.changes.memory, news.is_set()) == (memory, True)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 20])
async def test_a_time_is_a_place_in_the_feed(store, count):
    """The cursor lies before the first event that was recorded then or later, however many there are."""
    for n in range(count):
        await store.feed.add(happened("a.b", 10 * (n + 1)))
    for from_ms in range(0, 10 * count + 21, 5):
        after = [row.at_ms for row in await store.feed.since(await store.feed.position(from_ms), limit=99)]
        assert after == [10 * (n + 1) for n in range(count) if 10 * (n + 1) >= from_ms]


async def test_a_cursor_and_a_time_both_count(store, tmp_path):
    """A page begins behind the later of them; an empty one leads on from there."""
    for n in range(4):
        await store.feed.add(happened("a.b", 10 * n))
    feed = Feed(store, Gate(tmp_path / "secret-patterns.toml"))
    for since, from_ms, ids in ((1, 20, [3, 4]), (3, 10, [4]), (None, 30, [4]), (2, None, [3, 4])):
        page = await feed.page(since=since, from_ms=from_ms)
        assert ([event.id for event in page.events], page.next) == (ids, 4)
    assert (await feed.page(since=1, from_ms=99)).next == 4
    assert (await feed.page(since=9)).next == 9


async def test_usage_is_summed_by_what_is_asked_for(store):
    """Of one kind, within a span, of one project or all; the dearest group comes first."""
    shop = await project(store, "shop")
    for n, (lane, model, cost) in enumerate(
        [("claude", "opus", 5), ("claude", "haiku", 1), ("codex", "gpt", 3)]
    ):
        used = {"lane": lane, "model": model, "tokens_in": 10, "tokens_out": 1, "cost_micros": cost}
        await store.feed.add(happened("step.usage", n, project_id=shop if n else None, **used))
    await store.feed.add(happened("other.usage", 1, lane="x", tokens_in=1, tokens_out=1, cost_micros=100))
    span = Span(0, 9)
    by_lane = await store.feed.usage("step.usage", span, by=["lane"])
    assert [msgspec.structs.astuple(row) for row in by_lane] == [
        (None, "claude", None, 2, 20, 2, 6),
        (None, "codex", None, 1, 10, 1, 3),
    ]
    of_shop = await store.feed.usage("step.usage", span, by=["lane", "model"], project_id=shop)
    assert [(row.model, row.calls) for row in of_shop] == [("gpt", 1), ("haiku", 1)]
    in_span = await store.feed.usage("step.usage", Span(1, 1), by=["model"])
    assert [row.model for row in in_span] == ["haiku"]
    assert await store.feed.usage("step.usage", Span(5, 9), by=["model"]) == []
