"""One thing that was looked at, and what all the looks share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from relayctl.daemon import Daemon, target
from relayctl.errors import Refused

__all__ = ("Check", "Look", "Looking", "Subject")

# An answer of these comes from memory or from one small file; a minute would be a hang.
_ANSWER_TIMEOUT_S = 5.0
_NO_SUCH_ROUTE = frozenset((404, 405))


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    todo: str = ""
    """What to do about it; empty if nothing."""


class Subject:
    """What is looked at: a home, as the caller's environment and working directory see it.

    Args:
        home: Absolute; it need not be there.
        environ: The caller's.
        installed: The version that is installed here.
        deep: Read through the databases as well.

    Attributes:
        daemon: The one that was found to listen there; None before it was looked for, and if none does.
    """

    def __init__(self, home: str, environ: Mapping[str, str], installed: str, *, deep: bool = False) -> None:
        self.home = home
        self.environ = environ
        self.installed = installed
        self.deep = deep
        self.daemon: Daemon | None = None
        self._answers: dict[str, dict[str, Any]] = {}

    def close(self) -> None:
        """Close the connection to the daemon, if one was found."""
        if self.daemon is not None:
            self.daemon.close()

    def ask(self, path: str, **query: str | int) -> dict[str, Any]:
        """Ask the daemon that was found, once for each question; never another one, and none is started.

        Raises:
            Gone, ClientError: As `Daemon.ask`.
        """
        assert self.daemon is not None  # noqa: S101 -- what needs a daemon is looked at only if there is one
        daemon, asked = self.daemon, target(path, query)
        return self.once(asked, lambda: json.loads(daemon.ask("GET", asked, timeout_s=_ANSWER_TIMEOUT_S)))

    def once(self, name: str, learn: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Give what was learnt under a name before, or else learn it."""
        if name not in self._answers:
            self._answers[name] = learn()
        return self._answers[name]

    def ask_if_known(self, path: str, **query: str | int) -> dict[str, Any] | None:
        """Ask for what not every version tells; None if this one does not, or if no daemon was found."""
        if self.daemon is None:
            return None
        try:
            return self.ask(path, **query)
        except Refused as refused:
            if refused.status in _NO_SUCH_ROUTE:
                return None
            raise


Looking: TypeAlias = Callable[[Subject], Iterator[Check]]
"""How one thing is looked at."""


class Look(NamedTuple):
    """One look.

    Args:
        name: What its failure as a whole is called.
        at: How it is done.
        limit_s: Seconds that it may take.
    """

    name: str
    at: Looking
    limit_s: float = 20.0
