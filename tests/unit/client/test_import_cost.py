"""What the hot path of `relayctl` imports, seen by a child that imports nothing itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Measured: each of these costs microseconds, or was built in or loaded by the interpreter before us.
_ALLOWED = {"__future__", "_socket", "relayctl", "relayctl.__main__", "relayctl._wire", "time"}
# The child writes with posix, which is always there: printing a list through json or re would hide what it looks for.
_LOOK = """
import sys
before = set(sys.modules)
import relayctl.__main__
import relayctl._wire
{more}
sys.stdout.write(" ".join(sorted(set(sys.modules) - before)))
"""


def _added(more: str = "") -> set[str]:
    """Tell which modules a clean child has loaded afterwards."""
    # with COVERAGE_* set, coverage starts in the child and loads half the standard library before the first look
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", _LOOK.format(more=more)],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
    )
    return set(done.stdout.split())


def test_the_hot_path_is_built_in_modules_only() -> None:
    """`relayctl.__main__` and `relayctl._wire` bring nothing that takes a millisecond."""
    assert _added() <= _ALLOWED


def test_the_mcp_forwarder_is_built_in_modules_only() -> None:
    """An agent CLI waits for its servers before it shows its prompt."""
    assert _added("import relayctl.mcp_stdio") <= {*_ALLOWED, "relayctl.mcp_stdio", "posix"}


@pytest.mark.parametrize("module", ["json", "re", "socket", "pathlib", "typing", "click"])
def test_the_guard_sees_each_costly_module(module: str) -> None:
    """A guard that had gone blind would let these pass."""
    assert module in _added(f"import {module}")


def test_help_imports_no_command() -> None:
    """The list of verbs is shown without importing one of them."""
    verbs = "import sys, relayctl.cli.app; sys.stdout.write = lambda _: 0; relayctl.cli.app.run(['--help'])"
    added = _added(f"{verbs}; del sys.stdout.write")
    assert {name for name in added if name.startswith("relayctl.cli.")} == {
        "relayctl.cli.app",
        "relayctl.cli.section",
    }
