"""What the agent behind a hook is told: the right text for the moment, once, and nothing where something is wrong."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import anyio
import pytest

from relay_queue.errors import QueueBusy
from relayd.events import InjectionFailed
from relayd.hooks.answering import LIMITS_MS
from relayd.hooks.knowledge import Knowledge
from relayd.store.access import Access
from tests.house import LIMIT_S, services_of
from tests.integration.hooks.hooked import Hooked, told
from tests.integration.hooks.telling import (
    LONG,
    asked,
    on_disk,
    said,
    started,
    telling,
    text_in,
    until_on_disk,
)


def failures(hooks: Hooked) -> list[tuple[str, str]]:
    """Which texts could not be made, and why."""
    return [(one.hook, one.code) for one in hooks.parts.happened if isinstance(one, InjectionFailed)]


def ago(ms: int) -> str:
    """The time of a hook that began so long ago, as the shim says it."""
    return str(time.time_ns() - ms * 1_000_000)


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork", "of-a-later-version"])
async def test_a_start_is_told_the_whole(tmp_path: Path, source: str) -> None:
    """With the project, the lane of the hook and the model of the payload; and so is the next start of the session."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        assert await started(hooks, shop, source, members={"model": "m-1"}) == "whole 1"
        assert await started(hooks, shop, source, Time=ago(-5_000)) == "whole 2"
        assert teller.asked == [("whole", "shop", "claude", None)] * 2
        assert teller.models == ["m-1", "m-1"]


async def test_a_prompt_is_told_what_it_is_about_and_was_not_told(tmp_path: Path) -> None:
    """What the start told, and each prompt before, is left out."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        assert await started(hooks, shop, members={"model": "m-1"}) == "whole 1"
        assert await asked(hooks, shop) == "about 2"
        assert await asked(hooks, shop) == "about 3"
        assert teller.models == ["m-1"] * 3
        assert teller.asked[1:] == [
            ("about", "shop", "claude", ["item-1"]),
            ("about", "shop", "claude", ["item-1", "item-2"]),
        ]


async def test_a_session_that_goes_on_is_told_what_changed(tmp_path: Path) -> None:
    """Since it was told all, however many prompts came between; and nothing if nothing changed."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop)
        await asked(hooks, shop)
        row = await until_on_disk(hooks)
        known = Knowledge.read(row)
        assert known is not None
        assert known.told.at_ms == 1
        assert await started(hooks, shop, "resume") == "since 3"
        assert teller.asked[2] == ("since", "shop", "claude", ["item-1", "item-2"])
        teller.silent = True
        assert await started(hooks, shop, "resume") == ""
        assert teller.asked[3][3] == ["item-1", "item-2", "item-3"]


async def test_a_session_that_was_never_told_all_is_told_all_when_it_goes_on(tmp_path: Path) -> None:
    """One that is new here, one that was only told what a prompt was about, one that moved to another project."""
    async with telling(tmp_path) as (hooks, teller):
        shop, api = await hooks.link(), await hooks.link("api")
        assert await started(hooks, shop, "resume", session="new") == "whole 1"
        assert await asked(hooks, shop, session="asked") == "about 2"
        assert await started(hooks, shop, "resume", session="asked") == "whole 3"
        assert await started(hooks, api, "resume", session="new") == "whole 4"
        assert teller.asked[3] == ("whole", "api", "claude", None)


async def test_what_a_session_was_told_is_forgotten_when_its_agent_forgets(tmp_path: Path) -> None:
    """After a start that is none of going on, and after a compaction, which may come with or without a start."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop)
        assert await started(hooks, shop, "clear") == "whole 2"
        await asked(hooks, shop)
        assert teller.asked[2][3] == ["item-2"]
        await said(hooks, shop, "PostCompact")
        await until_on_disk(hooks, told=None)
        await asked(hooks, shop)
        assert teller.asked[3][3] is None
        assert await started(hooks, shop, "compact") == "whole 5"
        await said(hooks, shop, "PostCompact")  # its end comes last, and is of the same compaction
        await asked(hooks, shop)
        assert teller.asked[5][3] == ["item-5"]


async def test_a_start_that_is_told_of_twice_is_answered_once(tmp_path: Path) -> None:
    """Some run a hook twice for one start; a start of another kind is another one."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        texts: list[str] = []

        async def start() -> None:
            texts.append(await started(hooks, shop))

        async with anyio.create_task_group() as both:
            both.start_soon(start)
            both.start_soon(start)
        assert sorted(texts) == ["", "whole 1"]
        assert await started(hooks, shop, "clear") == "whole 2"


async def test_a_prompt_that_comes_before_its_start_is_not_forgotten(tmp_path: Path) -> None:
    """Some CLIs run both at once: what the prompt was told is still known after the start."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        assert await asked(hooks, shop) == "about 1"
        assert await started(hooks, shop, Time=ago(100)) == "whole 2"
        await asked(hooks, shop)
        assert teller.asked[2][3] == ["item-1", "item-2"]


async def test_prompts_of_one_session_at_once_are_told_one_after_the_other(tmp_path: Path) -> None:
    """Neither is told what the other one was; other sessions do not wait for them."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        teller.gate = anyio.Event()
        async with anyio.create_task_group() as all_of_them:
            all_of_them.start_soon(started, hooks, shop)
            with anyio.fail_after(LIMIT_S):
                await teller.came.wait()
                all_of_them.start_soon(asked, hooks, shop)
                gate, teller.gate = teller.gate, None
                assert await started(hooks, shop, session="other") == "whole 2"
            assert teller.kinds == ["whole", "whole"]
            gate.set()
        assert teller.asked[2] == ("about", "shop", "claude", ["item-1"])


async def test_ten_sessions_that_begin_at_once_are_all_told(tmp_path: Path) -> None:
    """Each its own text, and each is on disk afterwards."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        texts: set[str] = set()

        async def start(number: int) -> None:
            texts.add(await started(hooks, shop, session=f"s-{number}"))

        async with anyio.create_task_group() as all_of_them:
            for number in range(10):
                all_of_them.start_soon(start, number)
        assert texts == {f"whole {number}" for number in range(1, 11)}
        for number in range(10):
            assert (await until_on_disk(hooks, f"s-{number}")).told is not None


async def test_a_restart_keeps_what_a_session_was_told(tmp_path: Path) -> None:
    """The next daemon goes on where the last one was."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        await started(hooks, shop, members={"model": "m-1"})
    async with telling(tmp_path) as (hooks, teller):
        assert await started(hooks, shop, "resume") == "since 1"
        assert (teller.asked[0][3], teller.models) == (["item-1"], ["m-1"])


HEADERS = [{"Capture_Owner": "somebody"}, {"Guard": "1"}, {"Grok": "1"}]


@pytest.mark.parametrize("headers", HEADERS, ids=lambda one: next(iter(one)))
async def test_an_agent_that_is_not_captured_is_told_nothing(tmp_path: Path, headers: dict[str, str]) -> None:
    """Somebody else captures it, or wants no hooks of it, or its CLI is another one."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        assert await started(hooks, shop, **headers) == ""
        assert await asked(hooks, shop, **headers) == ""
        assert (teller.asked, await on_disk(hooks)) == ([], None)
        assert await started(hooks, shop, **dict.fromkeys(headers, "")) == "whole 1"


async def test_a_directory_that_is_not_linked_is_told_nothing(tmp_path: Path) -> None:
    """Not even if its rules name a project that is there: anybody may have written them."""
    async with telling(tmp_path) as (hooks, teller):
        await hooks.link()
        clone = hooks.work("clone")
        (clone / ".relay").mkdir()
        (clone / ".relay/rules.json").write_text('{"version": 1, "project": "shop"}')
        assert await started(hooks, clone, Root=str(clone)) == ""
        assert await asked(hooks, clone, Root=str(clone)) == ""
        assert (teller.asked, await on_disk(hooks)) == ([], None)


async def test_an_ignored_path_is_told_nothing(tmp_path: Path) -> None:
    """Nothing is captured there, and nothing goes there."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        ignoring = services_of(hooks.parts, ignore_paths=("shop",))
        hooks.services.hooks._sieve._cleaner = ignoring.hooks._sieve._cleaner
        assert await started(hooks, shop) == ""
        assert await asked(hooks, shop) == ""
        assert (teller.asked, await on_disk(hooks)) == ([], None)


async def test_a_subagent_is_told_nothing_and_takes_nothing_from_its_session(tmp_path: Path) -> None:
    """It works under the id of the session that started it."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop, members={"model": "m-1"})
        subagent = {"agent_id": "a-1", "agent_type": "Explore", "model": "m-2"}
        assert await asked(hooks, shop, members=subagent) == ""
        assert await started(hooks, shop, members=subagent) == ""
        await said(hooks, shop, "PostCompact", members=subagent)
        await asked(hooks, shop)
        assert teller.asked[1:] == [("about", "shop", "claude", ["item-1"])]
        row = await until_on_disk(hooks)
        assert (row.model, row.closed) == ("m-1", None)


@pytest.mark.parametrize(
    "prompt", ["short", "/clear the table of everything", "<task-notification>done</task-notification>"]
)
async def test_what_is_no_question_is_told_nothing(tmp_path: Path, prompt: str) -> None:
    """Its event is kept all the same."""
    async with telling(tmp_path) as (hooks, teller):
        assert await asked(hooks, await hooks.link(), prompt) == ""
        assert (teller.asked, failures(hooks)) == ([], [])
        assert len(await hooks.fed("p-shop.1")) == 1


async def test_a_prompt_that_two_hooks_tell_of_is_answered_once(tmp_path: Path) -> None:
    """The second one is recognized, and would be told something else for the same prompt."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        assert await asked(hooks, shop, members={"prompt_id": "p-1"}) == "about 1"
        assert await asked(hooks, shop, members={"prompt_id": "p-1"}) == ""


@pytest.mark.parametrize(
    ("fault", "code"), [(RuntimeError("broken"), "internal"), (QueueBusy("relay.db"), "queue_busy")]
)
async def test_a_text_that_fails_takes_nothing_with_it(tmp_path: Path, fault: Exception, code: str) -> None:
    """The event is kept, the answer is empty, and the next one is told what this one was not."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        teller.fault = fault
        assert await started(hooks, shop) == ""
        assert await asked(hooks, shop) == ""
        assert failures(hooks) == [("claude session-start", code), ("claude user-prompt-submit", code)]
        assert [event for _, event, _ in await hooks.fed("p-shop.1")] == [
            "session-start",
            "user-prompt-submit",
        ]
        assert (await until_on_disk(hooks)).told is None
        teller.fault = None
        assert await started(hooks, shop, "resume") == "whole 3"


async def test_a_start_that_could_not_be_told_is_one_all_the_same(tmp_path: Path) -> None:
    """What the session was told before it was cleared is forgotten, and the next prompt may bring it again."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        await started(hooks, shop)
        await until_on_disk(hooks)
        teller.fault = RuntimeError("broken")
        assert await started(hooks, shop, "clear") == ""
        await until_on_disk(hooks, told=None)
        teller.fault = None
        assert await asked(hooks, shop) == "about 3"
        assert teller.asked[2][3] is None


async def test_a_text_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    """Neither by its hook nor by the next one of the session, and it counts as not told."""
    async with telling(tmp_path, limit_ms=1_000) as (hooks, teller):
        shop = await hooks.link()
        teller.gate = anyio.Event()
        with anyio.fail_after(LIMIT_S):
            assert await asked(hooks, shop) == ""
        teller.gate = None
        hooks.services.hooks._answering._limits_ms = dict.fromkeys(LIMITS_MS, 60_000)
        assert failures(hooks) == [("claude user-prompt-submit", "too_slow")]
        assert await asked(hooks, shop) == "about 2"
        assert teller.asked[1][3] is None


async def test_a_text_that_could_not_be_cut_off_is_not_told_late(tmp_path: Path) -> None:
    """What keeps the daemon itself from going on ends at no deadline; what it made is dropped."""
    async with telling(tmp_path, limit_ms=1_000) as (hooks, teller):
        shop = await hooks.link()
        teller.before = lambda: time.sleep(1.01)
        assert await asked(hooks, shop) == ""
        assert failures(hooks) == [("claude user-prompt-submit", "too_slow")]


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit"])
async def test_a_hook_that_gave_up_is_told_nothing(tmp_path: Path, event: str) -> None:
    """Nobody prints it, so nobody was told; that is no failure."""
    async with telling(tmp_path, limit_ms=None) as (hooks, teller):
        shop = await hooks.link()
        late = ago(LIMITS_MS[event] + 50)  # type: ignore[index]
        if event == "session-start":
            assert await started(hooks, shop, Time=late) == ""
        else:
            assert await asked(hooks, shop, Time=late) == ""
        assert (await until_on_disk(hooks)).told is None
        assert (teller.asked, failures(hooks)) == ([], [])


async def test_a_text_is_made_once_its_event_is_on_disk(tmp_path: Path) -> None:
    """Nobody is told anything by a call that may still be refused."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        found: list[int] = []

        def look() -> None:
            with closing(sqlite3.connect(hooks.queue("p-shop.1") / "queue.db")) as connection:
                (known,) = connection.execute("SELECT count(*) FROM session").fetchone()
                found.append(known)

        teller.before = look
        await started(hooks, shop)
        await asked(hooks, shop, session="s-2")
        assert found == [1, 2]


async def test_the_form_is_of_the_cli_and_others_are_told_nothing(tmp_path: Path) -> None:
    """Ends and stops print nothing, and neither does a CLI that takes no text."""
    async with telling(tmp_path) as (hooks, teller):
        shop = await hooks.link()
        for event in ("Stop", "SessionEnd", "PostCompact"):
            await said(hooks, shop, event)
        grok = {"hookEventName": "session_start", "sessionId": "g-1", "cwd": str(shop), "source": "new"}
        answer = await hooks.post(json.dumps(grok).encode(), shop, target="grok/session-start")
        assert (answer.status_code, answer.content) == (200, b"")
        assert teller.asked == []


class Counted:
    """Counts what is given to the writer of `relay.db` from now on."""

    def __init__(self, access: Access) -> None:
        self.count = 0
        self._run = access._writer.run
        access._writer.run = self.run  # type: ignore[method-assign]

    async def run(self, work: Callable[[Connection], object]) -> object:
        """Run one job."""
        self.count += 1
        return await self._run(work)


async def test_a_prompt_costs_no_commit_more_before_its_answer_and_one_behind_it(tmp_path: Path) -> None:
    """What a session is told is written with what else is noted of the hook, behind the answer."""
    async with telling(tmp_path) as (hooks, _):
        shop = await hooks.link()
        await started(hooks, shop)
        await until_on_disk(hooks)
        jobs = Counted(hooks.parts.store.access)
        assert text_in(await hooks.post(told(cwd=str(shop), prompt=LONG), shop), "UserPromptSubmit")
        known = await hooks.services.store.sessions.get("claude", "s-1")
        assert known is not None
        await until_on_disk(hooks, told=known.told)
        assert jobs.count == 1
