"""One change of projects, their names or their links, inside a job of the writer."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

import msgspec

from relayd.errors import ProjectTaken, UnknownProject
from relayd.store.access import Access
from relayd.store.event_log import Happened
from relayd.store.index import Kind
from relayd.store.project_state import (
    NewLink,
    Project,
    ProjectFields,
    State,
    id_of,
    read_state,
    slug_of,
    summary_entry,
)
from relayd.store.rows import Link
from relayd.store.upkeep import PURGE, note

__all__ = ("ProjectChange",)

_PRIORITY = 3


class ProjectChange:
    """Reads how everything stands, changes rows and tells the feed; what it raises undoes all of it.

    Args:
        access: Whose queries, index and feed are used.
        connection: The writer's, in its transaction.
        actor: Who changes it.
        version: Of the state that is read.
    """

    def __init__(self, access: Access, connection: Connection, actor: str, version: int) -> None:
        self._access = access
        self._queries = access.queries
        self._connection = connection
        self._actor = actor
        self._at_ms = access.stamp().at_ms
        self.state: State = read_state(connection, access.queries, version)

    def add(self, slug: str, fields: ProjectFields, links: Iterable[NewLink] = ()) -> None:
        """Make a project.

        Raises:
            ProjectTaken: The name is in use.
        """
        self._check_free(slug)
        made = Project(0, slug, None, None, None, _PRIORITY, None, self._at_ms, self._at_ms)
        made = msgspec.structs.replace(made, **fields.given())
        row = self._connection.execute(self._queries["add_project"], msgspec.structs.asdict(made)).fetchone()
        made = msgspec.structs.replace(made, id=row[0])
        self._index(made)
        self._tell("project.added", made, fields=sorted(fields.given()))
        self._link_all(links, made)

    def change(self, project_id: int, fields: ProjectFields, links: Iterable[NewLink] = ()) -> None:
        """Say something else of a project; saying the same again changes nothing.

        What a field said that is unset may lie in free pages until a purge is finished, which is noted.

        Raises:
            UnknownProject: It is not there any more.
        """
        old = self._project(project_id)
        new = msgspec.structs.replace(old, **fields.given())
        if new != old:
            changed = sorted(name for name, value in fields.given().items() if getattr(old, name) != value)
            new = msgspec.structs.replace(new, changed_at_ms=self._at_ms)
            self._write(new)
            self._index(new)
            if any(getattr(new, name) is None for name in changed):
                note(self._connection, self._queries, PURGE)
            self._tell("project.changed", new, fields=changed)
        self._link_all(links, new)

    def rename(self, project_id: int, slug: str) -> None:
        """Give a project another slug; the old one becomes an alias, and its links follow.

        Raises:
            UnknownProject: It is not there any more.
            ProjectTaken: The name is another project's.
        """
        old = self._project(project_id)
        if slug == old.slug:
            return
        self._check_free(slug, but=project_id)
        new = msgspec.structs.replace(old, slug=slug, changed_at_ms=self._at_ms)
        self._run("drop_project_alias", alias=slug)  # back to a former name
        self._write(new)
        self._run("add_project_alias", alias=old.slug, project_id=project_id)
        self._run("move_links", former=old.slug, slug=slug)
        self._access.index.drop(self._connection, "summary", old.slug)
        self._index(new)
        self._tell("project.renamed", new, former=old.slug)

    def alias(self, project_id: int, alias: str) -> bool:
        """Give a project a further name; whether it is new.

        Raises:
            UnknownProject: It is not there any more.
            ProjectTaken: The name is another project's.
        """
        project = self._project(project_id)
        self._check_free(alias, but=project_id)
        if self.state.named(alias) is not None:
            return False
        self._run("add_project_alias", alias=alias, project_id=project_id)
        self._tell("project.aliased", project, alias=alias)
        return True

    def unalias(self, project_id: int, alias: str) -> bool:
        """Take a further name away; whether it was there.

        Raises:
            UnknownProject: The project is not there any more.
        """
        project = self._project(project_id)
        if alias not in self.state.aliases(project_id):
            return False
        self._run("drop_project_alias", alias=alias)
        self._tell("project.aliased", project, removed=alias)
        return True

    def link(self, new: NewLink, name: str) -> bool:
        """Link a directory to a project, which is made if it is not there; whether anything changed."""
        project = self.state.named(name)
        if project is None:
            self.add(name, ProjectFields(), [new])
            return True
        return self._link(new, project)

    def unlink(self, root: str) -> Link | None:
        """Forget a linked directory; what it was, None if it was not linked."""
        link = self.state.link(root)
        if link is None:
            return None
        self._run("drop_link", root=root)
        self._tell_of(link, "project.unlinked")
        return link

    def remove(self, project_id: int) -> dict[str, int]:
        """Remove a project with everything it has but its events; how many of each there were.

        Raises:
            UnknownProject: It is not there any more.
        """
        project = self._project(project_id)
        items = self._connection.execute(
            self._queries["project_items"], {"project_id": project_id}
        ).fetchall()
        for kind, item_id in msgspec.convert(items, list[tuple[Kind, str]]):
            self._access.index.drop(self._connection, kind, item_id)
        self._access.index.drop(self._connection, "summary", project.slug)
        removed = {
            "decisions": self._run("drop_decisions_of", project_id=project_id),
            "preferences": self._run("drop_preferences_of", project_id=project_id),
            "aliases": self._run("drop_aliases_of", project_id=project_id),
            "links": self._run("drop_links_of", slug=project.slug),
        }
        self._run("drop_agent_sessions_of", project_id=project_id)
        self._run("part_from_events", project_id=project_id)
        self._run("drop_project", id=project_id)
        note(self._connection, self._queries, PURGE)
        self._tell("project.removed", None, **removed)
        return removed

    def _project(self, project_id: int) -> Project:
        project = self.state.of_id(project_id)
        if project is None:
            raise UnknownProject
        return project

    def _check_free(self, name: str, *, but: int | None = None) -> None:
        holder = self.state.named(name)
        if holder is not None and holder.id != but:
            raise ProjectTaken(holder.slug)

    def _write(self, project: Project) -> None:
        row = msgspec.structs.asdict(project)
        self._run("change_project", **{name: value for name, value in row.items() if name != "created_at_ms"})

    def _link_all(self, links: Iterable[NewLink], project: Project) -> None:
        for link in links:
            self._link(link, project)

    def _link(self, new: NewLink, project: Project) -> bool:
        old = self.state.link(new.root)
        since_ms = self._at_ms if old is None else old.linked_at_ms
        link = Link(new.root, project.slug, new.git_common_dir, new.remote, since_ms)
        if link == old:
            return False
        self._run("put_link", **msgspec.structs.asdict(link))
        if old is not None and old.project != link.project:
            self._tell_of(old, "project.unlinked")
        if old is None or old.project != link.project:
            self._tell("project.linked", project)
        return True

    def _index(self, project: Project) -> None:
        entry = summary_entry(project)
        if entry is None:
            self._access.index.drop(self._connection, "summary", project.slug)
        else:
            self._access.index.put(self._connection, [entry])

    def _run(self, query: str, **parameters: object) -> int:
        return self._connection.execute(self._queries[query], parameters).rowcount

    def _tell_of(self, link: Link, kind: str) -> None:
        self._tell(kind, self.state.named(link.project))

    def _tell(self, kind: str, project: Project | None, **data: object) -> None:
        """Write an event of a project; one that is gone has neither a number nor a name in the feed."""
        told = Happened(
            kind=kind,
            at_ms=self._at_ms,
            received_at_ms=self._at_ms,
            actor=self._actor,
            project_id=id_of(project),
            project=slug_of(project),
            ref=slug_of(project),
            data=msgspec.json.encode(data).decode() if data else None,
        )
        self._access.append(self._connection, told)
