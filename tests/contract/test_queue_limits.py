"""The limits that users of the reference relay know, on real queues filled to the last place.

Source: docs/outbox.md, "Limits".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from relay_queue.errors import LimitReached
from tests.house import House, event, house

FILE_EVENTS = 10_000


async def fill(home: House, queue: Path, envelopes: Iterable[dict[str, Any]], a_file: int) -> None:
    """Store events, so many a file."""
    left = list(envelopes)
    while left:
        file, left = left[:a_file], left[a_file:]
        assert (await home.enqueue(queue, file, wake=False)).stored == len(file)


async def test_fifty_thousand_events_of_as_many_sessions_fit_and_no_more(tmp_path: Path) -> None:
    """At both limits what is new is refused by name, nothing older is dropped, and what is known is recognized."""
    async with house(tmp_path) as home:
        queue = await home.queue("http://127.0.0.1:9")
        await fill(home, queue, (event(n, f"s-{n}") for n in range(50_000)), FILE_EVENTS)
        for new, code, words in (
            (event(50_000, "s-0"), "queue_full", "queue is full"),
            (event(50_000, "s-new"), "session_table_full", "session pin table is full"),
        ):
            with pytest.raises(LimitReached, match=words) as refused:
                await home.enqueue(queue, [event(0, "s-0"), new], wake=False)
            assert refused.value.code == code
        again = await home.enqueue(queue, [event(n, f"s-{n}") for n in range(FILE_EVENTS)], wake=False)
        assert (again.stored, again.recognized) == (0, FILE_EVENTS)
        assert (again.pending_items, again.pending_sessions) == (50_000, 50_000)


async def test_64_mib_of_bodies_fit_and_not_a_byte_more(tmp_path: Path) -> None:
    """256 of the largest bodies fill a queue; the smallest event after them is refused, however few there are."""
    bare = len('{"session_id":"s-100","cwd":"/w","n":100,"text":""}')
    async with house(tmp_path) as home:
        queue = await home.queue("http://127.0.0.1:9")
        largest = (event(n, f"s-{n}", text="x" * (262_144 - bare)) for n in range(100, 356))
        await fill(home, queue, largest, 64)
        assert (await home.status(queue)).pending_bytes == 67_108_864
        with pytest.raises(LimitReached, match="queue is full") as refused:
            await home.enqueue(queue, [event(1)], wake=False)
        assert (refused.value.code, refused.value.resource) == ("queue_full", "pending_bytes")
        assert (await home.status(queue)).pending_items == 256
