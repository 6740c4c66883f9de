"""The application: every route, and the one place where errors become answers."""

import re
from asyncio import CancelledError
from collections.abc import Sequence
from itertools import chain
from urllib.parse import unquote

from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import Message, Receive, Scope, Send

from relay_queue.errors import OutboxError, QueueDamaged
from relayd.api.problem import STATUS, problem
from relayd.errors import Internal, MethodRefused, NotFound, RelaydError, Stopping
from relayd.events import StoreDamaged
from relayd.services import Services

__all__ = ("App", "all_routes")

_SLASH = re.compile(b"%(?=2f)", re.IGNORECASE)
"""A slash that belongs to a name; it stays escaped, since it must not divide a path and lead to another route."""


def all_routes() -> list[BaseRoute]:
    """Collect the routes of every resource, the ones asked for most first."""
    from relayd.api import (
        brief,
        credentials,
        decisions,
        events,
        feed,
        health,
        held,
        hooks,
        items,
        links,
        preferences,
        projects,
        queues,
        recall,
        receiver,
        rules,
        sessions,
        status,
        upstream,
        usage,
    )

    rooms: Sequence[Sequence[BaseRoute]] = (
        events.routes,
        hooks.routes,
        sessions.routes,
        health.routes,
        recall.routes,
        brief.routes,
        receiver.routes,
        status.routes,
        queues.routes,
        held.routes,
        feed.routes,
        credentials.routes,
        links.routes,
        upstream.routes,
        decisions.routes,
        preferences.routes,
        items.routes,
        projects.routes,
        rules.routes,
        usage.routes,
    )
    return list(chain.from_iterable(rooms))


class App:
    """One daemon's routes as an ASGI application.

    Args:
        services: What the routes work with.
        routes: Tried in this order.
    """

    def __init__(self, services: Services, routes: Sequence[BaseRoute]) -> None:
        self.state = State({"relay": services})
        self._services = services
        self._router = Router(routes, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever goes wrong in it ends here."""
        scope["app"] = self
        if _SLASH.search(scope.get("raw_path") or b""):
            scope["path"] = unquote(_SLASH.sub(b"%25", scope["raw_path"]))
        answer = _Answer(send)
        try:
            await self._router(scope, receive, answer)
        except ClientDisconnect:
            return  # nobody is left to be told
        except CancelledError:  # the daemon's grace is over
            await self._tell(Stopping(), scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - the boundary that reports it
            await self._tell(self._known(error, scope), scope, receive, answer)

    def _known(self, error: Exception, scope: Scope) -> OutboxError | RelaydError:
        match error:
            case OutboxError() | RelaydError() if error.code in STATUS:
                self._look_for_damage(error)
                return error
            case HTTPException(status_code=404):
                return NotFound()
            case HTTPException(status_code=405):
                return MethodRefused(self._allowed(scope))
            case _:
                log = self._services.log
                log.error("request_failed", method=scope["method"], path=scope["path"], exc_info=error)
                return Internal()

    def _allowed(self, scope: Scope) -> str:
        """List the methods of all routes of a path; the router's own error knows those of the first one."""
        here = (route for route in self._router.routes if route.matches(scope)[0] is not Match.NONE)
        methods = chain.from_iterable(route.methods or () for route in here if isinstance(route, Route))
        return ", ".join(sorted(set(methods)))

    def _look_for_damage(self, error: OutboxError | RelaydError) -> None:
        """Tell of a damaged `relay.db`, once; a damaged queue is told by who opened it."""
        if not isinstance(error, QueueDamaged) or self._services.stopping.is_set():
            return
        database = str(self._services.home.database)
        if error.path == database:
            self._services.bus.publish(StoreDamaged(database))

    async def _tell(
        self, error: OutboxError | RelaydError, scope: Scope, receive: Receive, answer: "_Answer"
    ) -> None:
        if answer.started:  # a stream cannot be taken back: ending it short tells the client
            self._services.log.warning(
                "answer_cut_short", method=scope["method"], path=scope["path"], code=error.code
            )
            return
        await problem(error)(scope, receive, answer)


class _Answer:
    """Passes an answer on and knows whether it has begun."""

    __slots__ = ("_send", "started")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        self.started = True
        await self._send(message)
