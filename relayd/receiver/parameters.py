"""What the URL of an item says."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote_plus

import msgspec

__all__ = ("KNOWN", "Parameters", "aliases_hold", "flag", "read_query", "read_url")

Parameters = Mapping[str, str]
"""Known parameters by name, decoded; empty if anything in the query was wrong."""

KNOWN = frozenset(
    (
        "event", "agent", "cwd", "workspace", "project", "session_id", "project_strategy", "extension", "source_event",
        "drop_subagent", "default_global", "managed_run", "capture_assistant", "ingest_key", "all_owners", "project_src",
        "identity", "identity_src", "identity_style", "aliases",
    )
)  # fmt: skip
"""Every parameter the contract knows, also those that mean nothing here: given twice, they spoil the query all the same."""

_NONE: Parameters = MappingProxyType({})


def read_url(url: str) -> Parameters:
    """Decode what follows the first `?`; where the URL points to does not matter, nor is a fragment cut off.

    Source: docs/receiver.md, "URL".
    """
    return read_query(url.partition("?")[2])


def read_query(query: str) -> Parameters:
    """Decode form parameters. One mistake loses all of them: no `event`, or a known one given twice.

    Bytes that are no UTF-8 become U+FFFD, a `%` that starts no escape stays as it is.
    """
    found: dict[str, str] = {}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        name = _decode(name)
        if name not in KNOWN:
            continue
        if name in found:
            return _NONE
        found[name] = _decode(value)
    return found if "event" in found else _NONE


def _decode(text: str) -> str:
    return unquote_plus(text) if "%" in text or "+" in text else text


def flag(value: str | None) -> bool:
    """Whether a parameter says yes."""
    return value is not None and value.strip().lower() in ("1", "true", "yes", "on")


def aliases_hold(parameters: Parameters) -> bool:
    """Whether former names of a project are well formed and come with the identity they need; absent ones hold.

    Source: docs/receiver.md, "URL".
    """
    text = parameters.get("aliases")
    if text is None:
        return True
    if not parameters.get("project", "").strip() or parameters.get("project_src") != "marker":
        return False
    if not parameters.get("identity") or parameters.get("identity_src") != "git_remote":
        return False
    try:
        names = msgspec.json.decode(text, type=list[str])
    except msgspec.DecodeError:
        return False
    return all(map(str.strip, names))
