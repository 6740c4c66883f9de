"""Failures of transport, back-off, the retry window, tokens, and who may flush.

Source: docs/outbox.md, "Flush" and "What an answer does".
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from relay_queue.limits import RETRY_WINDOW_MS
from relayd.delivery.flush import Flush, Order
from relayd.delivery.progress import Summary, open_lines
from relayd.errors import FlushInProgress, Stopping
from relayd.events import DeliveryFailed, QueueParked
from relayd.testing import Cut, Step, scripted_server
from tests.house import LIMIT_S, Clock, event, house, spread


@pytest.mark.parametrize("cut", ["accept", "request", "reply", "reply_head", "reply_body"])
async def test_a_lost_request_is_sent_again_twice(tmp_path: Path, cut: Cut) -> None:
    """The third try of the same batch succeeds, and a batch that had taken effect is not doubled."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, spread(3, 3))
        server.script(Step(cut=cut), Step(cut=cut))
        summary = await home.flush(queue)
        assert (summary.exit_code, summary.acknowledged, len(server.memory.events)) == (0, 3, 3)
        taken = cut in ("reply", "reply_head", "reply_body")
        assert summary.acknowledged_outcomes["replayed" if taken else "stored"] == 3


async def test_three_lost_requests_fail_the_flush(tmp_path: Path) -> None:
    """After the third try everything is kept; the window has begun, for the server may have seen the events."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, spread(4, 2))
        server.script(*[Step(cut="reply")] * 3)
        summary = await home.flush(queue)
        status = await home.status(queue)
        assert (summary.exit_code, summary.acknowledged, status.pending_items) == (2, 0, 4)
        assert (status.last_error, status.attempted_items, status.max_attempts) == ("transport", 2, 1)
        assert len(server.requests) == 3
        assert (await home.flush(queue)).acknowledged_outcomes["replayed"] == 2


async def test_an_oversize_ack_is_a_failure_of_transport(tmp_path: Path) -> None:
    """More than 64 KiB of answer is not read, and the request is sent again."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        server.script(Step(store=True, body=b'{"accepted":1}' + b" " * 65_536))
        summary = await home.flush(queue)
        assert (summary.exit_code, len(server.requests)) == (0, 2)


async def test_a_server_that_is_not_there_starts_no_window(tmp_path: Path) -> None:
    """No connection, no stamp: the events may stay for as long as it takes."""
    async with scripted_server() as gone:
        url = gone.url
    async with house(tmp_path) as home:
        queue = await home.queue(url)
        await home.enqueue(queue, spread(4, 2))
        summary = await home.flush(queue)
        status = await home.status(queue)
        assert summary.error is not None
        assert (summary.exit_code, summary.error.code) == (2, "unreached")
        assert (status.attempted_items, status.last_error) == (0, "transport")


async def test_a_lost_reply_is_not_forgotten_for_a_later_refusal(tmp_path: Path) -> None:
    """If the first try may have been seen, a 401 to the second leaves the start of the window where it was."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        server.script(Step(cut="reply"), Step(status=401))
        summary = await home.flush(queue)
        status = await home.status(queue)
        assert (summary.exit_code, status.attempted_items, status.last_error) == (2, 1, "http 401")


async def test_a_name_that_dns_cannot_carry_is_a_server_not_reached(tmp_path: Path) -> None:
    """An odd host fails like one that does not exist."""
    async with house(tmp_path) as home:
        queue = await home.queue("http://" + "a" * 70)
        await home.enqueue(queue, [event(1)])
        summary = await home.flush(queue)
        assert summary.error is not None
        assert (summary.exit_code, summary.error.code) == (2, "unreached")


async def test_a_budget_that_ran_out_is_no_failure(tmp_path: Path) -> None:
    """When a flush's time is over, what is left stays pending: exit 3."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        lines, report = open_lines()
        async with home.use(queue) as outbox:
            await Flush(outbox, home.dispatcher._depot, Order(), lines, budget_s=0).run()
        lines.close()
        with report:
            summary = await report.receive()
        assert isinstance(summary, Summary)
        assert (summary.exit_code, summary.error, len(server.requests)) == (3, None, 0)


async def test_a_flush_ignores_back_off(tmp_path: Path) -> None:
    """Neither a head's nor a queue's back-off holds a flush up."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, spread(4, 2))
        server.script(Step(fail_at=0), Step(status=503, headers=(("Retry-After", "3600"),)))
        await home.flush(queue)
        assert (await home.status(queue)).pending_items == 4
        assert (await home.flush(queue)).exit_code == 0


async def test_a_deferred_head_is_not_sent_again_in_the_same_flush(tmp_path: Path) -> None:
    """One look at a failing head a flush, and its session waits with it."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1, "a"), event(2, "a"), event(3, "b")])
        server.script(Step(fail_at=0))
        summary = await home.flush(queue)
        assert [[item.body["n"] for item in request.items] for request in server.requests] == [[1, 3], [3]]
        assert (summary.deferred_sessions, summary.exit_code) == (1, 3)


async def test_a_429_ends_the_flush(tmp_path: Path) -> None:
    """What was acknowledged is released, and nothing more is sent."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, spread(4, 4))
        server.script(Step(throttle_at=2))
        summary = await home.flush(queue)
        assert (summary.acknowledged, summary.rate_limited, summary.exit_code) == (2, True, 3)
        assert (len(server.requests), summary.error) == (1, None)


async def test_an_event_past_its_window_is_held_and_never_sent(tmp_path: Path) -> None:
    """Thirty days after the first attempt a head expires: exit 3, no request, its session waits."""
    clock = Clock()
    async with house(tmp_path, ticks=clock) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1, "a"), event(2, "a")])
        server.script(Step(status=503))
        await home.flush(queue)
        clock.now_ms += RETRY_WINDOW_MS
        await home.enqueue(queue, [event(3, "b")])
        summary = await home.flush(queue)
        assert (summary.expired_sessions, summary.acknowledged, summary.exit_code) == (1, 1, 3)
        assert [item.body["n"] for item in server.requests[-1].items] == [3]
        async with home.use(queue) as outbox:
            (held,) = await outbox.held()
            assert (held.reason, held.session_id) == ("expired", "a")
            await outbox.retry([held.ingest_key], may_duplicate=True)
        assert (await home.flush(queue)).exit_code == 0


async def test_no_request_outlives_the_window(tmp_path: Path) -> None:
    """A server that answers too late is given up when the window of the batch ends, and nothing is sent again."""
    clock = Clock()
    async with house(tmp_path, ticks=clock) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        server.script(Step(status=503), Step(wait=anyio.Event()))
        await home.flush(queue)
        clock.now_ms += RETRY_WINDOW_MS - 100
        summary = await home.flush(queue)
        assert (summary.exit_code, len(server.requests)) == (2, 2)


async def test_a_token_is_for_one_flush(tmp_path: Path) -> None:
    """A flush's own token goes with its requests and is kept nowhere."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.token = "right"
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        assert (await home.flush(queue, token="right")).exit_code == 0
        await home.enqueue(queue, [event(2)])
        assert (await home.flush(queue)).exit_code == 2
        assert home.credentials.servers() == []
        assert not home.home.credentials.exists()


async def test_a_wrong_token_of_one_flush_parks_nothing(tmp_path: Path) -> None:
    """The stored token is as good as before, so the courier goes on."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.token = "right"
        await home.credentials.put(server.url, "right")
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        summary = await home.flush(queue, token="wrong")
        assert summary.error is not None
        assert (summary.exit_code, summary.error.code) == (2, "needs_auth")
        assert not (await home.status(queue)).needs_auth
        assert (await home.flush(queue)).exit_code == 0


async def test_a_flush_with_a_good_token_opens_a_parked_queue(tmp_path: Path) -> None:
    """Success shows that the server takes events again."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.token = "right"
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.until(QueueParked)
        assert (await home.flush(queue, token="right")).exit_code == 0
        assert not (await home.status(queue)).needs_auth


async def test_a_flush_takes_over_from_the_courier(tmp_path: Path) -> None:
    """It waits for the request under way; no event is sent twice and none out of order."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(number) for number in range(5)])
        with anyio.fail_after(LIMIT_S):
            await server.received(1)
        with await home.dispatcher.flush(queue, Order()) as report:
            await report.receive()
            answer.set()
            lines = [line async for line in report]
        summary = lines[-1]
        assert isinstance(summary, Summary)
        assert (summary.exit_code, summary.pending_items) == (0, 0)
        assert [one.body["n"] for one in server.memory.events] == [0, 1, 2, 3, 4]
        assert len(server.requests) == 5


async def test_a_second_flush_is_refused(tmp_path: Path) -> None:
    """One flush of a queue at a time; another queue is not concerned."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue, other = await home.queue(server.url), await home.queue(server.url, "other")
        await home.enqueue(queue, [event(1)])
        with await home.dispatcher.flush(queue, Order()) as report:
            with pytest.raises(FlushInProgress):
                await home.dispatcher.flush(queue, Order())
            with anyio.fail_after(LIMIT_S):
                await server.received(1)
            assert (await home.flush(other)).exit_code == 0
            answer.set()
            assert [line async for line in report]
        assert (await home.flush(queue)).exit_code == 0


async def test_a_client_that_leaves_ends_its_flush_after_the_batch_under_way(tmp_path: Path) -> None:
    """The request is settled, nothing more is sent, and the next flush may begin."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(number) for number in range(5)])
        with await home.dispatcher.flush(queue, Order()):
            with anyio.fail_after(LIMIT_S):
                await server.received(1)
        answer.set()
        with anyio.fail_after(LIMIT_S):
            while (await home.status(queue)).pending_items == 5:
                await home.news[-1].wait()
        assert (await home.status(queue)).pending_items == 4
        assert len(server.requests) == 1


async def test_a_stop_ends_a_flush_in_order(tmp_path: Path) -> None:
    """The batch under way is settled, the summary says why it ended, and no flush begins any more."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(number) for number in range(3)])
        with await home.dispatcher.flush(queue, Order()) as report:
            with anyio.fail_after(LIMIT_S):
                await server.received(1)
            home.dispatcher.stop()
            answer.set()
            lines = [line async for line in report]
        summary = lines[-1]
        assert isinstance(summary, Summary)
        assert summary.error is not None
        assert (summary.acknowledged, summary.exit_code, summary.error.code) == (1, 2, "stopping")
        with pytest.raises(Stopping):
            await home.dispatcher.flush(queue, Order())


async def test_cannot_stamp_must_not_send(tmp_path: Path) -> None:
    """If the attempt cannot be written down, the server sees no request and the flush fails."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        async with home.use(queue) as outbox:
            await outbox._writer.run(
                lambda connection: connection.execute("PRAGMA query_only = ON").fetchall()
            )
            summary = await home.flush(queue)
        assert summary.error is not None
        assert (summary.exit_code, summary.error.code, summary.pending_items) == (2, "storage_failed", 1)
        assert not server.requests


async def test_failures_are_told_with_their_label(tmp_path: Path) -> None:
    """What happens to a batch is published, whoever sent it."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        server.script(Step(status=502))
        await home.flush(queue)
        assert (await home.until(DeliveryFailed)).label == "http 502"
