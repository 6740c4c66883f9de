"""What the daemon writes down about events it may not read aloud."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from relayd.testing import Step, scripted_server
from tests import stage
from tests.house import LIMIT_S, event

SECRETS = (b"body-secret", b"token-secret", b"server-secret", b"session-secret")


async def test_no_body_no_token_and_no_word_of_a_server_is_logged(tmp_path: Path) -> None:
    """With everything logged that can be, a night of refusals tells what happened and quotes nothing of it."""
    said = b"server-secret"
    async with scripted_server() as server:
        server.script(
            Step(status=500, body=said, headers=(("X-Note", "server-secret"),)),
            Step(status=401, body=said),
            Step(body=b'{"accepted":"server-secret"}'),
            Step(cut="reply"),
        )
        with stage.home() as home, stage.daemon(home, env={"RELAY_LOG_DEBUG": "1"}) as running:
            call = partial(_call, running)
            queue = str(tmp_path / "queue")
            await call("PUT", "/v1/credentials", {"server_url": server.url, "token": "token-secret"})
            names = {"producer": "p", "actor": "a", "workspace": "w", "project": "x", "mode": "manual"}
            await call("POST", "/v1/queues", {"queue_dir": queue, "server_url": server.url, **names})
            file = [event(1, "session-secret", text="body-secret")]
            await call("POST", f"/v1/queues/enqueue?queue_dir={queue}", file)
            await call("POST", f"/v1/queues/enqueue?queue_dir={queue}", [{"body-secret": 1}])
            await call("POST", "/v1/hooks/claude/stop", {"session_id": ["session-secret"], "body-secret": 1})
            with anyio.fail_after(LIMIT_S):
                while (await call("POST", f"/v1/queues/flush?queue_dir={queue}", None))["exit_code"]:
                    pass
            log = b"".join(path.read_bytes() for path in sorted((home / "logs").iterdir()))
        assert [one.body["text"] for one in server.memory.events] == ["body-secret"]
    told = [json.loads(line)["event"] for line in log.splitlines()]
    expected = {"events_stored", "delivery_failed", "queue_parked", "batch_settled", "hook_turned_away"}
    assert expected <= set(told)
    assert [secret for secret in SECRETS if secret in log] == []


async def _call(running: stage.Daemon, method: str, target: str, body: Any) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    _, answer = await anyio.to_thread.run_sync(running.call, method, target, content)
    return answer
