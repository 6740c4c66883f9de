"""What `doctor` looks at, one function a thing; nothing is started and nothing changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from relayctl import _wire, leave, offline
from relayctl.cli.words import count, due, failure
from relayctl.client import Client
from relayctl.daemon import Daemon
from relayctl.errors import ClientError, Refused
from relayctl.hints import hint_of, queue_option
from relayctl.home import OTHER_HOME, home_fault, last_start_path
from relayctl.objects import read_object
from relayctl.tokens import refusal, remedy

__all__ = ("Check", "checkup")

_ROOM_WARN_BYTES = 1 << 30
_ROOM_FAIL_BYTES = 64 << 20
# STRICT tables came with it.
_OLDEST_SQLITE = (3, 37, 0)
# From here on two connections that write or checkpoint at once cannot lose a reset of the WAL.
_SOUND_SQLITE = (3, 51, 3)


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    todo: str = ""
    """What to do about it; empty if nothing."""


def checkup(client: Client, installed: str) -> Iterator[Check]:
    """Look at everything, the nearest cause first.

    Args:
        client: Its home is what is looked at.
        installed: The version that is installed here.
    """
    yield _home(client.home)
    daemon, found = _daemon(client, installed)
    yield found
    yield _socket(client.home, running=daemon is not None)
    yield _last_start(client.home, running=daemon is not None)
    yield from _queues(client, daemon)
    yield _sqlite()
    yield _room(client.home)


def _home(home: str) -> Check:
    try:
        fault = home_fault(home)
    except FileNotFoundError:
        return Check("home", "ok", f"{home} is not there yet; the first command makes it")
    except OSError as error:
        fault = (error.strerror or str(error), OTHER_HOME)
    if fault is None:
        return Check("home", "ok", home)
    return Check("home", "fail", f"{home}: {fault[0]}", fault[1])


def _daemon(client: Client, installed: str) -> tuple[Daemon | None, Check]:
    try:
        daemon = client.find()
    except (ClientError, OSError) as error:
        return None, Check("daemon", "fail", str(error), _todo(error))
    if daemon is not None:
        return daemon, _version(daemon, installed)
    if pid := leave.holder(client.home):
        told = f"process {pid} holds the home and does not listen"
        return None, Check("daemon", "warn", told, "it may be starting or leaving; look again in a moment")
    return None, Check("daemon", "ok", "none runs; the next command starts it")


def _version(daemon: Daemon, installed: str) -> Check:
    version, told = daemon.health.get("version"), f"pid {daemon.pid}, home id {daemon.health['home_id']}"
    if version != installed:
        told = f"{told}, version {version}, installed is {installed}"
        return Check("daemon", "warn", told, "`relayctl daemon restart`")
    return Check("daemon", "ok", f"{told}, version {version}")


def _socket(home: str, *, running: bool) -> Check:
    path = f"{home}/{_wire.SOCKET_NAME}"
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return Check("socket", "ok", "none" if not running else "inherited")
    if not stat.S_ISSOCK(mode):
        return Check("socket", "fail", f"{path} is no socket", "move it away")
    if mode & 0o077:
        return Check(
            "socket", "warn", f"{path} is open to others", "`relayctl daemon restart` makes a private one"
        )
    return Check("socket", "ok", path if running else "left behind; the next start replaces it")


def _last_start(home: str, *, running: bool) -> Check:
    try:
        with open(last_start_path(home), "rb") as file:
            told = read_object(file.read())
    except OSError:
        return Check("last start", "ok", "nothing failed")
    at = told.get("time")
    when = f" ({time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))})" if isinstance(at, int) else ""
    detail = f"failed{when}: {told.get('detail', 'the cause was not written down')}"
    return Check(
        "last start", "warn" if running else "fail", detail, "correct that, then `relayctl daemon start`"
    )


def _queues(client: Client, daemon: Daemon | None) -> Iterator[Check]:
    try:
        checks = [_queue(client, row) for row in (_served(client) if daemon else _on_disk(client.home))]
    except (ClientError, _wire.WireError, OSError) as error:
        yield Check("queues", "fail", f"cannot be listed: {error}", _todo(error))
        return
    yield from checks or [Check("queues", "ok", "none yet")]


def _todo(error: Exception) -> str:
    return hint_of(error) if isinstance(error, ClientError) else ""


def _served(client: Client) -> Iterator[dict[str, Any]]:
    for row in client.ask("GET", "/v1/queues", again=True)["queues"]:
        yield row | (_standing(client, row["queue_dir"]) if row.get("pending_items") else {})


def _standing(client: Client, directory: str) -> dict[str, Any]:
    """Ask why a queue's events may still be there."""
    try:
        status = client.ask("GET", "/v1/status", {"queue_dir": directory}, again=True)
    except Refused as refused:  # it may have gone since it was listed
        return {"problem": str(refused)}
    return {name: status.get(name) for name in ("last_error", "next_due_in_ms")}


def _on_disk(home: str) -> Iterator[dict[str, Any]]:
    """Read the queues in the home without a daemon; those elsewhere only the daemon knows."""
    try:
        names = sorted(os.listdir(f"{home}/queue"))
    except FileNotFoundError:
        return
    for name in names:
        directory = f"{home}/queue/{name}"
        try:
            yield {**offline.read_status(directory, default=False), "queue_dir": directory, "name": name}
        except ClientError as error:
            yield {"queue_dir": directory, "name": name, "problem": str(error)}


def _queue(client: Client, row: dict[str, Any]) -> Check:
    name, named = f"queue {row.get('name') or row['queue_dir']}", queue_option(row["queue_dir"])
    if problem := row.get("problem"):
        told = str(problem).removeprefix(f"{row['queue_dir']}: ")
        return Check(name, "fail", told, _about_problem(row["queue_dir"]))
    pending = f"{row.get('pending_items') or 0:,} pending"
    if row.get("state") == "needs_auth":
        url = row["server_url"]
        return Check(name, "warn", f"{pending}; {refusal(client, url)}", remedy(url))
    if held := row.get("held_sessions"):
        told = f"{pending}; {count(held, 'session')} {'is' if held == 1 else 'are'} held"
        return Check(name, "warn", told, f"`relayctl queue held{named}`")
    if row.get("pending_items") and (error := row.get("last_error")):
        told = f"{pending}; last error: {failure(error)}{_next_attempt(row.get('next_due_in_ms'))}"
        return Check(name, "warn", told, f"is the server running? `relayctl flush{named}` tries now")
    return Check(name, "ok", pending)


def _about_problem(directory: str) -> str:
    named = queue_option(directory)
    if offline.holds_queue(directory):
        return f"`relayctl status{named}` shows more"
    return f"put it back, or mount it: it is never made anew; `relayctl queue forget{named}` takes it off the list"


def _next_attempt(due_in_ms: int | None) -> str:
    return "" if due_in_ms is None else f"; next attempt {due(due_in_ms)}"


def _sqlite() -> Check:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        return Check(
            "SQLite", "fail", f"{version} has no STRICT tables", "use a Python with SQLite 3.37 or newer"
        )
    if sqlite3.sqlite_version_info < _SOUND_SQLITE:
        return Check("SQLite", "ok", f"{version}; its WAL-reset fault cannot occur with one writer a file")
    return Check("SQLite", "ok", version)


def _room(home: str) -> Check:
    place = home
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free
    told = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free < _ROOM_FAIL_BYTES:
        return Check("disk", "fail", told, "free some: new events are refused when it is full")
    if free < _ROOM_WARN_BYTES:
        return Check("disk", "warn", told, "free some before it is full")
    return Check("disk", "ok", told)
