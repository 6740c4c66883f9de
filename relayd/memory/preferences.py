"""Preferences: how they are set, and which of them count where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from relayd.errors import ParameterRefused, ScopeNeeded, UnknownItem
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.texts import author_or_own, bounded, bounded_or_none, name
from relayd.store.preferences import Preference, PreferenceRows, PreferenceScope, Setting
from relayd.store.projects import Project
from relayd.text.instant import LAST_MS

__all__ = ("NewPreference", "Preferences", "SetPreference", "merge")

_KEY_CHARS = 64
_SCOPE_ID_CHARS = 128
_VALUE_BYTES = 4_096
_REASON_BYTES = 2_048

_RANK: dict[PreferenceScope, int] = {"global": 0, "project": 1, "lane": 2, "model": 3}
"""The narrower one wins."""


class NewPreference(msgspec.Struct, frozen=True):
    """A value to be set.

    Args:
        scope_id: Which lane or model, with the scope of that name; with `project` the project says it.
        reason: Why.
        author: Who wants it; None is this user.
    """

    key: str
    value: str
    scope: PreferenceScope = "project"
    scope_id: str | None = None
    reason: str | None = None
    author: str | None = None


class SetPreference(msgspec.Struct, frozen=True):
    """What counts now.

    Args:
        created: Something changed.
        replaced: The identifier of the value before.
    """

    preference: Preference
    created: bool
    replaced: str | None


class Preferences:
    """Sets, drops and merges preferences.

    Args:
        rows: Where they are kept.
        gate: What their texts must pass.
    """

    def __init__(self, rows: PreferenceRows, gate: Gate) -> None:
        self._rows = rows
        self._gate = gate

    async def set(self, order: NewPreference, project: Project | None) -> SetPreference:
        """Give a key its value in one scope; the one before stays in the history.

        The same value for the same reason changes nothing.

        Raises:
            ParameterRefused: A text breaks a rule.
            ScopeNeeded: It is for a project, and there is none.
            SecretRefused: A text looks like a credential.
        """
        setting = self._setting(order.key, order.scope, order.scope_id, project)
        value = bounded("value", order.value, _VALUE_BYTES)
        reason = bounded_or_none("reason", order.reason, _REASON_BYTES)
        author = author_or_own(order.author)
        self._gate.check(
            [
                ("key", setting.key),
                ("id", setting.scope_id),
                ("value", value),
                ("reason", reason),
                ("author", author),
            ]
        )
        self._gate.check_value(setting.key, "value", value)
        preference, before = await self._rows.set(setting, value, author=author, reason=reason)
        replaced = None if before is None or before is preference else before.id
        return SetPreference(preference, preference is not before, replaced)

    async def drop(
        self,
        key: str,
        scope: PreferenceScope,
        scope_id: str | None,
        project: Project | None,
        reason: str | None,
        *,
        author: str | None = None,
    ) -> Preference:
        """Let a key have no value in one scope any more; a wider scope's counts again.

        Raises:
            ParameterRefused, ScopeNeeded, SecretRefused: As for `set`.
            UnknownItem: It has none.
        """
        setting = self._setting(key, scope, scope_id, project)
        reason = bounded_or_none("reason", reason, _REASON_BYTES)
        author = author_or_own(author)
        self._gate.check([("reason", reason), ("author", author)])
        dropped = await self._rows.drop(setting, author=author, reason=reason)
        if dropped is None:
            raise UnknownItem
        return dropped

    async def history(
        self, project_id: int | None, *, lane: str | None, model: str | None, moment: Moment | None
    ) -> list[Preference]:
        """Read every value that was set where these count, the newest first.

        Args:
            project_id: None has none but those for everything.
            lane: Those of a lane are read only if it is named, as are a model's.
            model: As `lane`.
            moment: As it was known then; None is now.
        """
        at_ms = _instant(moment)
        rows = await self._rows.history(project_id, lane=lane, model=model, at_ms=at_ms)
        return [_as_known(row, at_ms) for row in rows]

    async def merged(
        self, project_id: int | None, *, lane: str | None, model: str | None, moment: Moment | None
    ) -> list[Preference]:
        """Read what counts: one value a key, the narrowest scope's, by key. Arguments are as for `history`."""
        rows = await self._rows.at(project_id, lane=lane, model=model, at_ms=_instant(moment))
        return merge(rows)

    async def by_ids(self, ids: Sequence[str]) -> list[Preference]:
        """Read certain values in the order asked for; those that are not there are left out."""
        return await self._rows.by_ids(ids)

    def _setting(
        self, key: str, scope: PreferenceScope, scope_id: str | None, project: Project | None
    ) -> Setting:
        key = name("key", key, _KEY_CHARS, spaces=False)
        if scope == "project":
            if project is None:
                raise ScopeNeeded
            return Setting(key, scope, project_id=project.id, project=project.slug)
        if scope == "global":
            if scope_id is not None:
                raise ParameterRefused("id", "must not be given: what is global is of nothing")
            return Setting(key, scope)
        if scope_id is None:
            raise ParameterRefused("id", f"must be given: the {scope} that it is for")
        return Setting(key, scope, scope_id=name("id", scope_id, _SCOPE_ID_CHARS, spaces=False))


def merge(preferences: Iterable[Preference]) -> list[Preference]:
    """Keep one preference a key, by key: a project's over a global one, a lane's over both, a model's over all."""
    widest_first = sorted(preferences, key=lambda one: (_RANK[one.scope], one.seq))
    return sorted({one.key: one for one in widest_first}.values(), key=lambda one: one.key)


def _instant(moment: Moment | None) -> int:
    """Find the one instant that matters: a preference holds from when it was recorded."""
    moment = moment or Moment.of(None, None)
    return LAST_MS if moment.is_now else min(moment.as_of_ms, moment.known_at_ms)


def _as_known(row: Preference, at_ms: int) -> Preference:
    """Take back what came later."""
    if row.superseded_at_ms is None or row.superseded_at_ms <= at_ms:
        return row
    return msgspec.structs.replace(row, superseded_at_ms=None, superseded_by=None, drop_reason=None)
