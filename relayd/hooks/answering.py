"""What the agent behind a hook is told, once its event is on disk: the right text for the moment, in time or not at all.

Source: docs/hooks.md, "Sessions".
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final, NamedTuple

import anyio
import msgspec

from relay_queue.errors import OutboxError
from relayd.brief.injection import Injections
from relayd.brief.told import Injection
from relayd.errors import RelaydError
from relayd.events import Bus, InjectionFailed
from relayd.harness import adapters
from relayd.harness.meaning import EventName
from relayd.hooks.knowledge import Knowledge
from relayd.hooks.sessions import Sessions
from relayd.hooks.sieve import Kept
from relayd.log import Log
from relayd.store.projects import Project
from relayd.store.sessions import SessionRow

__all__ = ("LIMITS_MS", "Answering")

LIMITS_MS: Final[Mapping[EventName, int]] = {"session-start": 1_800, "user-prompt-submit": 250}
"""So long after the hook began a text may be ready; the hook waits for 2.2 s and 337 ms, its own start included."""

_TWICE_MS: Final = 3_000
"""A start that is told of again within this time is the same one: some CLIs run a hook twice."""

_TOGETHER_MS: Final = 5_000
"""Within this time of a session's start its first prompt may come before it."""


class _Outcome(NamedTuple):
    """A text, and what the session knows once it has that; None if that stays as it is."""

    text: str = ""
    knowledge: Knowledge | None = None


_NOTHING: Final = _Outcome()


class Answering:
    """Makes answers, and follows the sessions of those that it made in time.

    Args:
        sessions: Know what each was told.
        injections: Make the texts.
        bus: Told of texts that could not be made.
        log: Told of faults of ours.
    """

    def __init__(self, sessions: Sessions, injections: Injections, bus: Bus, log: Log) -> None:
        self._sessions = sessions
        self._injections = injections
        self._bus = bus
        self._log = log
        self._limits_ms = LIMITS_MS

    async def answer(self, kept: Kept) -> tuple[bytes, bool]:
        """Give what the hook is to print, and whether its session was followed; whatever fails, nothing is printed.

        Args:
            kept: On disk, and for the first time.
        """
        limit_ms = self._limits_ms.get(kept.meaning.event, 0)
        left_ms = min(limit_ms, kept.call.at_ms + limit_ms - _now_ms())
        if left_ms <= 0 or not _can_be_told(kept):
            return b"", False
        try:
            with anyio.fail_after(left_ms / 1_000):
                return await self._tell(kept, _now_ms() + left_ms)
        except TimeoutError:
            self._failed(kept, "too_slow")
        except (OutboxError, RelaydError) as error:
            self._failed(kept, error.code)
        except Exception as fault:  # noqa: BLE001 -- the boundary that reports it: the event is kept, and must not fail
            self._log.error("hook_failed", exc_info=fault)
            self._failed(kept, "internal")
        return b"", False

    async def _tell(self, kept: Kept, until_ms: int) -> tuple[bytes, bool]:
        """Tell one session after the other of its hooks: what one of them told, the next leaves out.

        Raises:
            TimeoutError: It took too long, and was not cut off because it did not wait for anything.
        """
        project = await self._sessions.project(kept)
        if project is None:
            return b"", False
        async with self._sessions.alone(kept.call.cli, kept.event.session_id) as row:
            if kept.meaning.event == "user-prompt-submit":
                outcome = await self._about(kept, project, row)
            else:
                outcome = await self._at_start(kept, project, row)
            answer = adapters.answer(kept.call.cli, kept.meaning.event, outcome.text)
            if _now_ms() > until_ms:
                raise TimeoutError
            self._sessions.follow(row, kept, project, outcome.knowledge)
        return answer, True

    async def _at_start(self, kept: Kept, project: Project, row: SessionRow | None) -> _Outcome:
        call, beginning = kept.call, kept.meaning.beginning or "startup"
        model = kept.meaning.model or (row and row.model)
        knowledge = Knowledge.read(row)
        if knowledge is not None and knowledge.whole_of == project.id:
            if beginning == "resume":
                made = await self._injections.since(project, knowledge.told, lane=call.cli, model=model)
                return _whole(made, project, "resume", call.at_ms) if made.text else _Outcome("", knowledge)
            if knowledge.beginning == beginning and abs(call.at_ms - knowledge.whole_at_ms) < _TWICE_MS:
                return _Outcome("", knowledge)
        made = await self._injections.whole(project, lane=call.cli, model=model)
        is_new = row is None or row.began_at_ms >= call.at_ms - _TOGETHER_MS
        told_before = knowledge if beginning == "startup" and is_new else None
        return _whole(made, project, beginning, call.at_ms, told_before)

    async def _about(self, kept: Kept, project: Project, row: SessionRow | None) -> _Outcome:
        knowledge, prompt = Knowledge.read(row), kept.meaning.prompt or ""
        told = knowledge and knowledge.told
        model = kept.meaning.model or (row and row.model)
        made = await self._injections.about(project, prompt, told, lane=kept.call.cli, model=model)
        if not made.text:
            return _NOTHING
        if knowledge is None:
            return _Outcome(made.text, Knowledge(made.told))
        # of which memory it knows all is as before: this was about one thing only
        after = msgspec.structs.replace(knowledge.told, items=made.told.items)
        return _Outcome(made.text, msgspec.structs.replace(knowledge, told=after))

    def _failed(self, kept: Kept, code: str) -> None:
        self._bus.publish(InjectionFailed(f"{kept.call.cli} {kept.call.event}", code))


def _can_be_told(kept: Kept) -> bool:
    """Whether it is the session's own agent, it asks anything, and its CLI has a form for an answer."""
    meaning = kept.meaning
    if meaning.subagent or (meaning.event == "user-prompt-submit" and meaning.prompt is None):
        return False
    return bool(adapters.answer(kept.call.cli, meaning.event, "?"))


def _whole(
    made: Injection, project: Project, beginning: str, at_ms: int, before: Knowledge | None = None
) -> _Outcome:
    told = made.told
    if before is not None:
        told = msgspec.structs.replace(told, items={**before.told.items, **told.items})
    return _Outcome(made.text, Knowledge(told, project.id, beginning, at_ms))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
