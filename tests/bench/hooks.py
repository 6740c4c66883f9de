"""The hook as an agent CLI runs it: launcher, shim, daemon, disk and memory, beside a bare interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from tests import stage
from tests.bench.line import Line
from tests.bench.row import Row, medians
from tests.corpus import Corpus, build, fill_home

RUNS = 60
SESSION = "5b1c0a52-7d1e-4c7e-9a55-0d3f1f6a2b10"
DECISIONS = 10_000
PROJECTS = 50
_TITLE_WORDS = 8


def rows() -> list[Row]:
    """Hooks that tell nothing, hooks that tell what is remembered, and one that finds no daemon."""
    return [*_silent(), *_telling()]


def _silent() -> list[Row]:
    """A stop with a daemon there, a prompt about nothing, and a stop that finds none and goes to the spool."""
    with stage.home() as home, stage.home() as project:
        with stage.daemon(home) as running:
            link(running, project, "bench")
            stop = _row("hook stop, whole process", 1.3, lambda: _hook(home, project, "stop"))
            prompt = _row(
                "hook user-prompt-submit, whole process", 1.3, lambda: _hook(home, project, "prompt")
            )
        alone = "hook stop without a daemon, spooled"
        spooled = _row(alone, None, lambda: _hook(home, project, "stop", RELAY_AUTOSTART="0"))
    return [stop, prompt, spooled]


def _telling() -> list[Row]:
    """The start of a session and a prompt, with much remembered; each is new to the daemon."""
    corpus = build(DECISIONS, PROJECTS)
    with stage.home() as home, stage.home() as project:
        fill_home(home, corpus)
        with stage.daemon(home) as running, Line(running) as line:
            link(running, project, corpus.projects[0])
            starts, prompts = _starts(project), _prompts(project, corpus)
            told = [
                medians(
                    RUNS,
                    lambda: _run(home, project, "session-start", next(starts), tells=True),
                    _bare,
                    lambda: _asked(line, "/v1/brief", project=corpus.projects[0], lane=str(uuid.uuid4())),
                ),
                medians(
                    RUNS,
                    lambda: _run(home, project, "user-prompt-submit", next(prompts)),
                    _bare,
                    lambda: _asked(
                        line,
                        "/v1/recall",
                        project=corpus.projects[0],
                        text=json.loads(next(prompts))["prompt"],
                    ),
                ),
            ]
    return [
        _beside("hook session-start, less a brief", *told[0]),
        _beside("hook user-prompt-submit, less a recall", *told[1]),
    ]


def _beside(what: str, took: float, floor: float, inside: float) -> Row:
    note = f"whole {took:.1f} ms, {inside:.1f} ms of it p50 of the other; {DECISIONS:,} decisions"
    return Row(what, took - inside, "ms", 1.3, floor, note=note)


def _asked(line: Line, path: str, **order: str) -> float:
    took, _ = line.ask(path, json.dumps(order).encode())
    return took


def _starts(project: Path) -> Iterator[bytes]:
    """Vary session and model, so that nothing is told that was told or made before."""
    while True:
        who = {"session_id": str(uuid.uuid4()), "model": str(uuid.uuid4()), "cwd": str(project)}
        yield json.dumps({**who, "hook_event_name": "SessionStart", "source": "startup"}).encode()


def _prompts(project: Path, corpus: Corpus) -> Iterator[bytes]:
    """Ask about what was decided in the project, in a new session each time."""
    said = [one.text for one in corpus.decisions if one.project == corpus.projects[0] and one.is_current]
    for text in cycle(said[::29]):
        who = {"session_id": str(uuid.uuid4()), "prompt_id": str(uuid.uuid4()), "cwd": str(project)}
        asked = f"what about {' '.join(text.split()[:_TITLE_WORDS])}?"
        yield json.dumps({**who, "hook_event_name": "UserPromptSubmit", "prompt": asked}).encode()


def _row(what: str, bound: float | None, run: Callable[[], float]) -> Row:
    """Each in turn with the floor, so that the machine's mood hits both alike."""
    took, floor = medians(RUNS, run, _bare)
    return Row(what, took, "ms", bound, floor, note="floor: python -IS -c pass")


def link(running: stage.Daemon, project: Path, name: str) -> None:
    """Register a directory and put the hint for hooks into it, as `relayctl link` does."""
    order = json.dumps({"directory": str(project), "project": name}).encode()
    status, answer = running.call("POST", "/v1/links", order)
    if status not in (200, 201):
        raise RuntimeError(answer)
    (project / ".relay").mkdir()
    (project / ".relay" / "rules.json").write_text(json.dumps({"version": 1, "project": name}))


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
    return _run(home, project, event, payload(kind, project), **env)


def _run(home: Path, project: Path, event: str, text: bytes, *, tells: bool = False, **env: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [str(home / "bin" / "relay-hook"), "claude", event],
        input=text,
        cwd=project,
        env={**stage.CLEAN, **env},
        check=True,
        stdout=subprocess.PIPE,
    )
    took = (time.perf_counter() - began) * 1000
    if tells and not done.stdout:
        raise RuntimeError(event)
    return took


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-IS", "-c", "pass"], input=b"", check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000
