"""Links make projects, and what is removed leaves nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from relay_queue.clock import SYSTEM
from relayd.errors import LinkRefused, UnknownProject
from relayd.memory.decisions import Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.preferences import NewPreference, Preferences
from relayd.store.event_log import Happened
from relayd.store.projects import ProjectFields
from tests.integration.projects.town import NOTHING, town
from tests.unit.projects.layouts import repository, worktree


async def test_linking_makes_the_project(tmp_path: Path) -> None:
    """Once; the second repository joins it, and the feed tells of both."""
    async with town(tmp_path) as at:
        one, two = repository(at.path / "shop"), repository(at.path / "again")
        await at.directories.link(str(one), None)
        await at.directories.link(str(one), None)
        await at.directories.link(str(two), "shop")
        assert [slug for _, slug, _ in at.told()] == ["shop"] * 3
        assert [kind for kind, _, _ in at.told()] == ["project.added", "project.linked", "project.linked"]
        assert at.rows("SELECT count(*) FROM event WHERE project_id = (SELECT id FROM project)") == [(3,)]
        await at.directories.unlink(str(two))
        await at.directories.unlink(str(two))
        assert [kind for kind, _, _ in at.told()][3:] == ["project.unlinked"]
        assert (await at.catalogue.show("shop")).links[0].root == str(one)


async def test_a_directory_that_changes_its_project_tells_both(tmp_path: Path) -> None:
    """The one it leaves, and the one it comes to."""
    async with town(tmp_path) as at:
        shop = repository(at.path / "shop")
        await at.directories.link(str(shop), "shop")
        await at.directories.link(str(shop), "till")
        assert [(kind, slug) for kind, slug, _ in at.told()][2:] == [
            ("project.added", "till"),
            ("project.unlinked", "shop"),
            ("project.linked", "till"),
        ]


async def test_a_root_is_a_link(tmp_path: Path) -> None:
    """Of the whole repository, from any worktree; one that is no directory leaves nothing behind."""
    async with town(tmp_path) as at:
        shop = repository(at.path / "shop")
        tree = worktree(shop / ".git", at.path / "fix-41")
        with pytest.raises(LinkRefused):
            await at.catalogue.add("shop", NOTHING, roots=[str(tree), str(at.path / "missing")])
        assert await at.store.projects.all() == []
        made = await at.catalogue.add("shop", NOTHING, roots=[str(tree)])
        assert [link.root for link in made.links] == [str(shop)]
        assert not (shop / ".relay").exists()
        assert await at.directories.project_of(str(tree), None) == "shop"
        more = repository(at.path / "more")
        (more / "src").mkdir()
        changed = await at.catalogue.change("shop", NOTHING, roots=[str(more), str(more / "src")])
        assert len(changed.links) == 2
        assert [kind for kind, _, _ in at.told()] == ["project.added", "project.linked", "project.linked"]
        assert (await at.directories.unlink(str(tree))).project == "shop"


async def test_a_removed_project_leaves_nothing_to_its_successor(tmp_path: Path) -> None:
    """Rows, names, links and what was indexed are gone; its events are nobody's; a number is never used twice."""
    async with town(tmp_path) as at:
        shop = repository(at.path / "shop")
        await at.catalogue.add("shop", ProjectFields(summary="Sells tea."), roots=[str(shop)])
        await at.catalogue.alias("shop", "webshop")
        await at.make("till")
        await at.decide("shop", "D1")
        await at.decide("shop", "D2", superseded_by="D1", superseded_at_ms=2, ended_ms=2)
        await at.decide("till", "D3")
        old = await at.catalogue.named("shop")
        project, removed = await at.catalogue.remove("webshop")
        assert (project.id, removed) == (old.id, {"decisions": 2, "preferences": 0, "aliases": 1, "links": 1})
        assert at.rows("SELECT id FROM decision") == [("D3",)]
        assert at.shelf.entries == {}
        assert await at.directories.all() == []
        assert at.rows("SELECT name FROM upkeep") == [("purge",)]
        for name in ("shop", "webshop"):
            with pytest.raises(UnknownProject):
                await at.catalogue.named(name)
        await at.make("shop")
        new = await at.catalogue.show("shop")
        assert new.project.id > old.id
        assert (new.counts.decisions, new.aliases, new.links, new.project.summary) == (0, [], [], None)
        assert at.rows("SELECT kind FROM event WHERE project_id = ?", new.project.id) == [("project.added",)]
        assert at.rows("SELECT count(*) FROM event WHERE project_id = ?", old.id) == [(0,)]


async def test_projects_with_events_of_one_key_can_be_removed(tmp_path: Path) -> None:
    """The events of both stay, though neither has a project that tells it from the other any more."""
    async with town(tmp_path) as at:
        await at.make("shop", "till")
        now_ms = SYSTEM.wall_ms()
        for name in (None, "shop", "till"):
            number = None if name is None else (await at.catalogue.named(name)).id
            event = Happened(
                kind="deploy.done",
                at_ms=now_ms,
                received_at_ms=now_ms,
                actor="ana",
                project_id=number,
                dedupe_key="1.4.2",
            )
            assert (await at.store.feed.add(event)).created
        await at.catalogue.remove("shop")
        await at.catalogue.remove("till")
        assert not (await at.store.feed.add(msgspec.structs.replace(event, project_id=None))).created
        assert at.rows("SELECT count(*) FROM event WHERE kind = 'deploy.done' AND project_id IS NULL") == [
            (3,)
        ]


async def test_the_newest_project_gives_its_number_to_nobody(tmp_path: Path) -> None:
    """Also if it is removed before the next one is made."""
    async with town(tmp_path) as at:
        await at.make("shop")
        old = await at.catalogue.named("shop")
        await at.catalogue.remove("shop")
        await at.make("till")
        assert (await at.catalogue.named("till")).id > old.id


async def test_nothing_is_written_for_a_project_that_was_just_removed(tmp_path: Path) -> None:
    """Whoever looked it up before hears what everybody hears later, and nothing is left behind."""
    async with town(tmp_path) as at:
        await at.make("shop")
        gone, gate = await at.catalogue.named("shop"), Gate(at.home.secret_patterns)
        await at.catalogue.remove("shop")
        before, now_ms = at.rows("SELECT count(*) FROM event"), SYSTEM.wall_ms()
        event = Happened(
            kind="a.b", at_ms=now_ms, received_at_ms=now_ms, actor="ana", project_id=gone.id, project="shop"
        )
        with pytest.raises(UnknownProject):
            await Decisions(at.store.decisions, gate).decide(NewDecision("Sell tea."), gone)
        with pytest.raises(UnknownProject):
            await Preferences(at.store.preferences, gate).set(NewPreference("tea", "green", "project"), gone)
        with pytest.raises(UnknownProject):
            await at.store.feed.add(event)
        assert at.rows("SELECT count(*) FROM event") == before
