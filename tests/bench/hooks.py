"""The hook as an agent CLI runs it: launcher, shim, daemon and disk, beside a bare interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from tests import stage
from tests.bench.row import Row, medians

RUNS = 60
SESSION = "5b1c0a52-7d1e-4c7e-9a55-0d3f1f6a2b10"


def rows() -> list[Row]:
    """A stop with a daemon there, a prompt, and a stop that finds none and goes to the spool."""
    with stage.home() as home, stage.home() as project:
        with stage.daemon(home) as running:
            link(running, project)
            stop = _row("hook stop, whole process", 1.3, lambda: _hook(home, project, "stop"))
            prompt = _row(
                "hook user-prompt-submit, whole process", 1.3, lambda: _hook(home, project, "prompt")
            )
        alone = "hook stop without a daemon, spooled"
        spooled = _row(alone, None, lambda: _hook(home, project, "stop", RELAY_AUTOSTART="0"))
    return [stop, prompt, spooled]


def _row(what: str, bound: float | None, run: Callable[[], float]) -> Row:
    """Each in turn with the floor, so that the machine's mood hits both alike."""
    took, floor = medians(RUNS, run, _bare)
    return Row(what, took, "ms", bound, floor, note="floor: python -IS -c pass")


def link(running: stage.Daemon, project: Path) -> None:
    """Register a directory and put the hint for hooks into it, as `relayctl link` does."""
    order = json.dumps({"directory": str(project), "project": "bench"}).encode()
    status, answer = running.call("POST", "/v1/links", order)
    if status not in (200, 201):
        raise RuntimeError(answer)
    (project / ".relay").mkdir()
    (project / ".relay" / "rules.json").write_text('{"version": 1, "project": "bench"}\n')


def payload(kind: str, project: Path) -> bytes:
    """What Claude Code might send; synthetic."""
    common = {"session_id": SESSION, "cwd": str(project), "permission_mode": "default"}
    if kind == "stop":
        said = "Decided: keep the outbox table. " * 20
        return json.dumps({**common, "hook_event_name": "Stop", "last_assistant_message": said}).encode()
    asked = {"prompt_id": str(uuid.uuid4()), "prompt": "why did we drop the retry queue?"}
    return json.dumps({**common, "hook_event_name": "UserPromptSubmit", **asked}).encode()


def _hook(home: Path, project: Path, kind: str, **env: str) -> float:
    event = "stop" if kind == "stop" else "user-prompt-submit"
    text = payload(kind, project)
    began = time.perf_counter()
    subprocess.run(
        [str(home / "bin" / "relay-hook"), "claude", event],
        input=text,
        cwd=project,
        env={**stage.CLEAN, **env},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return (time.perf_counter() - began) * 1000


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-IS", "-c", "pass"], input=b"", check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000
