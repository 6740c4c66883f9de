"""Which project a directory belongs to, asked of a real store and a real disk."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from relayd.errors import LinkRefused, ParameterRefused, ProjectNeeded
from relayd.home import Home, furnish, prepare
from relayd.projects.directory import Directories
from relayd.store import open_store
from tests.unit.projects.layouts import git_dir, pointer, repository, worktree

TEMPORARY = "/tmp"  # noqa: S108 -- named, not used
SHOP = "git@github.com:acme/shop.git"


class Ground(NamedTuple):
    """A place to make directories in, and who knows their projects."""

    path: Path
    directories: Directories

    async def of(self, directory: Path | str | None, root: Path | str | None = None) -> str | None:
        """Ask for the project of a directory."""
        asked = [path if path is None else str(path) for path in (directory, root)]
        return await self.directories.project_of(*asked)

    async def link(self, directory: Path, project: str | None = None) -> str:
        """Link a directory; the project."""
        return (await self.directories.link(str(directory), project)).project


@asynccontextmanager
async def ground(path: Path, **how: float) -> AsyncGenerator[Ground]:
    """Open a store of its own for the length of a block."""
    home = Home(path / "relay-home")
    prepare(home)
    furnish(home)
    (path / "w").mkdir()
    async with open_store(home) as store:
        yield Ground((path / "w").resolve(), Directories(store.links, **how))


async def test_a_linked_repository_is_one_project_in_all_its_worktrees(tmp_path: Path) -> None:
    """Any directory in it, its worktrees wherever they lie, and any spelling of them."""
    async with ground(tmp_path) as at:
        shop = repository(at.path / "shop")
        (shop / "src").mkdir()
        trees = [worktree(shop / ".git", at.path / name) for name in ("fix-41", "codex/1a4b/shop")]
        (at.path / "alias").symlink_to(shop)
        assert await at.of(shop) is None
        assert await at.link(shop / "src") == "shop"
        for place in (shop, shop / "src", *trees, at.path / "alias", at.path / "alias/src"):
            assert await at.of(place) == "shop", place
        assert await at.of(at.path) is None
        assert await at.of(f"{at.path}/shopping") is None


async def test_linking_from_a_worktree_links_the_main_root(tmp_path: Path) -> None:
    """The link is the repository's, named after its main root."""
    async with ground(tmp_path) as at:
        shop = repository(at.path / "shop")
        linked = await at.directories.link(str(worktree(shop / ".git", at.path / "fix-41")), None)
        assert (linked.root, linked.project) == (str(shop), "shop")


async def test_what_is_gone_is_known_by_its_name(tmp_path: Path) -> None:
    """A deleted worktree by the root that came with it, a deleted repository by its path."""
    async with ground(tmp_path) as at:
        shop = repository(at.path / "shop")
        tree = worktree(shop / ".git", at.path / "fix-41")
        await at.link(shop)
        shutil.rmtree(tree)
        assert await at.of(tree) is None
        assert await at.of(tree, shop) == "shop"
        shutil.rmtree(shop)
        assert await at.of(shop / "src", None) == await at.of(None, shop) == "shop"


async def test_a_second_clone_is_known_by_its_remote(tmp_path: Path) -> None:
    """However its URL is spelled; not if that is the remote of two projects, nor if it is a local path."""
    async with ground(tmp_path) as at:
        await at.link(repository(at.path / "shop", origin=SHOP))
        clone = repository(at.path / "again", origin="https://github.com/acme/shop")
        local = repository(at.path / "local", origin=str(at.path / "shop"))
        assert await at.of(clone) == "shop"
        assert await at.of(local) is None
        assert await at.link(clone) == "shop"
        await at.link(repository(at.path / "third", origin=SHOP), "other")
        assert await at.of(repository(at.path / "fourth", origin=SHOP)) is None


async def test_the_rules_of_a_clone_open_nothing(tmp_path: Path) -> None:
    """A repository that says it is a project is not, before it is linked on this machine."""
    async with ground(tmp_path) as at:
        await at.link(repository(at.path / "shop"))
        clone = repository(at.path / "evil")
        (clone / ".relay").mkdir()
        (clone / ".relay/rules.json").write_text('{"version": 1, "project": "shop"}\n')
        assert await at.of(clone, clone) is None
        with pytest.raises(ProjectNeeded, match="belongs to another repository"):
            await at.link(clone)
        assert await at.of(clone, clone) is None


async def test_the_nearest_link_wins(tmp_path: Path) -> None:
    """A directory below another is its own project; a repository in a linked directory counts by what it is."""
    async with ground(tmp_path) as at:
        dev = at.path / "dev"
        (dev / "notes/old").mkdir(parents=True)
        shop = repository(at.path / "shop", origin=SHOP)
        inner = worktree(shop / ".git", dev / "fix-41")
        unknown = repository(dev / "unknown")
        assert await at.link(dev) == "dev"
        assert await at.link(dev / "notes") == "notes"
        assert await at.link(shop) == "shop"
        assert await at.of(dev / "notes/old") == "notes"
        assert await at.of(inner) == "shop"
        assert await at.of(repository(dev / "clone", origin=SHOP)) == "shop"
        assert await at.of(unknown) == "dev"


async def test_a_submodule_is_linked_by_itself(tmp_path: Path) -> None:
    """Linked, it is its own project inside the other's."""
    async with ground(tmp_path) as at:
        outer = repository(at.path / "shop")
        git_dir(outer / ".git/modules/lib")
        lib = pointer(outer / "lib", "../.git/modules/lib")
        assert [await at.link(outer), await at.link(lib)] == ["shop", "lib"]
        assert [await at.of(outer), await at.of(lib)] == ["shop", "lib"]


async def test_places_that_are_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/`, the home and the directory for temporary files are not linked and in none; what lies below may be."""
    async with ground(tmp_path) as at:
        home = repository(at.path / "home", origin=SHOP)
        monkeypatch.setenv("HOME", str(home))
        for place in ("/", TEMPORARY, str(home), f"{home}/../home"):
            with pytest.raises(LinkRefused, match="no project"):
                await at.link(Path(place))
        assert await at.link(at.path) == "w"
        assert [await at.of(home), await at.of("/"), await at.of(TEMPORARY)] == [None, None, None]
        (home / "dev").mkdir()
        await at.link(repository(at.path / "dotfiles", origin=SHOP), "dotfiles")
        assert (
            await at.of(home / "dev") == "w"
        )  # the repository that the home is says nothing of what is in it


@pytest.mark.parametrize("path", ["", "relative", "~/shop", "/a\0b", "/" + "x" * 5000, "/\udcff"])
async def test_odd_paths_are_in_no_project(tmp_path: Path, path: str) -> None:
    """They are asked for without harm, and not linked."""
    async with ground(tmp_path) as at:
        await at.link(repository(at.path / "shop"))
        assert await at.of(path, path) is None
        assert await at.of(None, None) is None
        with pytest.raises(LinkRefused):
            await at.directories.link(path, "shop")


async def test_a_project_is_named_by_rules_links_or_directory(tmp_path: Path) -> None:
    """In this order; a name that cannot be made is asked for, and a wrong one refused."""
    async with ground(tmp_path) as at:
        shop = repository(at.path / "Shop No 1")
        assert await at.link(shop) == "shop-no-1"
        assert await at.link(shop, "till") == "till"
        assert await at.link(shop) == "till"
        (shop / ".relay").mkdir()
        rules = shop / ".relay/rules.json"
        rules.write_text('{"version": 1, "project": "counter"}')
        assert await at.link(shop) == "counter"
        for odd in ("", "[]", '{"version": 2, "project": "x"}', '{"version": 1, "project": "X"}', "[" * 9000):
            rules.write_text(odd)
            assert await at.link(shop) == "counter"
        with pytest.raises(ProjectNeeded, match="named after"):
            await at.link(repository(at.path / "магазин"))
        with pytest.raises(ParameterRefused, match="letters a to z"):
            await at.link(shop, "Shop")


async def test_two_repositories_of_one_name_are_two_projects(tmp_path: Path) -> None:
    """The second one has to be named; named alike, it joins."""
    async with ground(tmp_path) as at:
        one, two = repository(at.path / "a/api"), repository(at.path / "b/api")
        assert await at.link(one) == "api"
        with pytest.raises(ProjectNeeded):
            await at.link(two)
        assert await at.of(two) is None
        assert await at.link(two, "api") == "api"
        assert await at.link(two) == "api"


async def test_unlinking_takes_any_directory_of_the_repository(tmp_path: Path) -> None:
    """From a worktree, or by the path of what is gone; the second time there is nothing to take."""
    async with ground(tmp_path) as at:
        shop = repository(at.path / "shop")
        tree = worktree(shop / ".git", at.path / "fix-41")
        await at.link(shop)
        assert await at.directories.unlink(str(tree)) == (str(shop), "shop", True)
        assert await at.directories.unlink(str(tree)) == (str(shop), None, False)
        await at.link(shop)
        shutil.rmtree(shop)
        assert await at.directories.unlink(str(shop)) == (str(shop), "shop", True)


async def test_a_directory_that_hangs_is_known_by_its_name_only(tmp_path: Path) -> None:
    """When no look at the disk comes back in time, the names still tell what they can."""
    async with ground(tmp_path, look_timeout_s=0.05) as at:
        await at.link(repository(at.path / "shop"), "shop")
        threads = at.directories._threads
        holders = [object() for _ in range(int(threads.total_tokens))]
        for holder in holders:
            await threads.acquire_on_behalf_of(holder)
        with anyio.fail_after(30):
            assert await at.of(at.path / "shop/src") == "shop"
            assert await at.of(at.path / "elsewhere") is None
        for holder in holders:
            threads.release_on_behalf_of(holder)
