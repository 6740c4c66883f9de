"""What the log says of an exception."""

import errno
import os
import sqlite3

import pytest

from relay_queue.errors import QueueBusy
from relayd.fault import account, shortage

SECRET = "hunter2"


def raised(act):
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - any of them is the subject here
        return error
    pytest.fail("nothing was raised")


@pytest.mark.parametrize(
    "act",
    [
        lambda: int(SECRET),
        lambda: {}[SECRET],
        lambda: SECRET.encode("ascii").decode("utf-16"),
        lambda: (_ for _ in ()).throw(Exception(SECRET)),
    ],
)
def test_text_that_may_quote_input_is_left_out(act):
    """An exception that may quote what it choked on is told by its class and its frames only."""
    told = account(raised(act))
    assert SECRET not in told
    assert "test_faults.py:" in told


@pytest.mark.parametrize(
    "error",
    [QueueBusy("/q"), OSError(28, "No space left on device"), sqlite3.OperationalError("no such table: x")],
)
def test_text_that_names_our_own_things_is_told(error):
    """An error of ours, of the system or of SQLite is told with its text."""
    assert str(error) in account(error)


def test_causes_and_groups_are_followed():
    """What caused an error, and every member of a group, is told too."""

    def act():
        try:
            raise OSError(5, "Input/output error")
        except OSError as cause:
            raise ExceptionGroup("many", [TypeError("first"), KeyError(SECRET)]) from cause

    told = account(raised(act))
    assert "Input/output error" in told
    assert "TypeError: first" in told
    assert "KeyError" in told
    assert SECRET not in told


def test_endless_recursion_is_told_shortly():
    """A deep stack does not fill the log."""

    def act():
        return act()

    assert len(account(raised(act)).splitlines()) < 40


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EMFILE, "x"), os.strerror(errno.EMFILE)),
        (OSError(errno.ENOMEM, "x"), os.strerror(errno.ENOMEM)),
        (MemoryError(), os.strerror(errno.ENOMEM)),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_a_machine_that_gives_no_more_is_named_wherever_it_shows(error: Exception, told: str) -> None:
    """Alone, in a group of tasks, or as what another error came from."""
    behind = RuntimeError("cannot close a running event loop")
    behind.__context__ = error
    for shown in (error, ExceptionGroup("tasks", [ValueError(), error]), behind):
        short = shortage(shown)
        assert short is not None
        assert short.reason == told


def test_any_other_fault_is_no_shortage() -> None:
    """It stays a fault of ours."""
    assert shortage(OSError(errno.ENOENT, "x")) is None
    assert shortage(RuntimeError("other")) is None
