"""Run `relayctl doctor` and read what it found, by the names of its checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract import frame_files
from tests.integration.client.command import run
from tests.integration.client.scripted_daemon import Answer, http

__all__ = ("answers", "diagnose", "private", "queue_row", "status_of")

Found = dict[str, dict[str, Any]]


def diagnose(
    home: Path, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, Found]:
    """Give the exit code and the checks; nothing may be on standard error, and the two must agree."""
    done = run(home, "doctor", *words, env=env, cwd=cwd)
    assert done.stderr == b""
    told = json.loads(done.stdout)
    assert told["ok"] is (done.returncode == 0)
    checks = {check["name"]: check for check in told["checks"]}
    assert len(checks) == len(told["checks"]), "two checks have one name"
    return done.returncode, checks


def private(tmp_path: Path) -> Path:
    """Make a private home."""
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    return path


def queue_row(**fields: Any) -> dict[str, Any]:
    """Make one row of the list of queues."""
    return frame_files.answer_body("queues")["queues"][0] | {"last_error": None} | fields


def status_of(**fields: Any) -> dict[str, Any]:
    """Make one status."""
    return frame_files.answer_body("status") | {"last_error": None} | fields


def answers(routes: dict[str, object]) -> Answer:
    """Answer by the start of the path, the longest first; what is not listed is no route of this daemon."""
    whole: dict[str, object] = {"/v1/queues": {"queues": []}} | routes

    def answer(request: bytes) -> bytes:
        path = request.split(b" ", 2)[1].decode()
        for start in sorted(whole, key=len, reverse=True):
            if path.startswith(start):
                told = whole[start]
                return told(path) if isinstance(told, Callable) else http(200, told)  # type: ignore[arg-type]
        return http(404, {"code": "not_found", "detail": "there is no such route"})

    return answer
