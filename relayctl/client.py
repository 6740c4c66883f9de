"""One run of the command line: whose home it is for, and how it comes to a daemon."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

from relayctl import __version__, _wire
from relayctl.daemon import Daemon, find, target
from relayctl.errors import AnswerLost, DaemonNeeded, OtherVersion, Refused, ServiceDown
from relayctl.home import absolute, default_queue, home_path

if TYPE_CHECKING:
    from relayctl.direct import OwnDaemon

__all__ = ("Client", "Query")

Query = Mapping[str, str | int | None]
T = TypeVar("T")

_NOT_KNOWN = ("not_found", "method_not_allowed")
"""Codes of a daemon that has no such route."""
_ANSWER_TIMEOUT_S = 60.0
_LEAVING_POLL_S = 0.05
# For a service that was just ended to be there again.
_SERVICE_PATIENCE_S = 3.0


class Client:
    """What every command works with: one connection, checked once and kept; use as a context.

    Args:
        environ: The caller's environment; nothing else reads it.

    Attributes:
        named_queue: The queue's directory as the user wrote it, None if they named none.
        no_daemon: Commands run without a daemon, unless one has the home.
        say: Takes a line about what happens beside what was asked for, and whether it is for others than terminals
            too; says nothing at first.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.named_queue: str | None = None
        self.no_daemon = environ.get("RELAY_NO_DAEMON", "").strip() not in ("", "0")
        self.say: Callable[[str, bool], None] = _say_nothing
        self._only_looks = False
        self._own: OwnDaemon | None = None
        self._home: str | None = None
        self._daemon: Daemon | None = None

    def __enter__(self) -> Self:
        """Begin without a connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection, if one was needed."""
        self.forget()

    @property
    def home(self) -> str:
        """The home's absolute path, found on first use."""
        if self._home is None:
            self._home = home_path(self.environ)
        return self._home

    @property
    def found_home(self) -> str | None:
        """The home, if it was needed so far; looking for it may fail."""
        return self._home

    def queue_dir(self, named: str | None) -> str:
        """Tell which directory is meant: the one named, made absolute, or the home's default queue.

        How it was named is remembered, for the commands that a hint may show.
        """
        self.named_queue = named
        return default_queue(self.home) if named is None else absolute(named, "--queue-dir")

    def find(self) -> Daemon | None:
        """Find the running daemon, never starting one."""
        if self._daemon is None:
            self._daemon = find(self.home)
        return self._daemon

    def forget(self) -> None:
        """Close the connection; what comes next finds the daemon anew. One that is ours alone is ended."""
        if self._daemon is not None:
            self._daemon.close()
            self._daemon = None
        if self._own is not None:
            own, self._own = self._own, None
            own.close()

    def look_only(self) -> None:
        """Start no daemon and replace none from now on, whatever is asked."""
        self._only_looks = True

    def reach(self) -> Daemon:
        """Find the running daemon or start one; one that is older than this client makes way, once.

        Raises:
            DaemonNeeded: None runs and RELAY_AUTOSTART=0.
            ServiceDown: None runs, and a service is installed.
            StartFailed: None became ready.
            Gone: None runs, and this client only looks.
        """
        if self._daemon is not None:
            return self._daemon
        if daemon := self._current(self.find()):
            return daemon
        if self._only_looks:
            raise _wire.Gone
        if self.no_daemon:
            return self._alone()
        if not self._may_start:
            raise DaemonNeeded(self.home)
        from relayctl.managed import manager_of

        if manager := manager_of(self.home):
            return self._of_the_service(manager)
        from relayctl.control import start

        return start(self)

    @property
    def _may_start(self) -> bool:
        return self.environ.get("RELAY_AUTOSTART", "").strip() != "0"

    def _current(self, found: Daemon | None) -> Daemon | None:
        """Have a daemon make way that is older than this client, unless the user forbids it or it was tried."""
        if found is None or found.health.get("version") == __version__:
            return found
        if self._only_looks or self.no_daemon or not self._may_start:
            return found
        from relayctl.replace import is_older, replace, was_replaced

        version = found.health.get("version")
        if not is_older(version, __version__) or was_replaced(self.home, version):
            return found
        return replace(self, found)

    def _alone(self) -> Daemon:
        """Run a daemon for this command, or use one that came to listen while it waited for its turn."""
        from relayctl.direct import own

        while True:
            if (running := own(self.home, self.environ, self.say)) is not None:
                self._own, self._daemon = running, running.daemon
                return running.daemon
            if daemon := self.find():
                return daemon
            time.sleep(_LEAVING_POLL_S)

    def _of_the_service(self, manager: str) -> Daemon:
        """Wait a moment for a service that has left its socket in the home: it may be on its way back."""
        deadline = time.monotonic() + _SERVICE_PATIENCE_S
        while os.path.lexists(f"{self.home}/{_wire.SOCKET_NAME}") and time.monotonic() < deadline:
            time.sleep(_LEAVING_POLL_S)
            if daemon := self.find():
                return daemon
        raise ServiceDown(self.home, manager)

    def ask(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        again: bool,
        timeout_s: float = _ANSWER_TIMEOUT_S,
    ) -> dict[str, Any]:
        """Ask the daemon for one thing, starting it if need be, and return its answer.

        Args:
            method: As on the wire, upper case.
            path: Without its query.
            query: None values are left out.
            body: JSON text as it is, or an object to be made into it.
            again: The request may be made twice without harm: it is, once, if the daemon leaves under it.
            timeout_s: Longest silence.
        """
        content = body if isinstance(body, bytes | None) else _compact(body)

        def once(daemon: Daemon) -> dict[str, Any]:
            return json.loads(daemon.ask(method, target(path, query), content, timeout_s=timeout_s))

        return self._with_daemon(once, again=again)

    def ask_raw(self, path: str, query: Query) -> bytes:
        """Get one thing as the bytes the daemon sent, so that no number is respelled on the way."""
        return self._with_daemon(
            lambda daemon: daemon.ask("GET", target(path, query), timeout_s=_ANSWER_TIMEOUT_S), again=True
        )

    def follow(
        self, path: str, query: Query, *, headers: Sequence[tuple[str, str]], timeout_s: float
    ) -> Iterator[dict[str, Any]]:
        """Post for a stream and yield its objects as they come."""
        return self.reach().follow("POST", target(path, query), headers=headers, timeout_s=timeout_s)

    def events(self, path: str, query: Query, *, timeout_s: float) -> Iterator[dict[str, Any]]:
        """Get a stream of server-sent events and yield the data of each as it comes."""
        return self.reach().events(target(path, query), timeout_s=timeout_s)

    def _with_daemon(self, work: Callable[[Daemon], T], *, again: bool) -> T:
        try:
            return self._known(work)
        except _wire.Gone as error:
            if not again:
                raise AnswerLost from error
        except Refused as refused:
            if not again or refused.code != "stopping":
                raise
        self.forget()
        try:
            return self._known(work)
        except _wire.Gone as error:
            raise AnswerLost from error

    def _known(self, work: Callable[[Daemon], T]) -> T:
        """Ask the daemon; where it knows nothing of the kind, tell it if that is for its version."""
        daemon = self.reach()
        try:
            return work(daemon)
        except Refused as refused:
            version = daemon.health.get("version")
            if refused.code not in _NOT_KNOWN or version == __version__:
                raise
            from relayctl.replace import is_older

            raise OtherVersion(version, __version__, is_older=is_older(version, __version__)) from refused


def _say_nothing(_line: str, _always: bool) -> None:
    """Say nothing."""


def _compact(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
