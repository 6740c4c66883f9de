"""Which project a command is about, asked of a real store and a real disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from relayd.errors import ParameterRefused, ScopeNeeded, UnknownProject
from tests.integration.projects.town import Town, town
from tests.unit.projects.layouts import git_dir, pointer, repository, worktree

SHOP = "git@github.com:acme/shop.git"


def rules(root: Path, project: str) -> Path:
    """Have a directory say which project it is."""
    (root / ".relay").mkdir(parents=True, exist_ok=True)
    (root / ".relay/rules.json").write_text(json.dumps({"version": 1, "project": project}))
    return root


async def linked(at: Town, directory: Path, project: str) -> Path:
    """Register a directory."""
    await at.directories.link(str(directory), project)
    return directory


async def test_who_names_a_project_means_that_one(tmp_path: Path) -> None:
    """By slug or alias, wherever they are; one that is not there is never replaced by that of the directory."""
    async with town(tmp_path) as at:
        shop = str(await linked(at, repository(at.path / "shop"), "shop"))
        await at.make("till")
        await at.catalogue.alias("till", "counter")
        for name in ("till", "counter"):
            assert (await at.catalogue.need(name, shop)).slug == "till"
        with pytest.raises(UnknownProject):
            await at.catalogue.scope("Shop", shop)
        assert (await at.catalogue.need(None, shop)).slug == "shop"


async def test_nothing_that_tells_a_project_is_none(tmp_path: Path) -> None:
    """Who reads gets what belongs to all; who writes is asked to name one."""
    async with town(tmp_path) as at:
        await at.make("shop")
        stranger = repository(at.path / "shop", origin=SHOP)
        for directory in (None, str(stranger), str(at.path)):
            assert await at.catalogue.scope(None, directory) is None
            with pytest.raises(ScopeNeeded):
                await at.catalogue.need(None, directory)


async def test_worktrees_are_one_project(tmp_path: Path) -> None:
    """Those beside it, and those that an agent keeps in its own directory."""
    async with town(tmp_path) as at:
        shop = await linked(at, repository(at.path / "shop"), "shop")
        for name in ("fix-41", ".codex/worktrees/1a4b/shop"):
            (at.path / name).parent.mkdir(parents=True, exist_ok=True)
            tree = worktree(shop / ".git", at.path / name)
            (tree / "src").mkdir()
            assert [await at.scope(tree), await at.scope(tree / "src")] == ["shop", "shop"]


async def test_layouts_of_git(tmp_path: Path) -> None:
    """A relative pointer, a bare repository and its worktree, and a submodule, which is no part of what is around it."""
    async with town(tmp_path) as at:
        shop = await linked(at, repository(at.path / "shop"), "shop")
        near = worktree(shop / ".git", at.path / "near", to="../shop/.git/worktrees/near")
        assert await at.scope(near) == "shop"
        bare = await linked(at, git_dir(at.path / "bare.git"), "bare")
        assert [await at.scope(bare), await at.scope(worktree(bare, at.path / "tree"))] == ["bare", "bare"]
        git_dir(shop / ".git/modules/lib")
        lib = pointer(shop / "lib", "../.git/modules/lib")
        assert await at.scope(await linked(at, lib, "lib")) == "lib"
        assert await at.scope(shop / "src") == "shop"


async def test_the_rules_of_a_repository_name_its_project(tmp_path: Path) -> None:
    """From anywhere in it, by slug or alias, before what is linked; not if no project has the name."""
    async with town(tmp_path) as at:
        await at.make("till", "shop")
        await at.catalogue.alias("till", "counter")
        clone = rules(repository(at.path / "clone"), "till")
        (clone / "src").mkdir()
        assert [await at.scope(clone), await at.scope(clone / "src")] == ["till", "till"]
        assert await at.scope(rules(clone, "counter") / "src") == "till"
        assert await at.scope(rules(clone, "Till")) is None
        assert await at.scope(rules(clone, "unknown")) is None
        await linked(at, clone, "shop")
        assert await at.scope(clone) == "shop"
        assert await at.scope(rules(clone, "till")) == "till"
        assert (
            await at.directories.project_of(str(clone), None) == "shop"
        )  # of hooks, only what was linked counts


async def test_a_renamed_project_is_found_by_old_rules(tmp_path: Path) -> None:
    """They were committed under the old name; linking by them joins the project too."""
    async with town(tmp_path) as at:
        shop = rules(repository(at.path / "shop"), "shop")
        await at.directories.link(str(shop), None)
        await at.catalogue.rename("shop", "store")
        assert await at.scope(shop) == "store"
        assert (await at.directories.link(str(shop), None)).project == "store"
        assert [one.slug for one in await at.store.projects.all()] == ["store"]
        with_old_name = await at.directories.link(str(repository(at.path / "other")), "shop")
        assert with_old_name.project == "store"


async def test_the_nearest_counts(tmp_path: Path) -> None:
    """A link below the directory with the rules, and a repository in it that is known by itself."""
    async with town(tmp_path) as at:
        dev = at.path / "dev"
        (dev / "notes").mkdir(parents=True)
        await at.make("dev")
        rules(dev, "dev")
        await linked(at, dev / "notes", "notes")
        await linked(at, repository(at.path / "shop", origin=SHOP), "shop")
        assert await at.scope(dev) == "dev"
        assert await at.scope(dev / "notes") == "notes"
        assert await at.scope(repository(dev / "clone", origin=SHOP)) == "shop"
        assert await at.scope(repository(dev / "unknown")) == "dev"


async def test_places_that_are_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/`, the home and the directory for temporary files, whatever rules lie in them; nor do those reach below."""
    async with town(tmp_path) as at:
        await at.make("shop")
        home = rules(at.path / "home", "shop")
        temporary = rules(at.path / "temporary", "shop")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setattr("tempfile.tempdir", str(temporary))
        for place in ("/", home, temporary, home / "x", temporary / "x", f"{home}/../home"):
            assert await at.scope(place) is None, place
        assert await at.scope(rules(home / "shop", "shop")) == "shop"
        await linked(at, at.path, "around")
        assert [await at.scope(place) for place in ("/", home, temporary)] == [None, None, None]
        assert await at.scope(home / "x") == "around"


async def test_what_is_gone_and_what_is_linked_elsewhere(tmp_path: Path) -> None:
    """A deleted working directory counts by its path, a symbolic link by what it leads to."""
    async with town(tmp_path) as at:
        shop = await linked(at, repository(at.path / "shop"), "shop")
        (shop / "src").mkdir()
        (at.path / "alias").symlink_to(shop)
        assert await at.scope(at.path / "alias/src") == "shop"
        shutil.rmtree(shop)
        assert await at.scope(shop / "src") == "shop"


async def test_a_directory_is_never_known_by_its_name(tmp_path: Path) -> None:
    """Another repository of the same name is another one."""
    async with town(tmp_path) as at:
        await linked(at, repository(at.path / "a/api"), "api")
        assert await at.scope(repository(at.path / "b/api")) is None
        assert await at.scope(repository(at.path / "a/api-gateway")) is None


@pytest.mark.parametrize("path", ["", "relative", "~/shop", "/a\0b", "/" + "x/" * 4096])
async def test_a_directory_is_an_absolute_path(tmp_path: Path, path: str) -> None:
    """Anything else is refused, since the daemon has another working directory."""
    async with town(tmp_path) as at:
        with pytest.raises(ParameterRefused):
            await at.catalogue.scope(None, path)


@pytest.mark.parametrize("path", ["//", "//x", "/..", "/\udcff", "/" + "x" * 4000, "/x/" * 1000])
async def test_odd_directories_are_in_no_project(tmp_path: Path, path: str) -> None:
    """They are looked at without harm."""
    async with town(tmp_path) as at:
        await linked(at, repository(at.path / "shop"), "shop")
        assert await at.catalogue.scope(None, path) is None
