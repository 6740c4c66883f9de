"""The protocol's own inspector, where it can be had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from relayd.mcp.tools import TOOLS
from tests import stage

_NPX = shutil.which("npx")
_INSPECTOR = "@modelcontextprotocol/inspector"


@pytest.fixture(scope="module")
def npx() -> str:
    """The program, if the inspector is in its cache: nothing is fetched for a test."""
    if _NPX is None:
        pytest.skip("no npx here")
    words = [_NPX, "--offline", "--yes", _INSPECTOR, "--cli", "--help"]
    done = subprocess.run(words, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip("the inspector is not in the cache of npx")
    return _NPX


def inspect(npx: str, daemon: stage.Daemon, *words: str) -> dict[str, Any]:
    """Run one method of it against the forwarder."""
    server = [sys.executable, "-m", "relayctl", "mcp"]
    done = subprocess.run(
        [npx, "--offline", "--yes", _INSPECTOR, "--cli", *server, *words],
        env={**os.environ, "RELAY_HOME": str(daemon.home)},
        capture_output=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_tools(npx):
    """Its arguments are texts, or what it makes of them."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as daemon:
            daemon.call("POST", "/v1/projects", b'{"slug": "shop"}')
            listed = inspect(npx, daemon, "--method", "tools/list")
            assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
            call = ("--method", "tools/call", "--tool-name")
            said = ("--tool-arg", "text=We inspect.", "--tool-arg", "project=shop")
            inspect(npx, daemon, *call, "relay_decide", *said)
            asked = ("--tool-arg", "query=inspect", "--tool-arg", "project=shop", "--tool-arg", "limit=1")
            found = inspect(npx, daemon, *call, "relay_recall", *asked)
            assert found["structuredContent"]["items"][0]["text"] == "We inspect."
