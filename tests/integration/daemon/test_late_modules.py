"""What a running daemon imports: nothing of ours or of what we depend on, but for a remote queue.

Source: relayd/handover.py guards what is imported late; everything else must be there at the start.
"""

import json
import sys

from tests.waiting import eventually

PROGRAM = """
import atexit, json, sys
from relayd.report import StartReport
ready = StartReport.ready
def look(self, home):
    before = set(sys.modules)
    def tell():
        late = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
        own = ("site-packages", "/relayd/", "/relay_queue/")
        json.dump(sorted(name for name, file in late.items() if any(part in file for part in own)), open("late", "w"))
        needless = ("rich.", "python_multipart.", "zipfile")
        json.dump(sorted(name for name in before if name.startswith(needless)), open("needless", "w"))
    atexit.register(tell)
    ready(self, home)
StartReport.ready = look
from relayd.__main__ import main
sys.exit(main())
"""
JSON = {"content-type": "application/json"}
BODY = {"session_id": "s", "cwd": "/w", "prompt": "hello"}
EVENT = {"event_id": "e", "agent": "codex", "event": "user-prompt-submit", "body": BODY}


def asked(home, project):
    """One request of nearly every kind, wrong ones too."""
    event = json.dumps(EVENT).encode()
    hook = json.dumps({**BODY, "hook_event_name": "UserPromptSubmit"}).encode()
    batch = json.dumps([{"url": "local/hook?event=stop&agent=codex&ingest_key=" + "0" * 64, "body": BODY}])
    yield "POST", "/v1/links", json.dumps({"directory": str(project), "project": "p"}).encode()
    yield "PUT", "/v1/upstream", b'{"server_url": "local"}'
    yield "POST", "/v1/hooks/claude/user-prompt-submit", hook
    yield "POST", "/v1/hooks/claude/user-prompt-submit", b"[]"
    yield "POST", "/v1/events", event
    yield "POST", "/v1/queues/enqueue", b"[%s]" % event
    yield "POST", "/v1/queues/enqueue", b"nonsense"
    yield "POST", "/hook/batch", batch.encode()
    yield "POST", "/hook?event=stop&agent=codex", json.dumps(BODY).encode()
    order = {
        "server_url": "local",
        "producer": "p",
        "actor": "a",
        "workspace": "w",
        "project": "p",
        "queue_dir": str(home / "queue" / "other"),
    }
    yield "POST", "/v1/queues", json.dumps(order).encode()
    yield "PATCH", "/v1/queues", b'{"mode": "manual"}'
    yield "POST", "/v1/queues/flush?all=true", b""
    yield "PUT", "/v1/credentials", b'{"server_url": "http://127.0.0.1:1", "token": "t"}'
    yield "DELETE", "/v1/credentials?server_url=http://127.0.0.1:1", b""
    yield "POST", "/v1/projects", b'{"slug": "shop"}'
    yield "PATCH", "/v1/projects/shop", b'{"priority": 1}'
    yield "GET", f"/v1/projects?directory={project}", b""
    yield "POST", "/v1/feed", b'{"kind": "deploy.done", "data": {"n": 1.5}, "project": "shop"}'
    yield "POST", "/v1/feed", b'{"kind": "step.usage"}'
    yield "GET", "/v1/feed?project=shop&kind=deploy.*&from=2026-03-03T10:00:00Z", b""
    yield "GET", "/v1/usage", b""
    yield "GET", "/v1/projects/Shop", b""
    yield "POST", "/v1/projects/shop/rename", b'{"slug": "store"}'
    yield "PUT", "/v1/projects/store/aliases/webshop", b""
    yield "GET", "/v1/projects/store/rules", b""
    (home / "grok").mkdir()
    yield "PUT", "/v1/rules/grok", json.dumps({"path": f"{home}/grok/rules/relay.md"}).encode()
    for target in ("health", "status", "feed", "queues", "held", "credentials", "links", "upstream", "hooks"):
        yield "GET", f"/v1/{target}", b""
    yield "GET", "/nothing", b""
    yield "DELETE", "/v1/health", b""
    yield "DELETE", f"/v1/links?directory={project}", b""
    yield "DELETE", f"/v1/queues?queue_dir={home}/queue/other", b""


def test_a_running_daemon_imports_nothing_more(start, home, tmp_path):
    """After one request of nearly every kind no module of ours or of a dependency has come that was not there before.

    And nothing was there that only draws or reads forms or archives, although others would bring it.
    """
    (tmp_path / "project" / ".git").mkdir(parents=True)
    daemon = start(home, "--on-demand", command=(sys.executable, "-P", "-c", PROGRAM))
    kinds = set()
    for method, target, body in asked(home, tmp_path / "project"):
        with daemon.client() as client:
            answer = client.ask(method, target, body, **JSON)
            kinds.add(answer.status // 100)
    assert kinds == {2, 4}
    daemon.signal()
    assert daemon.ended() == (0, "")
    eventually((home / "needless").exists)
    assert json.loads((home / "late").read_text()) == []
    assert json.loads((home / "needless").read_text()) == []
