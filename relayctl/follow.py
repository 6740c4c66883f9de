"""Following the daemon's events, over its restarts too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from relayctl import _wire
from relayctl.client import Client, Query
from relayctl.errors import AnswerLost, DaemonSilent, FollowEnded, Refused

__all__ = ("follow",)

# The daemon says something every 15 s.
_SILENCE_S = 60.0
# For a daemon that is restarted or replaced to be there again.
_PATIENCE_S = 15.0
_PAUSE_S = 0.2


def follow(client: Client, path: str, query: Query, *, since: int) -> Iterator[dict[str, Any]]:
    """Yield events as they come, each with its `id`; where the daemon leaves, it is waited for, but never started.

    Args:
        client: Goes on with whichever daemon is there.
        path: Of the stream.
        query: What to ask for, but for `since`.
        since: The id after which to begin.

    Raises:
        FollowEnded: No daemon came back.
        Refused: What is asked for is not possible.
    """
    while True:
        try:
            for event in client.events(path, {**query, "since": since}, timeout_s=_SILENCE_S):
                since = event["id"]
                yield event
        except Refused as refused:
            if refused.code != "stopping":
                raise
        except (AnswerLost, DaemonSilent):
            pass
        _come_back(client, since)


def _come_back(client: Client, since: int) -> None:
    """Wait until a daemon is there again; one that was stopped on purpose is not started anew."""
    client.forget()
    client.look_only()
    client.say("the daemon left; waiting for it to come back", True)
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        time.sleep(_PAUSE_S)
        try:
            client.reach()
        except (_wire.Gone, DaemonSilent):
            continue
        return
    raise FollowEnded(since)
