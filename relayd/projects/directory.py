"""Directories and projects: which belongs to which, and how that is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread

from relayd.errors import LinkRefused, ParameterRefused, ProjectNeeded
from relayd.places import default_actor
from relayd.projects.place import Place, look_at, no_projects, project_at, upwards
from relayd.projects.rules_file import slug_in
from relayd.projects.slug import RULE, is_slug, slug_from
from relayd.store.links import Links
from relayd.store.project_state import NewLink, State
from relayd.store.rows import Link

__all__ = ("Directories", "Linked", "Unlinked")

T = TypeVar("T")

_THREADS = 4
_LOOK_TIMEOUT_S = 2.0
_MAX_PATH_CHARS = 4096


class Linked(NamedTuple):
    """A directory that is linked now.

    Args:
        created: It was not linked before.
        changed: Anything was written for it.
        former: The project it was linked to before; None if it was not linked.
    """

    root: str
    project: str
    git_common_dir: str | None
    remote: str | None
    created: bool
    changed: bool
    former: str | None


class Unlinked(NamedTuple):
    """A directory that is not linked now.

    Args:
        project: What it was linked to; None if it was not.
    """

    root: str
    project: str | None
    removed: bool


class Directories:
    """The linked directories, asked by paths in any spelling. The disk is read in threads of its own.

    Args:
        links: Where links are kept.
        look_timeout_s: How long a file system may take; one that hangs must not hold up what hooks bring.
    """

    def __init__(self, links: Links, *, look_timeout_s: float = _LOOK_TIMEOUT_S) -> None:
        self._links = links
        self._look_timeout_s = look_timeout_s
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._one_at_a_time = anyio.Lock()

    async def project_of(self, directory: str | None, root: str | None) -> str | None:
        """Find the project in which something happened; None if nothing that is linked holds it.

        Args:
            directory: Where it happened; may be gone by now.
            root: The directory whose rules sent it here; asked if the first one tells nothing.

        Source: docs/projects.md, "Which directories are one project".
        """
        links = await self._links.all()
        paths = [path for path in (directory, root) if path and path.startswith("/")]
        if not links or not paths:
            return None
        linked = next((link.project for link in links if link.root == paths[0]), None)
        # agents mostly work there; the way to the disk and back is what a prompt would wait for
        if linked is not None:
            return linked
        places, none = await self._look(paths)
        return next(filter(None, (project_at(place, links, none) for place in places)), None)

    async def meant_by(self, directory: str) -> str | None:
        """Find the project that someone in a directory means; None if nothing there tells one.

        The rules files at and above it count as links do, and before a link of the same directory, if they name a
        project that is there, by slug or alias.

        Raises:
            ParameterRefused: The path is not absolute.

        Source: docs/projects.md, "Which project a command is about".
        """
        if not directory.startswith("/") or "\0" in directory or len(directory) > _MAX_PATH_CHARS:
            raise ParameterRefused(
                "directory", f"must be an absolute path of at most {_MAX_PATH_CHARS} characters"
            )
        place, rules, none = await self._look_for_rules(directory)
        state = await self._links.state()
        named = [(root, state.named(name)) for root, name in rules]
        said = [Link(root, project.slug, None, None, 0) for root, project in named if project is not None]
        return project_at(place, [*said, *state.links], none)

    async def survey(self, directory: str) -> NewLink:
        """Look at a directory that is to be linked; its repository is what will be.

        Raises:
            LinkRefused: It is no directory that could be a project.
        """
        place, _ = await self._in_thread(lambda: _survey(directory))
        return NewLink(place.root, place.common_dir, place.remote)

    async def link(self, directory: str, project: str | None) -> Linked:
        """Link a directory, or its repository, to a project.

        Args:
            directory: Absolute; of a repository, any directory in any of its worktrees.
            project: A slug or an alias; a project that is not there is made. None takes what the rules there say,
                else what the repository is linked to already, else the directory's name.

        Raises:
            LinkRefused: It is no directory that could be a project.
            ProjectNeeded: No name was given, and none that would be right could be found.
            ParameterRefused: `project` is no slug.
        """
        if project is not None and not is_slug(project):
            raise ParameterRefused("project", RULE)
        place, hint = await self._in_thread(lambda: _survey(directory))
        async with self._one_at_a_time:
            state = await self._links.state()
            project = _slug(state, project) if project else _derived(place, hint, state)
            former = state.link(place.root)
            changed = await self._links.put(
                place.root,
                project,
                git_common_dir=place.common_dir,
                remote=place.remote,
                actor=default_actor(),
            )
        return Linked(
            place.root,
            project,
            place.common_dir,
            place.remote,
            created=former is None,
            changed=changed,
            former=None if former is None else former.project,
        )

    async def unlink(self, directory: str) -> Unlinked:
        """Forget the link of a directory or its repository; the directory may be gone.

        Raises:
            LinkRefused: The path is not absolute.
        """
        _check_absolute(directory)
        (place,), _ = await self._look([directory])
        for root in place.candidates:
            if dropped := await self._links.drop(root, actor=default_actor()):
                return Unlinked(root, dropped.project, removed=True)
        return Unlinked(place.root, None, removed=False)

    async def all(self) -> list[Link]:
        """List every linked directory, by path."""
        return await self._links.all()

    async def _look(self, paths: Sequence[str]) -> tuple[list[Place], frozenset[str]]:
        """Look at paths; where a file system hangs, what the names alone tell must do."""
        with anyio.move_on_after(self._look_timeout_s):
            return await self._in_thread(lambda: ([look_at(path) for path in paths], no_projects()))
        return [Place(path) for path in paths], frozenset("/")

    async def _look_for_rules(
        self, directory: str
    ) -> tuple[Place, Sequence[tuple[str, str]], frozenset[str]]:
        """Look at a path, and for rules files at and above it; each with its directory and the name in it."""
        with anyio.move_on_after(self._look_timeout_s):
            return await self._in_thread(lambda: _places_with_rules(directory))
        return Place(directory), (), frozenset("/")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)


def _check_absolute(directory: str) -> None:
    if not directory.startswith("/") or "\0" in directory:
        raise LinkRefused("relative")


def _places_with_rules(directory: str) -> tuple[Place, Sequence[tuple[str, str]], frozenset[str]]:
    place, none = look_at(directory), no_projects()
    named = [(root, slug_in(root)) for root in upwards(place.path) if root not in none]
    return place, [(root, name) for root, name in named if name is not None], none


def _survey(directory: str) -> tuple[Place, str | None]:
    """Look at what is to be linked: the place, and the project that the rules there name."""
    _check_absolute(directory)
    place = look_at(directory)
    if not os.path.isdir(place.path):
        raise LinkRefused("no_directory")
    if place.root in no_projects():
        raise LinkRefused("no_project")
    try:
        f"{place.root}{place.repository}".encode()
    except UnicodeEncodeError:
        raise LinkRefused("not_utf8") from None
    return place, slug_in(place.root)


def _derived(place: Place, hint: str | None, state: State) -> str:
    """Find a name for a place that was given none."""
    own = {link.project for link in state.links if _is_of(link, place)}
    known = own.pop() if len(own) == 1 else None
    name = hint or known or slug_from(os.path.basename(place.root))
    if name is None:
        raise ProjectNeeded("no_name")
    project = _slug(state, name)
    holders = state.links_of(project)
    if holders and not any(_is_of(link, place) for link in holders):
        raise ProjectNeeded("taken")
    return project


def _slug(state: State, name: str) -> str:
    """Give the slug of the project that has a name; the name itself if none has it yet."""
    project = state.named(name)
    return name if project is None else project.slug


def _is_of(link: Link, place: Place) -> bool:
    """Tell whether a link is of the repository that a place is in."""
    return (
        link.root == place.root
        or (link.git_common_dir is not None and link.git_common_dir == place.common_dir)
        or (link.remote is not None and link.remote == place.remote)
    )
