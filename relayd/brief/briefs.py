"""Briefs: what an agent should know, compiled within a budget."""

from __future__ import annotations

from relayd.memory.decisions import Decisions
from relayd.memory.preferences import Preferences
from relayd.search.search import Search
from relayd.store.changes import Changes

__all__ = ("Briefs",)


class Briefs:
    """Compiles briefs and keeps them until the memory changes.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
        search: Finds what an intent is about.
        changes: Says when what is kept is old.
    """

    def __init__(
        self, decisions: Decisions, preferences: Preferences, search: Search, changes: Changes
    ) -> None:
        self._decisions = decisions
        self._preferences = preferences
        self._search = search
        self._changes = changes
