"""Hooks: do they ever come, where a project is linked for them?"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.cli.words import count, span

__all__ = ("look",)

_NAME = "hooks"
_LONG_MS = 7 * 86_400_000
# A session that begins and never ends, or prompts without answers, mean that one entry is missing in the settings.
_EXPECTED = "session-start", "user-prompt-submit", "stop", "session-end"


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


def _of_seen(home: str, linked: int, seen: list[dict[str, Any]]) -> Check:
    projects = f"{count(linked, 'project')} linked"
    if not seen:
        return Check(
            _NAME, "warn", f"{projects}, but no hook ever came", _in_settings(home, "claude", "stop")
        )
    newest = max(seen, key=lambda one: one["last_at_ms"])
    ago_ms = max(0, time.time_ns() // 1_000_000 - newest["last_at_ms"])
    told = f"{projects}; the last came {span(ago_ms)} ago ({newest['cli']} {newest['event']})"
    if ago_ms > _LONG_MS:
        return Check(_NAME, "warn", told, _in_settings(home, newest["cli"], newest["event"]))
    if missing := _never(seen, newest["cli"]):
        todo = _in_settings(home, newest["cli"], missing[0])
        return Check(_NAME, "warn", f"{told}; never: {', '.join(missing)}", todo)
    return Check(_NAME, "ok", told)


def _never(seen: list[dict[str, Any]], cli: str) -> list[str]:
    """Name the events that one agent CLI never sent, although it sent the one that follows upon them."""
    came = {one["event"] for one in seen if one["cli"] == cli}
    return [event for event in _EXPECTED if event not in came] if "session-end" in came else []


def _in_settings(home: str, cli: str, event: str) -> str:
    command = f"{shlex.quote(f'{home}/bin/relay-hook')} {cli} {event}"
    return f"is `{command}` in the settings of the agent CLI? `relayctl link` prints the entries"
