"""Which project is meant, by name or by the directory someone works in; and how projects are changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from relayd.errors import ParameterRefused, ScopeNeeded, UnknownProject
from relayd.memory.gate import Gate
from relayd.memory.texts import author_or_own
from relayd.projects.directory import Directories, Linked
from relayd.projects.fields import check_name, checked
from relayd.store.projects import Counts, NewLink, Project, ProjectFields, Projects
from relayd.store.rows import Link
from relayd.turns import Turns

if TYPE_CHECKING:
    from difflib import SequenceMatcher

__all__ = ("Catalogue", "Described")

_CLOSE = 5
"""So many similar names are told of at most,"""

_LEAST = 0.6
"""which resemble as much, from 0 to 1; as `difflib.get_close_matches` has it."""

_LONGEST = 128
"""What is longer resembles no name, and would take long to compare."""


class Described(NamedTuple):
    """A project with all that hangs on it.

    Args:
        links: Directories that are linked to it.
    """

    project: Project
    aliases: Sequence[str]
    links: Sequence[Link]
    counts: Counts


class Catalogue:
    """The projects of this machine, and how they are changed.

    Args:
        projects: Where they are kept.
        directories: Which directory belongs to which.
        gate: What their texts must pass.
    """

    def __init__(self, projects: Projects, directories: Directories, gate: Gate) -> None:
        self._projects = projects
        self._directories = directories
        self._gate = gate
        self._turns = Turns()

    async def named(self, name: str) -> Project:
        """Find a project by slug or alias.

        Raises:
            UnknownProject: None has this name; it says which resemble it.
        """
        state = await self._projects.state()
        project = state.named(name)
        if project is None:
            raise UnknownProject(await self._resembling(name, state.names()))
        return project

    async def scope(self, project: str | None, directory: str | None) -> Project | None:
        """Find the project that is named, else the one of a directory; None if neither tells one.

        Raises:
            UnknownProject: The one that is named is not there.
            ParameterRefused: The directory is not absolute.

        Source: docs/projects.md, "Which project a command is about".
        """
        if project is not None:
            return await self.named(project)
        if directory is None:
            return None
        slug = await self._directories.meant_by(directory)
        return None if slug is None else await self._projects.by_name(slug)

    async def need(self, project: str | None, directory: str | None) -> Project:
        """Find the project as `scope` does.

        Raises:
            UnknownProject: The one that is named is not there.
            ParameterRefused: The directory is not absolute.
            ScopeNeeded: Neither tells one.
        """
        found = await self.scope(project, directory)
        if found is None:
            raise ScopeNeeded
        return found

    async def similar_with_items(self, project: Project) -> list[str]:
        """Give the slugs of projects that are named like this one, and have decisions or preferences that hold."""
        state = await self._projects.state()
        names = state.names()
        own = [project.slug, *state.aliases(project.id)]
        close = dict.fromkeys([slug for name in own for slug in await self._resembling(name, names)])
        ids = {slug: found.id for slug in close if (found := state.named(slug)) is not None}
        if not ids:
            return []
        held = await self._projects.with_items(list(ids.values()))
        return [slug for slug, project_id in ids.items() if project_id in held]

    async def _resembling(self, name: str, names: Mapping[str, str]) -> list[str]:
        """Give the slugs of names that resemble one, the closest first; never of the project that has this name."""
        from difflib import SequenceMatcher

        if len(name) > _LONGEST:
            return []
        own = names.get(name)
        others = [one for one, slug in names.items() if slug != own]
        matcher = SequenceMatcher(b=name.casefold())
        ratios = await self._turns.map(partial(_ratio, matcher), others)
        close = nlargest(_CLOSE, zip(ratios, others, strict=True))
        return list(dict.fromkeys(names[one] for ratio, one in close if ratio))

    async def meant_instead_of(self, project: Project) -> list[str]:
        """Give what `similar_with_items` does, if this project itself has no summary and nothing that holds."""
        if project.summary is not None or await self._projects.with_items([project.id]):
            return []
        return await self.similar_with_items(project)

    async def all(self) -> list[Described]:
        """Describe every project, by priority, then slug."""
        counts = {one.project_id: one for one in await self._projects.counts()}
        state = await self._projects.state()
        projects = sorted(state.projects, key=lambda one: (one.priority, one.slug))
        return [
            Described(one, state.aliases(one.id), state.links_of(one.slug), counts.get(one.id) or _none(one))
            for one in projects
        ]

    async def show(self, name: str) -> Described:
        """Describe one project.

        Raises:
            UnknownProject: None has this name.
        """
        project = await self.named(name)
        counts = await self._projects.counts(project.id)
        state = await self._projects.state()
        project = state.of_id(project.id) or project
        found = counts[0] if counts else _none(project)
        return Described(project, state.aliases(project.id), state.links_of(project.slug), found)

    async def add(
        self, slug: str, fields: ProjectFields, *, roots: Sequence[str] = (), author: str | None = None
    ) -> Described:
        """Make a project, and link directories to it.

        Raises:
            ParameterRefused: The name or a field breaks its rule.
            LinkRefused: A directory cannot be linked.
            SecretRefused: A text looks like a credential.
            ProjectTaken: The name is in use.
        """
        check_name("slug", slug)
        actor = self._actor(author, slug=slug)
        fields, links = await self._checked(fields, roots)
        await self._projects.add(slug, fields, links, actor=actor)
        return await self.show(slug)

    async def change(
        self, name: str, fields: ProjectFields, *, roots: Sequence[str] = (), author: str | None = None
    ) -> Described:
        """Say something else of a project, and link further directories to it.

        Raises:
            UnknownProject: None has this name.
            ParameterRefused: A field breaks its rule.
            LinkRefused: A directory cannot be linked.
            SecretRefused: A text looks like a credential.
        """
        project = await self.named(name)
        actor = self._actor(author)
        fields, links = await self._checked(fields, roots)
        await self._projects.change(project.id, fields, links, actor=actor)
        return await self.show(name)

    async def rename(self, name: str, slug: str, *, author: str | None = None) -> Described:
        """Give a project another slug; the old one stays as an alias.

        Raises:
            UnknownProject: None has this name.
            ParameterRefused: The new one is no slug.
            SecretRefused: It looks like a credential.
            ProjectTaken: It is another project's.
        """
        check_name("slug", slug)
        project = await self.named(name)
        actor = self._actor(author, slug=slug)
        await self._projects.rename(project.id, slug, actor=actor)
        return await self.show(slug)

    async def alias(self, name: str, alias: str, *, author: str | None = None) -> tuple[Described, bool]:
        """Give a project a further name; whether it is new, too.

        Raises:
            UnknownProject: None has this name.
            ParameterRefused: The alias is no slug.
            SecretRefused: It looks like a credential.
            ProjectTaken: It is another project's.
        """
        check_name("alias", alias)
        project = await self.named(name)
        actor = self._actor(author, alias=alias)
        made = await self._projects.alias(project.id, alias, actor=actor)
        return await self.show(project.slug), made

    async def unalias(self, name: str, alias: str, *, author: str | None = None) -> tuple[Described, bool]:
        """Take a further name away; whether it was there, too.

        Raises:
            UnknownProject: None has this name.
            ParameterRefused: The alias is the project's slug, or no slug; or the author is no name.
            SecretRefused: The author looks like a credential.
        """
        check_name("alias", alias)
        actor = self._actor(author)
        project = await self.named(name)
        if alias == project.slug:
            raise ParameterRefused("alias", "must not be the slug itself: a rename changes that")
        removed = await self._projects.unalias(project.id, alias, actor=actor)
        return await self.show(project.slug), removed

    async def link(self, directory: str, project: str | None) -> Linked:
        """Link a directory to a project, as `Directories.link` does, once the gate has seen both.

        Raises:
            ParameterRefused, LinkRefused, ProjectNeeded: As there.
            SecretRefused: One looks like a credential.
        """
        self._gate.check([("project", project), ("directory", directory)])
        return await self._directories.link(directory, project)

    async def remove(self, name: str, *, author: str | None = None) -> tuple[Project, dict[str, int]]:
        """Remove a project with its decisions, preferences, aliases and links; how many there were, too.

        The caller finishes the purge of the file.

        Raises:
            UnknownProject: None has this name.
            ParameterRefused: The author is no name.
            SecretRefused: It looks like a credential.
        """
        actor = self._actor(author)
        project = await self.named(name)
        return project, await self._projects.remove(project.id, actor=actor)

    def _actor(self, author: str | None, **names: str) -> str:
        """Say who does it, once the author and names that are given passed the gate."""
        actor = author_or_own(author)
        self._gate.check([*names.items(), ("author", author)])
        return actor

    async def _checked(
        self, fields: ProjectFields, roots: Sequence[str]
    ) -> tuple[ProjectFields, list[NewLink]]:
        """Have all that is said pass the rules and the gate, then look at the directories."""
        fields = checked(fields)
        texts = [(name, text) for name, text in fields.given().items() if isinstance(text, str)]
        self._gate.check([*texts, *(("roots", root) for root in roots)])
        links = [await self._directories.survey(root) for root in roots]
        return fields, list(dict.fromkeys(links))  # two roots may be of one repository


def _none(project: Project) -> Counts:
    return Counts(project.id, 0, 0, 0)


def _ratio(matcher: SequenceMatcher[str], name: str) -> float:
    """Tell how much a name resembles another one; 0 if too little, which is mostly found out quickly."""
    matcher.set_seq1(name)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return matcher.ratio() if all(bound() >= _LEAST for bound in bounds) else 0.0
