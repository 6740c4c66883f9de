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


def test_httpx_comes_with_the_first_remote_queue() -> None:
    """The whole daemon and its routes load without an HTTP client; the sender for remote servers brings it."""
    child = subprocess.run([sys.executable, "-c", PROGRAM], env=CLEAN, capture_output=True, check=True)
    before, after = json.loads(child.stdout.replace(b"'", b'"'))
    assert before == []
    assert "httpx" in after
