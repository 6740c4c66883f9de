"""What a daemon without remote queues does not pay for."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.stage import CLEAN

PROGRAM = """
import sys
import relayd.daemon
from relayd.api.app import all_routes
all_routes()
before = [name for name in ("httpx", "httpcore", "h11") if name in sys.modules]
import relayd.delivery.http_sender
after = [name for name in ("httpx", "httpcore", "h11") if name in sys.modules]
print("%s" % [before, after])
"""

SENDING = """
import sys, anyio
from relayd.delivery.http_sender import HttpSender, open_client
from relayd.delivery.sender import NotReached
async def send(url):
    client = open_client()
    before = set(sys.modules)
    try:
        await HttpSender(client, url).post(b"[]", token="t", timeout_s=5)
    except NotReached:
        pass
    await client.aclose()
    files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
    print(sorted(name for name, file in files.items() if "site-packages" in file or "/relay" in file))
for url in ("http://127.0.0.1:1", "https://127.0.0.1:1"):
    anyio.run(send, url)
"""


def test_sending_imports_nothing_more() -> None:
    """Once the sender for remote servers is there, a request brings no further module of ours or of a dependency."""
    child = subprocess.run([sys.executable, "-c", SENDING], env=CLEAN, capture_output=True, check=True)
    assert child.stdout == b"[]\n[]\n"


def test_httpx_comes_with_the_first_remote_queue() -> None:
    """The whole daemon and its routes load without an HTTP client; the sender for remote servers brings it."""
    child = subprocess.run([sys.executable, "-c", PROGRAM], env=CLEAN, capture_output=True, check=True)
    before, after = json.loads(child.stdout.replace(b"'", b'"'))
    assert before == []
    assert "httpx" in after
