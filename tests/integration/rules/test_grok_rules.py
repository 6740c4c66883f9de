"""The file that Grok Build reads, kept by the parts of a daemon in this process over a real store."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from relayd.brief.budget import tokens
from relayd.errors import ParameterRefused, SecretRefused
from relayd.events import RulesFileFailed, SessionClosed
from relayd.memory.decisions import NewDecision
from relayd.memory.preferences import NewPreference
from relayd.services import Services
from relayd.store.projects import ProjectFields
from relayd.text.mark import MARK_BEGIN
from tests.house import LIMIT_S, House, house, services_of


class Machine(NamedTuple):
    """A running keeper, and where its file lies."""

    parts: House
    services: Services
    work: Path
    path: Path

    async def link(self, slug: str, *directories: str) -> None:
        """Make a project that is linked to directories, which are made too."""
        for name in directories or (slug,):
            directory = self.work / name
            directory.mkdir(exist_ok=True)
            await self.services.projects.link(str(directory), slug)

    async def decide(self, text: str, slug: str | None = None, **more: int) -> str:
        """Record a decision; its id."""
        project = None if slug is None else await self.services.projects.named(slug)
        return (await self.services.decisions.decide(NewDecision(text, **more), project)).decision.id

    async def prefer(self, key: str, value: str, slug: str | None = None, **more: str) -> None:
        """Set a preference."""
        project = None if slug is None else await self.services.projects.named(slug)
        wanted = NewPreference(key, value, **{"scope": "global" if slug is None else "project", **more})  # type: ignore[arg-type]
        await self.services.preferences.set(wanted, project)

    async def until(self, *there: str, gone: tuple[str, ...] = ()) -> str:
        """Wait until the file says some things and others not; its text."""
        with anyio.fail_after(LIMIT_S):
            while True:
                text = self.path.read_text() if self.path.is_file() else ""
                if text and all(one in text for one in there) and not any(one in text for one in gone):
                    return text
                await anyio.sleep(0.01)

    def failed(self) -> list[str]:
        """The codes of what was told to have failed."""
        return [one.code for one in self.parts.happened if isinstance(one, RulesFileFailed)]


@asynccontextmanager
async def machine(path: Path, *, ignore_paths: tuple[str, ...] = ()) -> AsyncGenerator[Machine]:
    """Keep the file for the length of a block, then leave as a daemon does."""
    path = path.resolve()
    for name in ("work", "grok"):
        (path / name).mkdir(exist_ok=True)
    async with house(path) as parts:
        services = services_of(parts, ignore_paths=ignore_paths)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(services.grok_rules.run)
            yield Machine(parts, services, path / "work", path / "grok/rules/relay.md")
            tasks.cancel_scope.cancel()


async def test_the_file_follows_the_memory(tmp_path: Path):
    """What is decided is there soon, and what is superseded, forgotten or dropped is gone; nothing says so twice."""
    async with machine(tmp_path) as one:
        kept = await one.services.grok_rules.put(str(one.path))
        assert (kept.path, kept.flaw) == (str(one.path), None)
        assert kept.written_at_ms == one.path.stat().st_mtime_ns // 1_000_000
        assert MARK_BEGIN not in one.path.read_text()
        await one.link("shop")
        first = await one.decide("Keep the outbox.", "shop")
        await one.decide("Write ADRs.")
        await one.prefer("style", "short")
        await one.prefer("style", "terse", scope="lane", scope_id="grok")
        await one.prefer("runner", "uv", "shop")
        await one.prefer("odd", "no", scope="lane", scope_id="codex")
        text = await one.until("Keep the outbox.", "Write ADRs.", "style = terse", "runner = uv")
        assert "style = short" not in text
        assert "odd = no" not in text
        everywhere, _, own = text.partition(
            f"## Project shop: only for work in these directories\n- {one.work}/shop"
        )
        assert "Write ADRs." in everywhere
        assert "Keep the outbox." in own
        assert "Write ADRs." not in own
        assert "style" not in own
        assert tokens(text) <= 2_500
        await one.services.decisions.forget(first)
        await one.until("Write ADRs.", gone=("Keep the outbox.",))
        assert one.failed() == []


async def test_facts_leave_with_their_project(tmp_path: Path):
    """Renamed it has its new name only; unlinked and removed, nothing of it stays."""
    async with machine(tmp_path) as one:
        await one.services.grok_rules.put(str(one.path))
        for slug in ("shop", "blog", "till"):
            await one.link(slug)
            await one.decide(f"A rule of {slug} holds.", slug)
        await one.until("rule of shop", "rule of blog", "rule of till")
        await one.services.projects.rename("shop", "store")
        await one.until("## Project store:", "rule of shop", gone=("## Project shop:",))
        await one.services.directories.unlink(str(one.work / "blog"))
        await one.services.projects.remove("till")
        await one.until("rule of shop", gone=("rule of blog", "rule of till", "blog", "till"))


async def test_each_project_has_its_own_place_and_the_last_ones_only_a_name(tmp_path: Path):
    """Facts of one never stand under another; one without a link is not told of, one with a summary only is named."""
    async with machine(tmp_path) as one:
        await one.services.projects.add("apart", ProjectFields())
        await one.decide("Nobody is told of apart.", "apart")
        slugs = [f"p{number}" for number in range(8)]
        for slug in slugs:
            await one.link(slug)
            await one.decide(f"A rule of {slug} holds.", slug)
        await one.link("empty")
        await one.link("about")
        await one.services.projects.change("about", ProjectFields(summary="It has a summary."))
        await one.services.grok_rules.put(str(one.path))
        text = one.path.read_text()
    assert "apart" not in text
    assert "empty" not in text
    parts = text.split("## Project")
    told = [part for part in parts if part.startswith(" p")]
    assert [part.split(":")[0] for part in told] == [" p7", " p6", " p5", " p4", " p3"]
    for part in told:
        own = part.split(":")[0].strip()
        assert [slug for slug in slugs if f"rule of {slug} " in part] == [own]
    for slug in ("p0", "p1", "p2", "about"):
        assert f"- {slug}: {tmp_path.resolve()}/work/{slug}\n" in text
    assert "It has a summary." not in text


async def test_ignored_directories_are_not_told_of(tmp_path: Path):
    """A project that is linked in an ignored directory only is not there, and of another one the rest is."""
    async with machine(tmp_path, ignore_paths=("hidden",)) as one:
        (one.work / "hidden").mkdir()
        await one.link("shop", "shop", "hidden/shop")
        await one.link("secret", "hidden/secret")
        await one.decide("A rule of shop holds.", "shop")
        await one.decide("A rule of secret holds.", "secret")
        await one.services.grok_rules.put(str(one.path))
        text = one.path.read_text()
    assert f"- {one.work}/shop\n" in text
    assert "hidden" not in text
    assert "secret" not in text


async def test_a_session_that_ended_mends_the_file(tmp_path: Path):
    """One of Grok that is over has a file that was removed written anew; one of another CLI has not."""
    async with machine(tmp_path) as one:
        await one.services.grok_rules.put(str(one.path))
        await one.decide("Write ADRs.")
        await one.until("Write ADRs.")
        one.path.unlink()
        assert (await one.services.grok_rules.show()).flaw == "missing"
        one.parts.bus.publish(SessionClosed("claude", "shop", "ended"))
        one.parts.bus.publish(SessionClosed("grok", "shop", "ended"))
        await one.until("relay_brief")


async def test_what_begins_by_itself_is_there_when_it_does(tmp_path: Path):
    """A decision that is to hold from a moment on is written then, with nobody changing anything."""
    async with machine(tmp_path) as one:
        await one.services.grok_rules.put(str(one.path))
        soon_ms = _now_ms() + 700
        await one.decide("This begins later.", valid_from_ms=soon_ms)
        await one.until("This begins later.")
        assert _now_ms() >= soon_ms


async def test_a_users_own_file_is_not_touched_and_told_once(tmp_path: Path):
    """However often the memory changes, it stays and one thing has happened; once it is out of the way ours comes."""
    async with machine(tmp_path) as one:
        one.path.parent.mkdir()
        one.path.write_text("My own rules.\n")
        kept = await one.services.grok_rules.put(str(one.path))
        assert (kept.written_at_ms, kept.flaw) == (None, "foreign")
        for number in range(3):
            await one.decide(f"Rule {number} holds.")
            await one.services.grok_rules.put(str(one.path))
        assert one.path.read_text() == "My own rules.\n"
        assert one.failed() == ["foreign"]
        one.path.unlink()
        await one.decide("One more.")
        await one.until("Rule 0 holds.", "One more.")
        with one.path.open("a") as file:
            file.write("And mine.\n")
        assert (await one.services.grok_rules.show()).flaw == "foreign"
        dropped, removed = await one.services.grok_rules.drop()
        assert (dropped.path, removed) == (str(one.path), False)
        assert one.path.read_text().endswith("And mine.\n")


@pytest.mark.parametrize("flaw", ["symlink", "no_directory", "unwritable"])
async def test_each_flaw_is_told_and_mended_by_the_next_change(tmp_path: Path, flaw: str):
    """A link, a missing directory and one that cannot be written keep nothing else from working."""
    async with machine(tmp_path) as one:
        away, aside = tmp_path / "away.md", one.path.parent / ".relay.md.relay"
        if flaw == "no_directory":
            one.path.parents[1].rmdir()
        else:
            one.path.parent.mkdir()
        if flaw == "symlink":
            one.path.symlink_to(away)
        if flaw == "unwritable":
            aside.mkdir()
        kept = await one.services.grok_rules.put(str(one.path))
        assert (kept.flaw, one.failed()) == (flaw, [flaw])
        assert not away.exists()
        if flaw == "symlink":
            one.path.unlink()
        elif flaw == "unwritable":
            aside.rmdir()
        else:
            one.path.parents[1].mkdir()
        await one.decide("It goes on.")
        await one.until("It goes on.")
        kept = await one.services.grok_rules.put(str(one.path))
        assert (kept.flaw, one.failed()) == (None, [flaw])


async def test_what_changed_just_before_the_end_is_written(tmp_path: Path):
    """A daemon that leaves at once after a decision leaves no old file, and one that comes later finds its place."""
    async with machine(tmp_path) as one:
        await one.services.grok_rules.put(str(one.path))
        await one.decide("Said at the last moment.")
    assert "Said at the last moment." in one.path.read_text()
    one.path.unlink()
    async with machine(tmp_path) as again:
        await again.until("Said at the last moment.")
        assert (await again.services.grok_rules.show()).path == str(one.path)


async def test_another_place_takes_the_file_along(tmp_path: Path):
    """The one that was kept before is removed, and dropped there is none, nor a second time."""
    async with machine(tmp_path) as one:
        await one.services.grok_rules.put(str(one.path))
        other = tmp_path.resolve() / "grok-2/rules/relay.md"
        other.parents[1].mkdir()
        await one.services.grok_rules.put(str(other))
        assert (one.path.exists(), other.exists()) == (False, True)
        assert await one.services.grok_rules.drop() == ((str(other), None, None), True)
        assert not other.exists()
        await one.decide("Nobody is told.")
        assert await one.services.grok_rules.drop() == ((None, None, None), False)
        assert (await one.services.grok_rules.show()).path is None
    assert not other.exists()


@pytest.mark.parametrize(
    "path",
    [
        "rules/relay.md",
        "/w/../rules/relay.md",
        "/w/relay.md",
        "/w//rules/relay.md",
        "//w/rules/relay.md",
        "/w/rules/relay.md\0",
        "/" + "w" * 4_096 + "/rules/relay.md",
    ],
)
async def test_a_path_that_is_none_of_grok_is_refused(tmp_path: Path, path: str):
    """It must be whole, plain, and end as Grok's has it; the refusal does not repeat it."""
    async with machine(tmp_path) as one:
        with pytest.raises(ParameterRefused) as refused:
            await one.services.grok_rules.put(path)
        assert path not in str(refused.value) or path == "rules/relay.md"
        assert (await one.services.grok_rules.show()).path is None


async def test_a_path_that_looks_like_a_credential_is_refused(tmp_path: Path):
    """What is stored passes the gate, a path too."""
    async with machine(tmp_path) as one:
        with pytest.raises(SecretRefused):
            await one.services.grok_rules.put("/w/glpat-" + "4f9a8c7d6e5b4a3f2e1d/rules/relay.md")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
