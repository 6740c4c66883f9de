"""Which session a hook tells of, where it is and how it goes on: read alike for every agent CLI.

What identifies an event must be as the outbox can hold it; what only says more about it is left out if it is odd.
"""

from collections.abc import Mapping
from typing import Final

from relay_queue.fields import CWD, EVENT_ID, SESSION_ID, FreeText
from relayd.errors import HookRefused
from relayd.harness.call import HookCall
from relayd.harness.meaning import Beginning
from relayd.text.scrub import scrub_text

__all__ = ("beginning_of", "event_id_of", "model_of", "place_of", "session_of", "transcript_of")

_LOST: Final = "\ufffd"
"""In place of bytes that were no text: a name with it may stand for several."""

_MODEL = FreeText(128)

_BEGINNINGS: Final[Mapping[object, Beginning]] = {
    "startup": "startup",
    "resume": "resume",
    "clear": "clear",
    "compact": "compact",
    "fork": "fork",
    "new": "startup",
    "load": "resume",
}
"""What CLIs say of how a session begins."""

_NO_SESSION = "the hook's input names no session"
_NO_PLACE = "the hook names no directory by an absolute path"
_SESSION = "the session's id {}"


def session_of(value: object) -> str:
    """Take a session's id exactly as the CLI spells it.

    Raises:
        HookRefused: There is none, or the outbox could not hold it as it is.
    """
    if value is None:
        raise HookRefused(_NO_SESSION)
    flaw = SESSION_ID.flaw(value)
    if flaw is not None:
        raise HookRefused(_SESSION.format(flaw.rule))
    if not isinstance(value, str) or _LOST in value:
        raise HookRefused(_SESSION.format("is not valid UTF-8"))
    return value


def place_of(call: HookCall, *given: object) -> str:
    """Take the first directory that the CLI gives and that can be one, else that of the call, else the call's root.

    Raises:
        HookRefused: None of them is an absolute path that the outbox can hold.
    """
    for place in (*given, call.directory, call.root):
        if isinstance(place, str) and place.startswith("/") and CWD.flaw(place) is None:
            return place
    raise HookRefused(_NO_PLACE)


def event_id_of(value: object) -> str | None:
    """Take an id that the CLI gives an event; None if there is none that the outbox can hold."""
    if not isinstance(value, str) or _LOST in value or EVENT_ID.flaw(value) is not None:
        return None
    return value


def beginning_of(source: object) -> Beginning:
    """Say how a session begins; what is not known counts as a new one, which is told everything."""
    return _BEGINNINGS.get(source, "startup") if isinstance(source, str) else "startup"


def model_of(value: object) -> str | None:
    """Take the name of a model; None if there is none that could be one."""
    return _plain(value, _MODEL)


def transcript_of(value: object) -> str | None:
    """Take the path of a transcript; None if there is none, or it is not absolute."""
    path = _plain(value, CWD)
    return path if path is not None and path.startswith("/") else None


def _plain(value: object, rule: FreeText) -> str | None:
    """Take a text that may be kept beside its event, where nothing cleans it; None for one with a secret in it."""
    if not isinstance(value, str) or _LOST in value or rule.flaw(value) is not None:
        return None
    return value if scrub_text(value) == value else None
