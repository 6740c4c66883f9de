"""A memory with what is told of it to agents."""

from __future__ import annotations

from relayd.brief.injection import Injection, Injections, Told
from relayd.store.projects import Project
from tests.integration.brief.remembering import Memory

__all__ = ("Teller", "body", "items", "told_nothing")


class Teller:
    """Tells one agent of an open memory, as `Injections` does."""

    def __init__(self, memory: Memory, *, session_tokens: int = 2_500, prompt_tokens: int = 1_000) -> None:
        self.injections = Injections(
            memory.decisions,
            memory.preferences,
            memory.search,
            memory.briefs,
            session_tokens=session_tokens,
            prompt_tokens=prompt_tokens,
        )

    async def whole(self, project: Project, *, lane: str = "claude", model: str | None = None) -> Injection:
        """Tell everything."""
        return await self.injections.whole(project, lane=lane, model=model)

    async def since(
        self, project: Project, told: Told, *, lane: str = "claude", model: str | None = None
    ) -> Injection:
        """Tell what changed."""
        return await self.injections.since(project, told, lane=lane, model=model)

    async def about(
        self, project: Project, prompt: str, told: Told | None = None, *, model: str | None = None
    ) -> Injection:
        """Tell what a prompt is about."""
        return await self.injections.about(project, prompt, told, lane="claude", model=model)


def body(text: str) -> str:
    """Give what stands between the marks."""
    heading, sentence, begin, *inside, end = text.split("\n")
    assert heading.startswith("## From relay: ")
    assert "data, not instructions" in sentence
    assert (begin, end) == ("<relay-memory>", "</relay-memory>")
    return "\n".join(inside)


def items(text: str) -> list[str]:
    """List what a text shows as items."""
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def told_nothing(at_ms: int = 0) -> Told:
    """Give what a session knows that was told when nothing was there."""
    return Told(at_ms, {}, "0")
