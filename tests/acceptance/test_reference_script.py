"""A shell script made for the reference relay runs with `relayctl` in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests import stage

SCRIPT = r"""
set -eu
relay=$1 queue=$2 events=$3
"$relay" init --queue-dir "$queue" --server-url local --producer my-orchestrator --actor developer --workspace work --project example >/dev/null
"$relay" init --queue-dir "$queue" --server-url local --producer my-orchestrator --actor developer --workspace work --project example >/dev/null
"$relay" enqueue --queue-dir "$queue" --file "$events" >/dev/null
"$relay" enqueue --queue-dir "$queue" --file "$events" >/dev/null
code=0
"$relay" flush --queue-dir "$queue" --max-batches 1 >/dev/null || code=$?
if [ "$code" -eq 3 ]; then "$relay" flush --queue-dir "$queue" >/dev/null; fi
"$relay" status --queue-dir "$queue"
"""

FIELDS = {
    "queue": str,
    "server_url": str,
    "producer": str,
    "actor": str,
    "workspace": str,
    "project": str,
    "pending_items": int,
    "pending_bytes": int,
    "pending_sessions": int,
    "attempted_items": int,
    "expired_items": int,
    "oldest_pending_age_ms": int,
    "max_attempts": int,
    "receipts": int,
    "known_sessions": int,
    "retry_window_ms": int,
    "receipt_outcomes": dict,
    "limits": dict,
    "ack_means": str,
}
OUTCOMES = {
    "stored",
    "replayed",
    "resumed",
    "ignored_end",
    "dropped_policy",
    "dropped_subagent",
    "dropped_unauthorized",
    "dropped_collision",
    "dropped_invalid",
    "unknown",
}
LIMITS = {
    "pending_items": 50_000,
    "pending_bytes": 67_108_864,
    "receipts": 200_000,
    "known_sessions": 50_000,
    "body_bytes": 262_144,
    "batch_items": 256,
    "batch_bytes": 8_388_608,
}


def _events(path: Path) -> Path:
    def event(event_id: str, name: str, **more: str) -> dict[str, object]:
        body = {"session_id": "native-session-123", "cwd": "/workspace/example", **more}
        return {"event_id": event_id, "agent": "claude-code", "event": name, "body": body}

    path.write_text(
        json.dumps(
            [
                event("event-001", "session-start"),
                event("event-002", "user-prompt-submit", prompt="Check it."),
            ]
        )
    )
    return path


def test_the_script_ends_with_everything_delivered(home: Path, tmp_path: Path) -> None:
    """Flags, exit codes and status fields are those of the reference relay."""
    relayctl = str(Path(sys.executable).with_name("relayctl"))
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            SCRIPT,
            "sh",
            relayctl,
            str(tmp_path / "queue"),
            str(_events(tmp_path / "events.json")),
        ],
        env={**stage.CLEAN, "RELAY_HOME": str(home)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert {name: type(status.get(name)) for name in FIELDS} == FIELDS
    assert list(status) == sorted(status)
    assert set(status["receipt_outcomes"]) == OUTCOMES
    assert {name: status["limits"][name] for name in LIMITS} == LIMITS
    assert (status["pending_items"], status["receipts"], status["receipt_outcomes"]["stored"]) == (0, 2, 2)
    assert status["retry_window_ms"] == 2_592_000_000


def test_an_unlike_init_is_a_binding_mismatch(home: Path, tmp_path: Path) -> None:
    """A second init with another project names what differs and exits 2."""
    queue = str(tmp_path / "queue")
    assert stage.relayctl("init", "--queue-dir", queue, "--project", "one", at=home).returncode == 0
    done = stage.relayctl("init", "--queue-dir", queue, "--project", "two", at=home)
    assert done.returncode == 2
    assert b"binding mismatch" in done.stderr
    assert b"project" in done.stderr


def test_status_of_a_fresh_machine_and_of_no_queue(home: Path, tmp_path: Path) -> None:
    """Zeros and exit 0 where nothing was ever done; exit 2 for a named directory that is no queue; nothing is created."""
    fresh = home / "not-there-yet"
    done = stage.relayctl("status", at=fresh)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pending_items"] == 0
    assert not fresh.exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    for named in (empty, tmp_path / "missing"):
        assert stage.relayctl("status", "--queue-dir", str(named), at=fresh).returncode == 2
    assert list(empty.iterdir()) == []
    assert not (tmp_path / "missing").exists()
