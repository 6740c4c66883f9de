"""Older files become current ones; a copy is kept."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.errors import QueueDamaged, SchemaRefused, StorageFailed
from relay_queue.sqlite.database import Schema, close_writer, open_reader, open_writer
from tests.integration.outbox.children import run_python, run_together
from tests.integration.outbox.shelf import (
    MARK,
    SCHEMA_1,
    SCHEMA_2,
    SHELF_1,
    add_books,
    make_shelf,
    names_beside,
    scribble,
    titles_in,
)


def schema_of(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
        ).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shelf.db"


def test_a_migrated_file_equals_a_fresh_one(path: Path, tmp_path: Path) -> None:
    """Both ways lead to the same tables, indexes, mark and version."""
    make_shelf(path, ["a"])
    close_writer(open_writer(path, SCHEMA_2))
    fresh = make_shelf(tmp_path / "fresh.db", schema=SCHEMA_2)
    assert schema_of(path) == schema_of(fresh)
    with closing(open_reader(path, SCHEMA_2)) as migrated:
        assert migrated.execute("PRAGMA user_version").fetchone() == (2,)
        assert migrated.execute("PRAGMA application_id").fetchone() == (MARK,)
    assert titles_in(path) == ["a"]


def test_the_older_file_is_kept_beside_it(path: Path) -> None:
    """Before it is migrated, the file as it was is copied, private from the start and with its log."""
    make_shelf(path, ["a"])
    run_python(
        """
import os, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books
os.umask(0)
add_books(open_writer(Path(sys.argv[1]), SCHEMA_1), [{"title": "logged"}])
os._exit(0)
""",
        path,
    )
    umask = os.umask(0)
    try:
        close_writer(open_writer(path, SCHEMA_2))
    finally:
        os.umask(umask)
    kept = path.with_name("shelf.db.v1")
    assert names_beside(path) == ["shelf.db", "shelf.db.v1"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with closing(open_reader(kept, SCHEMA_1)) as connection:
        assert connection.execute("SELECT title FROM book ORDER BY id").fetchall() == [("a",), ("logged",)]


def test_a_current_file_is_not_copied(path: Path) -> None:
    """Opening what is current already makes no copy."""
    make_shelf(path, ["a"])
    close_writer(open_writer(path, SCHEMA_1))
    assert names_beside(path) == ["shelf.db"]


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    """All scripts run in one transaction; the older version can still use the file."""
    make_shelf(path, ["a"])
    failing = Schema(MARK, (SHELF_1, "ALTER TABLE book ADD COLUMN x TEXT", "INSERT INTO missing VALUES (1)"))
    with pytest.raises(sqlite3.OperationalError):
        open_writer(path, failing)
    with closing(open_writer(path, SCHEMA_1)) as connection:
        add_books(connection, [{"title": "b"}])
    assert titles_in(path) == ["a", "b"]


def test_a_second_try_replaces_the_copy_of_the_first(path: Path) -> None:
    """What was written between two tries to migrate is in the copy that counts."""
    make_shelf(path, ["a"])
    failing = Schema(MARK, (SHELF_1, "INSERT INTO missing VALUES (1)"))
    with pytest.raises(sqlite3.OperationalError):
        open_writer(path, failing)
    with closing(open_writer(path, SCHEMA_1)) as connection:
        add_books(connection, [{"title": "b"}])
    close_writer(open_writer(path, SCHEMA_2))
    assert titles_in(path.with_name("shelf.db.v1")) == ["a", "b"]


def test_rows_without_their_parent_do_not_stop_a_migration(path: Path) -> None:
    """A table that orphans point at can be rebuilt: keys are checked only once the file is current."""
    make_shelf(path, ["a"], SCHEMA_2)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO loan VALUES (99, 'nobody')")
    rebuild = """
    CREATE TABLE new_loan (book INTEGER NOT NULL REFERENCES book (id), reader TEXT NOT NULL, day TEXT) STRICT;
    INSERT INTO new_loan (book, reader) SELECT book, reader FROM loan;
    DROP TABLE loan;
    ALTER TABLE new_loan RENAME TO loan;
    """
    with closing(open_writer(path, Schema(MARK, (*SCHEMA_2.migrations, rebuild)))) as connection:
        assert connection.execute("SELECT book, reader FROM loan").fetchall() == [(99, "nobody")]
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_a_damaged_file_is_not_migrated(path: Path) -> None:
    """Damage is found first: no copy of nonsense is made and nothing is rewritten."""
    make_shelf(path, [f"{number} {'x' * 200}" for number in range(200)])
    scribble(path, page=5)
    before = path.read_bytes()
    with pytest.raises(QueueDamaged):
        open_writer(path, SCHEMA_2)
    assert path.read_bytes() == before
    assert not path.with_name("shelf.db.v1").exists()


def test_a_copy_that_cannot_be_made_stops_the_migration(path: Path) -> None:
    """Without its copy an older file stays as it is."""
    make_shelf(path, ["a"])
    path.with_name("shelf.db.v1").mkdir()
    with pytest.raises(StorageFailed, match="Is a directory"):
        open_writer(path, SCHEMA_2)
    assert titles_in(path) == ["a"]
    with pytest.raises(SchemaRefused):
        open_reader(path, SCHEMA_2)
    assert names_beside(path) == ["shelf.db", "shelf.db-shm", "shelf.db-wal", "shelf.db.v1"]


def test_two_processes_migrating_at_once_migrate_once(path: Path) -> None:
    """The later opener waits for the earlier one and finds the file current."""
    make_shelf(path, ["a"])
    code = """
import sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_2
sys.stdin.readline()
connection = open_writer(Path(sys.argv[1]), SCHEMA_2)
print(connection.execute("SELECT title, shelf FROM book").fetchall(), flush=True)
sys.stdin.read()
"""
    assert run_together(code, (path,), (path,), (path,)) == [("[('a', 'a;b')]\n", "")] * 3
    assert titles_in(path) == ["a"]
