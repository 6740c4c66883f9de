"""The daemon as a client sees it: a connection that was checked before anything was asked on it."""

from __future__ import annotations

import json

from relayctl import PROTOCOL, _wire
from relayctl.errors import (
    AnswerLost,
    DaemonSilent,
    ForeignDaemon,
    ForeignProtocol,
    HomeRefused,
    Refused,
)
from relayctl.home import OTHER_HOME, home_id
from relayctl.objects import read_object

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

__all__ = ("Daemon", "checked", "find", "target")

# The answer to /v1/health needs no disk, so a daemon that takes longer is stuck.
_HEALTH_TIMEOUT_S = 10.0
# How a line of a server-sent event begins that holds its data.
_DATA = b"data: "
# What a number of a process fits into.
_MAX_PID = (1 << 31) - 1


class Daemon:
    """A daemon that proved to be this home's and to speak this client's protocol.

    Attributes:
        home: Its home.
        health: What it told about itself: home_id, protocol, version, pid, ready.
    """

    __slots__ = ("_connection", "health", "home")

    def __init__(self, home: str, connection: _wire.Connection, health: Mapping[str, Any]) -> None:
        self.home = home
        self.health = health
        self._connection = connection

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def pid(self) -> int:
        """The daemon's process."""
        return int(self.health["pid"])

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        timeout_s: float,
    ) -> bytes:
        """Ask for one thing and return the body of the answer.

        Raises:
            Gone: The daemon left first.
            Refused: It answered with a problem.
            DaemonSilent: It did not answer in time.
        """
        try:
            reply = self._connection.request(method, path, body, headers=headers, timeout_s=timeout_s)
        except (_wire.Silent, _wire.BadAnswer) as error:
            raise DaemonSilent(self.home) from error
        _refuse(reply.status, reply.body)
        return reply.body

    def follow(
        self, method: str, path: str, *, headers: Sequence[tuple[str, str]] = (), timeout_s: float
    ) -> Iterator[dict[str, Any]]:
        """Ask for one thing and yield each line of the answer, an object, as it comes.

        Raises:
            Refused: It answered with a problem.
            AnswerLost: The daemon left before the stream had ended.
            DaemonSilent: No line came in time.
        """
        return map(json.loads, self._lines(method, path, b"", headers=headers, timeout_s=timeout_s))

    def events(self, path: str, *, timeout_s: float) -> Iterator[dict[str, Any]]:
        """Get server-sent events and yield the data of each, an object, as it comes.

        Raises:
            Refused, AnswerLost, DaemonSilent: As for `follow`.
        """
        for line in self._lines("GET", path, None, timeout_s=timeout_s):
            if line.startswith(_DATA):
                yield json.loads(line[len(_DATA) :])

    def _lines(
        self,
        method: str,
        path: str,
        body: bytes | None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        timeout_s: float,
    ) -> Iterator[bytes]:
        try:
            stream = self._connection.stream(method, path, body, headers=headers, timeout_s=timeout_s)
            if stream.status >= 400:  # noqa: PLR2004 -- HTTP's own line
                _refuse(stream.status, stream.read())
            yield from stream.lines()
        except _wire.Gone as error:
            raise AnswerLost from error
        except (_wire.Silent, _wire.BadAnswer) as error:
            raise DaemonSilent(self.home) from error


def find(home: str) -> Daemon | None:
    """Find the daemon of a home, or None if none runs; one that is just leaving counts as none.

    Raises:
        ForeignDaemon: The daemon there is another home's.
        ForeignProtocol: It speaks another protocol.
        DaemonSilent: Something accepts the connection and does not answer.
        HomeRefused: The home is no directory, or is closed to us.
    """
    try:
        connection = _wire.connect(home)
        try:
            return checked(home, connection)
        except BaseException:
            connection.close()
            raise
    except _wire.NoDaemon:
        return None
    except (_wire.Silent, _wire.BadAnswer) as error:
        raise DaemonSilent(home) from error
    except OSError as error:
        raise HomeRefused(home, error.strerror or str(error), hint=OTHER_HOME) from error


def checked(home: str, connection: _wire.Connection) -> Daemon:
    """Ask a daemon who it is before anything else, and go on only with one of this home that is ready.

    Raises:
        Gone: It is leaving.
        WireError: It did not answer, or not as a daemon does.
        ForeignDaemon: It is another home's.
        ForeignProtocol: It speaks another protocol.
    """
    reply = connection.request("GET", "/v1/health", timeout_s=_HEALTH_TIMEOUT_S)
    health = read_object(reply.body)
    if "protocol" not in health:
        raise _wire.BadAnswer
    if health["protocol"] != PROTOCOL:
        raise ForeignProtocol(health["protocol"], health.get("version"))
    if health.get("home_id") != home_id(home):
        raise ForeignDaemon(home)
    if not _is_process(health.get("pid")):
        raise _wire.BadAnswer
    if not health.get("ready"):  # it is leaving, and would only refuse
        raise _wire.Gone
    return Daemon(home, connection, health)


def target(path: str, query: Mapping[str, str | int | None] | None = None) -> str:
    """Join a path and a query, whose None values are left out."""
    pairs = [
        f"{name}={_wire.quote(str(value))}" for name, value in (query or {}).items() if value is not None
    ]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def _is_process(pid: object) -> bool:
    """Tell whether this is the number of one process, since signals may go to it: 0 and less are whole groups."""
    return type(pid) is int and 0 < pid <= _MAX_PID


def _refuse(status: int, body: bytes) -> None:
    """Raise what a problem says; a success passes."""
    if status < 400:  # noqa: PLR2004 -- HTTP's own line
        return
    raise Refused(status, read_object(body))
