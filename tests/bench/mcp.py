"""MCP: the process that an agent CLI starts, one call through it, and what the SDK costs the daemon in memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

from tests import stage
from tests.bench.idle import resident_mib
from tests.bench.row import Row, medians
from tests.corpus import build, fill_home

RUNS = 60
DECISIONS = 10_000
PROJECTS = 50
_IDS = count(1)
_BEGIN = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def rows() -> list[Row]:
    """A whole forwarder beside a bare interpreter, calls through one that stays, and the daemon behind it."""
    corpus = build(DECISIONS, PROJECTS)
    with stage.home() as home:
        fill_home(home, corpus)
        with stage.daemon(home) as running:
            before = resident_mib(running.process.pid)
            _whole(home)
            after = resident_mib(running.process.pid)
            ready, floor = medians(RUNS, lambda: _whole(home), _bare)
            recall = {"project": corpus.projects[0], "query": "why sqlite"}
            with _open(home) as forwarder:
                call = medians(RUNS, lambda: _call(forwarder, "relay_recall", recall))[0]
                _close(forwarder)
    return [
        Row("relayctl mcp ready, whole process", ready, "ms", 1.5, floor, note="floor: python -IS -c pass"),
        Row("a tool call through it, p50", call, "ms", None, note=f"relay_recall, {DECISIONS:,} decisions"),
        Row("daemon after first MCP use, resident", after, "MiB", 95.0, note=f"before: {before:.1f} MiB"),
    ]


def _open(home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(home / "bin" / "relay-mcp"), "--lane", "claude"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=stage.CLEAN,
    )


def _close(forwarder: subprocess.Popen[bytes]) -> None:
    assert forwarder.stdin is not None
    forwarder.stdin.close()
    if forwarder.wait(timeout=30):
        raise RuntimeError(forwarder.returncode)


def _whole(home: Path) -> float:
    """Start one, have it answer the first message, and let it end."""
    began = time.perf_counter()
    with _open(home) as forwarder:
        _ask(forwarder, "initialize", _BEGIN)
        _close(forwarder)
    return (time.perf_counter() - began) * 1000


def _call(forwarder: subprocess.Popen[bytes], tool: str, arguments: dict[str, Any]) -> float:
    began = time.perf_counter()
    answer = _ask(forwarder, "tools/call", {"name": tool, "arguments": arguments})
    if answer["result"].get("isError"):
        raise RuntimeError(answer)
    return (time.perf_counter() - began) * 1000


def _ask(forwarder: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert forwarder.stdin is not None
    assert forwarder.stdout is not None
    message = {"jsonrpc": "2.0", "id": next(_IDS), "method": method, "params": params}
    forwarder.stdin.write(json.dumps(message).encode() + b"\n")
    forwarder.stdin.flush()
    answer = json.loads(forwarder.stdout.readline())
    if "result" not in answer:
        raise RuntimeError(answer)
    return answer


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-IS", "-c", "pass"], input=b"", check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000
