"""A call of a hook over the socket: what is taken, what is left alone, what is refused."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

import anyio
import pytest

from relay_queue.sqlite.database import BUSY_TIMEOUT_S
from relayd.events import HookTurnedAway
from relayd.harness.adapters import INLINE_BYTES
from relayd.harness.call import HookCall
from relayd.harness.clean import Cleaner
from relayd.harness.meaning import Meaning
from relayd.hooks.sieve import Sieve
from relayd.projects.directory import Directories
from relayd.store.rows import Upstream
from tests.integration.hooks.hooked import WORDS, Hooked, hooked, prompt, told


async def test_each_event_of_a_linked_directory_reaches_the_feed(tmp_path: Path) -> None:
    """All six arrive under their canonical names, in order, through the project's own queue."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        for wire, word in WORDS.items():
            await hooks.taken(told(wire), shop, target=f"claude/{word}")
        fed = await hooks.fed("p-shop.1")
        assert [event for _, event, _ in fed] == [
            "session-start",
            "user-prompt-submit",
            "stop",
            "session-end",
            "pre-compact",
            "post-compaction",
        ]
        (row,) = [row for row in await hooks.parts.registry.listed() if row.name == "p-shop.1"]
        assert (row.server_url, row.producer, row.workspace, row.project) == (
            "local",
            "relayd",
            "default",
            "shop",
        )


async def test_the_time_of_the_hook_is_the_time_of_the_event(tmp_path: Path) -> None:
    """What the feed says is what the shim said, not when the daemon got it."""
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(1), await hooks.link(), Time="1764460800123000000")
        await hooks.fed("p-shop.1")
        ((event),) = await hooks.of_hooks()
        assert event.at == "2025-11-30T00:00:00.123Z"


async def test_the_directory_of_the_input_counts_if_no_header_says_it(tmp_path: Path) -> None:
    """A client such as curl need not send any of the headers."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1, cwd=str(shop)))
        assert len(await hooks.fed("p-shop.1")) == 1


@pytest.mark.parametrize("header", ["Capture-Owner", "Guard", "Grok"])
async def test_a_session_that_is_not_ours_to_capture_gives_nothing(tmp_path: Path, header: str) -> None:
    """A capture owner, a guard, or Grok Build that runs these hooks: 200, nothing said, nothing stored, no queue."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop, **{header.replace("-", "_"): "1"})
        assert await hooks.queues() == []
        await hooks.taken(prompt(2), shop, **{header.replace("-", "_"): ""})
        assert await hooks.queues() == ["p-shop.1"]


async def test_a_directory_that_is_not_linked_gives_nothing(tmp_path: Path) -> None:
    """200, nothing said, nothing stored, and no queue is made."""
    async with hooked(tmp_path) as hooks:
        await hooks.link()
        await hooks.taken(prompt(1), hooks.work("elsewhere"))
        await hooks.taken(prompt(1), None)
        assert await hooks.queues() == []


async def test_two_hooks_for_one_prompt_give_one_event(tmp_path: Path) -> None:
    """Their id is the prompt's; that the rest of what they say differs does not matter."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1, permission_mode="plan"), shop, Id="a" * 32)
        await hooks.taken(prompt(1, permission_mode="auto"), shop, Id="b" * 32)
        assert len(await hooks.fed("p-shop.1")) == 1


async def test_a_call_that_is_repeated_gives_one_event(tmp_path: Path) -> None:
    """A stop has no id but the call's: the same call is recognized, another is another event."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        for call_id in ("a" * 32, "a" * 32, "b" * 32):
            await hooks.taken(told("Stop"), shop, target="claude/stop", Id=call_id)
        assert len(await hooks.fed("p-shop.1")) == 2


async def test_ten_first_events_at_once_make_one_queue(tmp_path: Path) -> None:
    """Ten sessions of a new project begin together: one queue, and nothing is lost."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(hooks.taken, prompt(number, f"s-{number}"), shop)
        assert await hooks.queues() == ["p-shop.1"]
        assert len(await hooks.fed("p-shop.1")) == 10


async def test_a_request_for_another_home_or_protocol_is_turned_away(tmp_path: Path) -> None:
    """421 `other_home`; the right ones are taken."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        for headers in ({"Home": "1-2"}, {"Protocol": "2"}):
            answer = await hooks.post(prompt(1), shop, **headers)
            assert (answer.status_code, answer.json()["code"]) == (421, "other_home")
        assert await hooks.queues() == []
        await hooks.taken(prompt(1), shop, Home=hooks.home.home_id, Protocol="1")


@pytest.mark.parametrize(
    ("target", "payload"),
    [
        ("cursor/stop", told("Stop")),
        ("claude/pre-tool-use", told("Stop")),
        ("claude/stop", b""),
        ("claude/stop", b"null"),
        ("claude/stop", b"[1"),
        ("claude/stop", b"{}"),
        ("claude/stop", b"\xff\xfe{"),
    ],
)
async def test_what_is_no_hook_is_refused(tmp_path: Path, target: str, payload: bytes) -> None:
    """422 `hook_refused`, nothing is stored, and nothing of the input is repeated."""
    async with hooked(tmp_path) as hooks:
        answer = await hooks.post(payload, await hooks.link(), target=target)
        assert (answer.status_code, answer.json()["code"]) == (422, "hook_refused")
        assert await hooks.queues() == []


async def test_what_is_turned_away_is_told_with_the_rule(tmp_path: Path) -> None:
    """The hook itself says nothing: the daemon's log has which one it was and why, without the input."""
    async with hooked(tmp_path) as hooks:
        await hooks.post(told("Stop", session="x" * 300), await hooks.link(), target="claude/stop")
        (event,) = [one for one in hooks.parts.happened if isinstance(one, HookTurnedAway)]
        assert (event.hook, event.code) == ("claude stop", "hook_refused")
        assert event.detail.startswith("the session's id ")
        assert "xx" not in event.detail


async def test_input_of_3_mb_is_taken_and_over_8_mib_refused(tmp_path: Path) -> None:
    """A long prompt is cut, not refused; what no agent sends is not read."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(told(prompt_id="p", prompt="word " * 600_000), shop)
        answer = await hooks.post(b" " * (8 * 1024 * 1024 + 1), shop)
        assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
        assert len(await hooks.fed("p-shop.1")) == 1


async def test_long_inputs_are_cleaned_one_at_a_time() -> None:
    """Each more that is under way at once would take turns with the loop, on which short events wait."""
    together = threading.Barrier(2, timeout=0.2)

    class Linked:
        async def project_of(self, *_: str | None) -> str:
            return "shop"

    class Slow(Cleaner):
        def event(self, call: HookCall, meaning: Meaning) -> None:  # noqa: ARG002 -- the cleaner's own parameters
            with suppress(threading.BrokenBarrierError):
                together.wait()

    sieve = Sieve(cast("Directories", Linked()), Slow(()))
    call = HookCall(
        cli="claude", event="stop", call_id="c", at_ms=1, payload=told("Stop", prompt="x" * INLINE_BYTES)
    )
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(sieve.one, call)
    assert together.broken


async def test_headers_that_make_no_sense_cost_no_event(tmp_path: Path) -> None:
    """A bad id, time, directory or root is left out; the event is taken with what remains."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        sense_less = {"Id": "no id!", "Time": "-1", "Root": "%00%zz"}
        for directory in ("relative/way", "%00", "/" + "x" * 5000, "%2"):
            await hooks.taken(told("Stop", cwd=str(shop)), directory, target="claude/stop", **sense_less)
        far = str((time.time_ns() // 10**9 + 10**8) * 10**9)
        await hooks.taken(told("Stop", cwd=str(shop)), target="claude/stop", Time=far)
        assert len(await hooks.fed("p-shop.1")) == 5
        events = await hooks.of_hooks()
        assert all(event.at[:4] == time.strftime("%Y", time.gmtime()) for event in events)


async def test_a_directory_is_percent_encoded(tmp_path: Path) -> None:
    """Spaces and letters of any script in a path arrive as they are."""
    async with hooked(tmp_path) as hooks:
        directory = hooks.work("Ana María x")
        await hooks.services.directories.link(str(directory), "ana")
        encoded = str(directory).replace(" ", "%20").replace("í", "%C3%AD")
        await hooks.taken(prompt(1), encoded)
        assert len(await hooks.fed("p-ana.1")) == 1


async def test_tells_when_each_hook_last_came(tmp_path: Path) -> None:
    """Hooks of which nothing is kept count too; what is no hook does not."""
    async with hooked(tmp_path) as hooks:
        await hooks.taken(told("Stop"), "/", target="claude/stop", Time="1764460800123000000")
        await hooks.post(b"null", "/", target="codex/nothing")
        answer = await hooks.http.get("/v1/hooks")
        assert (answer.status_code, answer.json()) == (
            200,
            {"seen": [{"cli": "claude", "event": "stop", "last_at_ms": 1764460800123}]},
        )


async def test_an_answer_does_not_wait_for_the_note_that_the_hook_came(tmp_path: Path) -> None:
    """While another program locks `relay.db`, a hook of a known session is answered, and is told of at once."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
        with closing(sqlite3.connect(hooks.home.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with anyio.fail_after(BUSY_TIMEOUT_S / 2):
                await hooks.taken(told("Stop"), shop, target="claude/stop")
            seen = (await hooks.http.get("/v1/hooks")).json()["seen"]
        assert [hook["event"] for hook in seen] == ["stop", "user-prompt-submit"]


async def test_a_hook_of_the_future_came_now(tmp_path: Path) -> None:
    """A clock that ran ahead for a moment does not hide the hooks that come after it."""
    async with hooked(tmp_path) as hooks:
        ahead_ns = time.time_ns() + 3_600_000_000_000
        await hooks.taken(told("Stop"), "/", target="claude/stop", Time=str(ahead_ns))
        seen = (await hooks.http.get("/v1/hooks")).json()["seen"]
        assert seen[0]["last_at_ms"] <= time.time_ns() // 1_000_000


async def test_a_session_of_another_agent_in_the_same_queue_is_refused(tmp_path: Path) -> None:
    """A server would drop its events for ever: the hook is told so, and other sessions go on."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1, "mine"), shop)
        envelope = {"event_id": "1", "agent": "other", "event": "stop"}
        theirs = {**envelope, "body": {"session_id": "theirs", "cwd": "/w"}}
        answer = await hooks.http.post("/v1/events?queue=p-shop.1", content=json.dumps(theirs))
        assert answer.status_code == 200
        refused = await hooks.post(prompt(2, "theirs"), shop)
        assert (refused.status_code, refused.json()["code"]) == (422, "hook_refused")
        await hooks.taken(prompt(3, "mine"), shop)


async def test_a_full_queue_answers_as_the_outbox_says(tmp_path: Path) -> None:
    """507 `queue_full`; what is known already is recognized all the same."""

    async def fill(hooks: Hooked) -> Path:
        await hooks.services.store.links.put_upstream(Upstream("http://127.0.0.1:9", "p", "a", "w"))
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.taken(prompt(2), shop)
        return shop

    async with hooked(tmp_path, pending_items=2) as hooks:
        shop = await fill(hooks)
        answer = await hooks.post(prompt(3), shop)
        assert (answer.status_code, answer.json()["code"]) == (507, "queue_full")
        await hooks.taken(prompt(2), shop)
