"""One run of the command line: whose home it is for, and how it comes to a daemon."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from relayctl import _wire
from relayctl.daemon import Daemon, find, target
from relayctl.errors import AnswerLost, DaemonNeeded, Refused, StartUnfinished
from relayctl.home import absolute, default_queue, home_path

__all__ = ("Client", "Query")

Query = Mapping[str, str | int | None]
T = TypeVar("T")

_ANSWER_TIMEOUT_S = 60.0
_LEAVING_POLL_S = 0.05


class Client:
    """What every command works with: one connection, checked once and kept; use as a context.

    Args:
        environ: The caller's environment; nothing else reads it.

    Attributes:
        named_queue: The queue's directory as the user wrote it, None if they named none.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.named_queue: str | None = None
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
        """Close the connection; what comes next finds the daemon anew."""
        if self._daemon is not None:
            self._daemon.close()
            self._daemon = None

    def reach(self) -> Daemon:
        """Find the running daemon or start one.

        Raises:
            DaemonNeeded: None runs and RELAY_AUTOSTART=0.
            StartFailed: None became ready.
        """
        if daemon := self.find():
            return daemon
        if self.environ.get("RELAY_AUTOSTART", "").strip() == "0":
            raise DaemonNeeded(self.home)
        return self.start()

    def start(self) -> Daemon:
        """Start a daemon if none runs, whatever RELAY_AUTOSTART says."""
        from relayctl import launch

        deadline = time.monotonic() + launch.START_TIMEOUT_S
        while time.monotonic() < deadline:
            launch.ensure(self.home, self.environ)
            if daemon := self.find():
                return daemon
            time.sleep(_LEAVING_POLL_S)  # the one that listened was leaving
        raise StartUnfinished(launch.START_TIMEOUT_S)

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

    def _with_daemon(self, work: Callable[[Daemon], T], *, again: bool) -> T:
        try:
            return work(self.reach())
        except _wire.Gone as error:
            if not again:
                raise AnswerLost from error
        except Refused as refused:
            if not again or refused.code != "stopping":
                raise
        self.forget()
        try:
            return work(self.reach())
        except _wire.Gone as error:
            raise AnswerLost from error


def _compact(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
