"""The sessions of agents, as hooks tell of them: open, ended, quiet, and what is known of each."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from relayd.events import SessionClosed
from relayd.hooks.sessions import QUIET_MS
from tests.integration.hooks.hooked import MIDNIGHT_NS, Hooked, hooked, prompt, spool, spooled, told
from tests.integration.hooks.telling import (
    asked,
    listed,
    on_disk,
    said,
    started,
    states,
    telling,
    until,
    until_on_disk,
)


def closings(hooks: Hooked) -> list[tuple[str, str, str]]:
    """Which sessions were told of as over."""
    return [(one.cli, one.project, one.how) for one in hooks.parts.happened if isinstance(one, SessionClosed)]


async def has_lasted(hooks: Hooked) -> bool:
    """Whether the one session that is listed has more than one event."""
    (session,) = await listed(hooks)
    return session["began_at"] != session["last_at"]


async def quieten(hooks: Hooked, session: str = "s-1") -> None:
    """Have nothing been heard of a session for half an hour."""
    rows = hooks.services.store.sessions
    row = await until_on_disk(hooks, session)
    ago = {"seen_ms": row.seen_ms - QUIET_MS - 1_000, "last_at_ms": row.last_at_ms - QUIET_MS - 1_000}
    rows.put(msgspec.structs.replace(row, model="m-2", **ago))
    await rows.save()


async def test_a_session_is_followed_from_its_first_event_to_its_end(tmp_path: Path) -> None:
    """Where and when it was, with which model, and where its transcript lies."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        transcript = "/home/ana/.claude/projects/shop/s-1.jsonl"
        await started(hooks, shop, members={"model": "m-1", "transcript_path": transcript})
        (session,) = await listed(hooks)
        began = session["began_at"]
        assert session == {
            "cli": "claude",
            "session_id": "s-1",
            "project": "shop",
            "directory": str(shop),
            "transcript": transcript,
            "model": "m-1",
            "began_at": began,
            "last_at": began,
            "closed_at": None,
            "state": "open",
        }
        await asked(hooks, shop)
        await said(hooks, shop)
        await said(hooks, shop, "SessionEnd", members={"reason": "other"})
        await states(hooks, s_1="ended")
        (session,) = await listed(hooks)
        assert session["began_at"] == began < session["last_at"] == session["closed_at"]
        assert (session["model"], session["transcript"]) == ("m-1", transcript)
        assert closings(hooks) == [("claude", "shop", "ended")]
        row = await until_on_disk(hooks, closed="ended")
        assert row.told is not None  # for when it goes on


async def test_a_session_that_is_heard_of_again_is_open_again(tmp_path: Path) -> None:
    """Unless that is older than its end, as of a hook that took longer."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        now_ns = time.time_ns()
        await said(hooks, shop, "SessionEnd", Time=str(now_ns))
        await states(hooks, s_1="ended")
        await said(hooks, shop, members={"transcript_path": "/t"}, Time=str(now_ns))
        await until_on_disk(hooks, transcript="/t", closed="ended")
        await said(hooks, shop, Time=str(now_ns - 1_000_000_000))
        await until(lambda: has_lasted(hooks))
        await states(hooks, s_1="ended")
        await started(hooks, shop, "resume")
        await states(hooks, s_1="open")
        await said(hooks, shop, "SessionEnd")
        await states(hooks, s_1="ended")
        assert len(closings(hooks)) == 2


async def test_a_session_that_went_quiet_is_closed_here_and_nothing_is_sent(tmp_path: Path) -> None:
    """What is heard of it later opens it again; one that goes on is left alone."""
    async with telling(tmp_path) as (hooks, _):
        shop, sessions = await hooks.link(), hooks.services.hooks.sessions
        await asked(hooks, shop)
        await asked(hooks, shop, session="s-2")
        await quieten(hooks)
        await sessions.look()
        await states(hooks, s_1="quiet", s_2="open")
        row = await until_on_disk(hooks, closed="quiet")
        assert row.closed_at_ms is not None
        assert row.closed_at_ms > row.last_at_ms
        await sessions.look()
        assert closings(hooks) == [("claude", "shop", "quiet")]
        assert [event for _, event, _ in await hooks.fed("p-shop.1")] == ["user-prompt-submit"] * 2
        await said(hooks, shop)
        await states(hooks, s_1="open", s_2="open")
        await until_on_disk(hooks, closed=None)


async def test_a_session_that_the_disk_alone_takes_for_quiet_is_left_open(tmp_path: Path) -> None:
    """What was heard of it last may not be written yet."""
    async with telling(tmp_path) as (hooks, _):
        await asked(hooks, await hooks.link())
        await quieten(hooks)
        rows = hooks.services.store.sessions
        row = await rows.get("claude", "s-1")
        assert row is not None
        rows.put(msgspec.structs.replace(row, seen_ms=rows.now_ms()))
        await hooks.services.hooks.sessions.look()
        await states(hooks, s_1="open")
        assert closings(hooks) == []


async def test_the_end_of_a_quiet_session_still_counts(tmp_path: Path) -> None:
    """It is over for good then, and told of once more."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        await asked(hooks, shop)
        await quieten(hooks)
        await hooks.services.hooks.sessions.look()
        await said(hooks, shop, "SessionEnd")
        await states(hooks, s_1="ended")
        assert [how for *_, how in closings(hooks)] == ["quiet", "ended"]


async def test_what_is_spooled_is_followed_too_and_told_nothing(tmp_path: Path) -> None:
    """A session whose hooks found no daemon began and ended when they ran."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        spool(
            hooks.home.path,
            0,
            spooled(told("SessionStart", cwd=str(shop), source="startup"), shop, event="session-start"),
        )
        spool(hooks.home.path, 10**9, spooled(prompt(1), shop))
        spool(
            hooks.home.path, 2 * 10**9, spooled(told("SessionEnd", cwd=str(shop)), shop, event="session-end")
        )
        spool(hooks.home.path, 3 * 10**9, spooled(prompt(2, "s-2"), shop))
        await hooks.services.hooks.backlog.look()
        row = await until_on_disk(hooks, closed="ended")
        assert row.began_at_ms == MIDNIGHT_NS // 10**6
        assert row.last_at_ms == row.closed_at_ms == MIDNIGHT_NS // 10**6 + 2_000
        assert (row.told, teller.asked) == (None, [])
        assert closings(hooks) == [("claude", "shop", "ended")]
        await hooks.services.hooks.sessions.look()  # the other one was last heard of long ago
        await states(hooks, s_1="ended", s_2="quiet")


async def test_what_a_session_was_told_survives_events_that_are_older(tmp_path: Path) -> None:
    """A start that waited in the spool is none of now."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop)
        old = told("SessionStart", cwd=str(shop), source="startup")
        spool(hooks.home.path, 0, spooled(old, shop, event="session-start"))
        await hooks.services.hooks.backlog.look()
        await asked(hooks, shop)
        assert teller.asked[1][3] == ["item-1"]


async def test_a_clock_that_was_set_back_stops_no_session(tmp_path: Path) -> None:
    """What comes next is new all the same: it ends a session, opens it again, and makes it forget what it was told."""
    async with telling(tmp_path) as (hooks, teller):
        shop, rows = await hooks.link(), hooks.services.store.sessions

        async def set_back() -> None:
            row = await until_on_disk(hooks)
            moved = {"began_at_ms": row.began_at_ms + 86_400_000, "last_at_ms": row.last_at_ms + 86_400_000}
            rows.put(msgspec.structs.replace(row, seen_ms=row.seen_ms - 1_000, model="m-2", **moved))
            await rows.save()

        await started(hooks, shop)
        await set_back()
        await said(hooks, shop, "PostCompact")
        await until_on_disk(hooks, told=None)
        await set_back()
        await said(hooks, shop, "SessionEnd")
        await states(hooks, s_1="ended")
        await set_back()
        await asked(hooks, shop)
        await states(hooks, s_1="open")
        assert teller.asked[-1][3] is None


async def test_times_alone_are_written_once_a_minute(tmp_path: Path) -> None:
    """The list knows better than the disk meanwhile; what else is new is written at once."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        await said(hooks, shop)
        first = await until_on_disk(hooks)
        for _ in range(5):
            await said(hooks, shop)
        await until(lambda: has_lasted(hooks))
        assert await on_disk(hooks) == first
        await said(hooks, shop, members={"transcript_path": "/t"})
        assert (await until_on_disk(hooks, transcript="/t")).last_at_ms > first.last_at_ms


async def test_sessions_follow_their_project_to_its_new_name_and_go_with_it(tmp_path: Path) -> None:
    """A renamed project keeps them; a removed one takes them along, and a later one of its name has none of them."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop)
        await until_on_disk(hooks)
        await hooks.services.projects.rename("shop", "store")
        assert [one["project"] for one in await listed(hooks, "?project=shop")] == ["store"]
        assert await asked(hooks, shop)
        assert teller.asked[-1] == ("about", "store", "claude", ["item-1"])
        assert (await hooks.http.delete("/v1/projects/store")).status_code == 200
        assert (await on_disk(hooks), await listed(hooks)) == (None, [])
        await hooks.link("shop")
        assert await listed(hooks) == []
        assert await started(hooks, shop, "resume") == "whole 3"
        await until_on_disk(hooks)
        assert [one["project"] for one in await listed(hooks)] == ["shop"]


async def test_the_list_is_of_a_project_of_open_ones_and_of_so_many(tmp_path: Path) -> None:
    """Those heard of last come first."""
    async with telling(tmp_path) as (hooks, _):
        shop, api = await hooks.link(), await hooks.link("api")
        for number, place in enumerate((shop, api, shop)):
            await asked(hooks, place, session=f"s-{number}")
        await said(hooks, shop, "SessionEnd", session="s-0")
        await states(hooks, s_0="ended", s_1="open", s_2="open")

        async def found(query: str) -> list[str]:
            return [one["session_id"] for one in await listed(hooks, query)]

        assert await found("") == ["s-0", "s-2", "s-1"]
        assert await found("?project=shop") == ["s-0", "s-2"]
        assert await found(f"?directory={api}") == ["s-1"]
        assert await found("?open&project=shop") == ["s-2"]
        assert await found("?limit=1") == ["s-0"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?limit=0", 400, "parameter_refused"),
        ("?open=perhaps", 400, "parameter_refused"),
        ("?project=nothing", 404, "unknown_project"),
        ("?directory=/nowhere", 400, "scope_needed"),
    ],
)
async def test_a_list_that_cannot_be_is_refused(tmp_path: Path, query: str, status: int, code: str) -> None:
    """As everywhere."""
    async with hooked(tmp_path) as hooks:
        answer = await hooks.http.get(f"/v1/sessions{query}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_path_that_is_no_text_is_no_reason_to_lose_a_session(tmp_path: Path) -> None:
    """Directories may be named by any bytes."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        place = f"{shop}/caf%E9"
        await hooks.taken(told("Stop", cwd=str(shop)), place, target="claude/stop")
        assert (await until_on_disk(hooks)).directory == str(shop)


async def test_a_project_that_is_removed_while_a_session_is_heard_of_leaves_no_row(tmp_path: Path) -> None:
    """The row would belong to nothing."""
    async with telling(tmp_path) as (hooks, _):
        shop, _api = await hooks.link(), await hooks.link("api")
        await started(hooks, shop)
        row = await until_on_disk(hooks)
        rows = hooks.services.store.sessions
        rows.put(msgspec.structs.replace(row, model="m-9"))
        await hooks.http.delete("/v1/projects/shop")
        await rows.save()
        assert await on_disk(hooks) is None
        found = await hooks.parts.store.access.ask("PRAGMA foreign_key_check", tuple[str], {})
        assert found == []
