"""Every problem a daemon can name comes with what to do next."""

from __future__ import annotations

from pathlib import Path

from relayctl.errors import Refused
from relayctl.hints import HINTS, hint_for, hint_of, queue_option
from relayd.api.problem import STATUS

# A command line that this client accepts cannot bring these about.
_OURS_TO_PREVENT = {
    "ack_refused",
    "config_refused",
    "head_too_large",
    "hook_refused",
    "media_type_refused",
    "method_not_allowed",
    "not_found",
    "other_home",
    "parameter_refused",
    "payload_too_large",
    "request_unreadable",
    "spool_behind",
    "unknown_queue",
}
# No daemon says it of itself.
_OF_THE_CLIENT = {"answer_lost"}
# How a flush failed is in its summary, not in a problem.
_OF_A_FLUSH = {"bad_answer", "refused", "unavailable", "unreached"}


def test_each_code_has_a_hint() -> None:
    """A new code in the daemon has to find its hint here."""
    assert set(HINTS) == set(STATUS) - _OURS_TO_PREVENT | _OF_A_FLUSH | _OF_THE_CLIENT


def test_what_was_forgotten_has_no_successor_to_look_for() -> None:
    """The hint for it differs from that for what another decision took the place of."""
    told = [
        {"code": "superseded", "superseded_by": successor}
        for successor in ("01K6Z3T9Y8QW5V2M7N4R6X0BCD", None)
    ]
    replaced, forgotten = (hint_of(Refused(409, problem)) for problem in told)
    assert "took its place" in replaced
    assert "took its place" not in forgotten


def test_an_unknown_code_has_none() -> None:
    """A newer daemon's code is shown without advice."""
    assert hint_for("of_tomorrow") == ""


def test_a_command_in_a_hint_is_for_the_queue_that_was_named() -> None:
    """It can be copied as it stands: the option is there, quoted, if the user gave it, and only then."""
    assert (
        hint_for("not_held", "~/my box")
        == "`relayctl queue held --queue-dir '~/my box'` lists the keys that are"
    )
    assert hint_for("not_held") == "`relayctl queue held` lists the keys that are"


def test_a_queue_of_the_home_goes_by_its_name(tmp_path: Path) -> None:
    """However its directory was written; one of that name elsewhere does not."""
    (tmp_path / "real" / "queue").mkdir(parents=True)
    (tmp_path / "home").symlink_to("real")
    home = str(tmp_path / "home")
    assert queue_option(None, home) == ""
    for room in (home, str(tmp_path / "real")):
        assert queue_option(f"{room}/queue/p-shop.2/", home) == " --queue p-shop.2"
    for elsewhere in (f"{home}/p-shop.2", f"{home}/queue/a/p-shop.2", "queue/p-shop.2", f"{home}/queue/P"):
        assert queue_option(elsewhere, home) == f" --queue-dir {elsewhere}"


def test_a_name_is_no_directory(tmp_path: Path) -> None:
    """Who gives --queue-dir the name of a queue of the home is told of --queue, never of `init`."""
    (tmp_path / "queue" / "p-shop.2").mkdir(parents=True)
    told = hint_for("not_a_queue", "p-shop.2", str(tmp_path))
    assert told == "a queue of this home has that name: `--queue p-shop.2`"
    assert "relayctl init" in hint_for("not_a_queue", "p-shop.3", str(tmp_path))
    gone = hint_for("not_a_queue", f"{tmp_path}/queue/p-shop.3", str(tmp_path))
    assert (
        gone == "was a queue here? Put it back: it is never made anew; `relayctl queue list` shows the queues"
    )


def test_no_hint_shows_where_the_option_goes() -> None:
    """The mark in the table is always replaced."""
    assert not [code for code in HINTS for named in (None, "/q") if "{" in hint_for(code, named)]


def test_a_queue_that_is_gone_is_put_back_not_made_anew() -> None:
    """A new queue would lose what was pending; a queue that was not named may only have been forgotten."""
    assert "Put it back, or mount it" in hint_for("not_a_queue", "/mnt/q")
    assert (
        hint_for("not_a_queue")
        == "name the queue with --queue or --queue-dir; `relayctl queue list` shows the queues"
    )


def _conflict(*codes: str) -> Refused:
    problems = [{"index": 0, "field": "agent", "rule": "no", "code": code} for code in codes]
    return Refused(409, {"code": "identity_conflict", "detail": "no", "problems": problems})


def test_each_kind_of_conflict_has_its_own_way_out() -> None:
    """Another event_id does not help an event whose session belongs to another agent."""
    session, event = "another session_id", "another event_id"
    shown = [
        hint_of(_conflict(*codes))
        for codes in (
            ["session_identity_conflict"],
            ["identity_collision"],
            ["identity_collision", "session_identity_conflict"],
        )
    ]
    assert [(session in hint, event in hint) for hint in shown] == [
        (True, False),
        (False, True),
        (True, True),
    ]
