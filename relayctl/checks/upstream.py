"""The upstream: where queues of hooks deliver to, and is there a token for it?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.checks.queues import servers_with_token
from relayctl.tokens import remedy

__all__ = ("look",)

_NAME = "upstream"
_LOCAL = "local"
# A server on this machine mostly wants no token.
_LOOPBACK = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])(:\d+)?(/.*)?", re.ASCII)


def look(subject: Subject) -> Iterator[Check]:
    """Tell where new queues of hooks are bound to."""
    told = subject.ask_if_known("/v1/upstream")
    if told is None:
        yield Check(_NAME, "ok", "only a running daemon tells it")
        return
    url = told["server_url"]
    if url == _LOCAL:
        yield Check(_NAME, "ok", "local: what hooks send stays on this machine")
    elif url in (servers_with_token(subject) or ()):
        yield Check(_NAME, "ok", f"{url}, with a token")
    elif _LOOPBACK.fullmatch(url):
        yield Check(_NAME, "ok", f"{url}, without a token")
    else:
        yield Check(_NAME, "warn", f"{url}, without a token", remedy(url))
