"""Injections that say what they were asked for, in place of the real ones; and sessions as the route lists them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio

from relayd.brief.injection import Injection, Injections, Told
from relayd.hooks.answering import LIMITS_MS
from relayd.store.projects import Project
from relayd.store.sessions import SessionRow
from tests.house import LIMIT_S
from tests.integration.hooks.hooked import Hooked, hooked, told

T = TypeVar("T")

LONG = "What did we decide about the prices of the shop?"


class Telling:
    """Tells a numbered item with each text; keeps what it was asked.

    Attributes:
        asked: Which text, of which project, for which lane, and what the session knew.
        fault: Raised in place of a text.
        silent: Nothing is there to tell.
        gate: Waited for before each text.
        came: Set once anything was asked.
        before: Called before each text.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str, list[str] | None]] = []
        self.models: list[str | None] = []
        self.fault: Exception | None = None
        self.silent = False
        self.gate: anyio.Event | None = None
        self.came = anyio.Event()
        self.before: Callable[[], None] = lambda: None

    async def whole(self, project: Project, *, lane: str, model: str | None) -> Injection:
        """Tell all."""
        self.models.append(model)
        return await self._tell("whole", project, lane, None)

    async def since(self, project: Project, told: Told, *, lane: str, model: str | None) -> Injection:
        """Tell what is new."""
        self.models.append(model)
        return await self._tell("since", project, lane, told)

    async def about(
        self, project: Project, prompt: str, told: Told | None, *, lane: str, model: str | None
    ) -> Injection:
        """Tell what a prompt is about."""
        assert prompt == LONG
        self.models.append(model)
        return await self._tell("about", project, lane, told)

    async def _tell(self, which: str, project: Project, lane: str, told: Told | None) -> Injection:
        number = len(self.asked) + 1
        self.asked.append((which, project.slug, lane, None if told is None else sorted(told.items)))
        self.came.set()
        self.before()
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        before: Mapping[str, int] = {} if told is None else told.items
        if self.silent:
            return Injection("", Told(number, before))
        return Injection(f"{which} {number}", Told(number, {**before, f"item-{number}": number}))

    @property
    def kinds(self) -> list[str]:
        """Which texts were asked for, in order."""
        return [which for which, *_ in self.asked]


@asynccontextmanager
async def telling(path: Path, *, limit_ms: int | None = 60_000) -> AsyncGenerator[tuple[Hooked, Telling]]:
    """Serve hooks whose agents are told by a `Telling`.

    Args:
        path: Holds the home.
        limit_ms: How long a text may take: a busy machine may take long for the event before it. None: as always.
    """
    async with hooked(path) as hooks:
        teller, answering = Telling(), hooks.services.hooks._answering
        answering._injections = cast("Injections", teller)
        if limit_ms is not None:
            answering._limits_ms = dict.fromkeys(LIMITS_MS, limit_ms)
        yield hooks, teller


async def started(hooks: Hooked, place: Path | str, source: str = "startup", **how: Any) -> str:
    """Begin a session; what its agent is told."""
    session, members = how.pop("session", "s-1"), how.pop("members", {})
    payload = told("SessionStart", session, str(place), source=source, **members)
    return text_in(await hooks.post(payload, place, target="claude/session-start", **how), "SessionStart")


async def asked(hooks: Hooked, place: Path | str, prompt: str = LONG, **how: Any) -> str:
    """Ask something; what the agent is told beside it."""
    session, members = how.pop("session", "s-1"), how.pop("members", {})
    payload = told("UserPromptSubmit", session, str(place), prompt=prompt, **members)
    return text_in(await hooks.post(payload, place, **how), "UserPromptSubmit")


async def said(hooks: Hooked, place: Path | str, event: str = "Stop", **how: Any) -> None:
    """Have another event of a session come, of which nobody is told anything."""
    session, members = how.pop("session", "s-1"), how.pop("members", {})
    word = {"Stop": "stop", "SessionEnd": "session-end", "PostCompact": "post-compact"}[event]
    await hooks.taken(told(event, session, str(place), **members), place, target=f"claude/{word}", **how)


def text_in(answer: Any, event: str) -> str:
    """Find the text in what the hook is to print: one JSON document of exactly this form, or nothing."""
    assert answer.status_code == 200, answer.text
    if not answer.content:
        return ""
    document = json.loads(answer.content)
    text = document["hookSpecificOutput"]["additionalContext"]
    assert document == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return text


async def listed(hooks: Hooked, query: str = "") -> list[dict[str, Any]]:
    """The sessions, as the route gives them."""
    answer = await hooks.http.get(f"/v1/sessions{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["sessions"]


async def states(hooks: Hooked, **wanted: str) -> None:
    """Wait until the sessions are in these states, by id with `_` for `-`; they are noted behind the answers."""
    expected = {name.replace("_", "-"): state for name, state in wanted.items()}

    async def are() -> bool:
        return {one["session_id"]: one["state"] for one in await listed(hooks)} == expected

    await until(are)


async def on_disk(hooks: Hooked, session: str = "s-1") -> SessionRow | None:
    """What the file says of a session, whatever is in memory."""
    query = hooks.parts.store.access.queries["agent_session"]
    rows = await hooks.parts.store.access.ask(query, SessionRow, {"cli": "claude", "session_id": session})
    return rows[0] if rows else None


async def until_on_disk(hooks: Hooked, session: str = "s-1", **members: Any) -> SessionRow:
    """Wait until the file says so."""

    async def fitting() -> SessionRow | None:
        row = await on_disk(hooks, session)
        fits = row is not None and all(getattr(row, name) == value for name, value in members.items())
        return row if fits else None

    found = await until(fitting)
    assert found is not None
    return found


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Look again until the answer is truthy, and give it."""
    with anyio.fail_after(LIMIT_S):
        while True:
            if found := await look():
                return found
            await anyio.sleep(0.01)
