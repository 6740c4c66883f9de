"""Sessions on disk: what is kept in memory, what is written together, what is forgotten."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from relay_queue.errors import QueueBusy
from relayd.home import Home, furnish, prepare
from relayd.store import RelayStore, open_store
from relayd.store.access import Statement
from relayd.store.projects import ProjectFields
from relayd.store.sessions import SessionRow
from tests.house import Clock

DAY_MS = 86_400_000


@asynccontextmanager
async def opened(path: Path, clock: Clock) -> AsyncGenerator[tuple[RelayStore, int]]:
    """A store with one project, and its number."""
    home = Home(path / "home")
    prepare(home)
    furnish(home)
    async with open_store(home, ticks=clock) as store:
        if await store.projects.by_name("shop") is None:
            await store.projects.add("shop", ProjectFields(), [], actor="ana")
        project = await store.projects.by_name("shop")
        assert project is not None
        yield store, project.id


def session(name: str, project_id: int, at_ms: int, **members: object) -> SessionRow:
    """One session."""
    return SessionRow("claude", name, project_id, "/w", None, None, at_ms, at_ms, at_ms, **members)  # type: ignore[arg-type]


async def on_disk(store: RelayStore) -> list[str]:
    """The names of those that are in the file."""
    rows = await store.access.ask("SELECT session_id FROM agent_session ORDER BY 1", tuple[str], {})
    return [name for (name,) in rows]


async def test_what_was_put_is_written_together_and_read_again(tmp_path: Path) -> None:
    """With other statements, in one transaction; the next opening knows all of it."""
    clock = Clock()
    told = '{"at_ms":1,"items":{"01A":2}}'
    async with opened(tmp_path, clock) as (store, shop):
        one = session("s-1", shop, clock.now_ms, told=told)
        store.sessions.put(one)
        store.sessions.put(session("s-2", shop, clock.now_ms, closed="quiet", closed_at_ms=clock.now_ms))
        assert await on_disk(store) == []
        await store.sessions.save(*store.hooks.see("claude", "stop", clock.now_ms))
        assert await on_disk(store) == ["s-1", "s-2"]
    async with opened(tmp_path, clock) as (store, _):
        assert await store.sessions.get("claude", "s-1") == one
        assert await store.sessions.get("codex", "s-1") is None
        assert [row.session_id for row in await store.sessions.silent(clock.now_ms + 1)] == ["s-1"]
        assert [hook.cli for hook in await store.hooks.seen()] == ["claude"]


async def test_what_could_not_be_written_is_written_the_next_time(tmp_path: Path) -> None:
    """What was put meanwhile wins over it."""
    clock = Clock()
    async with opened(tmp_path, clock) as (store, shop):
        rows, execute_all = store.sessions, store.access.execute_all

        async def refused(_: list[Statement]) -> None:
            rows.put(session("s-1", shop, clock.now_ms, told="{}"))
            raise QueueBusy("relay.db")

        store.access.execute_all = refused  # type: ignore[method-assign,assignment]
        rows.put(session("s-1", shop, clock.now_ms))
        rows.put(session("s-2", shop, clock.now_ms))
        with pytest.raises(QueueBusy):
            await rows.save()
        store.access.execute_all = execute_all  # type: ignore[method-assign]
        await rows.save()
        assert await on_disk(store) == ["s-1", "s-2"]
        told = await store.access.ask("SELECT told FROM agent_session", tuple[str | None], {})
        assert set(told) == {(None,), ("{}",)}


async def test_what_is_not_in_memory_any_more_is_as_it_was_put(tmp_path: Path) -> None:
    """Few are kept there: also what was new of one, and not worth a write of its own, is written before it is gone."""
    clock = Clock()
    async with opened(tmp_path, clock) as (store, shop):
        rows = store.sessions
        first = session("s-0", shop, clock.now_ms)
        rows.put(first)
        await rows.save()
        later = msgspec.structs.replace(first, last_at_ms=clock.now_ms + 10, seen_ms=clock.now_ms + 10)
        rows.put(later)
        for number in range(1, 200):
            rows.put(session(f"s-{number}", shop, clock.now_ms))
        assert await rows.get("claude", "s-0") == later
        await rows.save()
        assert set(rows._saved) <= set(rows._known)
        assert len(rows._known) == 32
        latest = await store.sessions.latest(shop, open_only=True, limit=1)
        assert [row.session_id for row in latest] == ["s-0"]
        assert len(await rows.latest(None, open_only=False, limit=1_000)) == len(await on_disk(store)) == 200


async def test_a_session_is_forgotten_a_year_after_it_was_seen(tmp_path: Path) -> None:
    """By the store's own clock."""
    clock = Clock()
    async with opened(tmp_path, clock) as (store, shop):
        store.sessions.put(session("old", shop, store.sessions.now_ms()))
        clock.now_ms += 2 * DAY_MS
        store.sessions.put(session("new", shop, store.sessions.now_ms()))
        await store.sessions.save()
        clock.now_ms += 365 * DAY_MS
        assert (await store.prune()).sessions == 1
        assert await on_disk(store) == ["new"]
