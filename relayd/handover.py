"""Handing over to a version of relayd that was installed over this one while it ran.

A running daemon must not import modules of another version than its own. So whoever needs a late import asks first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import anyio
import anyio.to_thread

import relayd
from relayd import events
from relayd.errors import Stopping, UpgradePending
from relayd.leaving import Leaving
from relayd.reexec import reexecuted_ago_s

__all__ = ("Handover", "Installed")

# relay_queue imports it for names in other scripts; it is small enough to be here from the start.
import_module("idna")

_NOT_OFTENER_THAN_S = 60.0
_TRIAL_S = 60.0
_TRIAL = "import relayd.__main__, relayd.daemon, relayd.delivery.http_sender, relayd.mcp.server, relayd.search.stems"
_VERSION = re.compile(rb"^__version__ = \"([0-9A-Za-z.+!-]{1,64})\"", re.MULTILINE)
_MAX_BYTES = 64 * 1024


class Installed:
    """The version that lies where this process was imported from.

    Args:
        file: Holds a line that sets `__version__`.
        running: The version of this process.
    """

    def __init__(self, file: Path = Path(relayd.__file__ or ""), running: str = relayd.__version__) -> None:
        self._file = file
        stamp = _stamp(file)
        # it may have changed since it was imported
        self._seen = stamp if _read_version(file) == running else None
        self.running = running

    def version(self) -> str | None:
        """Look: one stat as long as the file is the same; None if there is no version to be read just now."""
        stamp = _stamp(self._file)
        if stamp is not None and stamp == self._seen:
            return self.running
        version = _read_version(self._file)
        if version == self.running:
            self._seen = stamp
        return version


class Handover:
    """Decides before a late import whether this process may go on, or begins anew as the installed version.

    Args:
        installed: What is there.
        leaving: Asked to leave and to come back.
        bus: Told of it.
        environ: Says when this process began anew, for a bound on how often.
    """

    def __init__(
        self, installed: Installed, leaving: Leaving, bus: events.Bus, environ: Mapping[str, str]
    ) -> None:
        self._installed = installed
        self._leaving = leaving
        self._bus = bus
        self._environ = environ
        self._tried_s = time.monotonic() - reexecuted_ago_s(environ)
        self._door = anyio.Lock()

    async def before_import(self) -> None:
        """Return if what can be imported belongs to this version.

        Raises:
            Stopping: It does not; the daemon leaves and begins anew.
            UpgradePending: It does not, and the daemon cannot begin anew yet.
        """
        if self._installed.version() == self._installed.running:
            return
        async with self._door:
            if self._leaving.asked.is_set():
                raise Stopping
            version = self._installed.version()
            if version is None or not await self._can_be_imported(version):
                raise UpgradePending
            self._bus.publish(events.VersionChanging(self._installed.running, version))
            self._leaving.ask(f"version {version} is installed", comes_back=lambda: True)
        raise Stopping

    async def _can_be_imported(self, version: str) -> bool:
        """Try it in a process of its own: an installation may be half done, or broken."""
        now_s = time.monotonic()
        if now_s - self._tried_s < _NOT_OFTENER_THAN_S:
            return False
        self._tried_s = now_s
        fault = await anyio.to_thread.run_sync(_try_import, self._environ)
        if fault is not None:
            self._bus.publish(events.HandoverFailed(self._installed.running, version, fault))
        return fault is None


def _try_import(environ: Mapping[str, str]) -> str | None:
    """Import the whole daemon as a new process would; the last line of what is wrong, None if nothing is."""
    flags = ["-P"] if sys.flags.safe_path else []
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and fixed words
            [sys.executable, *flags, "-c", _TRIAL],
            env={**environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=_TRIAL_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ended with status {done.returncode}"


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 - before every late import
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read_version(file: Path) -> str | None:
    try:
        with file.open("rb") as opened:
            found = _VERSION.search(opened.read(_MAX_BYTES))
    except OSError:
        return None
    return None if found is None else found[1].decode()
