"""Errors as answers."""

import json

import pytest

import relay_queue.errors as outbox_errors
import relayd.errors as daemon_errors
from relay_queue.errors import (
    BindingRefused,
    ConflictRefused,
    InputRefused,
    LimitReached,
    Problem,
    QueueOwned,
)
from relayd.api.problem import STATUS, problem
from relayd.errors import MethodRefused

START_ONLY = {"home_refused", "already_running", "listener_refused", "machine_short"}
"""Where nobody can be answered yet."""


def codes(module):
    """Every code that the errors of a module can have."""
    classes = [
        value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Exception)
    ]
    bases = {outbox_errors.OutboxError, daemon_errors.RelaydError}
    found = {cls.code for cls in classes if "code" in vars(cls) and cls not in bases}
    return found | ({code for code, _ in module._FULL.values()} if module is outbox_errors else set())


def test_every_code_has_a_status():
    """No error of ours can reach a client as `internal` because its code was forgotten."""
    assert codes(outbox_errors) | codes(daemon_errors) == STATUS.keys() | START_ONLY


def test_form_of_a_problem():
    """A problem has the members of RFC 9457, a stable code, and a Content-Length."""
    answer = problem(BindingRefused("actor", "must not be blank"))
    assert json.loads(answer.body) == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "actor: must not be blank",
        "code": "binding_refused",
    }
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["content-length"] == str(len(answer.body))


@pytest.mark.parametrize("kind", [InputRefused, ConflictRefused])
def test_problems_of_an_input_are_listed(kind):
    """A refused input names index, field, rule and code of each problem, and how many there were."""
    found = Problem(3, "body.session_id", "must be a string", "not_a_string")
    body = json.loads(problem(kind([found], 25)).body)
    assert body["total"] == 25
    assert body["problems"] == [
        {"index": 3, "field": "body.session_id", "rule": "must be a string", "code": "not_a_string"}
    ]


def test_a_limit_tells_its_numbers():
    """A reached limit says which, how much is held and how much was asked for."""
    answer = problem(LimitReached("pending_items", 50_000, 49_999, 2))
    body = json.loads(answer.body)
    assert (answer.status_code, body["code"]) == (507, "queue_full")
    assert (body["resource"], body["limit"], body["held"], body["asked"]) == (
        "pending_items",
        50_000,
        49_999,
        2,
    )


def test_an_owned_queue_names_the_process():
    """A queue that another process has open answers with its pid."""
    assert json.loads(problem(QueueOwned("/q", 4711)).body)["pid"] == 4711


def test_a_wrong_method_names_the_right_ones():
    """405 carries Allow, as RFC 9110 asks."""
    assert problem(MethodRefused("GET, HEAD")).headers["allow"] == "GET, HEAD"
