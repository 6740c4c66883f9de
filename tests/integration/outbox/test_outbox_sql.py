"""The SQL of the outbox: every query fits the schema, is used, and finds its rows by an index."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.named import load_migrations
from relay_queue.statements import SCHEMA, SQL

PACKAGE = Path(str(files("relay_queue")))
PARAMETER = re.compile(r":([a-z]\w*)")
WALKS = {  # queries that may walk a table, and which
    "head_ready": {"head"},  # in order, until the batch is full
    "head_lift": {"head"},  # an index over what failed only
    "held_list": {"h"},  # for people, a page at a time
    "held_count": {"head"},  # an index over what was attempted only
    "status": {
        "pending",
        "clock_jump",
        "receipt_outcome",
        "head",
    },  # the first row; few rows; the first that may go
    "due": {"head"},  # the first that may go
    "clock_jump_trim": {"clock_jump"},
    "intervention_trim": {"intervention"},
    "retry_all": {"head"},  # for people
}
GIVEN = {"asked", "chosen", "first", "leaving", "left_behind", "new", "touched", "json_each"}
ONE_ROW = {"CONSTANT", "binding", "clock", "counter", "delivery", "b", "c", "d"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A new file, as migrated."""
    with closing(open_writer(tmp_path / "queue.db", SCHEMA, create=True)) as connection:
        yield connection


def parameters(sql: str) -> dict[str, None]:
    """Give every parameter of a query."""
    return dict.fromkeys(PARAMETER.findall(sql))


@pytest.mark.parametrize("name", sorted(SQL))
def test_every_query_fits_the_schema(database: sqlite3.Connection, name: str) -> None:
    """Each query prepares against the migrated schema, and has named parameters only."""
    database.execute(f"EXPLAIN {SQL[name]}", parameters(SQL[name]))
    assert "?" not in SQL[name]


def test_every_query_is_used() -> None:
    """No query lies unused, and no code names one that is not there."""
    sources = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    assert set(re.findall(r'SQL\["(\w+)"\]', sources)) == set(SQL)


def test_no_sql_stands_in_python() -> None:
    """Queries live in files; Python has no SELECT, INSERT, UPDATE or DELETE of its own."""
    for path in PACKAGE.glob("*.py"):
        assert not re.search(r"\"(SELECT|INSERT|UPDATE|DELETE)\s", path.read_text()), path


def test_the_schema_is_what_migrations_make() -> None:
    """`schema.sql` and all migrations in turn give the same tables, indexes and first rows."""
    with closing(sqlite3.connect(":memory:")) as fresh, closing(sqlite3.connect(":memory:")) as migrated:
        fresh.executescript(files("relay_queue").joinpath("sql", "schema.sql").read_text())
        for script in load_migrations("relay_queue"):
            migrated.executescript(script)
        assert list(fresh.iterdump()) == list(migrated.iterdump())


def test_every_table_is_strict(database: sqlite3.Connection) -> None:
    """No table takes a value of another type than its column says."""
    rows = database.execute("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'")
    assert {strict for _, strict in rows} == {1}


@pytest.mark.parametrize("name", sorted(SQL))
def test_queries_find_their_rows_by_an_index(database: sqlite3.Connection, name: str) -> None:
    """No query walks a table that grows, but for those that say so above."""
    plan = database.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", parameters(SQL[name])).fetchall()
    walked = {match[1] for *_, text in plan if (match := re.match(r"SCAN (\w+)", text))}
    walked -= ONE_ROW | GIVEN
    assert walked <= WALKS.get(name, set()), plan
