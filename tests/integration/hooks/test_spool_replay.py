"""The spool is taken in before anything newer: in order, once, and past whatever is odd."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import anyio
import pytest

from relay_queue.directory import lock
from relay_queue.envelope import Event
from relayd.events import SpoolRejected, SpoolReplayed
from relayd.harness.call import HookCall
from relayd.harness.clean import Cleaner
from relayd.harness.meaning import Meaning
from relayd.hooks.spool import REJECTED_FILES, REJECTED_S, TEMPORARY_S, Spool
from relayd.store.rows import Upstream
from relayd.testing import scripted_server
from tests.integration.hooks.hooked import Hooked, hooked, prompt, put_aside, spool, spooled, told, waiting

PROMPT = re.compile(r"prompt (\d+)")


def numbers(fed: list[tuple[str | None, str, str | None]], session: str = "s-1") -> list[int]:
    """The numbers of the prompts of a session, as the feed has them."""
    return [int(found[1]) for one, _, text in fed if one == session and (found := PROMPT.search(text or ""))]


def entries(directory: Path) -> list[str]:
    """The names in a directory."""
    return sorted(entry.name for entry in directory.iterdir())


def refusals(hooks: Hooked) -> dict[str, str]:
    """Which files were told of as put aside, and why."""
    return {one.name: one.code for one in hooks.parts.happened if isinstance(one, SpoolRejected)}


def replays(hooks: Hooked) -> list[SpoolReplayed]:
    """What was told of replays."""
    return [one for one in hooks.parts.happened if isinstance(one, SpoolReplayed)]


async def linked(path: Path) -> Path:
    """A directory that is linked to `shop`; the daemon has left again."""
    async with hooked(path) as hooks:
        return await hooks.link()


async def test_what_is_spooled_is_replayed_at_the_start_and_before_anything_newer(tmp_path: Path) -> None:
    """Order within a session is the order of the names, and a new event comes behind all of them."""
    shop = await linked(tmp_path)
    for number in (3, 1, 2):
        spool(tmp_path / "home", number, spooled(prompt(number), shop))
    async with hooked(tmp_path) as hooks:
        await hooks.taken(prompt(4), shop)
        assert waiting(hooks.home.path) == []
        spool(hooks.home.path, 5, spooled(prompt(5), shop))
        await hooks.taken(prompt(6), shop)
        assert numbers(await hooks.fed("p-shop.1")) == [1, 2, 3, 4, 5, 6]
        assert [(one.stored, one.rejected, one.held_back) for one in replays(hooks)] == [(3, 0, 0), (1, 0, 0)]


async def test_the_idle_look_replays_too(tmp_path: Path) -> None:
    """A file that no later hook follows is not left for the next start."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        spool(hooks.home.path, 1, spooled(prompt(1), shop))
        await hooks.services.hooks.backlog.look()
        assert waiting(hooks.home.path) == []
        assert len(await hooks.fed("p-shop.1")) == 1


async def test_an_event_that_was_stored_before_its_file_was_removed_is_recognized(tmp_path: Path) -> None:
    """A crash in between doubles nothing, whether the event has the CLI's id, the call's, or none at all."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        texts = [
            spooled(prompt(1), shop),
            spooled(told("Stop"), shop, event="stop", headers=f"Relay-Id: {'a' * 32}\r\n"),
            spooled(told("Stop"), shop, event="stop"),
        ]
        for _ in range(2):
            for number, text in enumerate(texts):
                spool(hooks.home.path, number, text)
            await hooks.services.hooks.backlog.look()
        assert len(await hooks.fed("p-shop.1")) == 3
        assert [(one.stored, one.recognized) for one in replays(hooks)] == [(3, 0), (0, 3)]


async def test_hooks_of_which_nothing_is_kept_leave_the_spool(tmp_path: Path) -> None:
    """An unlinked directory and a guarded agent are no refusals."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        spool(hooks.home.path, 1, spooled(prompt(1), hooks.work("elsewhere")))
        spool(hooks.home.path, 2, spooled(prompt(2), shop, headers="Relay-Guard: 1\r\n"))
        await hooks.services.hooks.backlog.look()
        assert (waiting(hooks.home.path), put_aside(hooks.home.path)) == ([], [])
        (told_of,) = replays(hooks)
        assert (told_of.ignored, told_of.stored) == (2, 0)
        assert await hooks.queues() == []


async def test_the_replay_notes_when_hooks_came(tmp_path: Path) -> None:
    """By the time at which they ran."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        spool(hooks.home.path, 1, spooled(prompt(1), shop, headers="Relay-Time: 1764460800123000000\r\n"))
        await hooks.services.hooks.backlog.look()
        (seen,) = (await hooks.http.get("/v1/hooks")).json()["seen"]
        assert seen == {"cli": "claude", "event": "user-prompt-submit", "last_at_ms": 1764460800123}


GOOD = spooled(prompt(1), "/w")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "request_unreadable"),
        (b"\x00" * 5000, "request_unreadable"),
        (GOOD.replace(b"POST", b"GET", 1), "request_unreadable"),
        (GOOD.replace(b"/v1/hooks/claude", b"/v1/stop/claude", 1), "request_unreadable"),
        (GOOD.replace(b"HTTP/1.1", b"HTTP/1.0", 1), "request_unreadable"),
        (GOOD[:-1], "request_unreadable"),
        (GOOD + b"x", "request_unreadable"),
        (GOOD.replace(b"Content-Length", b"Content-Longth", 1), "request_unreadable"),
        (GOOD.replace(b"Host: relayd", b"Transfer-Encoding: chunked", 1), "request_unreadable"),
        (GOOD.replace(b"Host: relayd", b"Content-Length: 5", 1), "request_unreadable"),
        (GOOD.replace(b"Host: relayd", b"no header", 1), "request_unreadable"),
        (GOOD.replace(b"Host: relayd", b"X: " + b"x" * 70_000, 1), "request_unreadable"),
        (GOOD.replace(b"Relay-Protocol: 1", b"Relay-Protocol: 2", 1), "other_home"),
        (GOOD.replace(b"/claude/", b"/cursor/", 1), "hook_refused"),
        (spooled(b"null", "/w"), "hook_refused"),
        (spooled(b"{}", "/w"), "hook_refused"),
        (spooled(b" " * (8 * 1024 * 1024 + 1), "/w"), "payload_too_large"),
    ],
)
async def test_a_file_that_is_no_hook_event_is_put_aside(tmp_path: Path, raw: bytes, code: str) -> None:
    """It is told by its name and a code, kept as it is, and the ones behind it are taken."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        name = spool(hooks.home.path, 1, raw).name
        spool(hooks.home.path, 2, spooled(prompt(2), shop))
        await hooks.taken(prompt(3), shop)
        assert refusals(hooks) == {name: code}
        assert (hooks.home.spool / "rejected" / name).read_bytes() == raw
        assert numbers(await hooks.fed("p-shop.1")) == [2, 3]


async def test_odd_things_in_the_spool_are_never_followed_and_never_in_the_way(tmp_path: Path) -> None:
    """Links, directories, pipes and files of another size are put aside; foreign names are left alone."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        secret = tmp_path / "secret"
        secret.write_bytes(spooled(prompt(1), shop))
        at = hooks.home.spool
        sizes = len(secret.read_bytes())
        names = [f"{number:020}-1-{sizes}.http" for number in range(4)]
        (at / names[0]).symlink_to(secret)
        (at / names[1]).mkdir()
        os.mkfifo(at / names[2])
        (at / names[3]).write_bytes(b"short")
        huge = f"{4:020}-1-9999999999.http"
        (at / huge).touch()
        foreign = ["note.txt", "1.http", f"{5:020}-1-2.http~", "dropped-full", ".1-2.tmp"]
        for name in foreign:
            (at / name).touch()
        await hooks.taken(prompt(9), shop)
        assert entries(at) == sorted([*foreign, "rejected"])
        assert put_aside(hooks.home.path) == sorted([*names, huge])
        assert secret.exists()
        assert refusals(hooks) == {
            names[0]: "unreadable",
            **dict.fromkeys(names[1:], "wrong_size"),
            huge: "payload_too_large",
        }
        assert numbers(await hooks.fed("p-shop.1")) == [9]


async def test_a_file_that_cannot_be_put_aside_is_in_nobodys_way(tmp_path: Path) -> None:
    """What stands where the rejected ones go is not replaced; events are taken all the same."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        (hooks.home.spool / "rejected").symlink_to(tmp_path)
        name = spool(hooks.home.path, 1, b"garbage").name
        spool(hooks.home.path, 2, spooled(prompt(2), shop))
        await hooks.taken(prompt(3), shop)
        await hooks.taken(prompt(4), shop)
        assert waiting(hooks.home.path) == [name]
        assert numbers(await hooks.fed("p-shop.1")) == [2, 3, 4]
        assert refusals(hooks) == {name: "request_unreadable"}


async def test_a_spool_that_is_gone_is_an_empty_one(tmp_path: Path) -> None:
    """Hooks are taken as if nothing had been spooled."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        hooks.home.spool.rmdir()
        await hooks.taken(prompt(1), shop)
        await hooks.services.hooks.backlog.look()
        assert numbers(await hooks.fed("p-shop.1")) == [1]


async def test_a_full_queue_holds_up_its_own_events_only(tmp_path: Path) -> None:
    """What it does not take stays in order, newer ones of it are told to wait behind, and other projects go on."""
    async with hooked(tmp_path, pending_items=2) as hooks, scripted_server() as server:
        shop = await hooks.link("shop")
        await hooks.services.store.links.put_upstream(Upstream(server.url, "p", "a", "w"))
        server.token = "not yet"
        await hooks.taken(prompt(0), shop)
        await hooks.services.store.links.drop_upstream()
        bank = await hooks.link("bank")
        for number in (1, 2, 3):
            spool(hooks.home.path, number, spooled(prompt(number), shop))
        spool(hooks.home.path, 4, spooled(prompt(4, "b-1"), bank))
        await hooks.taken(prompt(5, "b-1"), bank)
        assert len(waiting(hooks.home.path)) == 2
        refused = await hooks.post(prompt(6), shop)
        assert (refused.status_code, refused.json()["code"]) == (503, "spool_behind")
        assert numbers(await hooks.fed("p-bank.1"), "b-1") == [4, 5]
        spool(hooks.home.path, 6, spooled(prompt(6), shop))

        server.token = None
        while waiting(hooks.home.path):
            await hooks.parts.flush(hooks.queue("p-shop.1"))
            hooks.services.hooks.backlog._held_until_s = 0.0
            await hooks.services.hooks.backlog.look()
        await hooks.taken(prompt(8), shop)
        await hooks.parts.drained(hooks.queue("p-shop.1"))
        (events,) = server.memory.sessions().values()
        assert [event.body["prompt"] for event in events] == [f"prompt {n}" for n in (0, 1, 2, 3, 6, 8)]


async def test_a_smaller_event_does_not_overtake_a_larger_one_that_does_not_fit(tmp_path: Path) -> None:
    """Once a queue has refused one, all that comes behind it waits, whatever of it would fit."""
    async with hooked(tmp_path, pending_bytes=2_000) as hooks:
        shop, bank = await hooks.link("shop"), await hooks.link("bank")
        await hooks.services.store.links.put_upstream(Upstream("http://127.0.0.1:9", "p", "a", "w"))
        spool(hooks.home.path, 1, spooled(prompt(1, more="word " * 1_000), shop))
        spool(hooks.home.path, 2, spooled(prompt(2, "b-1"), bank))
        small = spool(hooks.home.path, 3, spooled(prompt(3), shop))
        await hooks.services.hooks.backlog.look()
        assert len(waiting(hooks.home.path)) == 2
        refused = await hooks.post(prompt(4), shop)
        assert (refused.status_code, refused.json()["code"]) == (503, "spool_behind")
        assert small.exists()
        (told_of,) = replays(hooks)
        assert (told_of.stored, told_of.held_back) == (1, 2)


async def test_a_queue_that_another_process_has_holds_up_its_own_events_only(tmp_path: Path) -> None:
    """They are taken once it is free."""
    async with hooked(tmp_path) as hooks:
        shop, bank = await hooks.link("shop"), await hooks.link("bank")
        await hooks.taken(prompt(1), shop)
        await hooks.taken(prompt(1, "b-1"), bank)
    spool(tmp_path / "home", 2, spooled(prompt(2), shop))
    spool(tmp_path / "home", 3, spooled(prompt(3, "b-1"), bank))
    with lock(tmp_path / "home/queue/p-shop.1"):
        async with hooked(tmp_path) as hooks:
            await hooks.parts.until(SpoolReplayed)
            assert numbers(await hooks.fed("p-bank.1"), "b-1") == [1, 3]
            assert len(waiting(hooks.home.path)) == 1
    async with hooked(tmp_path) as hooks:
        await hooks.parts.until(SpoolReplayed)
        assert numbers(await hooks.fed("p-shop.1")) == [1, 2]


async def test_a_disk_that_takes_nothing_keeps_the_spool_and_its_order(tmp_path: Path) -> None:
    """The replay ends, newer events are told to wait, and later all go in order."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
        async with hooks.parts.use(hooks.queue("p-shop.1")) as outbox:
            pages = await outbox._writer.run(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
            await outbox._writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
            big = "word " * 3000
            for number in range(2, 12):
                text = told(prompt_id=f"p-{number}", prompt=f"prompt {number}", more=big)
                spool(hooks.home.path, number, spooled(text, shop))
            for _ in range(2):
                refused = await hooks.post(prompt(12), shop)
                assert (refused.status_code, refused.json()["code"]) == (503, "spool_behind")
            assert waiting(hooks.home.path)
            await outbox._writer.run(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchone())
        with anyio.fail_after(30):
            while (await hooks.post(prompt(12), shop)).status_code != 200:
                pass
        assert numbers(await hooks.fed("p-shop.1")) == list(range(1, 13))


async def test_a_hook_does_not_wait_long_for_a_replay_under_way(tmp_path: Path) -> None:
    """It is told to wait behind it; the next one, once the replay is done, is taken."""
    async with hooked(tmp_path, patience_s=0.2) as hooks:
        shop = await hooks.link()
        backlog = hooks.services.hooks.backlog
        async with backlog._lock:
            spool(hooks.home.path, 1, spooled(prompt(1), shop))
            refused = await hooks.post(prompt(2), shop)
            assert (refused.status_code, refused.json()["code"]) == (503, "spool_behind")
        await hooks.taken(prompt(3), shop)
        assert numbers(await hooks.fed("p-shop.1")) == [1, 3]


async def test_a_refused_event_among_others_does_not_take_them_with_it(tmp_path: Path) -> None:
    """They would go in one commit; the one whose session is another agent's is put aside alone."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        envelope = '{"event_id":"1","agent":"other","event":"stop","body":{"session_id":"theirs","cwd":"/w"}}'
        await hooks.http.post("/v1/events?queue=p-shop.1", content=envelope)
        spool(hooks.home.path, 2, spooled(prompt(2), shop))
        name = spool(hooks.home.path, 3, spooled(prompt(3, "theirs"), shop)).name
        spool(hooks.home.path, 4, spooled(prompt(4), shop))
        await hooks.services.hooks.backlog.look()
        assert refusals(hooks) == {name: "hook_refused"}
        assert numbers(await hooks.fed("p-shop.1")) == [1, 2, 4]


class Faulty(Cleaner):
    """A cleaner with a fault that one event brings out."""

    def event(self, call: HookCall, meaning: Meaning) -> Event | None:
        """Fail over session `poison`, without saying what of it."""
        if meaning.session_id == "poison":
            raise ZeroDivisionError
        return super().event(call, meaning)


async def test_an_event_that_brings_out_a_fault_of_ours_is_put_aside(tmp_path: Path) -> None:
    """It would stop the spool for ever; it is kept, told of as `internal`, and the others go on."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        hooks.services.hooks._sieve._cleaner = Faulty(())
        name = spool(hooks.home.path, 1, spooled(prompt(1, "poison"), shop)).name
        spool(hooks.home.path, 2, spooled(prompt(2), shop))
        await hooks.taken(prompt(3), shop)
        assert refusals(hooks) == {name: "internal"}
        assert numbers(await hooks.fed("p-shop.1")) == [2, 3]
        answer = await hooks.post(prompt(4, "poison"), shop)
        assert (answer.status_code, answer.json()["code"]) == (500, "internal")


async def test_a_replay_goes_on_in_the_next_queue_if_one_is_lost(tmp_path: Path) -> None:
    """The queue of the session is gone: its spooled events go to the project's next one, in order."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
    (tmp_path / "home/queue/p-shop.1/queue.db").write_bytes(b"garbage" * 4096)
    for number in (2, 3):
        spool(tmp_path / "home", number, spooled(prompt(number), shop))
    async with hooked(tmp_path) as hooks:
        await hooks.parts.until(SpoolReplayed)
        assert waiting(hooks.home.path) == []
        await hooks.parts.drained(hooks.queue("p-shop.2"))
        assert numbers(await hooks.fed())[-2:] == [2, 3]


def test_what_is_old_or_too_much_is_removed(tmp_path: Path) -> None:
    """Of the files put aside the newest stay, for a time; a file that no hook will finish goes."""
    (tmp_path / "rejected").mkdir()
    names = [f"{number:020}-1-0.http" for number in range(REJECTED_FILES + 5)]
    for name in names:
        (tmp_path / "rejected" / name).touch()
    (tmp_path / "rejected" / "mine.txt").touch()
    (tmp_path / ".1-2.tmp").touch()
    live = tmp_path / f"{1:020}-1-0.http"
    live.touch()
    spool_of = Spool(tmp_path)
    spool_of.tidy()
    assert entries(tmp_path / "rejected") == sorted([*names[5:], "mine.txt"])
    assert (tmp_path / ".1-2.tmp").exists()
    spool_of.tidy(time.time() + TEMPORARY_S + 1)
    assert not (tmp_path / ".1-2.tmp").exists()
    spool_of.tidy(time.time() + REJECTED_S + 1)
    assert entries(tmp_path / "rejected") == ["mine.txt"]
    assert live.exists()
