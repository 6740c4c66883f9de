"""Opening, making and refusing database files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.errors import (
    DirectoryRefused,
    NotAQueue,
    QueueBusy,
    QueueDamaged,
    SchemaRefused,
    StorageFailed,
)
from relay_queue.sqlite.database import Schema, _switch_to_wal, close_writer, open_writer
from tests.integration.outbox.children import run_python, run_together
from tests.integration.outbox.shelf import (
    MARK,
    SCHEMA_1,
    SCHEMA_2,
    add_books,
    make_shelf,
    names_beside,
    scribble,
    titles_in,
)

MODES = """
import os, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books
path = Path(sys.argv[1])
connection = open_writer(path, SCHEMA_1, create=True)
add_books(connection, [{"title": "a"}])
print(*(f"{file.name} {file.stat().st_mode & 0o777:04o}" for file in sorted(path.parent.iterdir())), sep=", ")
"""
OPEN = """
import sys
from pathlib import Path
from relay_queue.errors import OutboxError
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_1
try:
    open_writer(Path(sys.argv[1]), SCHEMA_1, create=True)
except OutboxError as error:
    print(error)
"""


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_all_files_are_0600_whatever_the_umask(path: Path, umask: int) -> None:
    """The file is private before SQLite touches it, and SQLite's own files follow it."""
    assert run_python(MODES, path, umask=umask) == "shelf.db 0600, shelf.db-shm 0600, shelf.db-wal 0600"


def test_a_new_file_is_set_up(path: Path) -> None:
    """A new file carries its mark and version, and the connection syncs every commit and checks keys."""
    with closing(open_writer(path, SCHEMA_1, create=True)) as connection:
        assert pragma(connection, "application_id") == MARK
        assert pragma(connection, "user_version") == 1
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "synchronous") == 2
        assert pragma(connection, "foreign_keys") == 1
        assert pragma(connection, "busy_timeout") == 10_000
        assert pragma(connection, "trusted_schema") == 0
        assert not connection.in_transaction


def test_a_closed_file_stands_alone_and_opens_again(path: Path) -> None:
    """After a clean close nothing is left beside the file, and everything is in it."""
    make_shelf(path, ["a", "b"])
    assert names_beside(path) == ["shelf.db"]
    with closing(open_writer(path, SCHEMA_1)):
        assert titles_in(path) == ["a", "b"]


def test_a_missing_file_is_not_made_unasked(path: Path) -> None:
    """Without `create` a missing file stays missing."""
    with pytest.raises(NotAQueue, match="no such file"):
        open_writer(path, SCHEMA_1)
    assert names_beside(path) == []


def test_an_empty_file_is_no_queue_but_can_become_one(path: Path) -> None:
    """What a crash between making the file and filling it leaves is refused, and completed by `create`."""
    path.touch(mode=0o600)
    with pytest.raises(NotAQueue, match="empty"):
        open_writer(path, SCHEMA_1)
    assert path.stat().st_size == 0
    assert make_shelf(path, ["a"]) == path
    assert titles_in(path) == ["a"]


def make_newer(path: Path) -> None:
    make_shelf(path, ["a"], SCHEMA_2)


def make_foreign(path: Path) -> None:
    make_shelf(path, ["a"], Schema(MARK + 1, SCHEMA_1.migrations))


def make_unmarked(path: Path, journal: str = "wal") -> None:
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE theirs (x)")


def make_unmarked_with_rollback_journal(path: Path) -> None:
    make_unmarked(path, "persist")
    assert path.with_name("shelf.db-journal").exists()
    for file in path.parent.iterdir():
        file.chmod(0o600)


def make_version_zero(path: Path) -> None:
    make_shelf(path, ["a"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 0")


@pytest.mark.parametrize(
    ("make", "found"),
    [
        pytest.param(make_newer, "found schema 2, supported is 1", id="newer"),
        pytest.param(make_foreign, "of another application", id="foreign"),
        pytest.param(make_unmarked, "of another application", id="unmarked"),
        pytest.param(make_unmarked_with_rollback_journal, "of another application", id="rollback-journal"),
        pytest.param(make_version_zero, "found schema 0", id="version-zero"),
    ],
)
@pytest.mark.parametrize("create", [False, True])
def test_an_unknown_file_is_refused_and_stays_as_it_was(path: Path, make, found: str, create: bool) -> None:
    """A newer, foreign or unmarked file is refused; its bytes, and what lies beside it, do not change."""
    make(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(SchemaRefused, match=found):
        open_writer(path, SCHEMA_1, create=create)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_an_unknown_file_with_a_log_is_not_merged(path: Path) -> None:
    """A refused file keeps the log that its last, killed owner left: we are not the one to move it in."""
    make_newer(path)
    crash_with_log(path, SCHEMA_2)
    before = path.read_bytes(), path.with_name("shelf.db-wal").read_bytes()
    with pytest.raises(SchemaRefused):
        open_writer(path, SCHEMA_1)
    assert (path.read_bytes(), path.with_name("shelf.db-wal").read_bytes()) == before


def crash_with_log(path: Path, schema: Schema) -> None:
    """Add a book and die before the log is moved into the file."""
    code = """
import os, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox import shelf
shelf.add_books(open_writer(Path(sys.argv[1]), getattr(shelf, sys.argv[2])), [{"title": "logged"}])
os._exit(0)
"""
    run_python(code, path, "SCHEMA_1" if schema is SCHEMA_1 else "SCHEMA_2")
    assert path.with_name("shelf.db-wal").stat().st_size > 0


def test_what_a_killed_owner_committed_is_there(path: Path) -> None:
    """The log of a killed process is read at the next opening."""
    make_shelf(path, ["a"])
    crash_with_log(path, SCHEMA_1)
    close_writer(open_writer(path, SCHEMA_1))
    assert names_beside(path) == ["shelf.db"]
    assert titles_in(path) == ["a", "logged"]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_planted_link_is_refused(path: Path, tmp_path: Path, suffix: str) -> None:
    """Neither the file nor any of SQLite's own files beside it may lead elsewhere."""
    if suffix:
        make_shelf(path)
    target = tmp_path / "target"
    target.touch(mode=0o600)
    path.with_name(path.name + suffix).symlink_to(target)
    with pytest.raises(DirectoryRefused, match="symbolic link"):
        open_writer(path, SCHEMA_1, create=True)
    assert target.read_bytes() == b""


def test_a_file_open_to_others_is_refused(path: Path) -> None:
    """A database that others could read is refused, not tightened."""
    make_shelf(path).chmod(0o644)
    with pytest.raises(DirectoryRefused, match="mode 0644, must be 0600"):
        open_writer(path, SCHEMA_1)


def test_a_file_that_may_not_be_written_is_one_sentence(path: Path) -> None:
    """A read-only file is reported at the opening, not at the first write."""
    make_shelf(path).chmod(0o400)
    assert run_python(OPEN, path) == f"{path} cannot be written: it is read-only"


def test_a_read_only_directory_is_one_sentence(path: Path, tmp_path: Path) -> None:
    """Where the file cannot be made, the reason is said and nothing is left."""
    tmp_path.chmod(0o500)
    try:
        said = run_python(OPEN, path)
    finally:
        tmp_path.chmod(0o700)
    assert said == f"{path} cannot be written: Permission denied"
    assert names_beside(path) == []


def test_something_that_is_no_database_is_damaged(path: Path) -> None:
    """A file without SQLite's header is reported as it is, in one sentence, and not replaced."""
    path.touch(mode=0o600)
    path.write_bytes(b"no database at all" * 500)
    with pytest.raises(QueueDamaged, match="is damaged"):
        open_writer(path, SCHEMA_1, create=True)
    assert path.read_bytes() == b"no database at all" * 500


@pytest.mark.parametrize("size", [1, 99, 511])
def test_the_rest_of_a_torn_file_is_damaged(path: Path, size: int) -> None:
    """A file too short for a page is not taken for an empty one and filled."""
    path.touch(0o600)
    path.write_bytes(b"\0" * size)
    with pytest.raises(QueueDamaged):
        open_writer(path, SCHEMA_1, create=True)
    assert path.read_bytes() == b"\0" * size


def test_a_scribbled_page_is_found_at_the_opening(path: Path) -> None:
    """A small file has all its pages checked each time, so that damage is reported and not served."""
    make_shelf(path, [f"{number} {'x' * 200}" for number in range(200)])
    scribble(path, page=5)
    before = path.read_bytes()
    with pytest.raises(QueueDamaged):
        open_writer(path, SCHEMA_1)
    assert path.read_bytes() == before


def test_a_scribbled_page_under_a_log_is_found_and_not_merged_over(path: Path) -> None:
    """Damage in a file whose owner was killed is found before the log is moved into it."""
    make_shelf(path, [f"{number} {'x' * 200}" for number in range(200)])
    crash_with_log(path, SCHEMA_1)
    scribble(path, page=5)
    before = path.read_bytes()
    with pytest.raises(QueueDamaged):
        open_writer(path, SCHEMA_1)
    assert path.read_bytes() == before


def test_a_lock_held_elsewhere_makes_the_opening_wait_and_then_say_busy(path: Path) -> None:
    """The write lock of another process is waited for, then reported as busy."""
    make_shelf(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueueBusy, match="try the same queue again"):
            open_writer(path, SCHEMA_1, busy_timeout_s=0.05)
        other.execute("ROLLBACK")
    open_writer(path, SCHEMA_1, busy_timeout_s=0.05).close()


@pytest.fixture
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that reads a file whose journal is still the old one."""
    make_shelf(path, ["a"])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN")
        other.execute("SELECT * FROM book").fetchall()
        yield other


def test_a_reader_of_the_old_journal_makes_the_opening_busy(path: Path, reading: sqlite3.Connection) -> None:
    """The log cannot be turned on while another connection reads; that is reported, and passes."""
    with pytest.raises(QueueBusy):
        open_writer(path, SCHEMA_1, busy_timeout_s=0.05)
    reading.execute("COMMIT")
    with closing(open_writer(path, SCHEMA_1)) as connection:
        assert pragma(connection, "journal_mode") == "wal"


def test_turning_the_log_on_is_tried_again(path: Path, reading: sqlite3.Connection) -> None:
    """A reader that ends within the busy timeout costs one more try, not the opening."""
    tries: list[str] = []

    class Tried(sqlite3.Connection):
        """Lets the reader go once the first try has failed."""

        def execute(self, sql: str) -> sqlite3.Cursor:
            tries.append(sql)
            try:
                return super().execute(sql)
            except sqlite3.OperationalError:
                reading.execute("COMMIT")
                raise

    with closing(sqlite3.connect(path, timeout=0.0, factory=Tried)) as connection:
        _switch_to_wal(connection, path, 20.0)
        assert len(tries) == 2
        assert pragma(connection, "journal_mode") == "wal"


def test_two_processes_opening_a_new_file_at_once_make_one(path: Path) -> None:
    """Both openers succeed, one of them makes the tables, and both can write."""
    code = """
import sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_2, add_books
sys.stdin.readline()
connection = open_writer(Path(sys.argv[1]), SCHEMA_2, create=True)
add_books(connection, [{"title": sys.argv[2]}])
print("done", flush=True)
sys.stdin.read()
"""
    names = ["a", "b", "c", "d"]
    said = run_together(code, *((path, name) for name in names))
    assert said == [("done\n", "")] * len(names)
    assert sorted(titles_in(path)) == names


def test_a_connection_can_be_given_a_limit(path: Path) -> None:
    """A page limit is what stands for a full disk in tests."""
    with closing(open_writer(path, SCHEMA_1, create=True, max_page_count=20)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="full"):
            add_books(connection, [{"title": "x", "pages": "y" * 200_000}])
        assert not connection.in_transaction


def test_a_failing_script_leaves_an_empty_file(path: Path) -> None:
    """Making a file is one transaction: what fails half-way leaves nothing of it."""
    with pytest.raises(sqlite3.OperationalError):
        open_writer(path, Schema(MARK, (SHELF_THAT_FAILS,)), create=True)
    close_writer(open_writer(path, SCHEMA_1, create=True))
    assert titles_in(path) == []


SHELF_THAT_FAILS = "CREATE TABLE book (x); CREATE TABLE other (y); SELECT * FROM missing;"


def test_a_file_without_a_log_is_not_used() -> None:
    """Where no write-ahead log can be kept, nothing is written another way."""
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StorageFailed, match="stays memory"),
    ):
        _switch_to_wal(connection, Path("/shelf.db"), 0.0)
