"""What an agent is told without asking: at the start of a session, when it resumes, and beside a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from relayd.brief.briefs import Briefs
from relayd.memory.decisions import Decisions
from relayd.memory.preferences import Preferences
from relayd.search.search import Search
from relayd.store.projects import Project

__all__ = ("Injection", "Injections", "Told")


class Told(msgspec.Struct, frozen=True):
    """What a session was told.

    Args:
        at_ms: When it was last, wall clock, Unix milliseconds.
        items: When the wording was recorded that it was told of each item, by the item's id.
    """

    at_ms: int
    items: Mapping[str, int]


class Injection(NamedTuple):
    """A text for an agent, and what its session has been told once it has that.

    Args:
        text: Empty if there is nothing to tell.
        told: What it was told before included, as far as it still has that.
    """

    text: str
    told: Told


class Injections:
    """Makes the texts.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
        search: Finds what a prompt is about.
        briefs: Says what is worth telling.
        session_tokens: Of a text at the start of a session; 0 tells nothing then.
        prompt_tokens: Of a text beside a prompt; likewise.
    """

    def __init__(
        self,
        decisions: Decisions,
        preferences: Preferences,
        search: Search,
        briefs: Briefs,
        *,
        session_tokens: int,
        prompt_tokens: int,
    ) -> None:
        self._decisions = decisions
        self._preferences = preferences
        self._search = search
        self._briefs = briefs
        self._session_tokens = session_tokens
        self._prompt_tokens = prompt_tokens

    async def whole(self, project: Project, *, lane: str, model: str | None) -> Injection:
        """Tell a session that has nothing of it what it should know."""
        raise NotImplementedError

    async def since(self, project: Project, told: Told, *, lane: str, model: str | None) -> Injection:
        """Tell a session that goes on what changed since it was told last; nothing if nothing did."""
        raise NotImplementedError

    async def about(self, project: Project, prompt: str, told: Told | None, *, lane: str) -> Injection:
        """Tell what is remembered about a prompt, and was not told to this session yet."""
        raise NotImplementedError
