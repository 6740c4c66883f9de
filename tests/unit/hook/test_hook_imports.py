"""What the hook imports, seen by a child that imports nothing but `sys` itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import relayctl

_ALLOWED = {"_signal", "_socket", "fcntl", "hook", "hook_fallback", "posix", "sys", "time"}
# The child says it by `sys` alone: to import more for it would hide what it looks for.
_LOOK = """
import sys
before = set(sys.modules)
sys.path.insert(0, {folder!r})
import hook
{more}
sys.stdout.write(" ".join(sorted(set(sys.modules) - before)))
"""


def _added(more: str = "") -> set[str]:
    """Tell which modules a clean child has loaded afterwards."""
    # with COVERAGE_* set, coverage starts in the child and loads half the standard library before the first look
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    folder = str(Path(relayctl.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-IS", "-c", _LOOK.format(folder=folder, more=more)],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
    )
    return set(done.stdout.split())


def test_the_hook_is_built_in_modules_only() -> None:
    """Loaded as its launcher loads it, it brings nothing that takes a millisecond, and not its fallback."""
    assert _added() <= _ALLOWED - {"hook_fallback"}


def test_the_fallback_is_built_in_modules_only() -> None:
    """When it is needed, little of the time is left."""
    assert "hook_fallback" in (added := _added("import hook_fallback"))
    assert added <= _ALLOWED


@pytest.mark.parametrize("module", ["__future__", "json", "os", "re", "select", "signal", "socket", "typing"])
def test_the_guard_sees_each_costly_module(module: str) -> None:
    """A guard that had gone blind would let these pass."""
    assert module in _added(f"import {module}")
