"""One sender for each destination, made when a queue first needs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from relay_queue.binding import LOCAL, Binding
from relayd.delivery.local_sender import BatchReceiver, LocalSender
from relayd.delivery.sender import Sender

if TYPE_CHECKING:
    import httpx

__all__ = ("Senders",)


class Senders:
    """The ways to all servers; remote ones share one HTTP client.

    Args:
        receiver: Takes what queues bound to `local` deliver.
        proxy: URL from the configuration; None connects directly.
        before_import: Awaited before the first remote sender is made, which imports more; it may refuse.
    """

    def __init__(
        self,
        receiver: BatchReceiver,
        *,
        proxy: str | None = None,
        before_import: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._receiver = receiver
        self._proxy = proxy
        self._before_import = before_import
        self._remote: dict[str, Sender] = {}
        self._client: httpx.AsyncClient | None = None
        self._opening = anyio.Lock()

    async def to(self, binding: Binding) -> Sender:
        """Give the way to where a queue is bound.

        Raises:
            Stopping, UpgradePending: What it needs must not be imported, as `relayd.handover` says.
        """
        server_url = binding.server_url
        if server_url == LOCAL:
            return LocalSender(self._receiver, binding.actor)
        if server_url not in self._remote:
            async with self._opening:
                if self._client is None and self._before_import is not None:
                    await self._before_import()
                # httpx and the system's certificates cost a tenth of a second: off the loop, and only where needed.
                made = await anyio.to_thread.run_sync(_http_sender, self._client, server_url, self._proxy)
                self._client, self._remote[server_url] = made
        return self._remote[server_url]

    async def aclose(self) -> None:
        """Close the connections kept alive."""
        if self._client is not None:
            await self._client.aclose()


def _http_sender(
    client: httpx.AsyncClient | None, server_url: str, proxy: str | None
) -> tuple[httpx.AsyncClient, Sender]:
    from relayd.delivery.http_sender import HttpSender, open_client

    client = client or open_client(proxy)
    return client, HttpSender(client, server_url)
