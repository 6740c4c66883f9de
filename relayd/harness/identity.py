"""Which session a hook tells of, and where: what the outbox must be able to hold, for every agent CLI alike."""

from typing import Final

from relay_queue.fields import CWD, EVENT_ID, SESSION_ID
from relayd.errors import HookRefused
from relayd.harness.call import HookCall

__all__ = ("event_id_of", "place_of", "session_of")

_LOST: Final = "\ufffd"
"""In place of bytes that were no text: a name with it may stand for several."""

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


def place_of(call: HookCall, cwd: object) -> str:
    """Take the working directory that the CLI gives, else the one of the call, else the call's root.

    Raises:
        HookRefused: None of them is an absolute path that the outbox can hold.
    """
    for place in (cwd, call.directory, call.root):
        if isinstance(place, str) and place.startswith("/") and CWD.flaw(place) is None:
            return place
    raise HookRefused(_NO_PLACE)


def event_id_of(value: object) -> str | None:
    """Take an id that the CLI gives an event; None if there is none that the outbox can hold."""
    if not isinstance(value, str) or _LOST in value or EVENT_ID.flaw(value) is not None:
        return None
    return value
