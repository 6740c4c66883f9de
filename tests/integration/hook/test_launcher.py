"""What the daemon keeps in the home's `bin/`, and what becomes of it when something is missing."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from relayd import __version__
from relayd.events import LauncherFailed
from relayd.harness.launcher import keep, try_to_keep
from relayd.home import Home
from tests import stage
from tests.integration.hook.shim import PAYLOAD, Shim, http, listening
from tests.mounting import tmpfs

_MODULES = "relay_hook.py", "relay_hook_fallback.py"


def _byte_code(hook: Shim, module: str = "relay_hook.py") -> Path:
    return Path(cache_from_source(str(hook.home / "bin" / module), optimization=""))


def _state(hook: Shim) -> dict[str, tuple[int, int, bytes]]:
    files = [path for path in sorted((hook.home / "bin").rglob("*")) if path.is_file()]
    return {path.name: (path.stat().st_mode, path.stat().st_ino, path.read_bytes()) for path in files}


def test_the_files_are_private_and_whole(hook: Shim) -> None:
    """The launcher can be run, the rest only be read; nothing else lies there."""
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (hook.home / "bin").rglob("*")}
    assert modes == {
        "relay-hook": 0o700,
        "relay-mcp": 0o700,
        "pass-env": 0o600,
        "__pycache__": 0o700,
        **dict.fromkeys(_MODULES, 0o600),
        **{_byte_code(hook, module).name: 0o600 for module in _MODULES},
    }


def test_what_is_current_is_left_alone(hook: Shim) -> None:
    """A second start of the same version writes nothing."""
    before = _state(hook)
    keep(Home(hook.home), ("PASSED_ON",))
    assert _state(hook) == before


@pytest.mark.parametrize("module", _MODULES)
def test_what_is_not_current_is_replaced(hook: Shim, module: str) -> None:
    """Other content, other modes, links, unfinished files of a crash, byte code that is old, cut short or no code."""
    before, names = _state(hook), ["relay-hook", "relay-mcp", *_MODULES, "pass-env"]
    code = _byte_code(hook, module)
    whole = code.read_bytes()
    for wrong in (b"", whole[:10], whole[: len(whole) // 2], whole[:16] + b"N", b"\0" * len(whole)):
        for name in names:
            (hook.home / "bin" / name).write_bytes(b"x")
            (hook.home / "bin" / name).chmod(0o666)
        (hook.home / "bin" / ".relay-hook.tmp").write_bytes(b"half")
        (code.parent / f".{code.name}.tmp").write_bytes(b"half")
        code.write_bytes(wrong)
        keep(Home(hook.home), ("PASSED_ON",))
        after = _state(hook)
        assert {name: (mode, text) for name, (mode, _, text) in after.items()} == {
            name: (mode, text) for name, (mode, _, text) in before.items()
        }
    elsewhere = hook.home / "elsewhere"
    elsewhere.write_bytes(before["relay-hook"][2])
    hook.launcher.unlink()
    hook.launcher.symlink_to(elsewhere)
    keep(Home(hook.home), ("PASSED_ON",))
    assert not hook.launcher.is_symlink()
    hook.run().in_silence()


def test_the_names_to_pass_on_are_kept(hook: Shim) -> None:
    """One a line, as the setting has them now."""
    for names, text in (((), ""), (("A", "B"), "A\nB\n")):
        keep(Home(hook.home), names)
        assert (hook.home / "bin" / "pass-env").read_text() == text


def test_the_launcher_does_not_change_with_the_version(hook: Shim) -> None:
    """Its text depends on the interpreter and the home alone, since one agent CLI asks again about a changed hook."""
    text = hook.launcher.read_text()
    assert f"python='{sys.executable}'\nbin='{hook.home}/bin'\n" in text
    assert __version__ not in text


def test_a_shell_finds_no_fault_in_it(hook: Shim) -> None:
    """Read by sh without running it."""
    assert (
        subprocess.run(["/bin/sh", "-n", str(hook.launcher)], check=True, capture_output=True).stderr == b""
    )


@pytest.mark.parametrize("name", ["python", "directory", "link"])
def test_an_interpreter_that_is_gone_ends_the_hook(hook: Shim, at: Path, name: str) -> None:
    """Nothing, a directory or a dead link in its place: status 0 and not a word."""
    (at / "directory").mkdir()
    (at / "link").symlink_to(at / "nothing")
    text = hook.launcher.read_text().replace(sys.executable, str(at / name))
    hook.launcher.write_text(text)
    hook.run().in_silence()
    assert hook.untouched()


@pytest.mark.parametrize("break_it", ["gone", "no code", "other", "raises"])
def test_a_hook_that_cannot_be_loaded_says_nothing(hook: Shim, break_it: str) -> None:
    """A missing or broken module, whatever it raises: status 0 and not a word."""
    _byte_code(hook).unlink()
    module = hook.home / "bin" / "relay_hook.py"
    text = {"no code": "def main(:", "other": "x = 1", "raises": "raise SystemExit(2)"}
    module.unlink() if break_it == "gone" else module.write_text(text[break_it])
    hook.run().in_silence()
    assert hook.untouched()


@pytest.mark.parametrize("event", ["stop", "session-start"])
@pytest.mark.parametrize("break_it", ["gone", "no code", "other", "raises"])
def test_a_fallback_that_cannot_be_loaded_says_nothing(hook: Shim, event: str, break_it: str) -> None:
    """Without a daemon: status 0 and not a word, also for what is too long; with one it is not missed."""
    _byte_code(hook, "relay_hook_fallback.py").unlink()
    module = hook.home / "bin" / "relay_hook_fallback.py"
    text = {"no code": "class Fallback(:", "other": "x = 1", "raises": "raise SystemExit(2)"}
    module.unlink() if break_it == "gone" else module.write_text(text[break_it])
    for stdin in (PAYLOAD, b"x" * (9 << 20)):
        hook.run(event, stdin=stdin).in_silence()
    assert hook.untouched()
    with listening(hook.home, lambda _: http(200, b"x")):
        assert hook.run(event).stdout == b"x"


def test_what_another_file_needs_is_written_before_it(hook: Shim) -> None:
    """Whatever cannot be written, nothing that needs it is new."""
    order = ["relay_hook_fallback.py", "relay_hook.py", "pass-env", "relay-hook"]
    for at, blocked in enumerate(order):
        for name in order:
            (hook.home / "bin" / name).unlink()
        (hook.home / "bin" / blocked).mkdir()
        with pytest.raises(IsADirectoryError):
            keep(Home(hook.home), ())
        assert [name for name in order if (hook.home / "bin" / name).is_file()] == order[:at]
        (hook.home / "bin" / blocked).rmdir()
        keep(Home(hook.home), ())


def test_byte_code_of_nothing_else_is_needed(hook: Shim) -> None:
    """After an upgrade of the interpreter in place the hook works from its source."""
    shutil.rmtree(hook.home / "bin" / "__pycache__")
    with listening(hook.home, lambda _: http(200, b"x")):
        assert hook.run().stdout == b"x"
    hook.run().in_silence()
    assert len(hook.spooled()) == 1


def test_a_failure_is_told_and_stops_nobody(hook: Shim) -> None:
    """A full or a strange `bin/` is one line of the log; what was there stays."""
    assert try_to_keep(Home(hook.home), ()) is None
    bin_ = hook.home / "bin"
    shutil.rmtree(bin_)
    bin_.mkdir(mode=0o700)
    with tmpfs(bin_, "size=8k,mode=700"):
        full = try_to_keep(Home(hook.home), ())
        assert [path.name for path in bin_.rglob("*.tmp")] == []
    shutil.rmtree(bin_)
    bin_.mkdir(mode=0o700)
    (bin_ / "__pycache__").symlink_to(hook.home)
    strange = try_to_keep(Home(hook.home), ())
    assert isinstance(full, LauncherFailed)
    assert isinstance(strange, LauncherFailed)
    assert full.detail == "No space left on device"
    assert "symbolic link" in strange.detail


def test_a_daemon_that_cannot_keep_its_hook_says_so(hook: Shim) -> None:
    """It serves all the same, and its log says why agents' hooks may be old."""
    shutil.rmtree(hook.home / "bin" / "__pycache__")
    (hook.home / "bin" / "__pycache__").symlink_to(hook.home)
    with stage.daemon(hook.home) as running:
        assert running.call("GET", "/v1/health")[0] == 200
    lines = (hook.home / "logs" / "relayd.log").read_text().splitlines()
    assert [told["event"] for told in map(json.loads, lines) if "launcher" in told["event"]] == [
        "launcher_failed"
    ]


def test_a_daemon_keeps_its_hook_current(hook: Shim) -> None:
    """Its start puts right what is wrong, before it is ready; a hook works from then on."""
    shutil.rmtree(hook.home / "bin")
    with stage.daemon(hook.home, env={"RELAY_DAEMON_PASS_ENV": "ONE,TWO"}):
        assert (hook.home / "bin" / "pass-env").read_text() == "ONE\nTWO\n"
        hook.run(stdin=b"no object").in_silence()
        assert os.access(hook.launcher, os.X_OK)
