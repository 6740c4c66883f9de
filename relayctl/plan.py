"""The steps of one change to what is installed: told before they are made, and made one after another."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from relayctl import launch
from relayctl.errors import ClientError, StartUnfinished
from relayctl.service_errors import ChangeUnfinished
from relayctl.start_lock import make_home, owner, wait

__all__ = ("Plan", "Step")


class Step(NamedTuple):
    """One step of a change."""

    told: str
    """What it does, in the imperative."""
    do: Callable[[], object]
    by_hand: str = ""
    """The command that does the same; empty if none does."""


class Plan:
    """The steps of one change, which have not been made yet.

    Args:
        home: Whose `start.lock` is held meanwhile.
        steps: In order.
        needs_home: Make the home first, if it is not there.

    Attributes:
        steps: In order.
    """

    def __init__(self, home: str, steps: Sequence[Step], *, needs_home: bool) -> None:
        self.steps = tuple(steps)
        self._home = home
        self._needs_home = needs_home

    def carry_out(self) -> list[str]:
        """Make the steps, one after another; what was done.

        Raises:
            ChangeUnfinished: A step failed; it says what was done, what was not, and what to run by hand.
            StartUnfinished: Another process goes on starting a daemon of this home.
            HomeRefused: The home cannot be made or used.
        """
        if self._needs_home:
            make_home(self._home)
        if not os.path.isdir(self._home):  # a service is removed whose home is gone
            return self._make_all()
        lock = wait(self._home, time.monotonic() + launch.START_TIMEOUT_S)
        if lock is None:
            raise StartUnfinished(launch.START_TIMEOUT_S, blocker=owner(f"{self._home}/start.lock"))
        try:
            return self._make_all()
        finally:
            os.close(lock)

    def _make_all(self) -> list[str]:
        for made, step in enumerate(self.steps):
            try:
                step.do()
            except (ClientError, OSError) as error:
                done, left = self.steps[:made], self.steps[made:]
                raise ChangeUnfinished(
                    _told(error),
                    done=[one.told for one in done],
                    left=[one.told for one in left],
                    by_hand=[f"`{one.by_hand}`" for one in left if one.by_hand],
                ) from error
        return [step.told for step in self.steps]


def _told(error: ClientError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    return str(error)
