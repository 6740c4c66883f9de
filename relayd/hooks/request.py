"""From the request of a hook, sent or spooled, to the call it stands for.

Headers are hints: one that is missing, or makes no sense, is left out rather than the event with it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from relayd.errors import HookRefused, OtherHome
from relayd.harness.adapters import AGENTS, EVENTS
from relayd.harness.call import HookCall

__all__ = ("MAX_PAYLOAD_BYTES", "PROTOCOL", "check_addressee", "check_protocol", "hook_call")

PROTOCOL: Final = "1"
"""Of the requests that hooks send; raised when a daemon could not read the ones of before."""

MAX_PAYLOAD_BYTES: Final = 8 * 1024 * 1024
"""Of the text that an agent CLI gives to a hook."""

_NO_HOOK: Final = "there is no such hook"
_MAX_PATH_BYTES: Final = 4096
_MOST_AHEAD_MS: Final = 86_400_000
_CALL_ID = re.compile(r"[0-9A-Za-z._:-]{1,64}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)


def check_protocol(headers: Mapping[str, str]) -> None:
    """Make sure that a request speaks our protocol, if it says which.

    Raises:
        OtherHome: It speaks another.
    """
    if headers.get("relay-protocol", PROTOCOL).strip() != PROTOCOL:
        raise OtherHome


def check_addressee(headers: Mapping[str, str], home_id: str) -> None:
    """Make sure that a request is for this home and in our protocol, as far as it says.

    Raises:
        OtherHome: It is not.
    """
    check_protocol(headers)
    if headers.get("relay-home", home_id).strip() != home_id:
        raise OtherHome


def hook_call(
    cli: str,
    event: str,
    headers: Mapping[str, str],
    payload: bytes,
    *,
    call_id: str | None = None,
    at_ms: int | None = None,
) -> HookCall:
    """Put together one call of a hook.

    Args:
        cli: First word of the hook's command line.
        event: Second word of the hook's command line.
        headers: By lower-case name.
        payload: As it came.
        call_id: The id if the headers give none; by default a new one.
        at_ms: The time if the headers give none, Unix milliseconds; by default now.

    Raises:
        HookRefused: There is no such hook.
    """
    if cli not in AGENTS or event not in EVENTS:
        raise HookRefused(_NO_HOOK)
    now_ms = time.time_ns() // 1_000_000
    return HookCall(
        cli=cli,
        event=event,
        call_id=_call_id(headers) or call_id or os.urandom(16).hex(),
        at_ms=_at_ms(headers, now_ms) or at_ms or now_ms,
        directory=_path(headers, "relay-directory"),
        root=_path(headers, "relay-root"),
        captured_elsewhere=_is_set(headers, "relay-capture-owner"),
        under_grok=_is_set(headers, "relay-grok"),
        guarded=_is_set(headers, "relay-guard"),
        payload=payload,
    )


def _call_id(headers: Mapping[str, str]) -> str | None:
    given = headers.get("relay-id", "").strip()
    return given if _CALL_ID.fullmatch(given) else None


def _at_ms(headers: Mapping[str, str], now_ms: int) -> int | None:
    """Read when a hook ran; None for a time that cannot be: long before us, or more than a day ahead."""
    given = headers.get("relay-time", "").strip()
    at_ms = int(given) // 1_000_000 if _NUMBER.fullmatch(given) else 0
    return at_ms if 0 < at_ms <= now_ms + _MOST_AHEAD_MS else None


def _path(headers: Mapping[str, str], name: str) -> str | None:
    """Read a percent-encoded absolute path; None for anything else."""
    raw = unquote_to_bytes(headers.get(name, "").strip().encode("latin-1", "replace"))
    fits = raw.startswith(b"/") and len(raw) <= _MAX_PATH_BYTES and b"\0" not in raw
    return os.fsdecode(raw) if fits else None


def _is_set(headers: Mapping[str, str], name: str) -> bool:
    return bool(headers.get(name, "").strip())
