"""Every problem a daemon can name comes with what to do next."""

from __future__ import annotations

from relayctl.hints import HINTS, hint_for
from relayd.api.problem import STATUS

# A command line that this client accepts cannot bring these about.
_OURS_TO_PREVENT = {
    "ack_refused",
    "config_refused",
    "media_type_refused",
    "method_not_allowed",
    "not_found",
    "parameter_refused",
    "payload_too_large",
    "unknown_queue",
}
# How a flush failed is in its summary, not in a problem.
_OF_A_FLUSH = {"bad_answer", "refused", "unavailable", "unreached"}


def test_each_code_has_a_hint() -> None:
    """A new code in the daemon has to find its hint here."""
    assert set(HINTS) == set(STATUS) - _OURS_TO_PREVENT | _OF_A_FLUSH


def test_an_unknown_code_has_none() -> None:
    """A newer daemon's code is shown without advice."""
    assert hint_for("of_tomorrow") == ""
