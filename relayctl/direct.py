"""Without a daemon (`--no-daemon`): relayd as a child of one command, on a socket that only this command knows.

The child owns the home like any daemon, so there is one at a time: commands take turns by `start.lock`, each holding
it until its child has ended. That also keeps hooks and other clients from starting a daemon that would find the home
taken. A daemon that listens at the home already is used instead, and so is one that comes up while a command waits.

The socket is bound in a private temporary directory, connected to, and removed before the child starts. The child
leaves when the pipe that this process holds ends, so it leaves however the command ends.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack

from relayctl import _wire
from relayctl.daemon import Daemon, checked
from relayctl.errors import DaemonSilent
from relayctl.launch import START_TIMEOUT_S, until_free
from relayctl.spawn import disown, spawn
from relayctl.start_lock import listens, make_home, take

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ("OwnDaemon", "own")

_TURN_POLL_S = 0.05
_TELL_AFTER_S = 2.0
# As long as any daemon may take that is asked to leave.
_PATIENCE_S = 60.0
# A socket's path may have 104 bytes on macOS, the closing NUL and what we add included.
_MAX_PLACE_BYTES = 80


class OwnDaemon:
    """A daemon for this command alone.

    Attributes:
        daemon: The one connection to it; there is no way to make another.
    """

    def __init__(self, daemon: Daemon, held: ExitStack) -> None:
        self.daemon = daemon
        self._held = held

    def close(self) -> None:
        """End it and wait until it has ended; then the next command may take its turn."""
        self._held.close()


def own(home: str, environ: Mapping[str, str], say: Callable[[str, bool], None]) -> OwnDaemon | None:
    """Run a daemon for this command as soon as the home is free; None if one listens there after all.

    There is no limit to the wait for a turn: whoever has it lives, or the lock would be free.

    Args:
        home: It is made if it is not there.
        environ: Of the caller; only a part of it is passed on.
        say: Takes a line, and whether it is for others than terminals too.

    Raises:
        StartFailed: It did not become ready; the cause in one sentence.
        HomeRefused: The home cannot be made or used.
    """
    make_home(home)
    lock = _turn(home, say)
    if lock is None:
        return None
    with ExitStack() as held:
        held.callback(os.close, lock)
        if (begun := _begin(home, environ)) is None:
            return None
        process, connection, hold = begun
        held.callback(_wait_for_end, process, say)
        held.callback(os.close, hold)
        held.callback(connection.close)
        try:
            daemon = checked(home, connection)
        except (_wire.Silent, _wire.BadAnswer) as error:
            raise DaemonSilent(home) from error
        return OwnDaemon(daemon, held.pop_all())


def _turn(home: str, say: Callable[[str, bool], None]) -> int | None:
    """Wait for `start.lock`; None if a daemon listens instead."""
    tell_at = time.monotonic() + _TELL_AFTER_S
    while True:
        lock = take(home)
        if listens(home):
            if lock is not None:
                os.close(lock)
            return None
        if lock is not None:
            return lock
        if time.monotonic() > tell_at:
            say("waiting for another command that has the home to itself", False)
            tell_at = float("inf")
        time.sleep(_TURN_POLL_S)


def _begin(
    home: str, environ: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], _wire.Connection, int] | None:
    """Start the child; it, a connection to it, and the descriptor whose end makes it leave."""
    with ExitStack() as undo, ExitStack() as given:
        listening, connection = _private_socket()
        undo.callback(connection.close)
        given.callback(listening.close)
        reading, writing = os.pipe()
        undo.callback(os.close, writing)
        given.callback(os.close, reading)
        options = ("--listen-fd", str(listening.fileno()), "--while-fd", str(reading))

        def attempt() -> subprocess.Popen[bytes] | None:
            if listens(home):  # a service came up, which asks for no lock of ours
                return None
            return spawn(home, environ, deadline, options, (listening.fileno(), reading))

        deadline = time.monotonic() + START_TIMEOUT_S
        process = until_free(home, attempt, deadline)
        if process is None:
            return None
        undo.pop_all()
        return process, connection, writing


def _private_socket() -> tuple[socket.socket, _wire.Connection]:
    """Make a socket that listens and has no name any more, and a connection to it."""
    listening, connecting = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    try:
        place = tempfile.mkdtemp(prefix="relay-", dir=_short_place())
        try:
            _join(listening, connecting, f"{place}/s")
        finally:
            os.rmdir(place)
    except BaseException:
        listening.close()
        connecting.close()
        raise
    return listening, _wire.Connection(connecting)


def _short_place() -> str:
    place = tempfile.gettempdir()
    return place if len(os.fsencode(place)) <= _MAX_PLACE_BYTES else "/tmp"  # noqa: S108 -- a directory of ours in it


def _join(listening: socket.socket, connecting: socket.socket, path: str) -> None:
    listening.bind(path)
    try:
        listening.listen()
        connecting.connect(path)
    finally:
        os.unlink(path)


def _wait_for_end(process: subprocess.Popen[bytes], say: Callable[[str, bool], None]) -> None:
    """Wait for a child that was told to leave; how it ended is told if that was not in order."""
    try:
        status = process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        disown(process)
        told = f"is still running after {_PATIENCE_S:.0f} s (pid {process.pid})"
    except BaseException:  # Ctrl-C again: it goes on leaving without us
        disown(process)
        raise
    else:
        told = f"ended with status {status}" if status else ""
    if told:
        say(f"warning: the daemon of this command {told}; `relayctl daemon logs` may say why", True)
