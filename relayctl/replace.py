"""A daemon older than this client makes way for the installed one, once for each pair of versions.

A daemon that cannot be replaced, since another installation starts it again and again, would otherwise be ended by
each command. What was tried is in `replaced` in the home.
"""

from __future__ import annotations

import os
import re
import time

from relayctl import __version__, launch, leave, managed
from relayctl.errors import StillRunning
from relayctl.home import open_at_once
from relayctl.service_errors import CommandFailed
from relayctl.start_lock import wait
from relayctl.whole_file import write_whole

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from relayctl.client import Client
    from relayctl.daemon import Daemon

__all__ = ("is_older", "replace", "replaced_path", "was_replaced")

# A daemon gives the requests under way 10 s; a command cannot wait for much more.
_PATIENCE_S = 20.0
_MAX_PAIRS = 50
_MAX_BYTES = 65_536
_FORM = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>a|b|rc)[-_.]?(?P<pre_n>\d*))?"
    r"(?:\.post(?P<post>\d+))?(?:\.dev(?P<dev>\d+))?(?:\+[a-z0-9.]*)?"
)
_MAX_CHARS = 64
_STAGES = {"a": 0, "b": 1, "rc": 2}
_FINAL = 3
_BEFORE_ALL = -1


def is_older(version: object, than: str) -> bool:
    """Tell whether one version comes before another, number by number; one that cannot be read is not older.

    Args:
        version: As a daemon tells it.
        than: The other one.
    """
    ours, theirs = _key(than), _key(str(version))
    return ours is not None and theirs is not None and theirs < ours


def _key(version: str) -> tuple[object, ...] | None:
    """Order a version as Python's packages do, as far as those of this project go."""
    if len(version) > _MAX_CHARS or not version.isascii():
        return None
    found = _FORM.fullmatch(version.lower())
    if found is None:
        return None
    numbers = [int(number) for number in found["release"].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()  # 1.0 is 1
    dev = float("inf") if found["dev"] is None else int(found["dev"])
    stage = _FINAL if found["pre"] is None else _STAGES[found["pre"]]
    if found["pre"] is None and found["post"] is None and found["dev"] is not None:
        stage = _BEFORE_ALL
    return tuple(numbers), stage, int(found["pre_n"] or 0), int(found["post"] or _BEFORE_ALL), dev


def replaced_path(home: str) -> str:
    """Name the file of the pairs that were tried."""
    return f"{home}/replaced"


def was_replaced(home: str, version: object) -> bool:
    """Tell whether such a daemon was asked to make way for this version before."""
    return f"{version} {__version__}" in _pairs(home)


def replace(client: Client, old: Daemon) -> Daemon | None:
    """Have an older daemon make way, unless that was tried; the daemon to use now, None if none listens.

    Ten clients at once do it once: they come one after another, and look again when it is their turn.

    Raises:
        StartFailed: The old one is gone, and the new one did not become ready.
    """
    lock = wait(old.home, time.monotonic() + launch.START_TIMEOUT_S)
    try:
        client.forget()
        found = client.find()
        if lock is None or found is None:
            return found
        version = found.health.get("version")
        if not is_older(version, __version__) or was_replaced(old.home, version):
            return found
        return _make_way(client, found, lock)
    finally:
        if lock is not None:
            os.close(lock)


def _make_way(client: Client, old: Daemon, lock: int) -> Daemon | None:
    version = old.health.get("version")
    try:
        _remember(old.home, f"{version} {__version__}")
    except OSError:
        return old  # a full or read-only disk: what cannot be remembered would be repeated
    try:
        _exchange(client, old, lock)
    except (StillRunning, CommandFailed) as error:
        client.say(
            f"warning: {error}; it has version {version}, this client {__version__}, and is used", True
        )
    client.forget()
    new = client.find()
    if new is not None and new.pid != old.pid:
        told = f"version {new.health.get('version')} (pid {new.pid})"
        client.say(f"the daemon of version {version} (pid {old.pid}) made way for {told}", False)
    return new


def _exchange(client: Client, old: Daemon, lock: int) -> None:
    if managed.manager_of(old.home):
        from relayctl.control import restart

        restart(client)
        return
    leave.stop(old, patience_s=_PATIENCE_S)
    launch.start(old.home, client.environ, lock, time.monotonic() + launch.START_TIMEOUT_S)


def _pairs(home: str) -> list[str]:
    try:
        with open(replaced_path(home), "rb", opener=open_at_once) as file:
            return file.read(_MAX_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return []


def _remember(home: str, pair: str) -> None:
    lines = [f"{line}\n" for line in [*_pairs(home), pair][-_MAX_PAIRS:]]
    write_whole(replaced_path(home), "".join(lines).encode("ascii", "replace"))
