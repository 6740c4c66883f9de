"""The spool: what is kept for the next daemon, in which order, and what happens when there is no room."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from relayd.hooks.spooled import SpoolName
from tests.integration.hook import shim
from tests.integration.hook.shim import Shim
from tests.mounting import tmpfs
from tests.waiting import eventually


def _names(hook: Shim) -> list[str]:
    return sorted(path.name for path in (hook.home / "spool").iterdir())


def test_a_file_is_named_for_its_time_its_process_and_its_size(hook: Shim) -> None:
    """Private, whatever the umask, with nothing beside it, in directories that the hook makes if need be."""
    (hook.home / "spool").rmdir()
    (hook.home / "logs").rmdir()
    before_ns = time.time_ns()
    hook.run(command=["/bin/sh", "-c", 'umask 0; exec "$0" "$@"', str(hook.launcher)]).in_silence()
    (path,) = hook.spooled()
    assert _names(hook) == [path.name]
    at_ns, pid, size = path.stem.split("-")
    assert len(at_ns) == 20
    assert before_ns <= int(at_ns) <= time.time_ns()
    assert pid.isdecimal()
    assert int(size) == path.stat().st_size
    for made, mode in ((path, 0o600), (path.parent, 0o700), (hook.home / "logs", 0o700)):
        assert stat.S_IMODE(made.stat().st_mode) == mode
    assert stat.S_IMODE((hook.home / "logs" / "hooks.log").stat().st_mode) == 0o600


@pytest.mark.parametrize("umask", ["0", "277", "777"])
def test_no_umask_takes_a_file_from_its_user(hook: Shim, umask: str) -> None:
    """What the agent's would leave unreadable, the daemon of the same user could not take in."""
    (hook.home / "spool").rmdir()
    hook.run(command=["/bin/sh", "-c", f'umask {umask}; exec "$0" "$@"', str(hook.launcher)]).in_silence()
    (path,) = hook.spooled()
    made = path, path.parent, hook.home / "logs" / "hooks.log"
    assert [stat.S_IMODE(one.stat().st_mode) for one in made] == [0o600, 0o700, 0o600]


def test_the_log_has_fixed_words(hook: Shim) -> None:
    """One line of JSON a failure: when, which hook, what, how long it took."""
    hook.run("session-end", cli="codex").in_silence()
    (line,) = (hook.home / "logs" / "hooks.log").read_text().splitlines()
    noted = json.loads(line)
    assert abs(noted.pop("time") - time.time()) < 60
    assert 0 < noted.pop("ms") < 1500
    assert noted == {"cli": "codex", "event": "session-end", "code": "no_daemon"}


def test_the_log_is_capped(hook: Shim) -> None:
    """Over 256 KiB it is put aside, in the place of the one before."""
    log = hook.home / "logs" / "hooks.log"
    for content in (b"first\n", b"second\n"):
        log.write_bytes(content + b"x" * (256 << 10))
        hook.run().in_silence()
        assert log.with_name("hooks.log.1").read_bytes().startswith(content)
        assert hook.codes() == ["no_daemon"]


def test_events_keep_their_order_when_the_clock_goes_back(hook: Shim) -> None:
    """After a file of the future the next one is named one nanosecond later, and so on."""
    future_ns = time.time_ns() + 10**18
    (hook.home / "spool" / f"{future_ns:020}-1-3.http").write_bytes(b"abc")
    for number in range(3):
        hook.run(stdin=b'{"n": %d}' % number).in_silence()
    assert [int(path.name[:20]) - future_ns for path in hook.spooled()] == [0, 1, 2, 3]
    assert hook.payloads()[1:] == [b'{"n": 0}', b'{"n": 1}', b'{"n": 2}']


def test_a_time_beyond_all_clocks_costs_no_event(hook: Shim) -> None:
    """However late the last file says it is, the next one has a name that the daemon reads."""
    (hook.home / "spool" / f"{'9' * 20}-1-1.http").touch()
    for _ in range(2):
        hook.run().in_silence()
    assert len([path for path in hook.spooled() if SpoolName.read(path.name)]) == 3


def test_hooks_at_once_overwrite_nothing(hook: Shim) -> None:
    """Twelve hooks, also after a file of the future, leave twelve whole files."""
    (hook.home / "spool" / f"{time.time_ns() + 10**18:020}-1-0.http").touch()
    texts = [b'{"n": "%d"}' % number * 1000 for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        for ran in pool.map(lambda text: hook.run(stdin=text), texts):
            ran.in_silence()
    assert sorted(hook.payloads()[1:]) == sorted(texts)
    assert all(path.stat().st_size == int(path.stem.split("-")[2]) for path in hook.spooled())
    assert len(_names(hook)) == 13


def _fill_bound(hook: Shim, files: int, size: int) -> None:
    """Make many names of one file, which is much quicker than many files."""
    first = hook.home / "spool" / f"{0:020}-1-{size}.http"
    first.touch()
    for number in range(1, files):
        os.link(first, first.with_name(f"{number:020}-1-{size}.http"))


@pytest.mark.parametrize(("files", "size"), [(10_000, 1), (8, 8 << 20), (1, (64 << 20) - 300)])
def test_over_the_bound_the_new_event_is_dropped_and_counted(hook: Shim, files: int, size: int) -> None:
    """10,000 files or 64 MiB, by the names alone."""
    _fill_bound(hook, files, size)
    for count in (1, 2):
        hook.run("session-start").in_silence()
        assert (hook.home / "spool" / "dropped-full").stat().st_size == count
    assert len(hook.spooled()) == files
    assert hook.codes() == ["spool_full", "no_daemon"] * 2


# The bound on files, small enough to be reached in no time.
_SMALL = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import relay_hook, relay_hook_fallback
relay_hook_fallback._MAX_SPOOL_FILES = 20
relay_hook.main()
"""


def test_up_to_the_bound_events_are_kept(hook: Shim) -> None:
    """What is no event does not count: counters, directories, unfinished and foreign files."""
    _fill_bound(hook, 18, 1)
    (hook.home / "spool" / "rejected").mkdir()
    for name in ("dropped-large", ".1-2.tmp", "a-b-c.http", "1-2-3", f"{1:020}-1-{1 << 30}.txt"):
        (hook.home / "spool" / name).touch()
    for name in (f"1-1-{1 << 30}", f"{1:020}-x-{1 << 30}", f"{1:020}-1-{1 << 40}", f"{1:020}--{1 << 30}"):
        (hook.home / "spool" / f"{name}.http").touch()  # the daemon would never take them away
    command = [sys.executable, "-IS", "-c", _SMALL, str(hook.home / "bin")]
    for _ in range(3):
        hook.run("session-start", command=command).in_silence()
    assert len([path for path in hook.spooled() if SpoolName.read(path.name)]) == 20
    assert (hook.home / "spool" / "dropped-full").stat().st_size == 1


@pytest.fixture
def small_spool(hook: Shim) -> Iterator[Path]:
    """The spool on a file system of 256 KiB."""
    spool = hook.home / "spool"
    with tmpfs(spool, "size=256k,mode=700"):
        yield spool


@pytest.mark.parametrize("free", [0, 4096, 64 << 10])
def test_a_full_disk_leaves_no_half_file(hook: Shim, small_spool: Path, free: int) -> None:
    """Not under a final name and not aside; with room again events are kept."""
    ballast = small_spool / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    os.truncate(ballast, ballast.stat().st_size - free)
    hook.run(stdin=b"x" * 200_000).in_silence()
    assert _names(hook) == ["ballast"]
    assert hook.codes() == ["spool_failed", "no_daemon"]
    ballast.unlink()
    hook.run(stdin=b"x" * 200_000).in_silence()
    assert hook.payloads() == [b"x" * 200_000]


def test_a_full_home_is_borne_in_silence(hook: Shim) -> None:
    """No event, no line, no start: a daemon would find no room either."""
    (hook.home / "small").mkdir()
    with tmpfs(hook.home / "small", "size=192k,mode=700"):
        full = shim.make(hook.home.parent, hook.home / "small" / "relay")
        with (full.home / "ballast").open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        for event in ("stop", "session-start"):
            full.run(event, stdin=b"x" * 20_000, env={"RELAY_AUTOSTART": "1"}).in_silence()
        assert (full.spooled(), full.codes()) == ([], [])
        assert not (full.home / "last-start.json").exists()
        assert [path.name for path in full.home.iterdir() if "tmp" in path.name] == []


def test_a_spool_that_cannot_be_written_is_noted(hook: Shim) -> None:
    """Read-only, a file in its place, a link that leads nowhere."""
    spool = hook.home / "spool"
    with tmpfs(spool, "ro,mode=700"):
        hook.run().in_silence()
    spool.rmdir()
    spool.touch()
    hook.run().in_silence()
    spool.unlink()
    spool.symlink_to("nowhere")
    hook.run().in_silence()
    assert hook.codes() == ["spool_failed", "no_daemon"] * 3
    assert not (hook.home / "nowhere").exists()


def test_a_log_that_is_no_file_is_let_be(hook: Shim) -> None:
    """A link in its place is not written through, a pipe not waited for, and the event is kept all the same."""
    log = hook.home / "logs" / "hooks.log"
    log.symlink_to(hook.home / "elsewhere")
    hook.run().in_silence()
    log.unlink()
    os.mkfifo(log)
    hook.run().in_silence()
    assert len(hook.spooled()) == 2
    assert not (hook.home / "elsewhere").exists()


def test_a_moved_home_ends_the_hook(hook: Shim) -> None:
    """Where the launcher finds nothing to run it says nothing."""
    moved = hook.home.rename(hook.home.with_name("moved"))
    hook.run(command=[str(moved / "bin" / "relay-hook")]).in_silence()
    assert not list(moved.glob("spool/*"))


# A disk that takes its time with one kind of call.
_SLOW = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import relay_hook
relay_hook._BEHIND_S = 0.2
relay_hook.posix.{call} = lambda *_: relay_hook.time.sleep(60)
relay_hook.main()
"""


@pytest.mark.parametrize(("call", "kept"), [("fsync", 1), ("write", 0)])
def test_a_slow_disk_does_not_hold_an_agent_up(hook: Shim, call: str, kept: int) -> None:
    """At the end of its time the hook ends; later what is written gets its name, and what is not is counted."""
    command = [sys.executable, "-IS", "-c", _SLOW.format(call=call), str(hook.home / "bin")]
    hook.run(command=command).in_silence()
    dropped = hook.home / "spool" / "dropped-late"
    eventually(lambda: hook.payloads() == [shim.PAYLOAD] if kept else dropped.exists())
    assert len(_names(hook)) == 1, "no unfinished file is left"


# A machine that has no time for the hook up to the end of the time that it has for the agent, and then little.
_LATE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import relay_hook, signal
on_time, fork = relay_hook.{where}, relay_hook.posix.fork

def slow_fork():
    relay_hook.time.sleep(0.05)
    return fork()

relay_hook.posix.fork = slow_fork

def late(self, *arguments):
    getattr(self, "watch", self).end = 0
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    signal.raise_signal(signal.SIGALRM)
    return on_time(self, *arguments)

relay_hook.{where} = late
relay_hook.main()
"""


@pytest.mark.parametrize("where", ["Watch.read_input", "Hook.post", "Hook.fallback"])
@pytest.mark.parametrize(("env", "kept"), [({}, 1), ({"RELAY_GUARD": "1"}, 0)])
def test_an_event_that_is_late_is_spooled_behind(
    hook: Shim, where: str, env: dict[str, str], kept: int
) -> None:
    """The agent waits no longer than ever, and the event is not lost for that; what nobody was to keep is not kept."""
    command = [sys.executable, "-IS", "-c", _LATE.format(where=where), str(hook.home / "bin")]
    hook.run("stop", command=command, env=env).in_silence()
    eventually(lambda: hook.payloads() == [shim.PAYLOAD] * kept)
    assert not (hook.home / "spool" / "dropped-late").exists()
