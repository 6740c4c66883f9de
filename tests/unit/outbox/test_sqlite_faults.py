"""What each error of SQLite means to a caller."""

import errno
import sqlite3
from pathlib import Path

import pytest

from relay_queue.errors import OutboxError, QueueBusy, QueueDamaged, StorageFailed
from relay_queue.sqlite.faults import translate, translated

PATH = Path("/queue/queue.db")
MEANINGS: dict[str, type[OutboxError]] = {
    "BUSY": QueueBusy,
    "LOCKED": QueueBusy,
    "PROTOCOL": QueueBusy,
    "CORRUPT": QueueDamaged,
    "NOTADB": QueueDamaged,
    "FULL": StorageFailed,
    "IOERR": StorageFailed,
    "READONLY": StorageFailed,
    "CANTOPEN": StorageFailed,
    "PERM": StorageFailed,
    "NOLFS": StorageFailed,
}
OURS = [
    "ERROR",
    "INTERNAL",
    "ABORT",
    "NOMEM",
    "INTERRUPT",
    "NOTFOUND",
    "EMPTY",
    "SCHEMA",
    "TOOBIG",
    "CONSTRAINT",
    "MISMATCH",
    "MISUSE",
    "AUTH",
    "FORMAT",
    "RANGE",
    "NOTICE",
    "WARNING",
]
SUCCESSES = ["OK", "ROW", "DONE"]


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("text that nobody may decide on")
    error.sqlite_errorcode = code
    return error


def code_of(name: str) -> int:
    return int(getattr(sqlite3, f"SQLITE_{name}"))


@pytest.mark.parametrize(("name", "meaning"), MEANINGS.items())
@pytest.mark.parametrize("extension", [0, 3])
def test_errors_of_the_file_have_a_meaning(name: str, meaning: type[OutboxError], extension: int) -> None:
    """An error of lock, disk or file becomes ours by its primary code, whatever the extended one."""
    found = translate(sqlite_error(code_of(name) | extension << 8), PATH)
    assert type(found) is meaning
    assert str(PATH) in str(found)


@pytest.mark.parametrize("name", OURS)
def test_faults_of_a_statement_have_none(name: str) -> None:
    """An error that only a wrong statement can cause is not dressed up as one of the file."""
    assert translate(sqlite_error(code_of(name)), PATH) is None


def test_every_primary_code_is_decided_on() -> None:
    """No primary result code of the manual is forgotten in the lists above."""
    assert {code_of(name) for name in (*MEANINGS, *OURS, *SUCCESSES)} == {*range(29), 100, 101}


def test_an_error_of_the_module_has_no_meaning() -> None:
    """What the sqlite3 module raises by itself, without a code, is our own misuse."""
    assert translate(sqlite3.ProgrammingError("Cannot operate on a closed database."), PATH) is None


def test_translated_keeps_the_cause() -> None:
    """The original error stays visible behind ours."""
    with pytest.raises(QueueDamaged) as caught, translated(PATH):
        raise sqlite_error(sqlite3.SQLITE_CORRUPT)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


def test_translated_takes_errors_of_the_system_too() -> None:
    """An error of the system beside SQLite is a failure of storage, with the system's reason."""
    with pytest.raises(StorageFailed, match="No space left"), translated(PATH):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_translated_lets_a_fault_of_a_statement_pass() -> None:
    """A wrong statement is raised as it came."""
    with pytest.raises(sqlite3.DatabaseError), translated(PATH):
        raise sqlite_error(sqlite3.SQLITE_ERROR)
