"""Takes what is posted to `/hook/batch` and `/hook` into the feed."""

import getpass
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec
from anyio import to_thread

from relay_queue.clock import SYSTEM, Ticks
from relayd.receiver.item import Dropped, Taking, read_item
from relayd.receiver.parameters import read_query, read_url
from relayd.receiver.request import RequestRefused, TooManyItems, read_batch, read_body
from relayd.store import Arrival, Outcome, RelayStore

__all__ = ("Receiver", "Reply")

Reply = tuple[int, bytes]
"""HTTP status and JSON text: an acknowledgement, or a problem where the request was refused as a whole."""

_Verdict = Arrival | Dropped

_Read = TypeVar("_Read")

_ON_LOOP_BYTES: Final = 64 * 1024
"""A longer request is read in a thread: it would hold up everything else for milliseconds."""


class _Result(msgspec.Struct, frozen=True):
    index: int
    outcome: Outcome


class _Ack(msgspec.Struct, frozen=True, omit_defaults=True):
    """Acknowledges a prefix, which is every item: nothing is skipped here and nothing fails alone."""

    accepted: int
    results: list[_Result]
    accepted_indices: list[int] | None = None


class _Single(msgspec.Struct, frozen=True):
    outcome: Outcome


class Receiver:
    """The contract of an ai-memory server's hook routes, on this machine's feed.

    Args:
        store: Takes what passes.
        actor: Who is written down as the actor unless a call says otherwise; the user of this process if None.
        ticks: Says when things came.
    """

    def __init__(self, store: RelayStore, *, actor: str | None = None, ticks: Ticks = SYSTEM) -> None:
        self._store = store
        self._actor = actor or _user()
        self._ticks = ticks

    async def batch(self, raw: bytes, *, actor: str | None = None) -> Reply:
        """Take a JSON array of `{url, body}` in its order; answer once it is on disk.

        Returns:
            200 with an ack for every item; 413 with an empty ack for too many items; 400 or 422 with a problem.

        Raises:
            OutboxError: The store could not take it; nothing of it was stored.

        Source: docs/receiver.md.
        """
        try:
            verdicts = await _read(raw, partial(_read_batch, taking=self._taking(actor)))
        except RequestRefused as refused:
            return _problem(refused)
        except TooManyItems:
            return 413, msgspec.json.encode(_Ack(0, []))
        outcomes = await self._settle(verdicts)
        results = [_Result(index, outcome) for index, outcome in enumerate(outcomes)]
        return 200, msgspec.json.encode(_Ack(len(outcomes), results, None if outcomes else []))

    async def single(self, raw: bytes, query: str, *, actor: str | None = None) -> Reply:
        """Take one event: its body alone, with the parameters in the request's own query.

        Returns:
            202 with the outcome, or 400 with a problem.

        Raises:
            OutboxError: The store could not take it.
        """
        try:
            verdict = await _read(raw, partial(_read_single, query=query, taking=self._taking(actor)))
        except RequestRefused as refused:
            return _problem(refused)
        (outcome,) = await self._settle([verdict])
        return 202, msgspec.json.encode(_Single(outcome))

    def _taking(self, actor: str | None) -> Taking:
        return Taking(actor or self._actor, self._ticks.wall_ms(), self._store.excerpts)

    async def _settle(self, verdicts: Sequence[_Verdict]) -> list[Outcome]:
        """Let the store decide what was not dropped before it."""
        arrivals = [verdict for verdict in verdicts if isinstance(verdict, Arrival)]
        decided = iter(await self._store.admit(arrivals) if arrivals else ())
        return [next(decided) if isinstance(verdict, Arrival) else verdict for verdict in verdicts]


async def _read(raw: bytes, read: Callable[[bytes], _Read]) -> _Read:
    return read(raw) if len(raw) <= _ON_LOOP_BYTES else await to_thread.run_sync(read, raw)


def _read_batch(raw: bytes, taking: Taking) -> list[_Verdict]:
    """Read everything before anything is judged: one body that is no JSON refuses the whole request."""
    items = [(read_url(item.url), read_body(item.body)) for item in read_batch(raw)]
    return [read_item(parameters, body, taking) for parameters, body in items]


def _read_single(raw: bytes, query: str, taking: Taking) -> _Verdict:
    return read_item(read_query(query), read_body(raw), taking)


def _problem(refused: RequestRefused) -> Reply:
    status = refused.status
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": f"the request {refused.rule}",
        "code": "input_refused",
    }
    return status.value, msgspec.json.encode(body)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this uid
        return str(os.getuid())
