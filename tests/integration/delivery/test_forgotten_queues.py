"""A queue that is taken off the list: refused where that would lose sight of events, and without touching its files."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from relay_queue.errors import NotAQueue, QueueDamaged
from relay_queue.status import read_status
from relayd.delivery.flush import Order
from relayd.errors import EventsPending, FlushInProgress
from relayd.events import DeliveryFailed, QueueForgotten
from relayd.testing import ScriptedServer, Step, scripted_server
from tests.house import LIMIT_S, House, event, house


async def _listed(home: House) -> list[Path]:
    return [Path(row.queue_dir) for row in await home.registry.listed()]


async def _forget(home: House, queue: Path, *, even_if_pending: bool = False) -> None:
    with anyio.fail_after(LIMIT_S):
        await home.dispatcher.forget(queue, even_if_pending=even_if_pending)


async def _after_others(home: House) -> Path:
    """Wait until a queue that was bound and woken now is delivered: couriers that were to work before have begun."""
    last = await home.queue("local", "last", mode="auto")
    await home.enqueue(last, [event(99, "s-99")])
    await home.drained(last)
    return last


async def test_an_empty_queue_is_forgotten_and_its_files_stay(tmp_path: Path) -> None:
    """It is closed and not listed any more, other queues are; a second time there is nothing to forget."""
    async with house(tmp_path) as home:
        queue, other = await home.queue("local"), await home.queue("local", "other")
        await _forget(home, queue)
        assert (await _listed(home), home.registry.open_now()) == ([other], [other])
        assert await home.until(QueueForgotten, lambda told: told.queue_dir == str(queue))
        assert read_status(queue).server_url == "local"
        with pytest.raises(NotAQueue, match="not on the list"):
            await _forget(home, queue)


async def test_a_forgotten_queue_is_listed_again_once_it_is_used(tmp_path: Path) -> None:
    """Binding it again and enqueueing into it both do, and its courier is back."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url, mode="auto")
        await _forget(home, queue)
        await home.queue(server.url)
        assert await _listed(home) == [queue]
        await _forget(home, queue)
        await home.registry.set_mode(queue, "auto")
        await home.enqueue(queue, [event(1)])
        await home.drained(queue)
        assert await _listed(home) == [queue]


async def test_a_queue_that_holds_events_is_not_forgotten(tmp_path: Path) -> None:
    """The refusal says how many, and delivery goes on as if nobody had asked."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1), event(2)])
        with pytest.raises(EventsPending, match="pending: 2"):
            await _forget(home, queue)
        assert await _listed(home) == [queue]
        assert (await home.flush(queue)).pending_items == 0
        await _forget(home, queue)


async def test_pending_events_stay_in_the_directory_if_that_is_wanted(tmp_path: Path) -> None:
    """They wait there for the next flush, and are delivered then."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        await _forget(home, queue, even_if_pending=True)
        assert (await _listed(home), read_status(queue).pending_items) == ([], 1)
        assert (await home.flush(queue)).acknowledged == 1
        assert await _listed(home) == [queue]


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_queue_whose_file_is_gone_is_forgotten(tmp_path: Path, *, emptied: bool) -> None:
    """A directory that is missing, or that holds no queue any more, has nothing that could be lost."""
    async with house(tmp_path) as home:
        queue = await home.queue("local")
        await home.enqueue(queue, [event(1)])
        shutil.rmtree(queue)
        if emptied:
            queue.mkdir(mode=0o700)
        await _forget(home, queue)
        assert (await _listed(home), home.registry.open_now()) == ([], [])
        assert queue.exists() is emptied


async def test_a_damaged_queue_is_forgotten_only_without_a_look(tmp_path: Path) -> None:
    """What is in it cannot be told, so the caller has to say that it does not matter."""
    async with house(tmp_path) as home:
        queue = await home.queue("local")
        async with home.registry.shut(queue):
            (queue / "queue.db").write_bytes(b"no database" * 1000)
        with pytest.raises(QueueDamaged):
            await _forget(home, queue)
        assert await _listed(home) == [queue]
        await _forget(home, queue, even_if_pending=True)
        assert await _listed(home) == []


async def test_a_queue_is_not_forgotten_under_a_flush(tmp_path: Path) -> None:
    """The flush that is under way has its queue to the end."""
    async with house(tmp_path) as home, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(1)])
        with await home.dispatcher.flush(queue, Order()) as report:
            with pytest.raises(FlushInProgress):
                await _forget(home, queue, even_if_pending=True)
            answer.set()
            async for _ in report:
                pass
        assert await _listed(home) == [queue]


async def _forgotten_while_sending(home: House, server: ScriptedServer) -> Path:
    """Forget a queue of two events while the first is being sent; it stays on the list until the answer came."""
    answer = anyio.Event()
    server.script(Step(wait=answer))
    queue = await home.queue(server.url, mode="auto")
    await home.enqueue(queue, [event(1), event(2)])
    with anyio.fail_after(LIMIT_S):
        await server.received(1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: _forget(home, queue, even_if_pending=True))
            await anyio.wait_all_tasks_blocked()
            assert await _listed(home) == [queue]
            answer.set()
    return queue


async def test_the_request_under_way_is_settled_before_a_queue_is_forgotten(tmp_path: Path) -> None:
    """The courier's answer is written down, no further batch is sent, and the courier does not come back."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await _forgotten_while_sending(home, server)
        assert await _listed(home) == []
        last = await _after_others(home)
        assert (await _listed(home), len(server.requests)) == ([last], 1)
        assert read_status(queue).pending_items == 1


async def test_a_wake_keeps_the_courier_of_a_queue_that_was_just_forgotten(tmp_path: Path) -> None:
    """Events that come while it is on its way out are delivered by it, or by the next one."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await _forgotten_while_sending(home, server)
        await home.enqueue(queue, [event(3)])
        await home.drained(queue)
        assert await _listed(home) == [queue]


async def test_a_forgotten_queue_is_not_visited_after_a_restart(tmp_path: Path) -> None:
    """Its courier was to try again later; neither it nor the next daemon's does."""
    async with house(tmp_path) as home, scripted_server() as server:
        server.rule = lambda _: Step(status=503)
        queue = await home.queue(server.url, mode="auto")
        await home.enqueue(queue, [event(1)])
        await home.until(DeliveryFailed)
        await _forget(home, queue, even_if_pending=True)
        assert await _listed(home) == []
    async with house(tmp_path) as home:
        last = await _after_others(home)
        assert (await _listed(home), home.registry.open_now()) == ([last], [last])


async def test_whoever_uses_a_queue_is_waited_for(tmp_path: Path) -> None:
    """A request that came first is answered from the open queue; one that comes later opens and lists it again."""
    async with house(tmp_path) as home, anyio.create_task_group() as tasks:
        queue = await home.queue("local")
        async with home.use(queue) as outbox:
            tasks.start_soon(lambda: _forget(home, queue))
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(lambda: home.enqueue(queue, [event(1)]))
            await anyio.wait_all_tasks_blocked()
            assert (await _listed(home), (await outbox.status()).pending_items) == ([queue], 0)
    async with house(tmp_path) as home:
        assert (await _listed(home), (await home.status(queue)).pending_items) == ([queue], 1)


async def test_a_wait_that_is_given_up_leaves_the_queue_as_it_was(tmp_path: Path) -> None:
    """It is open, listed and closed in good order with the others."""
    async with house(tmp_path) as home:
        queue = await home.queue("local")
        async with home.use(queue), anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: _forget(home, queue))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert (await _listed(home), home.registry.open_now()) == ([queue], [queue])
