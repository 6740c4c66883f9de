"""What the couriers and flushes of one daemon share."""

from __future__ import annotations

from pathlib import Path

import anyio

from relay_queue.answer import Denied
from relay_queue.batch import Batch
from relay_queue.errors import NotAQueue, OutboxError
from relayd import events
from relayd.credentials import Credentials
from relayd.delivery.attempt import Attempt, attempt, request_timeout_s
from relayd.delivery.sender import Sender
from relayd.delivery.senders import Senders
from relayd.errors import RelaydError
from relayd.fault import account
from relayd.queues import MAX_OPEN, QueueRegistry

__all__ = ("COURIERS", "FLUSHES", "Depot")

COURIERS = 12
"""Courier rounds at once."""

FLUSHES = MAX_OPEN - COURIERS - 1
"""Flushes at once: couriers and flushes together leave one open queue to intake."""


class Depot:
    """The ways out, the tokens, and how many may use them at once."""

    def __init__(
        self, registry: QueueRegistry, senders: Senders, credentials: Credentials, bus: events.Bus
    ) -> None:
        self.registry = registry
        self.senders = senders
        self.credentials = credentials
        self.bus = bus
        self.courier_slots = anyio.CapacityLimiter(COURIERS)
        self.flush_slots = anyio.CapacityLimiter(FLUSHES)
        self.stopping = False

    def report(self, directory: Path, error: Exception) -> None:
        """Tell what is wrong with one queue; a fault of ours by where it was, since its text may quote input."""
        name = str(directory)
        if isinstance(error, NotAQueue) and not directory.exists():
            self.bus.publish(events.QueueMissing(name))
        elif isinstance(error, OutboxError | RelaydError):
            self.bus.publish(events.QueueSkipped(name, error.code, str(error)))
        else:
            self.bus.publish(events.QueueSkipped(name, "internal", account(error)))

    async def ask(self, sender: Sender, server_url: str, batch: Batch, ends_s: float) -> Attempt:
        """Send a batch with the stored token; at once again if it was refused and the file has another now.

        Args:
            sender: The way to `server_url`.
            server_url: Names the token.
            batch: The one under way.
            ends_s: Nothing is sent after this moment of the loop's clock.
        """
        token = self.credentials.token(server_url)
        while True:
            timeout_s = request_timeout_s(len(batch.items), ends_s - anyio.current_time())
            made = await attempt(sender, batch, token=token, timeout_s=timeout_s)
            if not isinstance(made.answer, Denied):
                return made
            await self.reread_credentials()
            refused, token = token, self.credentials.token(server_url)
            if token == refused:
                return made

    async def reread_credentials(self) -> None:
        """Read `credentials.json` again; if it cannot be read, say so and go on with what was read before."""
        try:
            await self.credentials.reread()
        except (OutboxError, RelaydError, OSError) as error:
            detail = error.strerror if isinstance(error, OSError) else str(error)
            self.bus.publish(events.CredentialsUnreadable(detail or type(error).__name__))
