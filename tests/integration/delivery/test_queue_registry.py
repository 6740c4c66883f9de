"""Which queues are open: on demand, at most so many, each directory once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
import pytest

from relay_queue.binding import bind
from relay_queue.errors import (
    BindingMismatch,
    DirectoryRefused,
    FileGone,
    NotAQueue,
    QueueDamaged,
    QueueOwned,
)
from relay_queue.outbox import bind_outbox, open_outbox
from relay_queue.sqlite.database import open_writer
from relay_queue.statements import SCHEMA
from relayd.errors import ParameterRefused, UnknownQueue
from relayd.events import QueueBound
from relayd.events import QueueDamaged as Damaged
from tests.house import LIMIT_S, event, house


async def test_the_default_queue_is_bound_on_first_use_and_by_nothing_else(tmp_path: Path) -> None:
    """Looking at it shows zeros and creates nothing; the first use binds it to the local receiver."""
    async with house(tmp_path) as home:
        default = home.registry.places.default
        status = await home.registry.status(default)
        assert (status.server_url, status.pending_items, status.project) == ("local", 0, "default")
        with pytest.raises(NotAQueue):
            async with home.registry.use(default):
                pass
        assert not default.exists()
        async with home.registry.use(default, bind_default=True) as outbox:
            assert (outbox.binding.server_url, outbox.binding.producer) == ("local", "relayd")
        assert await home.until(QueueBound)
        assert [row.name for row in await home.registry.listed()] == ["default"]


@pytest.mark.parametrize("left", ["directory", "file"])
async def test_a_first_use_that_was_cut_off_can_be_repeated(tmp_path: Path, left: str) -> None:
    """What a daemon left that was killed while it bound the default queue counts as nothing: zeros, then a queue."""
    async with house(tmp_path) as home:
        default = home.registry.places.default
        default.mkdir(mode=0o700)
        if left == "file":
            open_writer(default / "queue.db", SCHEMA, create=True).close()
        status = await home.registry.status(default)
        assert (status.server_url, status.receipts) == ("local", 0)
        assert (await home.enqueue(default, [event(1)], bind_default=True)).stored == 1
        await home.drained(default)


async def test_only_the_default_queue_binds_itself(tmp_path: Path) -> None:
    """Another name is a queue only once it was bound."""
    async with house(tmp_path) as home:
        with pytest.raises(NotAQueue):
            async with home.registry.use(home.registry.places.named("other"), bind_default=True):
                pass
        assert not home.registry.places.named("other").exists()


async def test_binding_again_is_safe_and_binding_otherwise_refused(tmp_path: Path) -> None:
    """An identical binding is recognized, open or not, and the mode changes only if asked for."""
    async with house(tmp_path) as home:
        directory = home.registry.places.named("q")
        same = bind("http://H:80/", "p", "a", "w", "x")
        created, status = await home.registry.bind(directory, same, mode="manual")
        assert (created, status.mode, status.server_url) == (True, "manual", "http://h")
        created, status = await home.registry.bind(directory, same)
        assert (created, status.mode) == (False, "manual")
        created, status = await home.registry.bind(directory, same, mode="auto")
        assert (created, status.mode) == (False, "auto")
        with pytest.raises(BindingMismatch):
            await home.registry.bind(directory, bind("http://h", "p", "a", "w", "y"))
        (row,) = await home.registry.listed()
        assert (row.mode, row.project, row.is_open) == ("auto", "x", True)


async def test_every_spelling_of_a_directory_is_one_queue(tmp_path: Path) -> None:
    """A linked parent, a trailing slash and the plain path lead to the same open queue."""
    async with house(tmp_path) as home:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        await home.registry.bind(
            home.registry.places.place(str(tmp_path / "link" / "q")), bind("local", "p", "a", "w", "x")
        )
        spellings = [str(tmp_path / "real" / "q"), f"{tmp_path}/link/q/", f"{tmp_path}/real/./q"]
        places = {home.registry.places.place(spelling) for spelling in spellings}
        assert places == {Path(os.path.realpath(tmp_path)) / "real" / "q"}
        assert len(await home.registry.listed()) == 1


@pytest.mark.parametrize("asked", ["relative/q", "", "/a\0b"])
async def test_a_place_is_absolute(tmp_path: Path, asked: str) -> None:
    """The daemon has no working directory that a client could mean."""
    async with house(tmp_path) as home:
        with pytest.raises(ParameterRefused):
            home.registry.places.place(asked)


async def test_a_place_has_no_dots_and_is_no_link(tmp_path: Path) -> None:
    """`..` and a symbolic link as the last component are refused."""
    async with house(tmp_path) as home:
        with pytest.raises(DirectoryRefused):
            home.registry.places.place(f"{tmp_path}/a/../q")
        target = await home.queue("local", "target")
        link = home.registry.places.named("link")
        link.symlink_to(target)
        for use in (home.registry.use(link), home.registry.use(home.registry.places.place(str(link) + "/"))):
            with pytest.raises((DirectoryRefused, NotAQueue)):
                async with use:
                    pass


@pytest.mark.parametrize("name", ["", ".", "..", "A", "-a", ".a", "a/b", "a" * 81, "a\n", "ä"])
async def test_names_stay_inside_the_home(tmp_path: Path, name: str) -> None:
    """A name is short, lower case and no path."""
    async with house(tmp_path) as home:
        with pytest.raises(UnknownQueue):
            home.registry.places.named(name)


async def test_the_least_recently_used_idle_queue_makes_room(tmp_path: Path) -> None:
    """A further queue closes the one that was idle longest; none is refused."""
    async with house(tmp_path, max_open=2) as home:
        a, b, c = [await home.queue("local", name) for name in "abc"]
        assert home.registry.open_now() == [b, c]
        async with home.registry.use(b):
            pass
        async with home.registry.use(a):
            assert home.registry.open_now() == [b, a]
        assert [row.is_open for row in await home.registry.listed()] == [True, True, False]
        async with open_outbox(c):
            pass  # closed for good: its lock is free


async def test_waits_while_all_are_in_use(tmp_path: Path) -> None:
    """Whoever needs one more waits for an idle one instead of failing."""
    async with house(tmp_path, max_open=1) as home:
        a, b = [await home.queue("local", name) for name in "ab"]
        got = anyio.Event()

        async def want() -> None:
            async with home.registry.use(b):
                got.set()

        async with anyio.create_task_group() as group:
            async with home.registry.use(a):
                group.start_soon(want)
                await anyio.wait_all_tasks_blocked()
                assert not got.is_set()
            with anyio.fail_after(LIMIT_S):
                await got.wait()


async def test_many_uses_of_a_closed_queue_open_it_once(tmp_path: Path) -> None:
    """Requests that come together share one opening."""
    async with house(tmp_path) as home:
        directory = home.registry.places.named("q")
        await bind_outbox(directory, bind("local", "p", "a", "w", "x"))
        seen: set[int] = set()

        async def use() -> None:
            async with home.registry.use(directory) as outbox:
                seen.add(id(outbox))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(use)
        assert len(seen) == 1


async def test_another_owner_is_named(tmp_path: Path) -> None:
    """A queue that another holder writes is refused with its pid, and works once it is free."""
    async with house(tmp_path) as home:
        directory = home.registry.places.named("q")
        await bind_outbox(directory, bind("local", "p", "a", "w", "x"))
        async with open_outbox(directory):
            with pytest.raises(QueueOwned) as owned:
                async with home.registry.use(directory):
                    pass
        assert owned.value.pid == os.getpid()
        async with home.registry.use(directory):
            pass


async def test_a_directory_that_was_replaced_is_another_queue(tmp_path: Path) -> None:
    """What lies at a path now counts, not what was opened there once; a directory that is gone is no queue."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        await home.enqueue(directory, [event(1)], wake=False)
        shutil.move(directory, directory.with_name("moved"))
        with pytest.raises(NotAQueue):
            await home.enqueue(directory, [event(2)])
        await bind_outbox(directory, bind("local", "p", "a", "w", "x"))
        async with home.registry.use(directory) as outbox:
            assert (await outbox.status()).pending_items == 0


async def test_a_damaged_queue_is_closed_and_told_of(tmp_path: Path) -> None:
    """Damage found in use closes the queue; every later use is told the same, and a repaired file opens again."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        with pytest.raises(QueueDamaged):
            async with home.registry.use(directory):
                raise QueueDamaged(str(directory))
        assert await home.until(Damaged)
        assert home.registry.open_now() == []
        async with home.registry.use(directory):
            pass


async def test_a_damaged_queue_takes_nobody_in_while_it_is_still_held(tmp_path: Path) -> None:
    """Until its last user is gone, whoever comes is told of the damage instead of meeting the old lock."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        async with home.registry.use(directory):
            with pytest.raises(QueueDamaged):
                async with home.registry.use(directory):
                    raise QueueDamaged(str(directory))
            with pytest.raises(QueueDamaged):
                async with home.registry.use(directory):
                    pass
        async with home.registry.use(directory):
            pass


async def test_a_queue_that_moves_while_open_is_found_where_it_is(tmp_path: Path) -> None:
    """The old path holds no queue, the new one the same events, and it is open to all: nobody has the old lock."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        await home.enqueue(directory, [event(1)], wake=False)
        moved = directory.with_name("moved")
        shutil.move(directory, moved)
        with pytest.raises(NotAQueue):
            await home.status(directory)
        assert (await home.status(moved)).pending_items == 1
        assert (await home.enqueue(moved, [event(2)], wake=False)).stored == 1
        created, status = await home.registry.bind(moved, bind("local", "tester", "me", "work", "example"))
        assert (created, status.pending_items) == (False, 2)
        assert not any(isinstance(happening, Damaged) for happening in home.happened)


async def test_a_queue_whose_file_is_deleted_while_open_is_none(tmp_path: Path) -> None:
    """Nothing is told from memory; what is bound there then is a new queue."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        await home.enqueue(directory, [event(1)], wake=False)
        for file in directory.glob("queue.db*"):
            file.unlink()
        with pytest.raises(NotAQueue):
            await home.status(directory)
        created, status = await home.registry.bind(directory, bind("local", "p", "a", "w", "x"))
        assert (created, status.pending_items) == (True, 0)


async def test_a_lost_queue_takes_nobody_in_while_it_is_still_held(tmp_path: Path) -> None:
    """Until its last user is gone, whoever comes is told that the file is gone, and not that we have it in use."""
    async with house(tmp_path) as home:
        directory = await home.queue("local", "q")
        async with home.registry.use(directory) as outbox:
            (directory / "queue.db").unlink()
            with pytest.raises(FileGone):
                await outbox.unpark()
            with pytest.raises(FileGone):
                await home.registry.bind(directory, bind("local", "p", "a", "w", "x"))
        assert home.registry.open_now() == []


async def test_equal_binds_at_once_all_succeed(tmp_path: Path) -> None:
    """One of them makes the queue; none finds it in use by another."""
    async with house(tmp_path) as home:
        made: list[bool] = []

        async def make() -> None:
            directory = home.registry.places.named("q")
            made.append((await home.registry.bind(directory, bind("local", "p", "a", "w", "x")))[0])

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(make)
        assert sorted(made) == [False] * 7 + [True]


@pytest.mark.parametrize("odd", ["", "queue", "spool", "bin", "logs"])
async def test_the_home_is_no_queue(tmp_path: Path, odd: str) -> None:
    """Neither the home nor a directory that the daemon keeps in it can be bound."""
    async with house(tmp_path) as home:
        with pytest.raises(DirectoryRefused, match="queues lie below"):
            await home.registry.bind(
                home.registry.places.place(str(home.home.path / odd)), bind("local", "p", "a", "w", "x")
            )


async def test_no_queue_lies_inside_another_elsewhere(tmp_path: Path) -> None:
    """A directory at any depth below a queue is refused."""
    async with house(tmp_path) as home:
        outer = home.registry.places.place(str(tmp_path / "outer"))
        await home.registry.bind(outer, bind("local", "p", "a", "w", "x"))
        with pytest.raises(DirectoryRefused, match="inside another queue"):
            await home.registry.bind(outer / "a" / "b", bind("local", "p", "a", "w", "x"))
