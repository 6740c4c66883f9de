"""Preferences in `relay.db`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from sqlite3 import Connection
from typing import Literal

import msgspec

from relayd.store.access import Access
from relayd.store.event_log import Happened
from relayd.store.index import Entry

__all__ = ("Preference", "PreferenceRows", "PreferenceScope", "Setting", "entry")

PreferenceScope = Literal["global", "project", "lane", "model"]
"""From the widest to the narrowest."""


class Preference(msgspec.Struct, frozen=True, array_like=True):
    """A value that was set, in the column order of the queries of `preferences.sql`.

    Args:
        seq: In the order they were set.
        project_id: With the scope `project`.
        scope_id: Which lane or model, with the scope of that name.
        reason: Why it was set.
        recorded_at_ms: Wall clock, Unix milliseconds, as is `superseded_at_ms`.
        superseded_at_ms: Since when it counts no more; None if it does.
        superseded_by: What took its place; None if it counts, or was dropped.
        drop_reason: Why it was dropped.
    """

    seq: int
    id: str
    key: str
    value: str
    scope: PreferenceScope
    project_id: int | None
    scope_id: str | None
    author: str
    reason: str | None
    recorded_at_ms: int
    superseded_at_ms: int | None
    superseded_by: str | None
    drop_reason: str | None


class Setting(msgspec.Struct, frozen=True):
    """Which key of which scope is meant; the members are as in `Preference`.

    Args:
        project: The slug of the project, for the feed.
    """

    key: str
    scope: PreferenceScope
    project_id: int | None = None
    project: str | None = None
    scope_id: str | None = None


class PreferenceRows:
    """The preferences of one file."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def set(
        self, setting: Setting, value: str, *, author: str, reason: str | None
    ) -> tuple[Preference, Preference | None]:
        """Give a key its value; what counts now, and what did before.

        Both are the same if value and reason are as they were: then nothing changed.

        Raises:
            UnknownProject: The project was removed since it was looked up.
        """
        job = partial(self._set, setting=setting, value=value, author=author, reason=reason)
        return await self._access.change(job)

    async def drop(self, setting: Setting, *, author: str, reason: str | None) -> Preference | None:
        """Let a key have no value any more; what it had, None if it had none."""
        return await self._access.change(partial(self._drop, setting=setting, author=author, reason=reason))

    async def at(
        self, project_id: int | None, *, lane: str | None, model: str | None, at_ms: int
    ) -> list[Preference]:
        """Read what counts at an instant in each scope that is named, in the order it was set."""
        named = {"project_id": project_id, "lane": lane, "model": model, "at_ms": at_ms}
        return await self._access.fetch("preferences_at", Preference, named)

    async def history(
        self, project_id: int | None, *, lane: str | None, model: str | None, at_ms: int
    ) -> list[Preference]:
        """Read what was ever set in these scopes until an instant, the newest first."""
        named = {"project_id": project_id, "lane": lane, "model": model, "at_ms": at_ms}
        return await self._access.fetch("preference_history", Preference, named)

    async def by_ids(self, ids: Sequence[str]) -> list[Preference]:
        """Read certain values in the order asked for; those that are not there are left out."""
        asked = {"ids": msgspec.json.encode(list(ids)).decode()}
        found = {one.id: one for one in await self._access.fetch("preferences_by_id", Preference, asked)}
        return [found[one] for one in ids if one in found]

    def _set(
        self, connection: Connection, *, setting: Setting, value: str, author: str, reason: str | None
    ) -> tuple[Preference, Preference | None]:
        before = self._current(connection, setting)
        if before is not None and (before.value, before.reason) == (value, reason):
            return before, before
        stamp = self._access.stamp()
        row = {
            "id": stamp.id,
            "key": setting.key,
            "value": value,
            "scope": setting.scope,
            "project_id": setting.project_id,
            "scope_id": setting.scope_id,
            "author": author,
            "reason": reason,
            "recorded_at_ms": stamp.at_ms,
        }
        added = connection.execute(self._access.queries["add_preference"], row).fetchone()
        preference = msgspec.convert(added, Preference)
        if before is not None:
            self._end(connection, before, at_ms=stamp.at_ms, by=stamp.id)
        self._access.index.put(connection, [entry(preference)])
        self._tell(connection, "preference.set", preference, setting, actor=author, at_ms=stamp.at_ms)
        return preference, before

    def _drop(
        self, connection: Connection, *, setting: Setting, author: str, reason: str | None
    ) -> Preference | None:
        before = self._current(connection, setting)
        if before is None:
            return None
        at_ms = self._access.stamp().at_ms
        dropped = self._end(connection, before, at_ms=at_ms, reason=reason)
        self._tell(connection, "preference.dropped", dropped, setting, actor=author, at_ms=at_ms)
        return dropped

    def _current(self, connection: Connection, setting: Setting) -> Preference | None:
        which = {
            "scope": setting.scope,
            "project_id": setting.project_id or 0,
            "scope_id": setting.scope_id or "",
            "key": setting.key,
        }
        found = connection.execute(self._access.queries["current_preference"], which).fetchone()
        return None if found is None else msgspec.convert(found, Preference)

    def _end(
        self,
        connection: Connection,
        preference: Preference,
        *,
        at_ms: int,
        by: str | None = None,
        reason: str | None = None,
    ) -> Preference:
        end = {"superseded_at_ms": at_ms, "superseded_by": by, "drop_reason": reason}
        connection.execute(self._access.queries["end_preference"], {**end, "id": preference.id})
        ended = msgspec.structs.replace(preference, **end)
        self._access.index.put(connection, [entry(ended)])
        return ended

    def _tell(
        self,
        connection: Connection,
        kind: str,
        preference: Preference,
        setting: Setting,
        *,
        actor: str,
        at_ms: int,
    ) -> None:
        happened = Happened(
            kind=kind,
            at_ms=at_ms,
            received_at_ms=at_ms,
            actor=actor,
            project_id=setting.project_id,
            project=setting.project,
            ref=preference.id,
            data=msgspec.json.encode({"scope": setting.scope}).decode(),
            lane=setting.scope_id if setting.scope == "lane" else None,
            model=setting.scope_id if setting.scope == "model" else None,
        )
        self._access.append(connection, happened)


def entry(preference: Preference) -> Entry:
    """Write a preference as search finds it. Those of a lane or a model belong to all projects."""
    because = f" ({preference.reason})" if preference.reason else ""
    return Entry(
        kind="preference",
        id=preference.id,
        project_id=preference.project_id,
        task=None,
        text=" ".join(f"{preference.key} = {preference.value}{because}".split()),
        valid_from_ms=preference.recorded_at_ms,
        valid_to_ms=None,
        recorded_at_ms=preference.recorded_at_ms,
        ended_ms=preference.superseded_at_ms,
        superseded_at_ms=preference.superseded_at_ms,
    )
