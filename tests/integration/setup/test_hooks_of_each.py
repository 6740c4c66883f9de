"""What `doctor` says of the hooks of each agent CLI that is set up."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client.doctoring import answers, diagnose
from tests.integration.client.scripted_daemon import serve
from tests.integration.setup.machine import machine

LINK = {"root": "/w", "project": "shop", "git_common_dir": None, "remote": None, "linked_at_ms": 1}
DAY_S = 86_400
WHOLE = ("session-start", "user-prompt-submit", "stop", "session-end")


@pytest.mark.parametrize(
    ("came", "set_up_s_ago", "state", "told"),
    [
        ((), 0, "ok", "none ever came"),
        ((), 2 * DAY_S, "warn", "none ever came"),
        (WHOLE, 2 * DAY_S, "ok", "the last came"),
        (("session-start", "session-end"), 0, "warn", "never: user-prompt-submit, stop"),
    ],
)
def test_each_cli_that_is_set_up_is_judged_by_itself(
    tmp_path: Path, came: tuple[str, ...], set_up_s_ago: int, state: str, told: str
) -> None:
    """Hooks of another one do not count for it; one that was just set up need not have been used."""
    ours = machine(tmp_path)
    ours.put(".claude/settings.json", b"{}")
    ours.put(".codex/config.toml", b"")
    ours.install("codex")
    at = time.time() - set_up_s_ago
    os.utime(ours.home / "setup/codex.json", (at, at))
    now_ms = time.time_ns() // 1_000_000
    rows = [{"cli": "claude", "event": event, "last_at_ms": now_ms} for event in WHOLE]
    rows += [{"cli": "codex", "event": event, "last_at_ms": now_ms} for event in came]
    routes: dict[str, Any] = {"/v1/links": {"links": [LINK], "project": None}, "/v1/hooks": {"seen": rows}}
    with serve(ours.home, answers(routes)):
        checks = diagnose(ours.home, env=ours.environ)[1]
    assert "hooks of Claude Code" not in checks
    assert (checks["hooks of Codex"]["state"], told in checks["hooks of Codex"]["detail"]) == (state, True)
