"""One daemon's life: its parts are put together, it serves, and they close in the opposite order."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress

import anyio
import uvloop
from anyio.abc import TaskStatus

from relay_queue.errors import FileGone, OutboxError, QueueDamaged
from relayd import __version__, exits
from relayd.api.app import App, all_routes
from relayd.config import Config
from relayd.credentials import Credentials
from relayd.delivery.dispatch import Dispatcher
from relayd.delivery.senders import Senders
from relayd.events import Bus, DaemonReady, DaemonStopped, Happening, StoreDamaged, StoreGone
from relayd.home import Home
from relayd.leaving import Leaving
from relayd.listen import Listener, adopt, bind
from relayd.log import open_log, take_over_logging, tell
from relayd.queues import QueueRegistry
from relayd.receiver import Feed, Receiver
from relayd.report import StartReport
from relayd.server import Server
from relayd.services import Services
from relayd.store import RelayStore, open_store

__all__ = ("run",)

_WATCH_EVERY_S = 60.0
"""How often an idle daemon looks whether its home is still there."""


def run(
    home: Home, config: Config, report: StartReport, environ: Mapping[str, str], *, listen_fd: int | None
) -> int:
    """Serve until someone asks to leave; the exit status.

    Args:
        home: Furnished, its lock held, and the working directory.
        config: As loaded from this home.
        report: Told once the daemon answers.
        environ: Says whether systemd keeps our output.
        listen_fd: An inherited socket to serve on, instead of one in the home.

    Raises:
        OutboxError: `relay.db` cannot be opened.
        ListenerRefused: There is no socket to serve on.
    """

    async def live() -> int:
        return await _Daemon(home, config, report, environ).live(listen_fd)

    return anyio.run(live, backend_options={"loop_factory": uvloop.new_event_loop})


class _Daemon:
    """What is there before the parts and after them: the log, the bus and the wish to leave."""

    def __init__(self, home: Home, config: Config, report: StartReport, environ: Mapping[str, str]) -> None:
        self._home = home
        self._home_id = home.home_id
        self._config = config
        self._report = report
        self._log = open_log(config.log, home, environ)
        self._bus = Bus()
        self._leaving = Leaving(self._bus, config.stop.grace_s)
        self._damage = StoreDamaged(str(home.database))
        self._loss = StoreGone(str(home.database))

    async def live(self, listen_fd: int | None) -> int:
        """Run from the first open file to the last closed one; the exit status."""
        take_over_logging(self._log)
        self._bus.subscribe(tell(self._log))
        self._bus.subscribe(self._leave_if_lost)
        self._leaving.obey_signals()
        try:
            cancelled = await self._open_and_serve(listen_fd)
        except Exception as error:
            self._log.error("daemon_failed", exc_info=error)
            raise
        self._bus.publish(DaemonStopped(cancelled))
        return self._leaving.status

    async def _open_and_serve(self, listen_fd: int | None) -> int:
        """Nest the parts: what needs another closes before it. The number of requests cut off is returned."""
        async with AsyncExitStack() as stack:
            services, dispatcher = await self._compose(stack)
            listener = bind(self._home) if listen_fd is None else adopt(listen_fd)
            stack.callback(listener.close)
            server = Server(App(services, all_routes()), listener)
            stack.push_async_callback(server.close)
            await self._serve(server, dispatcher, services.store, listener)
        return server.cancelled

    async def _compose(self, stack: AsyncExitStack) -> tuple[Services, Dispatcher]:
        """Open what is on disk and put the parts together; the stack closes queues first, then the store."""
        config, home, bus = self._config, self._home, self._bus
        store = await stack.enter_async_context(
            open_store(
                home,
                excerpts=config.receiver.excerpts,
                on_loss=self._from_the_writer(asyncio.get_running_loop()),
            )
        )
        receiver = Receiver(store)
        registry = QueueRegistry(home, store, bus)
        stack.push_async_callback(registry.aclose)
        credentials = Credentials(home.credentials)
        senders = Senders(receiver, proxy=config.delivery.proxy)
        dispatcher = Dispatcher(registry, store, credentials, senders, bus)
        services = Services(
            home=home,
            config=config,
            log=self._log,
            bus=bus,
            registry=registry,
            dispatcher=dispatcher,
            credentials=credentials,
            store=store,
            receiver=receiver,
            feed=Feed(store),
            home_id=self._home_id,
            stopping=self._leaving.asked,
            stop=self._leaving.ask,
        )
        return services, dispatcher

    async def _serve(
        self, server: Server, dispatcher: Dispatcher, store: RelayStore, listener: Listener
    ) -> None:
        """Answer and deliver until someone asks to leave, then let both come to an end within the grace."""
        delivered = anyio.Event()

        async def deliver(*, task_status: TaskStatus[None]) -> None:
            try:
                await dispatcher.run(task_status=task_status)
            except* QueueDamaged:  # of relay.db, which says which queues there are
                self._bus.publish(self._damage)
            delivered.set()

        async with anyio.create_task_group() as tasks:
            await tasks.start(deliver)
            tasks.start_soon(_watch, store)
            await server.start()
            self._ready(listener)
            await self._leaving.asked.wait()
            dispatcher.stop()
            await server.refuse()
            with self._leaving.grace:
                await server.finish()
                await delivered.wait()
            tasks.cancel_scope.cancel()

    def _ready(self, listener: Listener) -> None:
        self._report.ready(self._home)
        self._bus.publish(
            DaemonReady(
                pid=os.getpid(),
                version=__version__,
                home=str(self._home.path),
                home_id=self._home_id,
                sqlite_version=sqlite3.sqlite_version,
                inherited_socket=listener.own is None,
            )
        )

    def _from_the_writer(self, loop: asyncio.AbstractEventLoop) -> Callable[[QueueDamaged | FileGone], None]:
        """Make what the store's writer calls from its own thread when it finds the file damaged or gone."""

        def found(error: QueueDamaged | FileGone) -> None:
            happening = self._loss if isinstance(error, FileGone) else self._damage
            loop.call_soon_threadsafe(self._bus.publish, happening)

        return found

    def _leave_if_lost(self, happening: Happening) -> None:
        """Leave once the store is damaged or gone: nothing can be kept any more. What waits has its answer from it."""
        if self._leaving.status != exits.LEFT:
            return
        match happening:
            case StoreDamaged(path):
                self._report.failed(QueueDamaged(path), self._home)
                self._leaving.ask(QueueDamaged.code, status=exits.DAMAGED)
            case StoreGone(path):
                self._report.failed(FileGone(path), self._home)
                self._leaving.ask(FileGone.code, status=exits.FAILED)
            case _:
                return


async def _watch(store: RelayStore) -> None:
    """Look now and then whether the store is in its place: a daemon that has nothing to do must notice too."""
    while True:
        await anyio.sleep(_WATCH_EVERY_S)
        with suppress(
            OutboxError
        ):  # a loss is told to whoever ends the daemon; the rest shows where it is used
            await store.look()
