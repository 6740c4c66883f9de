"""Where hooks of a project deliver to once it has another name."""

from __future__ import annotations

from pathlib import Path

from tests.integration.hooks.hooked import hooked, prompt


async def test_a_rename_opens_a_queue_of_the_new_name(tmp_path: Path) -> None:
    """New sessions go to it, old ones stay where they began; all of it is one project's feed."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1, "old"), shop)
        await hooks.services.projects.rename("shop", "store")
        await hooks.taken(prompt(2, "new"), shop)
        await hooks.taken(prompt(3, "old"), shop)
        assert await hooks.queues() == ["p-shop.1", "p-store.1"]
        await hooks.fed("p-shop.1", "p-store.1")
        project = await hooks.services.projects.named("store")
        of_hooks = await hooks.services.store.access.ask(
            "SELECT project, project_id FROM event WHERE kind = 'hook' ORDER BY id",
            tuple[str, int | None],
            {},
        )
        assert sorted(of_hooks) == [("shop", project.id), ("shop", project.id), ("store", project.id)]
        shown = (await hooks.http.get("/v1/projects/shop")).json()
        assert (shown["slug"], shown["queue"]) == ("store", "p-store.1")


async def test_a_rename_back_goes_on_with_the_queue_of_that_name(tmp_path: Path) -> None:
    """It is bound to what is wanted, so that nothing is opened."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1, "one"), shop)
        await hooks.services.projects.rename("shop", "store")
        await hooks.services.projects.rename("store", "shop")
        await hooks.taken(prompt(2, "two"), shop)
        assert await hooks.queues() == ["p-shop.1"]


async def test_hooks_of_a_removed_project_capture_nothing(tmp_path: Path) -> None:
    """What they captured stays in the feed, and belongs to no project, whatever its successor is called."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        await hooks.taken(prompt(1), shop)
        await hooks.fed("p-shop.1")
        gone = await hooks.http.delete("/v1/projects/shop")
        assert gone.json() == {
            "project": "shop",
            "removed": {"decisions": 0, "preferences": 0, "aliases": 0, "links": 1},
            "finished": True,
            "copies": [],
        }
        await hooks.taken(prompt(2), shop)
        assert (await hooks.http.post("/v1/projects", json={"slug": "shop"})).status_code == 201
        owned = await hooks.services.store.access.ask(
            "SELECT project_id FROM event WHERE kind = 'hook'", tuple[int | None], {}
        )
        assert owned == [(None,)]
