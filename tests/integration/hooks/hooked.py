"""Hooks against the parts of a daemon in this process, over a real socket; and spools as the shim leaves them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, chdir
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx

from relay_queue.limits import LIMITS
from relayd.api.app import App, all_routes
from relayd.feed.page import FeedEvent
from relayd.home import Home
from relayd.listen import bind
from relayd.server import Server
from relayd.services import Services
from tests.house import LIMIT_S, House, house, services_of

WORDS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compact",
}
MIDNIGHT_NS = 1_764_460_800_000_000_000


def told(event: str = "UserPromptSubmit", session: str = "s-1", cwd: str = "/w", **members: Any) -> bytes:
    """What Claude Code writes to a hook (synthetic)."""
    return json.dumps({"hook_event_name": event, "session_id": session, "cwd": cwd, **members}).encode()


def prompt(number: int, session: str = "s-1", **members: Any) -> bytes:
    """A prompt with an id of its own."""
    return told(session=session, prompt_id=f"p-{number}", prompt=f"prompt {number}", **members)


def spooled(
    payload: bytes, directory: Path | str, *, event: str = "user-prompt-submit", headers: str = ""
) -> bytes:
    """A request as the shim spools it."""
    head = (
        f"POST /v1/hooks/claude/{event} HTTP/1.1\r\nHost: relayd\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(payload)}\r\nConnection: close\r\nRelay-Protocol: 1\r\nRelay-Home: 1-2\r\n"
        f"Relay-Directory: {directory}\r\n{headers}\r\n"
    )
    return head.encode() + payload


def spool(home: Path, number: int, request: bytes, *, size: int | None = None) -> Path:
    """Leave a file in the spool; a higher number is a later one."""
    directory = home / "spool"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / f"{MIDNIGHT_NS + number:020}-77-{len(request) if size is None else size}.http"
    aside = directory / f".77-{number}.tmp"
    aside.write_bytes(request)
    return aside.rename(path)


def waiting(home: Path) -> list[str]:
    """The files that are still in the spool."""
    return sorted(entry.name for entry in (home / "spool").iterdir() if entry.suffix == ".http")


def put_aside(home: Path) -> list[str]:
    """The files that were put aside."""
    directory = home / "spool/rejected"
    return sorted(entry.name for entry in directory.iterdir()) if directory.exists() else []


class Hooked(NamedTuple):
    """A running service, and linked directories in it."""

    parts: House
    services: Services
    http: httpx.AsyncClient
    root: Path

    @property
    def home(self) -> Home:
        """The daemon's home."""
        return self.parts.home

    def work(self, name: str) -> Path:
        """A directory to work in."""
        directory = self.root / name
        directory.mkdir(exist_ok=True)
        return directory

    async def link(self, name: str = "shop") -> Path:
        """A directory that is linked to the project of its name."""
        directory = self.work(name)
        await self.services.directories.link(str(directory), name)
        return directory

    def queue(self, name: str) -> Path:
        """The directory of a queue of the home."""
        return self.parts.registry.places.named(name)

    async def queues(self) -> list[str]:
        """The names of the queues that hooks made, as listed."""
        names = [row.name or "" for row in await self.parts.registry.listed()]
        return sorted(name for name in names if name.startswith("p-"))

    async def post(
        self, payload: bytes, directory: Path | str | None = None, *, target: str = "", **headers: str
    ) -> httpx.Response:
        """Post one call of a hook."""
        where = {} if directory is None else {"Relay-Directory": str(directory)}
        named = {f"Relay-{name.replace('_', '-')}": value for name, value in headers.items()}
        target = target or "claude/user-prompt-submit"
        return await self.http.post(f"/v1/hooks/{target}", content=payload, headers={**where, **named})

    async def taken(self, payload: bytes, directory: Path | str | None = None, **how: Any) -> None:
        """Post one that is to be taken."""
        answer = await self.post(payload, directory, **how)
        assert (answer.status_code, answer.content) == (200, b""), answer.text

    async def fed(self, *queues: str) -> list[tuple[str | None, str, str | None]]:
        """Session, event and excerpt of all that arrived in the feed, once these queues hold nothing."""
        for name in queues:
            await self.parts.drained(self.queue(name))
        return [(event.session_id, event.event or "", event.excerpt) for event in await self.of_hooks()]

    async def of_hooks(self) -> list[FeedEvent]:
        """What hooks brought into the feed, oldest first."""
        events = (await self.parts.feed.page(since=0, limit=1000)).events
        return [event for event in events if event.kind == "hook"]


@asynccontextmanager
async def hooked(path: Path, *, patience_s: float = LIMIT_S, **limits: int) -> AsyncGenerator[Hooked]:
    """Serve hooks for the length of a block, as a daemon does, its start's replay included.

    Args:
        path: Holds the home.
        patience_s: How long a hook waits for a replay under way: on a busy machine one may take long.
        limits: Of its queues.
    """
    async with house(path, limits=LIMITS._replace(**limits)) as parts:
        services = services_of(parts)
        services.hooks.backlog._patience_s = patience_s
        with chdir(parts.home.path):
            listener = bind(parts.home)
        server = Server(App(services, all_routes()), listener)
        try:
            async with anyio.create_task_group() as group:
                await group.start(services.hooks.backlog.catch_up)
                await server.start()
                transport = httpx.AsyncHTTPTransport(uds=str(parts.home.socket))
                async with httpx.AsyncClient(
                    transport=transport, base_url="http://relayd", timeout=30, trust_env=False
                ) as http:
                    yield Hooked(parts, services, http, path)
        finally:
            with chdir(parts.home.path):
                await server.refuse()
                await server.close()
                listener.close()
