"""A version installed over a running daemon: it begins anew as that one before it imports anything more."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import relay_queue
import relayd
from tests import stage
from tests.acceptance.test_activation import Manager, activate, listening, running
from tests.acceptance.test_leaving import bind, ending, event
from tests.waiting import eventually

NOWHERE = "http://127.0.0.1:1"
NEWER = "99.1.0"
PER_CLIENT = 150
CLIENTS = 4


class Site(NamedTuple):
    """A copy of the packages that a daemon is started from, and that a test may change."""

    path: Path

    @property
    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.path)}

    def install(self, version: str = NEWER) -> None:
        """Put another version in place of this one, as an installer does: other files under the same names."""
        for module in ("relayd/__init__.py", "relayd/delivery/http_sender.py"):
            file = self.path / module
            text = file.read_text().replace(
                f'__version__ = "{relayd.__version__}"', f'__version__ = "{version}"'
            )
            if "http_sender" in module:  # what an old daemon must never see
                text += f"\nimport relayd\nassert relayd.__version__ == {version!r}\n"
            aside = file.with_suffix(".new")
            aside.write_text(text)
            aside.replace(file)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    for package in (relayd, relay_queue):
        name, here = package.__name__, Path(package.__file__ or "").parent
        shutil.copytree(here, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Site(tmp_path)


ON_DEMAND = re.compile("/queue[.]db|/relay[.]db")
"""Files that connections open when they are needed, any number of them."""


def descriptors(daemon: stage.Daemon) -> Counter[str]:
    """What a process has open by name, but for queues and what opens with them; empty where that cannot be told."""
    place = Path(f"/proc/{daemon.process.pid}/fd")
    links = [str(path.readlink()) for path in place.iterdir()] if place.exists() else []
    return Counter(link for link in links if link.startswith("/") and not ON_DEMAND.search(link))


def log(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "logs" / "relayd.log").read_bytes().splitlines()]


def happened(home: Path, name: str) -> list[dict[str, Any]]:
    return [line for line in log(home) if line["event"] == name]


def health(home: Path) -> dict[str, Any]:
    """What the daemon says of itself; empty while there is none."""
    with contextlib.suppress(OSError):
        return stage.call(home, stage.request("GET", "/v1/health"))[1]
    return {}


def remote(daemon: stage.Daemon, server_url: str = NOWHERE) -> None:
    """Give the daemon a first event for a remote server."""
    queue_dir = bind(daemon, server_url, queue_dir=daemon.home / "queue" / "remote")
    # A client must be ready for the daemon to leave at any moment.
    with contextlib.suppress(OSError):
        stage.call(
            daemon.home,
            stage.request("POST", f"/v1/queues/enqueue?queue_dir={queue_dir}", b"[%s]" % event(0)),
        )


def is_newer(home: Path) -> bool:
    return health(home).get("version") == NEWER


SCRIPT = str(Path(sys.executable).with_name("relayd"))


@pytest.mark.parametrize("program", [("-P", "-m", "relayd"), (SCRIPT,)], ids=["module", "script"])
def test_the_new_version_serves_as_the_same_process(home: Path, site: Site, program: tuple[str, ...]) -> None:
    """The first remote queue after an upgrade makes the daemon begin anew, under its pid, with the same home."""
    with ending(stage.start(home, env=site.env, program=program)) as daemon:
        site.install()
        assert health(home)["version"] == relayd.__version__  # nothing is imported for that
        before = descriptors(daemon)
        remote(daemon)
        eventually(lambda: is_newer(home))
        assert health(home)["pid"] == daemon.process.pid
        eventually(lambda: happened(home, "delivery_failed"))  # it tries what the old one left to it
        # none is left over; others are opened and closed all the time
        eventually(lambda: set(descriptors(daemon) - before) <= {str(home / "queue" / "remote")})
        assert daemon.stop() == 0
    changing = happened(home, "version_changing")
    assert [(line["running"], line["installed"]) for line in changing] == [(relayd.__version__, NEWER)]
    assert happened(home, "daemon_failed") == []


def test_the_same_version_installed_anew_changes_nothing(home: Path, site: Site) -> None:
    """Files that were written again, with the version that runs, are imported as ever."""
    with ending(stage.start(home, env=site.env)) as daemon:
        site.install(relayd.__version__)
        remote(daemon)
        eventually(lambda: happened(home, "delivery_failed"))
        assert happened(home, "version_changing") == []
        assert daemon.stop() == 0


class Poster(threading.Thread):
    """A client that posts its events one after another, each again until it is answered."""

    def __init__(self, home: Path, first: int) -> None:
        super().__init__()
        self.home = home
        self.numbers = range(first, first + PER_CLIENT)
        self.odd: list[object] = []
        self.deadline_s = time.monotonic() + 60

    def run(self) -> None:
        for number in self.numbers:
            while time.monotonic() < self.deadline_s:
                try:
                    status, answer = stage.call(self.home, stage.request("POST", "/v1/events", event(number)))
                except (OSError, KeyError, ValueError):
                    continue  # no daemon, or it ended before it answered
                if status in (200, 201):
                    break
                if answer.get("code") != "stopping":
                    self.odd.append(answer)
                    break


@pytest.mark.parametrize("inherited", [False, True])
def test_nothing_is_lost_or_doubled_under_load(home: Path, site: Site, *, inherited: bool) -> None:
    """While clients post, each event that is answered arrives once, whichever version answered it."""
    with contextlib.ExitStack() as stack:
        flags: tuple[str, ...] = ()
        pass_fds: tuple[int, ...] = ()
        if inherited:
            made: socket.socket = stack.enter_context(listening(home))
            pass_fds = (made.fileno(),)
            flags = ("--listen-fd", str(made.fileno()))
        daemon = stage.start(home, *flags, env=site.env, pass_fds=pass_fds)
        stack.enter_context(ending(daemon))
        posters = [Poster(home, 1000 * (client + 1)) for client in range(CLIENTS)]
        for poster in posters:
            poster.start()
        site.install()
        remote(daemon)
        eventually(lambda: is_newer(home))
        for poster in posters:
            poster.join(60)
        assert [poster.odd for poster in posters] == [[]] * CLIENTS
        assert health(home)["pid"] == daemon.process.pid
        assert daemon.stop() == 0
    assert happened(home, "daemon_ready")[-1]["inherited_socket"] is inherited
    with contextlib.suppress(FileNotFoundError):
        (home / "relayd.sock").unlink()
    kept = feed_numbers(home)
    assert sorted(kept) == sorted(number for poster in posters for number in poster.numbers)


def feed_numbers(home: Path) -> list[int]:
    """The numbers in the bodies of all events that arrived, after the last one was delivered."""
    with stage.daemon(home) as daemon:
        daemon.call("POST", "/v1/queues/flush?all=true")
        assert daemon.call("GET", "/v1/status")[1]["pending_items"] == 0
        events = daemon.call("GET", "/v1/feed?since=0&limit=1000")[1]["events"]
    return [json.loads(row["excerpt"])["n"] for row in events]


def test_a_flush_after_an_upgrade_is_told_to_come_again(home: Path, site: Site) -> None:
    """A flush that would need the import is answered 503 `stopping` before it began, and works with the new version."""
    with ending(stage.start(home, env=site.env)) as daemon:
        queue_dir = bind(daemon, NOWHERE, mode="manual", queue_dir=home / "queue" / "remote")
        site.install()
        target = f"/v1/queues/flush?queue_dir={queue_dir}"
        status, answer = daemon.call("POST", target)
        assert (status, answer["code"]) == (503, "stopping")
        eventually(lambda: is_newer(home))
        assert daemon.call("POST", target)[0] == 200
        assert daemon.stop() == 0


def test_a_version_that_cannot_be_imported_does_not_end_the_daemon(home: Path, site: Site) -> None:
    """The log says what is wrong with it; the daemon goes on without what it did not import, and tries it seldom."""
    with ending(stage.start(home, env=site.env)) as daemon:
        queue_dir = bind(daemon, NOWHERE, mode="manual", queue_dir=home / "queue" / "remote")
        site.install()
        (site.path / "relayd" / "daemon.py").write_text("import no_such_module\n")
        target = f"/v1/queues/flush?queue_dir={queue_dir}"
        for _ in range(3):
            status, answer = daemon.call("POST", target)
            assert (status, answer["code"]) == (503, "upgrade_pending")
        [failed] = happened(home, "handover_failed")
        assert failed["installed"] == NEWER
        assert "no_such_module" in failed["detail"]
        assert daemon.call("POST", "/v1/events", event(1))[0] in (200, 201)
        assert health(home)["version"] == relayd.__version__
        assert daemon.stop() == 0


def test_an_installation_that_is_half_done_is_waited_for(home: Path, site: Site) -> None:
    """While the package is gone nothing is imported, and nothing is said of another version."""
    with ending(stage.start(home, env=site.env)) as daemon:
        queue_dir = bind(daemon, NOWHERE, mode="manual", queue_dir=home / "queue" / "remote")
        (site.path / "relayd").rename(site.path / "~elayd")
        target = f"/v1/queues/flush?queue_dir={queue_dir}"
        assert daemon.call("POST", target)[1]["code"] == "upgrade_pending"
        (site.path / "~elayd").rename(site.path / "relayd")
        assert daemon.call("POST", target)[0] == 200
        assert daemon.stop() == 0


def test_it_does_not_begin_anew_twice_in_a_minute(home: Path, site: Site) -> None:
    """Versions that change to and fro make no loop: the process remembers when it began anew."""
    with ending(stage.start(home, env=site.env)) as daemon:
        site.install()
        remote(daemon)
        eventually(lambda: is_newer(home))
        # The new one has imported all by now, or will never: another change finds nothing to import, or has to wait.
        assert daemon.stop() == 0
    env = {**site.env, "RELAY_BEGUN_ANEW": str(int(time.time()))}
    (site.path / "relayd" / "__init__.py").write_text(
        (site.path / "relayd" / "__init__.py").read_text().replace(NEWER, relayd.__version__)
    )
    with ending(stage.start(home, env=env)) as daemon:
        queue_dir = bind(daemon, NOWHERE, mode="manual", queue_dir=home / "queue" / "other")
        site.install()
        answer = daemon.call("POST", f"/v1/queues/flush?queue_dir={queue_dir}")[1]
        assert answer["code"] == "upgrade_pending"
        assert daemon.stop() == 0


def test_a_stop_during_the_change_is_a_stop(home: Path, site: Site) -> None:
    """Who asks the daemon to leave while it is about to begin anew is obeyed."""
    with ending(stage.start(home, env=site.env)) as daemon, stage._connect(home) as slow:
        message = stage.request("POST", "/v1/events", event(1), "Connection: close\r\n")
        slow.sendall(message[:-1])  # holds the daemon up
        assert daemon.call("GET", "/v1/health")[0] == 200
        site.install()
        remote(daemon)
        eventually(lambda: happened(home, "version_changing"))
        daemon.process.terminate()
        assert daemon.process.wait(timeout=stage.STOP_S) == 0
    assert not is_newer(home)


def test_flags_and_relative_paths_survive(home: Path, site: Site, tmp_path: Path) -> None:
    """A home that was named from another directory, and what the flags asked for, hold for the new version too."""
    reading, writing = os.pipe()
    (tmp_path / "from").mkdir()
    prefix = ("/bin/sh", "-c", f'cd "{tmp_path}/from" && exec "$@"', "sh")
    flags = ("--while-fd", str(reading), "--home", os.path.relpath(home, tmp_path / "from"))
    env = {"PYTHONPATH": ".."}
    with ending(stage.start(home, *flags, env=env, prefix=prefix, pass_fds=(reading,))) as daemon:
        os.close(reading)
        site.install()
        remote(daemon)
        eventually(lambda: is_newer(home))
        os.close(writing)
        assert daemon.process.wait(timeout=stage.STOP_S) == 0
    assert happened(home, "stop_requested")[-1]["reason"] == "whoever it was started for is gone"


def test_a_service_manager_sees_a_reload(home: Path, site: Site, tmp_path: Path) -> None:
    """With a socket from systemd and a NOTIFY_SOCKET the same main process is ready again, and never said to stop."""
    with (
        Manager(str(tmp_path / "notify")) as manager,
        listening(home) as made,
        running(activate(home, made, env={**site.env, **manager.env})) as process,
    ):
        manager.until("READY")
        daemon = stage.Daemon(process, home, 0.0)
        site.install()
        remote(daemon)
        told = manager.hear()
        assert told["RELOADING"] == "1"
        assert int(told["MONOTONIC_USEC"]) > 0
        told = manager.hear()
        assert (told["READY"], told["MAINPID"]) == ("1", str(process.pid))
        assert NEWER in told["STATUS"]
        assert is_newer(home)
        process.terminate()
        assert process.wait(timeout=stage.STOP_S) == 0
