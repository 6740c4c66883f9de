"""One version for client and daemon, which are one package."""

from __future__ import annotations

from importlib.metadata import version

import relayctl
import relayd


def test_client_and_daemon_name_the_same_version() -> None:
    """The client compares a running daemon with its own number, so the two must not drift apart."""
    assert relayctl.__version__ == relayd.__version__ == version("relayd")
