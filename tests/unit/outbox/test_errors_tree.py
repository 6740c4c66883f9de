"""The error tree: drawn in full, with one code a cause, and messages built from data."""

import inspect
import re

import pytest

from relay_queue import errors
from relay_queue.errors import (
    PROBLEMS_SHOWN,
    BindingMismatch,
    ConflictRefused,
    InputRefused,
    LimitReached,
    OutboxError,
    Problem,
)

PUBLIC = [
    found
    for name, found in vars(errors).items()
    if inspect.isclass(found) and issubclass(found, OutboxError) and not name.startswith("_")
]


def test_the_tree_is_drawn_in_full():
    """The picture at the top of the module names every error, and nothing else."""
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert set(drawn) == {found.__name__ for found in PUBLIC} - {"OutboxError"}
    assert len(drawn) == len(set(drawn))


def test_every_public_name_is_exported():
    """`__all__` has what the module defines."""
    defined = {
        name for name, found in vars(errors).items() if getattr(found, "__module__", "") == errors.__name__
    }
    assert {name for name in defined if not name.startswith("_")} | {"PROBLEMS_SHOWN"} == set(errors.__all__)


def test_every_error_has_a_code_of_its_own():
    """Codes go over the wire, so that no two causes share one."""
    codes = [found.code for found in PUBLIC if found is not LimitReached]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z_]+", code) for code in codes)


@pytest.mark.parametrize(
    ("resource", "code", "words"),
    [
        ("pending_items", "queue_full", "queue is full"),
        ("pending_bytes", "queue_full", "queue is full"),
        ("receipts", "replay_protection_full", "replay protection is full"),
        ("known_sessions", "session_table_full", "session pin table is full"),
    ],
)
def test_a_limit_says_which_and_how_far(resource, code: str, words: str):
    """The message has the words that users of the reference relay know, and the three numbers."""
    error = LimitReached(resource, 50, 49, 2)
    assert error.code == code
    assert words in str(error)
    assert (error.limit, error.held, error.asked) == (50, 49, 2)
    assert all(number in str(error) for number in ("50", "49", "2"))


@pytest.mark.parametrize("refusal", [InputRefused, ConflictRefused])
def test_a_refusal_keeps_the_first_twenty_problems(refusal):
    """More are counted, and the message says how many."""
    problems = [Problem(index, "agent", "must not be blank", "blank") for index in range(30)]
    error = refusal(problems, 300)
    assert error.problems == tuple(problems[:PROBLEMS_SHOWN])
    assert error.total == 300
    assert str(error).startswith("event 0: agent: must not be blank; event 1: ")
    assert str(error).endswith("; and 280 more")
    assert str(refusal(problems[:1], 2)).endswith("; and 1 more")
    assert "more" not in str(refusal(problems[:2], 2))


def test_a_problem_is_a_value():
    """Problems are equal by what they say."""
    one = Problem(3, "body.session_id", "must be a string", "wrong_type")
    assert str(one) == "event 3: body.session_id: must be a string"
    assert one == Problem(3, "body.session_id", "must be a string", "wrong_type")
    assert hash(one) == hash(Problem(3, "body.session_id", "must be a string", "wrong_type"))
    assert one != Problem(4, "body.session_id", "must be a string", "wrong_type")
    assert one != str(one)
    assert eval(repr(one)) == one  # noqa: S307 - a repr that is no expression would be a lie


def test_a_mismatch_names_each_change():
    """What the queue has and what was asked for stand side by side."""
    error = BindingMismatch({"project": ("a", "b"), "actor": ("c", "d")})
    assert str(error) == "binding mismatch: project: a -> b, actor: c -> d"
    assert error.changes == {"project": ("a", "b"), "actor": ("c", "d")}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (errors.BindingRefused("actor", "must not be blank"), "actor: must not be blank"),
        (errors.DirectoryRefused("/q", "must be private"), "/q: must be private"),
        (
            errors.NetworkFilesystem("/n", "nfs4", "RELAY_HOME"),
            "/n is on a network file system (nfs4); set RELAY_HOME to a local directory",
        ),
        (errors.NotAQueue("/q", "no queue is here"), "/q: no queue is here"),
        (
            errors.SchemaRefused("/q", 99, 1),
            "/q is not a usable relay queue: found schema 99, supported is 1",
        ),
        (errors.QueueOwned("/q", 7), "/q is in use by process 7"),
        (errors.QueueOwned("/q", None), "/q is in use by another process"),
        (errors.QueueBusy("/q"), "/q is busy; try the same queue again"),
        (
            errors.QueueDamaged("/q"),
            "/q is damaged: SQLite cannot read it; restore it from a backup",
        ),
        (errors.StorageFailed("/q", "disk full"), "/q cannot be written: disk full"),
        (errors.QueueClosed(), "the queue is closed"),
        (errors.NotHeld("ab"), "ab does not name one held event"),
        (errors.UnknownEvent("ab"), "ab does not name one pending event"),
        (errors.BeingSent("ab"), "ab is being sent now; try again after the answer"),
        (
            errors.MayDuplicate("ab"),
            "ab is past its retry window: sending it again may store it twice",
        ),
        (
            errors.NeedsCredentials(),
            "the server refused the credentials; the queue waits for others",
        ),
        (
            errors.AckRefused("malformed ack", "must be an object"),
            "malformed ack: must be an object",
        ),
    ],
)
def test_a_message_is_one_sentence_from_its_data(error: OutboxError, message: str):
    """What users see names the path or the key, what is wrong and, where there is one, the way out."""
    assert str(error) == message
