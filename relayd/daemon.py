"""One daemon's life: its parts are put together, it serves, and they close in the opposite order."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

import anyio
import uvloop
from anyio.abc import TaskStatus

from relay_queue.errors import QueueDamaged
from relayd import __version__
from relayd.api.app import App, all_routes
from relayd.composition import compose
from relayd.config import Config
from relayd.credentials import Credentials
from relayd.delivery.dispatch import Dispatcher
from relayd.delivery.senders import Senders
from relayd.events import Bus, DaemonReady, DaemonStopped, LauncherFailed
from relayd.handover import Handover, Installed
from relayd.home import Home
from relayd.idle import Attendance, Idleness
from relayd.leaving import Leaving
from relayd.listen import Listener, adopt, bind
from relayd.log import open_log, take_over_logging, tell
from relayd.loss import Loss, watch
from relayd.mcp.endpoint import Endpoint
from relayd.memory.gate import Gate
from relayd.options import Options
from relayd.queues import QueueRegistry
from relayd.receiver import Receiver
from relayd.report import StartReport
from relayd.search.index import SearchIndex
from relayd.server import Server
from relayd.service.activation import Inherited
from relayd.service.notify import Notifier
from relayd.services import Services
from relayd.store import open_store

__all__ = ("run",)

_HAND_OVER_S = 0.002
"""So long the loop may work while the writer waits for the interpreter, which it does at every row; 0.005 by default."""


def run(
    home: Home,
    config: Config,
    report: StartReport,
    environ: Mapping[str, str],
    *,
    options: Options,
    inherited: Inherited | None,
    launcher_failed: LauncherFailed | None,
) -> int:
    """Serve until someone asks to leave; the exit status, or `exits.AGAIN`.

    Args:
        home: Furnished, its lock held, and the working directory.
        config: As loaded from this home.
        report: Told once the daemon answers.
        environ: Says whether there is a service manager, and when this process began anew.
        options: When to leave without being asked.
        inherited: A socket to serve on, instead of one in the home.
        launcher_failed: Why what agent CLIs run is not current, to be told once there is a log.

    Raises:
        OutboxError: `relay.db` cannot be opened.
        ListenerRefused: There is no socket to serve on.
    """

    async def live() -> int:
        return await _Daemon(home, config, report, environ, options).live(inherited, launcher_failed)

    sys.setswitchinterval(_HAND_OVER_S)
    return anyio.run(live, backend_options={"loop_factory": uvloop.new_event_loop})


class _Daemon:
    """What is there before the parts and after them: the log, the bus and the wish to leave."""

    def __init__(
        self,
        home: Home,
        config: Config,
        report: StartReport,
        environ: Mapping[str, str],
        options: Options,
    ) -> None:
        self._home = home
        self._home_id = home.home_id
        self._config = config
        self._report = report
        self._options = options
        self._log = open_log(config.log, home, environ)
        self._bus = Bus()
        self._leaving = Leaving(self._bus, config.stop.grace_s)
        self._loss = Loss(home, self._leaving, report, self._bus)
        self._notifier = Notifier(environ)
        self._handover = Handover(Installed(), self._leaving, self._bus, environ)

    async def live(self, inherited: Inherited | None, launcher_failed: LauncherFailed | None) -> int:
        """Run from the first open file to the last closed one; the exit status."""
        take_over_logging(self._log)
        self._bus.subscribe(tell(self._log))
        self._bus.subscribe(self._loss.hear)
        self._bus.subscribe(self._notifier.hear)
        if launcher_failed is not None:
            self._bus.publish(launcher_failed)
        self._leaving.obey_signals()
        if self._options.while_fd is not None:
            self._leaving.obey_end_of(self._options.while_fd)
        self._notifier.start()
        try:
            cancelled = await self._open_and_serve(inherited)
        except Exception as error:
            self._log.error("daemon_failed", exc_info=error)
            raise
        finally:
            self._notifier.close()
        self._bus.publish(DaemonStopped(cancelled))
        return self._leaving.ending

    async def _open_and_serve(self, inherited: Inherited | None) -> int:
        """Nest the parts: what needs another closes before it. The number of requests cut off is returned."""
        async with AsyncExitStack() as stack:
            services = await self._open(stack)
            listener = bind(self._home) if inherited is None else adopt(os.dup(inherited.fd), inherited.where)
            stack.callback(listener.close)
            mcp = Endpoint(services, self._handover.before_import)
            attendance = Attendance(App(services, [*all_routes(), *mcp.routes]))
            server = Server(attendance, listener)
            stack.push_async_callback(server.close)
            await self._serve(server, services, mcp, listener, attendance)
        return server.cancelled

    async def _open(self, stack: AsyncExitStack) -> Services:
        """Open what is on disk and put the parts together; the stack closes queues first, then the store."""
        config, home, bus = self._config, self._home, self._bus
        gate = Gate(home.secret_patterns)
        index = SearchIndex(self._handover.before_import)
        store = await stack.enter_async_context(
            open_store(
                home,
                excerpts=config.receiver.excerpts,
                index=index,
                on_loss=self._loss.from_the_writer(asyncio.get_running_loop()),
            )
        )
        receiver = Receiver(store)
        registry = QueueRegistry(home, store, bus)
        stack.push_async_callback(registry.aclose)
        credentials = Credentials(home.credentials)
        senders = Senders(receiver, proxy=config.delivery.proxy, before_import=self._handover.before_import)
        return compose(
            home=home,
            home_id=self._home_id,
            config=config,
            log=self._log,
            bus=bus,
            gate=gate,
            store=store,
            index=index,
            registry=registry,
            credentials=credentials,
            receiver=receiver,
            dispatcher=Dispatcher(registry, store, credentials, senders, bus),
            stopping=self._leaving.asked,
            stop=self._leaving.ask,
        )

    async def _serve(
        self, server: Server, services: Services, mcp: Endpoint, listener: Listener, attendance: Attendance
    ) -> None:
        """Answer and deliver until someone asks to leave, then let both come to an end within the grace."""
        dispatcher, delivered = services.dispatcher, anyio.Event()

        async def deliver(*, task_status: TaskStatus[None]) -> None:
            try:
                await dispatcher.run(task_status=task_status)
            except* QueueDamaged:  # of relay.db, which says which queues there are
                self._loss.damaged()
            delivered.set()

        async with anyio.create_task_group() as tasks:
            await tasks.start(deliver)
            await tasks.start(services.hooks.backlog.catch_up)
            tasks.start_soon(
                watch, services.store.look, services.hooks.backlog.look, services.hooks.sessions.look
            )
            tasks.start_soon(services.store.items.finish_purge)
            tasks.start_soon(services.search.look_after)
            tasks.start_soon(services.grok_rules.run)
            tasks.start_soon(mcp.run)
            if self._options.on_demand:
                tasks.start_soon(self._idleness(services, attendance).run, self._leave_when_idle)
            await server.start()
            self._ready(listener)
            await self._leaving.asked.wait()
            dispatcher.stop()
            await server.refuse()
            with self._leaving.grace:
                await server.finish()
                await delivered.wait()
            tasks.cancel_scope.cancel()

    def _idleness(self, services: Services, attendance: Attendance) -> Idleness:
        idle_s = self._config.daemon.idle_s
        return Idleness(attendance, self._home, services.registry, services.dispatcher, idle_s)

    def _leave_when_idle(self, reason: str, comes_back: Callable[[], bool]) -> None:
        self._leaving.ask(reason, comes_back=comes_back)

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
