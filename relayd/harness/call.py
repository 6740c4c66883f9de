"""One call of a hook, as the shim hands it over: what its headers say, and the agent CLI's own text."""

from __future__ import annotations

import msgspec

__all__ = ("HookCall",)


class HookCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a hook; nothing of it is trusted.

    Args:
        cli: First word of the hook's command line, such as `claude`.
        event: Second word, such as `session-start`.
        call_id: The shim's id for this call; unique.
        at_ms: When the hook ran, wall clock, Unix milliseconds.
        directory: Where the agent works, absolute; None if the client did not say.
        root: The directory at or above it that holds `.relay/rules.json`; None if the client did not say.
        captured_elsewhere: A capture owner is set: somebody else captures this session.
        under_grok: The hook of another CLI was run by Grok Build.
        guarded: The agent was started by a program that wants no hooks of it.
        payload: The text on the hook's standard input, at most 8 MiB.
    """

    cli: str
    event: str
    call_id: str
    at_ms: int
    directory: str | None = None
    root: str | None = None
    captured_elsewhere: bool = False
    under_grok: bool = False
    guarded: bool = False
    payload: bytes = b""
