"""Delivery as a daemon composes it, in this process: a home, its store, its queues, couriers that run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import anyio
import msgspec

from relay_queue.binding import bind
from relay_queue.clock import SYSTEM, Ticks
from relay_queue.envelope import parse
from relay_queue.limits import LIMITS, Limits
from relay_queue.outbox import Enqueued, open_outbox
from relayd.composition import compose
from relayd.config import CaptureConfig, Config, LogConfig
from relayd.credentials import Credentials
from relayd.delivery.dispatch import Dispatcher
from relayd.delivery.flush import Order
from relayd.delivery.local_sender import BatchReceiver
from relayd.delivery.progress import Progress, Summary
from relayd.delivery.senders import Senders
from relayd.events import Bus, Happening
from relayd.feed import Feed
from relayd.home import Home, furnish, prepare
from relayd.log import open_log
from relayd.memory.gate import Gate
from relayd.queues import MAX_OPEN, QueueRegistry
from relayd.receiver import Receiver
from relayd.search.index import SearchIndex
from relayd.services import Services
from relayd.store import RelayStore, open_store

LIMIT_S = 30.0

T = TypeVar("T", bound=Happening)


class House(NamedTuple):
    """The parts of a running delivery, and everything that happened in it."""

    home: Home
    store: RelayStore
    registry: QueueRegistry
    credentials: Credentials
    dispatcher: Dispatcher
    receiver: Receiver
    feed: Feed
    bus: Bus
    happened: list[Happening]
    news: list[anyio.Event]

    async def queue(self, server_url: str, name: str = "q", *, mode: str = "manual") -> Path:
        """Bind a queue of the home to a server."""
        directory = self.registry.places.named(name)
        await self.registry.bind(directory, bind(server_url, "tester", "me", "work", "example"), mode=mode)
        return directory

    async def enqueue(
        self,
        directory: Path,
        envelopes: Iterable[dict[str, Any]],
        *,
        wake: bool = True,
        bind_default: bool = False,
    ) -> Enqueued:
        """Store events and wake the courier."""
        async with self.registry.use(directory, bind_default=bind_default) as outbox:
            enqueued = await outbox.enqueue(parse(msgspec.json.encode(list(envelopes))))
        if wake:
            self.dispatcher.wake(directory)
        return enqueued

    async def flush(
        self, directory: Path, max_batches: int | None = None, token: str | None = None
    ) -> Summary:
        """Flush to the end."""
        with (
            anyio.fail_after(LIMIT_S),
            await self.dispatcher.flush(directory, Order(max_batches, token)) as report,
        ):
            lines = [line async for line in report]
        assert all(isinstance(line, Progress) for line in lines[:-1])
        summary = lines[-1]
        assert isinstance(summary, Summary)
        return summary

    async def until(self, kind: type[T], holds: Callable[[T], bool] = lambda _: True) -> T:
        """Wait until such a thing has happened."""
        with anyio.fail_after(LIMIT_S):
            while True:
                news = self.news[-1]
                for one in self.happened:
                    if isinstance(one, kind) and holds(one):
                        return one
                await news.wait()

    async def drained(self, directory: Path) -> None:
        """Wait until a queue holds nothing."""
        with anyio.fail_after(LIMIT_S):
            news = self.news[-1]  # taken before looking: what happens during the look must end the wait
            while (await self.status(directory)).pending_items:
                await news.wait()
                news = self.news[-1]

    async def status(self, directory: Path) -> Any:
        """Describe a queue."""
        return await self.registry.status(directory)

    def use(self, directory: Path) -> Any:
        """Hold an open queue."""
        return self.registry.use(directory)

    def _hear(self, happening: Happening) -> None:
        self.happened.append(happening)
        self.news[-1].set()
        self.news[-1] = anyio.Event()


@asynccontextmanager
async def house(
    path: Path,
    *,
    max_open: int = MAX_OPEN,
    limits: Limits = LIMITS,
    ticks: Ticks = SYSTEM,
    local: BatchReceiver | None = None,
    before: Callable[[Home], None] = lambda _: None,
) -> AsyncGenerator[House]:
    """Run delivery for the length of a block, then stop it as a daemon does; `before` is done just before it begins."""
    opening = partial(open_outbox, limits=limits, ticks=ticks)
    home = Home(path / "home")
    prepare(home)
    furnish(home)
    bus = Bus()
    async with open_store(home, index=SearchIndex()) as store:
        receiver = Receiver(store)
        registry = QueueRegistry(home, store, bus, max_open=max_open, opening=opening, recheck_s=0)
        credentials = Credentials(home.credentials)
        dispatcher = Dispatcher(registry, store, credentials, Senders(local or receiver), bus)
        parts = House(
            home,
            store,
            registry,
            credentials,
            dispatcher,
            receiver,
            Feed(store, Gate(home.secret_patterns)),
            bus,
            [],
            [anyio.Event()],
        )
        bus.subscribe(parts._hear)
        before(home)
        try:
            async with anyio.create_task_group() as group:
                await group.start(dispatcher.run)
                yield parts
                dispatcher.stop()
        finally:
            await registry.aclose()


def services_of(parts: House, *, ignore_paths: tuple[str, ...] = ()) -> Services:
    """What a daemon's routes work with, on the parts of a house."""
    config = Config(log=LogConfig(foreground=True), capture=CaptureConfig(ignore_paths))
    return compose(
        home=parts.home,
        home_id=parts.home.home_id,
        config=config,
        log=open_log(config.log, parts.home, {}),
        bus=parts.bus,
        gate=Gate(parts.home.secret_patterns),
        store=parts.store,
        index=cast("SearchIndex", parts.store.access.index),
        registry=parts.registry,
        credentials=parts.credentials,
        receiver=parts.receiver,
        dispatcher=parts.dispatcher,
        stopping=anyio.Event(),
        stop=lambda _: None,
    )


def event(number: int, session: str = "s-1", **members: Any) -> dict[str, Any]:
    """An envelope with an id of its own."""
    body = {"session_id": session, "cwd": "/w", "n": number, **members}
    return {"event_id": f"e-{number}", "agent": "claude-code", "event": "post-tool-use", "body": body}


def spread(count: int, sessions: int) -> list[dict[str, Any]]:
    """Events in turn over sessions."""
    return [event(number, f"s-{number % sessions}") for number in range(count)]


class Clock:
    """Ticks that stand still until a test moves them, by both clocks at once."""

    def __init__(self) -> None:
        self.now_ms = 1_800_000_000_000

    def wall_ms(self) -> int:
        """Give the time of day."""
        return self.now_ms

    def boot_ms(self) -> int:
        """Give the time since the boot."""
        return self.now_ms
