"""Which queue an event of a hook goes to, when the upstream changes and when queues get lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from relayd.events import HookQueueLost
from relayd.store.rows import Upstream
from relayd.testing import ScriptedServer, Step, scripted_server
from tests.integration.hooks.hooked import Hooked, hooked, prompt


async def choose(hooks: Hooked, server: ScriptedServer | str) -> None:
    """Choose an upstream."""
    url = server if isinstance(server, str) else server.url
    await hooks.services.store.links.put_upstream(Upstream(url, "p", "a", "w"))


def lost(hooks: Hooked) -> list[tuple[str, str]]:
    """Which queues were told of as lost, and why."""
    told = [one for one in hooks.parts.happened if isinstance(one, HookQueueLost)]
    return [(Path(one.queue_dir).name, one.code) for one in told]


def prompts(server: ScriptedServer) -> dict[str, list[str]]:
    """The prompts of each session that a server took, in order."""
    return {
        session: [event.body["prompt"] for event in events]
        for session, events in server.memory.sessions().items()
    }


async def test_an_upstream_that_changes_opens_the_next_queue_and_the_old_one_drains_where_it_was_bound(
    tmp_path: Path,
) -> None:
    """Sessions stay where they began, new ones go to the new server, and no server sees the other's token."""
    async with hooked(tmp_path) as hooks, scripted_server() as old, scripted_server() as new:
        await hooks.parts.credentials.put(old.url, "old-token")
        await hooks.parts.credentials.put(new.url, "new-token")
        old.token, new.token = "old-token", "new-token"
        old.script(Step(status=503))
        shop = await hooks.link()
        await choose(hooks, old)
        await hooks.taken(prompt(1, "first"), shop)
        await old.received(1)
        await choose(hooks, new)
        await hooks.taken(prompt(2, "second"), shop)
        await hooks.taken(prompt(3, "first"), shop)
        assert await hooks.queues() == ["p-shop.1", "p-shop.2"]
        await hooks.parts.flush(hooks.queue("p-shop.1"))
        await hooks.parts.drained(hooks.queue("p-shop.1"))
        await hooks.parts.drained(hooks.queue("p-shop.2"))
        assert prompts(old) == {"first": ["prompt 1", "prompt 3"]}
        assert prompts(new) == {"second": ["prompt 2"]}
        assert {one.headers["authorization"] for one in old.requests} == {"Bearer old-token"}
        assert {one.headers["authorization"] for one in new.requests} == {"Bearer new-token"}


async def test_an_upstream_that_changes_back_opens_a_third_queue(tmp_path: Path) -> None:
    """Only the latest queue is ever taken for new sessions, whatever the ones before are bound to."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        for number, server in enumerate(("http://127.0.0.1:9", "http://127.0.0.1:8", "http://127.0.0.1:9")):
            await choose(hooks, server)
            await hooks.taken(prompt(number, f"s-{number}"), shop)
        assert await hooks.queues() == ["p-shop.1", "p-shop.2", "p-shop.3"]


async def test_a_restart_goes_on_with_the_latest_queue(tmp_path: Path) -> None:
    """Old sessions and new ones go to the queue that is there; none is made."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(2), shop)
        await hooks.taken(prompt(3, "s-2"), shop)
        assert await hooks.queues() == ["p-shop.1"]
        assert len(await hooks.fed("p-shop.1")) == 3
        assert lost(hooks) == []


async def test_a_session_that_moves_stays_in_its_queue(tmp_path: Path) -> None:
    """Its next events go where its first went, whichever linked directory it works in; elsewhere nothing is kept."""
    async with hooked(tmp_path) as hooks:
        shop, bank = await hooks.link("shop"), await hooks.link("bank")
        await hooks.taken(prompt(1), shop)
        await hooks.taken(prompt(2), bank)
        await hooks.taken(prompt(3), hooks.work("elsewhere"))
        assert await hooks.queues() == ["p-shop.1"]
        assert len(await hooks.fed("p-shop.1")) == 2
        await hooks.taken(prompt(4, "s-2"), bank)
        assert await hooks.queues() == ["p-bank.1", "p-shop.1"]


async def test_a_queue_that_is_missing_is_not_made_again(tmp_path: Path) -> None:
    """The next one is opened, for new sessions and for those of the missing one, and it is told."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
    shutil.rmtree(tmp_path / "home/queue/p-shop.1")
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(2, "new"), shop)
        await hooks.taken(prompt(3), shop)
        assert not hooks.queue("p-shop.1").exists()
        assert lost(hooks) == [("p-shop.1", "missing")]
        assert len(await hooks.fed("p-shop.2")) == 3


async def test_a_queue_that_vanishes_under_the_daemon_is_not_made_again(tmp_path: Path) -> None:
    """The same while it is open."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
        shutil.rmtree(hooks.queue("p-shop.1"))
        await hooks.taken(prompt(2), shop)
        assert not hooks.queue("p-shop.1").exists()
        assert [name for name, _ in lost(hooks)] == ["p-shop.1"]
        assert len(await hooks.fed("p-shop.2")) == 2


async def test_a_damaged_queue_is_left_as_it_is(tmp_path: Path) -> None:
    """What comes from now on goes to the next one, also for the session that began in it."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
    file = tmp_path / "home/queue/p-shop.1/queue.db"
    file.write_bytes(b"garbage" * 4096)
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(2), shop)
        assert lost(hooks) == [("p-shop.1", "damaged")]
        assert file.read_bytes() == b"garbage" * 4096
        assert await hooks.queues() == ["p-shop.1", "p-shop.2"]


async def test_a_forgotten_queue_stays_forgotten(tmp_path: Path) -> None:
    """Neither its own sessions nor new ones bring it back, now or after a restart."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(0), shop)
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
        await hooks.parts.dispatcher.forget(hooks.queue("p-shop.1"), even_if_pending=False)
        await hooks.taken(prompt(2), shop)
        assert await hooks.queues() == ["p-shop.2"]
        await hooks.fed("p-shop.2")
        await hooks.parts.dispatcher.forget(hooks.queue("p-shop.2"), even_if_pending=False)
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(3), shop)
        assert await hooks.queues() == ["p-shop.3"]
        assert lost(hooks) == [("p-shop.2", "forgotten")]


async def test_a_queue_that_somebody_else_bound_is_not_taken(tmp_path: Path) -> None:
    """A directory of the same name that leads elsewhere is passed over."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        directory = hooks.queue("p-shop.1")
        scope = {"producer": "p", "actor": "a", "workspace": "w", "project": "other"}
        order = {"queue_dir": str(directory), "server_url": "http://127.0.0.1:9", **scope}
        answer = await hooks.http.post("/v1/queues", content=json.dumps(order))
        assert answer.status_code == 201
        await hooks.taken(prompt(1), shop)
        assert len(await hooks.fed("p-shop.2")) == 1


async def test_a_place_that_takes_no_new_queue_is_no_refusal_of_the_event(tmp_path: Path) -> None:
    """It lies inside a queue, or is no directory: 507, for an event that is refused would be dropped by its hook."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        in_the_way = hooks.home.queues / "queue.db"
        in_the_way.touch()
        inside = await hooks.post(prompt(1), shop)
        in_the_way.unlink()
        aside = hooks.home.queues.rename(tmp_path / "aside")
        hooks.home.queues.touch()
        no_directory = await hooks.post(prompt(1), shop)
        hooks.home.queues.unlink()
        aside.rename(hooks.home.queues)
        for answer in (inside, no_directory):
            assert (answer.status_code, answer.json()["code"]) == (507, "storage_failed"), answer.text
        await hooks.taken(prompt(1), shop)
        assert len(await hooks.fed("p-shop.1")) == 1
