"""Waiting that a cancellation does not cut short."""

import asyncio
from collections.abc import Iterable
from typing import Any

import anyio

__all__ = ("outlast",)


async def outlast(futures: Iterable["asyncio.Future[Any]"]) -> None:
    """Wait until all futures are done, whoever cancels; a cancellation by asyncio is raised afterwards.

    For what another thread finishes anyway and nobody may overtake, such as closing a file. The shield
    stops anyio's cancellation; a native `Task.cancel()` passes through shields, so it is put off here.
    """
    cancelled: asyncio.CancelledError | None = None
    pending: set[asyncio.Future[Any]] = set(futures)
    with anyio.CancelScope(shield=True):
        while pending:
            try:
                _, pending = await asyncio.wait(pending)
            except asyncio.CancelledError as error:
                cancelled = error
                pending = {future for future in pending if not future.done()}
    if cancelled is not None:
        raise cancelled
