"""Copies of a database in use."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.errors import QueueDamaged, StorageFailed
from relay_queue.sqlite.backup import copy_database
from relay_queue.sqlite.database import open_reader, open_writer
from tests.integration.outbox.children import run_python
from tests.integration.outbox.shelf import SCHEMA_1, add_books, make_shelf, names_beside, titles_in


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return make_shelf(tmp_path / "room" / "shelf.db", ["a"])


def test_a_copy_is_taken_while_a_transaction_is_open(path: Path, tmp_path: Path) -> None:
    """The copy has what is committed, log included, and does not wait for the writer."""
    with closing(open_writer(path, SCHEMA_1)) as connection:
        add_books(connection, [{"title": "in the log"}])
        connection.execute("BEGIN IMMEDIATE")
        add_books(connection, [{"title": "not yet"}])
        copy_database(path, tmp_path / "copy.db", busy_timeout_s=0.0)
        connection.execute("ROLLBACK")
    assert titles_in(tmp_path / "copy.db") == ["a", "in the log"]


def test_a_copy_is_private_and_usable(path: Path, tmp_path: Path) -> None:
    """The copy is 0600 whatever the umask, leaves nothing beside it, and opens as the original does."""
    umask = os.umask(0)
    try:
        copy_database(path, tmp_path / "copy.db")
    finally:
        os.umask(umask)
    assert names_beside(tmp_path / "copy.db") == ["copy.db", "room"]
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    with closing(open_writer(tmp_path / "copy.db", SCHEMA_1)) as connection:
        add_books(connection, [{"title": "b"}])


def test_a_file_that_is_there_is_replaced_only_if_asked(path: Path, tmp_path: Path) -> None:
    """An existing file keeps its content unless the caller said otherwise; nothing is left aside."""
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(FileExistsError):
        copy_database(path, target)
    assert target.read_text() == "precious"
    copy_database(path, target, replace=True)
    assert titles_in(target) == ["a"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_copy_can_be_taken_from_a_read_only_directory(path: Path, tmp_path: Path) -> None:
    """A queue on a read-only medium can still be saved, and nothing is made beside it."""
    path.parent.chmod(0o500)
    try:
        run_python(
            """
import sys
from pathlib import Path
from relay_queue.sqlite.backup import copy_database
copy_database(Path(sys.argv[1]), Path(sys.argv[2]))
""",
            path,
            tmp_path / "copy.db",
        )
    finally:
        path.parent.chmod(0o700)
    assert titles_in(tmp_path / "copy.db") == ["a"]
    assert names_beside(path) == ["shelf.db"]


def test_a_source_that_cannot_be_copied_leaves_nothing(path: Path, tmp_path: Path) -> None:
    """A missing or unreadable source is reported, and no half copy stays."""
    with pytest.raises(StorageFailed):
        copy_database(path.with_name("missing.db"), tmp_path / "copy.db")
    path.write_bytes(b"no database at all" * 500)
    with pytest.raises(QueueDamaged):
        copy_database(path, tmp_path / "copy.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["room"]


def test_a_copy_does_not_close_the_originals_locks(path: Path, tmp_path: Path) -> None:
    """Taking a copy in the writer's own process does not let another writer in."""
    with (
        closing(open_writer(path, SCHEMA_1)) as connection,
        closing(sqlite3.connect(path, timeout=0.0)) as other,
    ):
        connection.execute("BEGIN IMMEDIATE")
        copy_database(path, tmp_path / "copy.db")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    with closing(open_reader(path)) as reader:
        assert reader.execute("SELECT count(*) FROM book").fetchone() == (1,)
