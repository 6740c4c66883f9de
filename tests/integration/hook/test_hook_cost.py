"""What a hook does not do on its way: import, connect twice, touch its home when there is nothing to say."""

from __future__ import annotations

import sys

import pytest

from tests.integration.hook.shim import Shim, http, listening

_POSTING = {"_signal", "_socket", "posix", "relay_hook", "sys", "time"}
_ALLOWED = {*_POSTING, "fcntl", "relay_hook_fallback"}
# At its end the hook tells what it has loaded, instead of ending; a child of its own says nothing.
_LOOK = """
import sys
before = set(sys.modules)
sys.path.insert(0, {bin!r})
sys.executable = "/nowhere"
import relay_hook, posix
own, leave = posix.getpid(), relay_hook._leave
def end(status):
    if posix.getpid() == own:
        posix.write(1, " ".join(sorted(set(sys.modules) - before)).encode())
    leave(status)
relay_hook._leave = end
relay_hook.main()
"""


def _loaded(hook: Shim, event: str) -> set[str]:
    command = [sys.executable, "-IS", "-c", _LOOK.format(bin=str(hook.home / "bin"))]
    ran = hook.run(event, command=command, env={"RELAY_AUTOSTART": "1"})
    assert (ran.status, ran.stderr) == (0, b"")
    return set(ran.stdout.decode().split())


@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_no_run_imports_more(hook: Shim, event: str) -> None:
    """Neither one that posts, which does without the fallback, nor one that spools and starts a daemon."""
    with listening(hook.home, lambda _: http(200)):
        assert "relay_hook" in (posting := _loaded(hook, event))
    spooling = _loaded(hook, event)
    assert (hook.home / "last-start.json").exists()
    assert posting <= _POSTING
    assert posting | {"relay_hook_fallback"} <= spooling <= _ALLOWED


def test_a_good_run_connects_once_and_writes_nothing(hook: Shim) -> None:
    """The daemon is asked once; the home stays as it was, byte code included."""
    before = {path: path.stat().st_mtime_ns for path in hook.home.rglob("*")}
    with listening(hook.home, lambda _: http(200)) as requests:
        hook.run().in_silence()
    assert len(requests) == 1
    after = {path: path.stat().st_mtime_ns for path in hook.home.rglob("*")}
    assert after == before


def test_the_byte_code_is_used(hook: Shim) -> None:
    """The launcher runs what the daemon compiled, not what it would have to compile itself."""
    (hook.home / "bin" / "relay_hook.py").write_text("raise SystemExit(3)")
    (hook.home / "bin" / "relay_hook_fallback.py").write_text("raise SystemExit(3)")
    with listening(hook.home, lambda _: http(200, b"still")):
        assert hook.run().stdout == b"still"
    hook.run().in_silence()
    assert len(hook.spooled()) == 1
