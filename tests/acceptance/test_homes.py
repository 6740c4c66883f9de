"""Odd homes, and more than one of them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests import stage
from tests.mounting import tmpfs

EVENT = json.dumps(
    {"event_id": "e-1", "agent": "codex", "event": "stop", "body": {"session_id": "s", "cwd": "/w"}}
).encode()


def _status(home: Path, *words: str) -> dict[str, object]:
    done = stage.relayctl("status", *words, at=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _enqueue(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return stage.relayctl("enqueue", "--file", "-", *words, at=home, stdin=b"[" + EVENT + b"]")


@pytest.mark.parametrize(
    "name",
    ["with a space", "Ana María/x y", "日本", "d" * 140],
    ids=["space", "accents", "cjk", "140 characters"],
)
def test_a_home_of_any_name_works(home: Path, name: str) -> None:
    """Enqueue, flush and status work whatever the path looks like, also longer than a socket address."""
    odd = home / name
    odd.mkdir(parents=True, mode=0o700)
    assert _enqueue(odd).returncode == 0
    assert stage.relayctl("flush", at=odd).returncode == 0
    assert _status(odd)["receipts"] == 1
    assert stage.relayctl("daemon", "stop", at=odd).returncode == 0


def test_two_homes_side_by_side(home: Path) -> None:
    """Two daemons share nothing: an event of one is unknown to the other."""
    with stage.home() as other:
        assert _enqueue(home).returncode == 0
        assert stage.relayctl("flush", at=home).returncode == 0
        assert stage.relayctl("flush", at=other).returncode == 0
        assert (_status(home)["receipts"], _status(other)["receipts"]) == (1, 0)
        stage.relayctl("daemon", "stop", at=other)


def test_two_homes_on_one_queue(home: Path, tmp_path: Path) -> None:
    """The second daemon is told who owns the queue, and takes it over once that one is gone."""
    queue = str(tmp_path / "shared")
    with stage.home() as other:
        assert stage.relayctl("init", "--manual", "--queue-dir", queue, at=home).returncode == 0
        assert _enqueue(home, "--queue-dir", queue).returncode == 0
        owner = json.loads(stage.relayctl("daemon", "status", "--json", at=home).stdout)["pid"]
        refused = _enqueue(other, "--queue-dir", queue)
        assert refused.returncode == 2
        assert str(owner).encode() in refused.stderr
        assert _status(other, "--queue-dir", queue)["pending_items"] == 1
        assert stage.relayctl("daemon", "stop", at=home).returncode == 0
        assert b'"recognized": 1' in _enqueue(other, "--queue-dir", queue).stdout
        stage.relayctl("daemon", "stop", at=other)


def test_everything_is_private_whatever_the_umask(home: Path) -> None:
    """With umask 000 no file or directory has a bit for group or others."""
    private = home / "h"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys; os.umask(0); os.execv(sys.argv[1], sys.argv[1:])",
            str(Path(sys.executable).with_name("relayctl")),
            "enqueue",
            "--file",
            "-",
        ],
        env={**stage.CLEAN, "RELAY_HOME": str(private)},
        input=b"[" + EVENT + b"]",
        check=False,
    )
    assert done.returncode == 0
    assert (
        stage.relayctl(
            "auth", "set", "--server-url", "http://127.0.0.1:9", at=private, stdin=b"token"
        ).returncode
        == 0
    )
    loose = [path for path in (private, *private.rglob("*")) if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert loose == []
    stage.relayctl("daemon", "stop", at=private)


def test_a_loose_or_linked_home_is_refused_in_one_sentence(home: Path) -> None:
    """A home others may read, or that is a link, is refused and left as it is."""
    loose, link = home / "loose", home / "link"
    loose.mkdir()
    loose.chmod(0o755)
    link.symlink_to(home)
    for refused in (loose, link):
        done = stage.relayctl("enqueue", "--file", "-", at=refused, stdin=b"[" + EVENT + b"]")
        assert done.returncode == 2
        assert len(done.stderr.decode().strip().splitlines()) <= 2
    assert stat.S_IMODE(loose.stat().st_mode) == 0o755
    assert list(loose.iterdir()) == []


def test_a_read_only_home_is_refused_in_one_sentence(home: Path) -> None:
    """Where nothing can be written, the daemon says so and exits 2; status still answers."""
    with tmpfs(home, "ro,mode=700"):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "relayd", "--home", str(home)],
            env=stage.CLEAN,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert len(done.stderr.decode().strip().splitlines()) == 1
        assert _enqueue(home).returncode == 2
        assert _status(home)["pending_items"] == 0


def test_a_stale_socket_is_replaced(home: Path) -> None:
    """A socket file without a listener does not stand in the way."""
    stage.start(home).kill()
    before = os.stat(home / "relayd.sock").st_ino  # noqa: PTH116
    with stage.daemon(home) as running:
        assert running.call("GET", "/v1/health")[0] == 200
        assert running.stop() == 0
    assert not (home / "relayd.sock").exists()
    assert before


def test_a_daemon_of_another_home_is_not_touched(home: Path) -> None:
    """A socket that leads to another home's daemon is recognized, and nothing is sent to it."""
    with stage.home() as other, stage.daemon(other) as running:
        (home / "relayd.sock").symlink_to(other / "relayd.sock")
        done = _enqueue(home)
        assert done.returncode == 2
        assert b"another home" in done.stderr
        assert running.call("GET", "/v1/status")[1]["pending_items"] == 0
        (home / "relayd.sock").unlink()
