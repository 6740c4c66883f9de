"""Projects and their names, in a real store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Any, cast

import anyio
import pytest

from relay_queue.clock import SYSTEM
from relayd.errors import ParameterRefused, ProjectTaken, SecretRefused, UnknownProject
from relayd.projects.fields import MAX_SUMMARY_BYTES
from relayd.store.access import Access
from relayd.store.projects import ProjectFields, Projects
from tests.integration.projects.town import NOTHING, Town, town
from tests.unit.projects.layouts import repository
from tests.waiting import eventually


async def slug_of(at: Town, name: str) -> str:
    """The slug of the project with a name."""
    return (await at.catalogue.named(name)).slug


async def meant(at: Town, name: str) -> tuple[str, ...]:
    """What is said to resemble a name that no project has."""
    with pytest.raises(UnknownProject) as refused:
        await at.catalogue.named(name)
    return refused.value.did_you_mean


async def test_a_name_is_taken_as_it_is(tmp_path: Path) -> None:
    """One project's name within another's, or one that begins like it, is another name."""
    async with town(tmp_path) as at:
        await at.make("api", "api-gateway")
        await at.catalogue.alias("api-gateway", "gateway")
        assert [await slug_of(at, name) for name in ("api", "api-gateway", "gateway")] == [
            "api",
            "api-gateway",
            "api-gateway",
        ]
        for other in ("ap", "api-", "API", "api ", "gate", "", "api-gateway-2"):
            with pytest.raises(UnknownProject):
                await at.catalogue.named(other)


async def test_an_unknown_name_is_told_what_it_resembles(tmp_path: Path) -> None:
    """Another case first, then what is close; always by slug, and each once."""
    async with town(tmp_path) as at:
        await at.make("shop", "shops", "till")
        await at.catalogue.alias("till", "counter")
        assert (await meant(at, "Shop"))[0] == "shop"
        assert set(await meant(at, "shpo")) == {"shop", "shops"}
        assert await meant(at, "COUNTER") == ("till",)
        assert await meant(at, "conter") == ("till",)
        assert await meant(at, "nothing-like-it") == ()
        assert await meant(at, "shop" * 20_000) == ()
        assert await meant(at, "магазин\ud800") == ()


async def test_names_are_given_once(tmp_path: Path) -> None:
    """A slug or an alias of a project is no name for another, and the refusal says whose it is."""
    async with town(tmp_path) as at:
        await at.make("shop", "till")
        await at.catalogue.alias("shop", "webshop")
        for attempt in (
            lambda: at.catalogue.add("shop", NOTHING),
            lambda: at.catalogue.add("webshop", NOTHING),
            lambda: at.catalogue.rename("till", "webshop"),
            lambda: at.catalogue.rename("till", "shop"),
            lambda: at.catalogue.alias("till", "shop"),
            lambda: at.catalogue.alias("till", "webshop"),
        ):
            with pytest.raises(ProjectTaken) as refused:
                await attempt()
            assert refused.value.project == "shop"
        described, made = await at.catalogue.alias("shop", "webshop")
        assert (described.aliases, made) == (["webshop"], False)
        assert not (await at.catalogue.alias("shop", "shop"))[1]


async def test_of_two_who_take_a_name_at_once_one_gets_it(tmp_path: Path) -> None:
    """What is checked is checked in the transaction that takes it."""
    async with town(tmp_path) as at:
        await at.make("one", "two")
        outcomes: list[str] = []

        async def take(name: str) -> None:
            try:
                await at.catalogue.rename(name, "shop")
            except ProjectTaken as refused:
                outcomes.append(refused.project)

        async with anyio.create_task_group() as group:
            group.start_soon(take, "one")
            group.start_soon(take, "two")
        assert outcomes == ["shop"]
        assert len(await at.store.projects.all()) == 2


async def test_a_renamed_project_is_found_by_both_names(tmp_path: Path) -> None:
    """Its links follow, in memory and on disk; its old name can be had back."""
    async with town(tmp_path) as at:
        shop = repository(at.path / "shop")
        await at.directories.link(str(shop), None)
        before = await at.catalogue.named("shop")
        await at.catalogue.rename("shop", "store")
        assert (await at.catalogue.named("store")).id == (await at.catalogue.named("shop")).id == before.id
        assert await at.directories.project_of(str(shop), None) == "store"
        assert at.rows("SELECT project FROM link") == [("store",)]
        assert (await at.catalogue.show("shop")).aliases == ["shop"]
        assert at.told()[-1] == ("project.renamed", "store", {"former": "shop"})
    async with town(tmp_path) as at:
        assert await slug_of(at, "shop") == "store"
        assert await at.directories.project_of(str(at.path / "shop"), None) == "store"
        described = await at.catalogue.rename("store", "shop")
        assert (described.project.slug, described.aliases) == ("shop", ["store"])
        await at.catalogue.rename("shop", "shop")
        assert len([kind for kind, _, _ in at.told() if kind == "project.renamed"]) == 2


async def test_an_alias_can_be_taken_away(tmp_path: Path) -> None:
    """It names nothing then and is free; the slug itself cannot be, and what is not there is no error."""
    async with town(tmp_path) as at:
        await at.make("shop")
        await at.catalogue.alias("shop", "webshop")
        described, removed = await at.catalogue.unalias("webshop", "webshop")
        assert (described.aliases, removed) == ([], True)
        assert await meant(at, "webshop") == ("shop",)
        assert not (await at.catalogue.unalias("shop", "webshop"))[1]
        with pytest.raises(ParameterRefused):
            await at.catalogue.unalias("shop", "shop")
        await at.make("webshop")
        assert [data for kind, _, data in at.told() if kind == "project.aliased"] == [
            {"alias": "webshop"},
            {"removed": "webshop"},
        ]


async def test_fields_are_set_changed_and_unset(tmp_path: Path) -> None:
    """What is not given stays, an empty text unsets; saying the same again is no change and no event."""
    async with town(tmp_path) as at:
        await at.make("shop", repo=" acme/shop ", stack="Python", priority=2, summary="A shop.\n")
        one = await at.catalogue.named("shop")
        assert (one.repo, one.stack, one.check_command, one.priority, one.summary) == (
            "acme/shop",
            "Python",
            None,
            2,
            "A shop.",
        )
        eventually(lambda: SYSTEM.wall_ms() > one.changed_at_ms)
        await at.catalogue.change("shop", ProjectFields(stack="", check_command="make check"))
        two = await at.catalogue.named("shop")
        assert (two.repo, two.stack, two.check_command, two.priority) == ("acme/shop", None, "make check", 2)
        assert two.changed_at_ms > one.changed_at_ms == one.created_at_ms == two.created_at_ms
        await at.catalogue.change("shop", ProjectFields(check_command="make check"))
        assert await at.catalogue.named("shop") == two
        assert at.told() == [
            ("project.added", "shop", {"fields": ["priority", "repo", "stack", "summary"]}),
            ("project.changed", "shop", {"fields": ["check_command", "stack"]}),
        ]
    async with town(tmp_path) as at:
        assert await at.catalogue.named("shop") == two


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("priority", 0),
        ("priority", 6),
        ("repo", "a\0b"),
        ("repo", "a\nb"),
        ("check_command", "x" * 1025),
        ("stack", "\ud800"),
        ("summary", "ж" * (MAX_SUMMARY_BYTES // 2 + 1)),
        ("summary", "\0"),
    ],
)
async def test_fields_have_rules(tmp_path: Path, field: str, value: str | int) -> None:
    """What breaks one is refused by the name of the field, and nothing is stored."""
    async with town(tmp_path) as at:
        await at.make("shop")
        with pytest.raises(ParameterRefused) as refused:
            await at.catalogue.change("shop", ProjectFields(**{field: value}))
        assert refused.value.name == field
        with pytest.raises(ParameterRefused):
            await at.catalogue.add("till", ProjectFields(**{field: value}))
        assert [one.slug for one in await at.store.projects.all()] == ["shop"]


@pytest.mark.parametrize("name", ["", "Shop", "-shop", "a b", "a/b", "x" * 65, "магазин", "shop\n"])
async def test_a_name_is_a_slug(tmp_path: Path, name: str) -> None:
    """Of a project and of an alias."""
    async with town(tmp_path) as at:
        await at.make("till")
        for attempt in (
            lambda: at.catalogue.add(name, NOTHING),
            lambda: at.catalogue.rename("till", name),
            lambda: at.catalogue.alias("till", name),
        ):
            with pytest.raises(ParameterRefused, match="1 to 64 of the letters"):
                await attempt()


async def test_a_summary_is_searched_under_the_slug(tmp_path: Path) -> None:
    """As long as there is one; after a rename under the new slug only."""
    async with town(tmp_path) as at:
        await at.make("shop", summary="Sells tea.")
        project = await at.catalogue.named("shop")
        entry = at.shelf.entries["summary", "shop"]
        assert (entry.text, entry.project_id) == ("Sells tea.", project.id)
        await at.catalogue.rename("shop", "store")
        assert set(at.shelf.entries) == {("summary", "store")}
        await at.catalogue.change("store", ProjectFields(summary="Sells coffee."))
        assert at.shelf.entries["summary", "store"].text == "Sells coffee."
        await at.catalogue.change("store", ProjectFields(summary=None))
        assert at.shelf.entries == {}


async def test_no_text_goes_into_the_feed(tmp_path: Path) -> None:
    """Only names of fields do, so that there is nothing in it to purge."""
    async with town(tmp_path) as at:
        await at.make("shop", repo="q7x", stack="q7x", check_command="q7x", summary="q7x")
        await at.catalogue.change("shop", ProjectFields(summary="q7x q7x"))
        await at.directories.link(str(repository(at.path / "q7x")), "shop")
        assert at.rows("SELECT * FROM event WHERE data LIKE '%q7x%' OR ref LIKE '%q7x%'") == []
        assert len(at.told()) == 3


async def test_what_looks_like_a_credential_is_no_field(tmp_path: Path) -> None:
    """It is refused by field, on every way to a project, and nothing is stored."""
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD2eF4hJ6"
    async with town(tmp_path) as at:
        await at.make("shop")
        for attempt, field in (
            (lambda: at.catalogue.add("till", ProjectFields(summary=f"use {key}")), "summary"),
            (
                lambda: at.catalogue.change("shop", ProjectFields(check_command=f"T={key} make")),
                "check_command",
            ),
            (lambda: at.catalogue.change("shop", NOTHING, roots=[f"/w/{key}"]), "roots"),
        ):
            with pytest.raises(SecretRefused) as refused:
                await attempt()
            assert [one.field for one in refused.value.suspects] == [field]
            assert key not in str(refused.value)
        assert [kind for kind, _, _ in at.told()] == ["project.added"]


async def test_a_caller_that_is_cancelled_leaves_no_old_picture(tmp_path: Path) -> None:
    """Its change is carried out all the same, and whoever asks afterwards sees it."""
    async with town(tmp_path) as at:
        await at.make("shop")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await at.store.projects.rename((await at.catalogue.named("shop")).id, "store", actor="ana")
        assert scope.cancelled_caught
        assert [one.slug for one in await at.store.projects.all()] == ["store"]
        await at.store.look()  # the writer has done what was handed over
        assert at.rows("SELECT slug FROM project") == [("store",)]


class _Late:
    """Reads a store whose answers to reads are heard late."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.was_read, self.may_hear = anyio.Event(), anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._access, name)

    async def maintain(self, work: Callable[[Connection], Any]) -> Any:
        found = await self._access.maintain(work)
        self.was_read.set()
        await self.may_hear.wait()
        return found


async def test_a_picture_that_is_heard_of_late_is_not_kept(tmp_path: Path) -> None:
    """Neither over a newer one, nor after a change whose caller went away: what was read before is old."""
    async with town(tmp_path) as at:
        await at.make("shop")
        number = (await at.catalogue.named("shop")).id
        for attempt, cancelled in (("webshop", False), ("counter", True)):
            late = _Late(at.store.access)
            projects = Projects(cast("Access", late))
            async with anyio.create_task_group() as group:
                group.start_soon(projects.state)
                await late.was_read.wait()
                with anyio.CancelScope() as scope:
                    if cancelled:
                        scope.cancel()
                    await projects.alias(number, attempt, actor="ana")
                late.may_hear.set()
            assert await projects.by_name(attempt) is not None


async def test_similar_projects_that_hold_something_are_told(tmp_path: Path) -> None:
    """For one that has nothing: those named alike with decisions that hold; never itself, nor one that is empty."""
    async with town(tmp_path) as at:
        await at.make("shop", "shop2", "shop3", "shops", "till")
        await at.decide("shop2", "D1")
        await at.decide("shop3", "D2", valid_to_ms=2)
        await at.decide("till", "D3")
        await at.decide("shop", "D4")
        shops, till = await at.catalogue.named("shops"), await at.catalogue.named("till")
        assert set(await at.catalogue.similar_with_items(shops)) == {"shop", "shop2"}
        assert await at.catalogue.similar_with_items(till) == []


async def test_projects_are_listed_by_priority_then_slug(tmp_path: Path) -> None:
    """With what holds now, and what ever was."""
    async with town(tmp_path) as at:
        await at.make("b", "a")
        await at.make("z", priority=1)
        await at.decide("a", "D1", "D2")
        await at.decide("a", "D3", ended_ms=2, superseded_at_ms=2)
        listed = await at.catalogue.all()
        assert [(one.project.slug, one.counts.current, one.counts.decisions) for one in listed] == [
            ("z", 0, 0),
            ("a", 2, 3),
            ("b", 0, 0),
        ]
