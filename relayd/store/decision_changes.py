"""How decisions change: what one job of the writer does, which looks at what is stored before it writes."""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection

import msgspec

from relayd.errors import ParameterRefused, Superseded, UnknownItem
from relayd.store.access import Access
from relayd.store.decision_row import Decided, Decision, Wording, digest_of, entry
from relayd.store.event_log import Happened
from relayd.store.validity import holds
from relayd.text.instant import LAST_MS

__all__ = ("DecisionChange",)


class DecisionChange:
    """One change of decisions, in the writer's thread and in one transaction.

    Args:
        access: The file they lie in.
        connection: In that transaction.
        author: Who wants it.
    """

    def __init__(self, access: Access, connection: Connection, author: str) -> None:
        self._access = access
        self._connection = connection
        self._author = author
        self._stamp = access.stamp()

    def decide(self, wording: Wording) -> Decided:
        """Record a decision, unless it is there already, and end what it supersedes.

        Raises:
            ParameterRefused: It ends before it begins, or cannot supersede that.
            UnknownItem: What it supersedes is not there, or is of another project.
            Superseded: What it supersedes was superseded or forgotten already.
            UnknownProject: The project was removed since it was looked up.
        """
        begins_ms = self._stamp.at_ms if wording.valid_from_ms is None else wording.valid_from_ms
        if wording.valid_to_ms is not None and wording.valid_to_ms <= begins_ms:
            raise ParameterRefused("valid_to", "must be after `valid_from`, which is now if it is not given")
        old = None if wording.supersedes is None else self._superseded(wording.supersedes, wording)
        known = self._known(wording, old)
        if known is not None and (old is None or known.id in {old.id, old.superseded_by}):
            return Decided(known, created=False, superseded=None)
        if old is not None and old.superseded_at_ms is not None:
            raise Superseded(old.superseded_by)
        now = known or self._add(wording, begins_ms)
        if known is None:
            self._tell("decision.captured", now, wording.project)
        if old is not None:
            ended = self._end(old, max(old.valid_from_ms, begins_ms), successor=now.id)
            self._tell("decision.superseded", ended, wording.project, superseded_by=now.id)
        return Decided(now, created=known is None, superseded=None if old is None else old.id)

    def edit(self, item_id: str, text: str) -> Decided:
        """Put another wording in the place of one; it holds for the same time.

        Raises:
            UnknownItem: It is not there.
            Superseded: It was superseded or forgotten.
        """
        old = self._current(item_id)
        if old.text == text:
            return Decided(old, created=False, superseded=None)
        project = self._ask("decision_project", item_id)
        wording = Wording(
            project_id=old.project_id,
            project=project,
            task=old.task,
            text=text,
            author=self._author,
            source=old.source,
            ref=old.ref,
            ref_text=old.ref_text,
            valid_from_ms=old.valid_from_ms,
            valid_to_ms=old.valid_to_ms,
            supersedes=item_id,
        )
        made = self._add(wording, old.valid_from_ms, wording_of=self._ask("first_wording", item_id))
        self._end(old, old.valid_from_ms, successor=made.id)
        self._tell("decision.edited", made, project, supersedes=old.id)
        return Decided(made, created=True, superseded=old.id)

    def forget(self, item_id: str, reason: str | None) -> Decision:
        """End a decision now, with nothing in its place.

        Raises:
            UnknownItem: It is not there.
            Superseded: It was superseded or forgotten.
        """
        old = self._current(item_id)
        ended = self._end(old, max(old.valid_from_ms, self._stamp.at_ms), reason=reason)
        self._tell("decision.forgotten", ended, self._ask("decision_project", item_id))
        return ended

    def _superseded(self, item_id: str, wording: Wording) -> Decision:
        old = self._find(item_id)
        if old.project_id == wording.project_id:
            return old
        if old.project_id is None:
            raise ParameterRefused("supersedes", "is of all projects, which one project cannot decide for")
        if wording.project_id is None:
            raise ParameterRefused(
                "supersedes", "is of one project; what is for all projects has no place there"
            )
        raise UnknownItem

    def _known(self, wording: Wording, old: Decision | None) -> Decision | None:
        """Find the same decision. What one is superseded by must hold on itself, or a chain could close to a ring."""
        now_ms = self._stamp.at_ms
        which = {
            "digest": digest_of(wording.text),
            "project_id": wording.project_id,
            "task": wording.task,
            "now_ms": now_ms,
        }
        rows = self._connection.execute(self._access.queries["decisions_alike"], which).fetchall()
        alike = [one for one in msgspec.convert(rows, list[Decision]) if _is_same(wording, one, now_ms)]
        if old is not None:
            alike = [one for one in alike if one.superseded_at_ms is None]
            alike.sort(key=lambda one: one.id != old.id)
        return alike[0] if alike else None

    def _add(self, wording: Wording, begins_ms: int, *, wording_of: str | None = None) -> Decision:
        row = {
            "id": self._stamp.id,
            "project_id": wording.project_id,
            "task": wording.task,
            "text": wording.text,
            "digest": digest_of(wording.text),
            "author": wording.author,
            "source": wording.source,
            "ref": wording.ref,
            "ref_text": wording.ref_text,
            "valid_from_ms": begins_ms,
            "valid_to_ms": wording.valid_to_ms,
            "recorded_at_ms": self._stamp.at_ms,
            "wording_of": wording_of,
        }
        return self._write("add_decision", row)

    def _end(
        self, old: Decision, ended_ms: int, *, successor: str | None = None, reason: str | None = None
    ) -> Decision:
        row = {
            "id": old.id,
            "ended_ms": ended_ms,
            "superseded_at_ms": self._stamp.at_ms,
            "superseded_by": successor,
            "reason": reason,
        }
        return self._write("end_decision", row)

    def _write(self, query: str, row: Mapping[str, object]) -> Decision:
        written = self._connection.execute(self._access.queries[query], row).fetchone()
        decision = msgspec.convert(written, Decision)
        self._access.index.put(self._connection, [entry(decision)])
        return decision

    def _current(self, item_id: str) -> Decision:
        """Find a decision that nothing has taken the place of."""
        found = self._find(item_id)
        if found.superseded_at_ms is not None:
            raise Superseded(found.superseded_by)
        return found

    def _find(self, item_id: str) -> Decision:
        row = self._connection.execute(self._access.queries["decision"], {"id": item_id}).fetchone()
        if row is None:  # it was purged since its identifier was looked up
            raise UnknownItem
        return msgspec.convert(row, Decision)

    def _ask(self, query: str, item_id: str) -> str | None:
        """Read one value that belongs to a decision that is there."""
        return self._connection.execute(self._access.queries[query], {"id": item_id}).fetchone()[0]

    def _tell(self, kind: str, decision: Decision, project: str | None, **more: str) -> None:
        scope = "global" if decision.project_id is None else "project"
        happened = Happened(
            kind=kind,
            at_ms=self._stamp.at_ms,
            received_at_ms=self._stamp.at_ms,
            actor=self._author,
            project_id=decision.project_id,
            project=project,
            ref=decision.id,
            data=msgspec.json.encode({"scope": scope, "source": decision.source, **more}).decode(),
        )
        self._access.append(self._connection, happened)


def _is_same(wording: Wording, one: Decision, now_ms: int) -> bool:
    """Tell whether a decision with the same text says nothing else of when it holds."""
    begins, ends = wording.valid_from_ms, wording.valid_to_ms
    if begins is not None and begins != one.valid_from_ms:
        return False
    if ends is not None and ends != one.valid_to_ms:
        return False
    repeated = begins is not None and ends == one.valid_to_ms and one.superseded_at_ms is None
    return repeated or holds(one, as_of_ms=now_ms, known_at_ms=LAST_MS, is_now=True)
