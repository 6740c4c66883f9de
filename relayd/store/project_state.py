"""Projects, their names and the directories linked to them, as they stood after one change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import Connection

import msgspec

from relayd.store.index import Entry
from relayd.store.rows import Link

__all__ = (
    "Counts",
    "NewLink",
    "Project",
    "ProjectFields",
    "State",
    "id_of",
    "read_state",
    "slug_of",
    "summary_entry",
)


class Project(msgspec.Struct, frozen=True, array_like=True):
    """One project, in the column order of `projects`.

    Args:
        id: Never used twice; slugs may change.
        repo: Such as `owner/name`, as the user wrote it.
        priority: 1 is the highest, 5 the lowest.
        summary: At most 2,000 tokens.
        created_at_ms: Wall clock, Unix milliseconds, as is `changed_at_ms`.
    """

    id: int
    slug: str
    repo: str | None
    stack: str | None
    check_command: str | None
    priority: int
    summary: str | None
    created_at_ms: int
    changed_at_ms: int


def id_of(project: Project | None) -> int | None:
    """Give the number of a project; None stands for all projects, here and there."""
    return None if project is None else project.id


def slug_of(project: Project | None) -> str | None:
    """Give the slug of a project, likewise."""
    return None if project is None else project.slug


class Counts(msgspec.Struct, frozen=True, array_like=True):
    """What a project has of its own, in the column order of `project_counts`.

    Args:
        current: Decisions that hold now.
        decisions: All of them, the history included.
        preferences: Those that hold now.
    """

    project_id: int
    current: int
    decisions: int
    preferences: int


class ProjectFields(msgspec.Struct, frozen=True, omit_defaults=True):
    """What can be said of a project; a field that is not given stays as it is, or as a new one has it."""

    repo: str | msgspec.UnsetType | None = msgspec.UNSET
    stack: str | msgspec.UnsetType | None = msgspec.UNSET
    check_command: str | msgspec.UnsetType | None = msgspec.UNSET
    priority: int | msgspec.UnsetType = msgspec.UNSET
    summary: str | msgspec.UnsetType | None = msgspec.UNSET

    def given(self) -> dict[str, object]:
        """Name what is given, with its values."""
        return {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(self, name)) is not msgspec.UNSET
        }


class NewLink(msgspec.Struct, frozen=True):
    """A directory to be linked; the fields are as in `Link`."""

    root: str
    git_common_dir: str | None
    remote: str | None


class State:
    """Projects, names and links as they stood after one change; never altered.

    Args:
        version: Grows with every change.

    Attributes:
        projects: By slug.
        links: By directory.
    """

    def __init__(
        self, version: int, projects: Sequence[Project], aliases: Mapping[str, int], links: Sequence[Link]
    ) -> None:
        self.version = version
        self.projects = tuple(projects)
        self.links = tuple(links)
        self._by_id = {project.id: project for project in projects}
        self._by_root = {link.root: link for link in links}
        self._aliases = dict(aliases)
        self._by_name = {alias: self._by_id[number] for alias, number in aliases.items()}
        self._by_name.update((project.slug, project) for project in projects)

    def named(self, name: str) -> Project | None:
        """Find a project by slug or alias, exactly."""
        return self._by_name.get(name)

    def of_id(self, project_id: int) -> Project | None:
        """Find a project by its number."""
        return self._by_id.get(project_id)

    def names(self) -> dict[str, str]:
        """Give every name, and the slug it stands for."""
        return {name: project.slug for name, project in self._by_name.items()}

    def aliases(self, project_id: int) -> list[str]:
        """List the further names of a project."""
        return sorted(alias for alias, number in self._aliases.items() if number == project_id)

    def link(self, root: str) -> Link | None:
        """Find the link of exactly this directory."""
        return self._by_root.get(root)

    def links_of(self, slug: str) -> list[Link]:
        """List the directories that are linked to a project."""
        return [link for link in self.links if link.project == slug]


def summary_entry(project: Project) -> Entry | None:
    """Say how a project's summary is found; None if it has none."""
    if project.summary is None:
        return None
    at_ms = project.changed_at_ms
    return Entry("summary", project.slug, project.id, None, project.summary, at_ms, None, at_ms, None, None)


def read_state(connection: Connection, queries: Mapping[str, str], version: int) -> State:
    """Read everything; only in the writer's thread, so that it is in one place of the order of changes."""
    projects = connection.execute(queries["projects"]).fetchall()
    aliases = connection.execute(queries["project_aliases"]).fetchall()
    links = connection.execute(queries["links"]).fetchall()
    return State(
        version, msgspec.convert(projects, list[Project]), dict(aliases), msgspec.convert(links, list[Link])
    )
