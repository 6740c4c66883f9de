"""The member `_ai_memory_capture`: what a sender's capture policy says about an event.

Source: docs/receiver.md, "Capture block".
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from relayd.receiver.tools import Extraction, Family, Tool, is_call_id, tool_of

__all__ = ("MEMBER", "Capture", "apply_capture")

MEMBER: Final = "_ai_memory_capture"

Json = dict[str, Any]

_MAX_SESSION_BYTES: Final = 512
_MAX_CWD_BYTES: Final = 4_096


class Capture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A well formed claim: exactly these members."""

    version: Literal[1]
    disposition: Literal["keep", "drop", "metadata-only"]
    policy_state: Literal["inactive", "active", "invalid"]
    tool_family: Family
    path_count: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    extraction_state: Extraction


def apply_capture(body: Json) -> Json | None:
    """Reduce a body to what may be kept of it.

    A claim is believed when it asks for less. One that asks to keep is checked against the tool call itself; if it
    contradicts that, or cannot be read, a call that touches files or runs commands is reduced to metadata.

    Returns:
        The body as it is, a reduced one, or None if the event is to be dropped.
    """
    if MEMBER not in body:
        return body
    try:
        claim = msgspec.convert(body[MEMBER], Capture)
    except msgspec.ValidationError:
        tool = tool_of(body)
        return _reduced(body, tool) if tool.family == "file" or tool.shell else body
    if claim.disposition == "drop":
        return None
    return _metadata(body, claim) if claim.disposition == "metadata-only" else _checked(body, claim)


def _checked(body: Json, claim: Capture) -> Json | None:
    tool = tool_of(body)
    expected = _expected(claim, tool)
    if _agrees(claim, tool) and expected == "keep":
        return body
    if claim.tool_family == "file" or tool.family == "file":
        return _reduced(body, tool)
    match expected:
        case "drop":
            return None
        case "metadata-only":
            return _reduced(body, tool)
        case _:
            return body


def _agrees(claim: Capture, tool: Tool) -> bool:
    """Whether a claim tells of the call that is there."""
    searches = claim.policy_state == "active" and tool.family == "search-list"
    extraction = "not-applicable" if searches else tool.extraction
    return (claim.tool_family, claim.path_count, claim.extraction_state) == (
        tool.family,
        tool.path_count,
        extraction,
    )


def _expected(claim: Capture, tool: Tool) -> str:
    """Say the most that a sender in this policy state may do with the call."""
    if claim.policy_state == "active":
        if tool.family == "search-list":
            return "drop"
        return "metadata-only" if tool.family == "file" and tool.path_count == 0 else "keep"
    risky = tool.family == "file" or tool.shell
    return "metadata-only" if claim.policy_state == "invalid" and risky else "keep"


def _metadata(body: Json, claim: Capture) -> Json | None:
    """Rebuild a body that says it is metadata already; dropped if it is of no kind that may be."""
    legal = claim.policy_state != "inactive" and claim.tool_family == "file"
    legal = legal or (claim.policy_state == "invalid" and claim.tool_family == "non-file")
    if (
        not legal
        or body.get("tool_family") != claim.tool_family
        or body.get("tool_name") != claim.tool_family
    ):
        return None
    if not _is_short(body, "session_id", _MAX_SESSION_BYTES) or not _is_short(body, "cwd", _MAX_CWD_BYTES):
        return None
    call_id = body.get("tool_call_id")
    if "tool_call_id" in body and not is_call_id(call_id):
        return None
    return _rebuilt(body, claim.tool_family, call_id)


def _is_short(body: Json, key: str, max_bytes: int) -> bool:
    if key not in body:
        return True
    value = body[key]
    return isinstance(value, str) and 0 < len(value.encode()) <= max_bytes


def _reduced(body: Json, tool: Tool) -> Json:
    return _rebuilt(body, tool.family, tool.call_id)


def _rebuilt(body: Json, family: Family, call_id: str | None) -> Json:
    kept = {key: body[key] for key in ("session_id", "cwd") if key in body}
    call = {} if call_id is None else {"tool_call_id": call_id}
    return kept | {"tool_family": family, "tool_name": family} | call
