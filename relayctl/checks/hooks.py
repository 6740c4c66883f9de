"""Hooks: do they ever come, where a project is linked for them, and from each agent CLI that is set up for them?"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from typing import Any

from relayctl.checks.agents import standings
from relayctl.checks.check import Check, Subject
from relayctl.cli.words import count, span
from relayctl.setup.agent import Agent
from relayctl.setup.record import record_path

__all__ = ("look",)

_NAME = "hooks"
_LONG_MS = 7 * 86_400_000
# Whoever set a CLI up need not use it at once.
_NEW_S = 86_400
# A session that begins and never ends, or prompts without answers, mean that one entry is missing in the settings.
_EXPECTED = "session-start", "user-prompt-submit", "stop", "session-end"

Seen = list[dict[str, Any]]


def look(subject: Subject) -> Iterator[Check]:
    """Tell when hooks last came."""
    if subject.daemon is None:
        yield Check(_NAME, "ok", "only a running daemon tells when they last came")
        return
    links, told = subject.ask_if_known("/v1/links"), subject.ask_if_known("/v1/hooks")
    if links is None or told is None:
        yield Check(_NAME, "ok", "this daemon does not tell when they last came")
    elif not links["links"]:
        yield Check(
            _NAME,
            "ok",
            "no project is linked for them",
            "to begin, in a project's directory: `relayctl link`",
        )
    else:
        yield _of_seen(subject.home, len(links["links"]), told["seen"])
        yield from _of_each(subject, told["seen"])


def _of_seen(home: str, linked: int, seen: Seen) -> Check:
    projects = f"{count(linked, 'project')} linked"
    if not seen:
        return Check(
            _NAME, "warn", f"{projects}, but no hook ever came", _in_settings(home, "claude", "stop")
        )
    newest = _newest(seen)
    told = f"{projects}; the last came {_ago(newest)} ago ({newest['cli']} {newest['event']})"
    if _ago_ms(newest) > _LONG_MS:
        return Check(_NAME, "warn", told, _in_settings(home, newest["cli"], newest["event"]))
    if missing := _never(seen, newest["cli"]):
        todo = _in_settings(home, newest["cli"], missing[0])
        return Check(_NAME, "warn", f"{told}; never: {', '.join(missing)}", todo)
    return Check(_NAME, "ok", told)


def _of_each(subject: Subject, seen: Seen) -> Iterator[Check]:
    """Tell of each CLI whose settings have our hooks; one that is not used for a while is none to worry about."""
    for agent, stands in standings(subject).values():
        if stands.in_use:
            yield _of_one(subject.home, agent, [one for one in seen if one["cli"] == agent.cli])


def _of_one(home: str, agent: Agent, seen: Seen) -> Check:
    name = f"hooks of {agent.title}"
    if not seen:
        state = "ok" if _is_new(home, agent.cli) else "warn"
        todo = "use it once in a linked project; `relayctl doctor` then tells whether they came"
        return Check(name, state, "none ever came", todo)
    newest = _newest(seen)
    told = f"the last came {_ago(newest)} ago ({newest['event']})"
    if missing := _never(seen, agent.cli):
        todo = _in_settings(home, agent.cli, missing[0])
        return Check(name, "warn", f"{told}; never: {', '.join(missing)}", todo)
    return Check(name, "ok", told)


def _is_new(home: str, cli: str) -> bool:
    """Tell whether a CLI was set up a short while ago."""
    try:
        return time.time() - os.stat(record_path(home, cli)).st_mtime < _NEW_S
    except OSError:
        return False


def _newest(seen: Seen) -> dict[str, Any]:
    return max(seen, key=lambda one: one["last_at_ms"])


def _ago_ms(one: dict[str, Any]) -> int:
    return max(0, time.time_ns() // 1_000_000 - one["last_at_ms"])


def _ago(one: dict[str, Any]) -> str:
    return span(_ago_ms(one))


def _never(seen: Seen, cli: str) -> list[str]:
    """Name the events that one agent CLI never sent, although it sent the one that follows upon them."""
    came = {one["event"] for one in seen if one["cli"] == cli}
    return [event for event in _EXPECTED if event not in came] if "session-end" in came else []


def _in_settings(home: str, cli: str, event: str) -> str:
    command = f"{shlex.quote(f'{home}/bin/relay-hook')} {cli} {event}"
    return f"is `{command}` in the settings of the agent CLI? `relayctl setup` puts it there"
