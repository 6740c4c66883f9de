"""Delivery without anyone asking: woken by events and by the clock, stopped by nothing that concerns another queue."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from relay_queue.limits import RETRY_WINDOW_MS
from relay_queue.outbox import open_outbox
from relayd.credentials import Credentials
from relayd.delivery.courier import ROUND_BATCHES
from relayd.delivery.depot import COURIERS
from relayd.events import (
    BatchSettled,
    CredentialsUnreadable,
    DeliveryFailed,
    QueueMissing,
    QueueParked,
    QueueResumed,
    QueueSkipped,
    StoreFailed,
)
from relayd.home import Home
from relayd.testing import ScriptedServer, Step, scripted_server
from tests.house import LIMIT_S, Clock, event, house, spread


def order(server: ScriptedServer) -> dict[str, list[int]]:
    """The numbers of the events that took effect, by session."""
    return {
        session: [one.body["n"] for one in events] for session, events in server.memory.sessions().items()
    }


async def test_delivers_what_is_enqueued_in_order(tmp_path: Path) -> None:
    """Every event leaves once, and those of a session in the order in which they were stored."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        for first in range(0, 60, 20):
            await home.enqueue(queue, spread(60, 7)[first : first + 20])
        await home.drained(queue)
        assert order(server) == {f"s-{s}": list(range(s, 60, 7)) for s in range(7)}
        assert len(server.memory.events) == 60


async def test_goes_on_until_a_long_session_is_drained(tmp_path: Path) -> None:
    """A backlog of one session leaves one event a request, over as many rounds as it takes and without a flush."""
    count = 2 * ROUND_BATCHES + 10
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, spread(count, 1))
        await home.drained(queue)
        assert order(server) == {"s-0": list(range(count))}
        assert len(server.requests) == count


async def test_takes_no_token_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that somebody left in the daemon's environment goes to no server."""
    monkeypatch.setenv("AI_MEMORY_AUTH_TOKEN", "left-behind")
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.drained(queue)
        await home.enqueue(queue, [event(2)], wake=False)
        await home.flush(queue)
        assert [request.headers.get("authorization") for request in server.requests] == [None, None]


async def test_delivers_to_the_local_receiver(tmp_path: Path) -> None:
    """A queue bound to `local` ends in this daemon's feed, under the queue's actor and producer."""
    async with house(tmp_path) as home:
        queue = await home.queue("local", mode="auto")
        await home.enqueue(queue, spread(5, 2))
        await home.drained(queue)
        rows = await home.store.feed.newest(limit=10)
        assert [(row.actor, row.producer) for row in rows] == [("me", "tester")] * 5


async def test_leaves_manual_queues_alone(tmp_path: Path) -> None:
    """A manual queue waits for a flush; made automatic, it is delivered."""
    async with house(tmp_path) as home, scripted_server() as server:
        manual = await home.queue(server.url, "manual")
        auto = await home.queue(server.url, "auto", mode="auto")
        await home.enqueue(manual, [event(1)])
        await home.enqueue(auto, [event(2, "s-2")])
        await home.drained(auto)
        assert order(server) == {"s-2": [2]}
        await home.registry.set_mode(manual, "auto")
        home.dispatcher.wake(manual)
        await home.drained(manual)


async def test_backs_off_after_a_failure_and_comes_back(tmp_path: Path) -> None:
    """A refused batch is kept, tried again by itself, and the server's wish decides when."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        server.script(Step(status=503, headers=(("Retry-After", "1"),)))
        await home.enqueue(queue, [event(1)])
        failed = await home.until(DeliveryFailed)
        assert failed.label == "http 503"
        assert failed.retry_in_ms is not None
        assert 0 < failed.retry_in_ms <= 1000
        await home.drained(queue)
        assert len(server.requests) == 2


async def test_back_off_outlives_the_daemon(tmp_path: Path) -> None:
    """What a stopped daemon left is delivered by the next one, and not before it is due."""
    async with scripted_server() as server:
        server.script(Step(status=503, headers=(("Retry-After", "3600"),)))
        async with house(tmp_path) as home:
            queue = await home.queue(server.url, mode="auto")
            await home.enqueue(queue, [event(1)])
            await home.until(DeliveryFailed)
        async with house(tmp_path) as home:
            other = await home.queue(server.url, "other", mode="auto")
            await home.enqueue(other, [event(2, "s-2")])
            await home.drained(other)
            assert order(server) == {"s-2": [2]}
            assert 3_500_000 < (await home.status(queue)).next_due_in_ms <= 3_600_000
            assert (await home.flush(queue)).exit_code == 0


async def test_a_start_visits_what_was_left(tmp_path: Path) -> None:
    """Events that found no server are delivered after a restart, without a wake."""
    async with scripted_server() as gone:
        url = gone.url
    async with house(tmp_path) as home:
        queue = await home.queue(url, mode="auto")
        await home.enqueue(queue, spread(6, 2))
        failed = await home.until(DeliveryFailed)
        assert failed.label == "transport"
        assert (await home.status(queue)).attempted_items == 0  # nobody can have seen them
    async with scripted_server(port=int(url.rsplit(":", 1)[1])) as server, house(tmp_path) as home:
        await home.drained(queue)
        assert order(server) == {"s-0": [0, 2, 4], "s-1": [1, 3, 5]}


async def test_refused_credentials_park_the_queue_until_they_change(tmp_path: Path) -> None:
    """A 401 takes the stamp back and stops the courier; a new token lets it go on."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.token = "right"
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.until(QueueParked)
        await home.enqueue(queue, [event(2)])
        status = await home.status(queue)
        assert (status.needs_auth, status.attempted_items, status.last_error) == (True, 0, "http 401")
        await home.credentials.put(server.url, "right")
        await home.drained(queue)
        await home.until(QueueResumed)
        assert [request.headers.get("authorization") for request in server.requests] == [
            None,
            "Bearer right",
            "Bearer right",
        ]


async def test_a_token_changed_in_the_file_is_used_at_once(tmp_path: Path) -> None:
    """After a 401 the file is read again; if it has another token the same batch goes with that."""
    async with house(tmp_path) as home, scripted_server() as server:
        await home.credentials.put(server.url, "old")
        server.token = "new"
        await Credentials(home.home.credentials).put(server.url, "new")
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.drained(queue)
        assert [request.headers["authorization"] for request in server.requests] == [
            "Bearer old",
            "Bearer new",
        ]
        assert not any(isinstance(one, QueueParked) for one in home.happened)


async def test_parked_queues_are_tried_again_after_a_restart(tmp_path: Path) -> None:
    """Credentials may have changed while no daemon ran."""
    async with scripted_server() as server:
        server.token = "right"
        async with house(tmp_path) as home:
            queue = await home.queue(server.url, mode="auto")
            await home.enqueue(queue, [event(1)])
            await home.until(QueueParked)
            credentials = home.home.credentials
        await Credentials(credentials).put(server.url, "right")
        async with house(tmp_path) as home:
            await home.drained(queue)


async def test_one_bad_event_stands_alone_in_the_end(tmp_path: Path) -> None:
    """A batch refused whole is halved until the guilty head backs off by itself; everything else leaves."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.rule = lambda items: Step(status=413) if any(item.body["n"] == 3 for item in items) else None
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(number, f"s-{number}") for number in range(8)])
        await home.until(BatchSettled, lambda _: len(server.memory.events) == 7)
        (held,) = await _held(home, queue)
        assert (held.reason, held.last_error, held.session_id) == ("failed", "http 413", "s-3")


async def test_a_server_that_chokes_on_one_event_gets_the_others(tmp_path: Path) -> None:
    """From the third 500 in a row the batch is halved too."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.rule = lambda items: Step(status=500) if any(item.body["n"] == 1 for item in items) else None
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(number, f"s-{number}") for number in range(2)])
        await home.until(BatchSettled, lambda _: len(server.memory.events) == 1)
        assert [len(request.items) for request in server.requests[:4]] == [2, 2, 2, 1]


async def test_a_missing_directory_is_told_of_and_not_made_again(tmp_path: Path) -> None:
    """After a restart a queue that is gone is reported; others are delivered."""
    async with scripted_server() as server:
        async with house(tmp_path) as home:
            gone = await home.queue(server.url, "gone")
        shutil.rmtree(gone)
        async with house(tmp_path) as home:
            assert (await home.until(QueueMissing)).queue_dir == str(gone)
            other = await home.queue(server.url, "other", mode="auto")
            await home.enqueue(other, [event(1)])
            await home.drained(other)
            assert not gone.exists()
            problems = {row.name: row.problem for row in await home.registry.listed()}
            assert problems["other"] is None
            assert problems["gone"] is not None


async def test_a_queue_that_cannot_be_opened_stops_no_other(tmp_path: Path) -> None:
    """Trouble with one queue is reported and tried again later."""
    async with scripted_server() as server:
        async with house(tmp_path) as home:
            taken = await home.queue(server.url, "taken", mode="auto")
            server.script(Step(status=503))
            await home.enqueue(taken, [event(1)])
            await home.until(DeliveryFailed)
        async with open_outbox(taken), house(tmp_path) as home:
            skipped = await home.until(QueueSkipped)
            assert (skipped.queue_dir, skipped.code) == (str(taken), "queue_owned")
            other = await home.queue(server.url, "other", mode="auto")
            await home.enqueue(other, [event(2, "s-2")])
            await home.drained(other)
        async with house(tmp_path) as home:
            await home.drained(taken)


async def test_a_courier_that_dies_is_told_of_and_comes_back(tmp_path: Path) -> None:
    """A fault of ours in one delivery is reported by its kind and place only, and the events leave later."""

    class Faulty:
        """A receiver that fails once in a way nobody foresaw."""

        faults = 1

        async def batch(self, raw: bytes, *, actor: str | None = None) -> tuple[int, bytes]:  # noqa: ARG002 - the seam's
            """Fail, or acknowledge one event."""
            if self.faults:
                self.faults -= 1
                raise ValueError(raw)
            return 200, b'{"accepted":1,"results":[{"index":0,"outcome":"stored"}]}'

    async with house(tmp_path, local=Faulty()) as home:
        queue = await home.queue("local", mode="auto")
        await home.enqueue(queue, [event(1)])
        skipped = await home.until(QueueSkipped)
        assert skipped.code == "internal"
        assert skipped.detail.startswith("builtins.ValueError\n")
        assert "test_couriers.py:" in skipped.detail
        assert "session_id" not in skipped.detail
        await home.drained(queue)


async def test_chores_prune_what_is_past_its_window(tmp_path: Path) -> None:
    """Every hour open queues forget receipts that protect nothing any more."""
    clock = Clock()
    async with house(tmp_path, ticks=clock) as home:
        queue = await home.queue("local", mode="auto")
        await home.enqueue(queue, spread(3, 3))
        await home.drained(queue)
        clock.now_ms += RETRY_WINDOW_MS + 1
        assert (await home.status(queue)).receipts == 3
        await home.dispatcher._chores()
        assert (await home.status(queue)).receipts == 0


async def test_trouble_with_the_store_puts_chores_off_and_ends_nothing(tmp_path: Path) -> None:
    """While `relay.db` takes nothing, that is told and events are delivered; with the store back the chores are done."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        _hidden(home.home)
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as group:
                group.start_soon(home.dispatcher._chores)
                assert (await home.until(StoreFailed)).code == "file_gone"
                await home.enqueue(queue, [event(1)])
                await home.drained(queue)
                _hidden(home.home)


async def test_a_first_visit_without_the_store_is_made_later(tmp_path: Path) -> None:
    """A daemon that starts while the list of queues cannot be read delivers all of them once it can."""
    async with scripted_server() as server:
        async with house(tmp_path) as home:
            queue = await home.queue(server.url, mode="auto")
            await home.enqueue(queue, [event(1)], wake=False)
        async with house(tmp_path, before=_hidden) as home:
            assert (await home.until(StoreFailed)).code == "not_a_queue"
            _hidden(home.home)
            await home.drained(queue)
        assert order(server) == {"s-1": [1]}


def _hidden(home: Home) -> None:
    """Take `relay.db` away, or put it back."""
    database, aside = home.database, home.database.with_name("aside.db")
    if aside.exists():
        aside.rename(database)
    else:
        database.rename(aside)


async def test_an_answer_that_cannot_be_written_down_does_not_stick(tmp_path: Path) -> None:
    """If the disk takes neither an answer nor anything else, delivery goes on once it does, and nothing is doubled."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        with anyio.fail_after(LIMIT_S):
            await server.received(1)
        (queue / "queue.db").rename(queue / "aside.db")
        answer.set()
        assert (await home.until(QueueSkipped)).code == "file_gone"
        (queue / "aside.db").rename(queue / "queue.db")
        await home.drained(queue)
        assert (order(server), len(server.requests)) == ({"s-1": [1]}, 2)


async def test_a_feed_that_takes_nothing_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A local queue keeps its events while `relay.db` cannot be written, and delivers each once afterwards."""
    async with house(tmp_path) as home:
        queue = await home.queue("local", mode="auto")
        async with home.use(queue):  # it stays open, for opening one is noted in the same file
            _hidden(home.home)
            await home.enqueue(queue, spread(3, 2))
            failed = await home.until(DeliveryFailed)
            _hidden(home.home)
            await home.drained(queue)
        assert failed.label == "transport"
        assert [row.session_id for row in await home.store.feed.newest(limit=10)] == ["s-0", "s-1", "s-0"]


async def test_credentials_that_cannot_be_read_are_told_of_and_stop_no_delivery(tmp_path: Path) -> None:
    """A broken file is as good as no token: servers that ask for none get their events."""

    def broken(home: Home) -> None:
        home.credentials.touch(mode=0o600)
        home.credentials.write_text("{")

    async with house(tmp_path, before=broken) as home, scripted_server() as server:
        assert await home.until(CredentialsUnreadable)
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.drained(queue)


async def test_slow_servers_leave_room_for_intake(tmp_path: Path) -> None:
    """However many queues wait for servers that do not answer, events can still be stored."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.rule = lambda _: Step(wait=answer)
        queues = [await home.queue(server.url, f"q-{n}", mode="auto") for n in range(COURIERS + 3)]
        for number, queue in enumerate(queues):
            await home.enqueue(queue, [event(number, f"s-{number}")])
        with anyio.fail_after(LIMIT_S):
            await server.received(COURIERS)
        for number in range(20):
            queue = await home.queue("local", f"more-{number}")
            assert (await home.enqueue(queue, [event(number)])).stored == 1
        assert len(server.requests) == COURIERS
        answer.set()
        for queue in queues:
            await home.drained(queue)


async def test_a_stop_waits_for_the_request_under_way_and_sends_no_other(tmp_path: Path) -> None:
    """What a server is working on is settled before the queue closes."""
    async with scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        async with house(tmp_path) as home:
            queue = await home.queue(server.url, mode="auto")
            await home.enqueue(queue, [event(1), event(2)])
            with anyio.fail_after(LIMIT_S):
                await server.received(1)
            home.dispatcher.stop()
            answer.set()
        assert order(server) == {"s-1": [1]}
        async with open_outbox(queue) as outbox:
            assert (await outbox.status()).pending_items == 1


async def _held(home, queue: Path):
    async with home.use(queue) as outbox:
        return await outbox.held()
