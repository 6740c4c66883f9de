"""Files of named queries, and scripts taken apart into statements."""

import sqlite3

import pytest

from relay_queue.sqlite.named import SqlFileWrong, parse, split_statements

QUERIES = """-- Queries of a test.

-- name: first
-- The first of all.
SELECT ';' AS semicolon; -- and a remark

-- ---- a heading between two queries ----

-- name: second
-- With a remark inside.
UPDATE thing
   -- only one
   SET name = :name
 WHERE id = :id;
"""


def test_queries_are_found_by_name() -> None:
    """Each query is one statement under its name, without its meaning and without headings around it."""
    queries = parse(QUERIES)
    assert list(queries) == ["first", "second"]
    assert queries["first"] == "SELECT ';' AS semicolon;"
    assert queries["second"].startswith("UPDATE thing")
    assert queries["second"].endswith(":id;")


def test_queries_cannot_be_changed() -> None:
    """The mapping is read-only: SQL comes from files alone."""
    with pytest.raises(TypeError):
        parse(QUERIES)["first"] = "SELECT 2"  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("-- name: a\nSELECT 1;\n", "what it means", id="no-meaning"),
        pytest.param("-- name: a\n--\nSELECT 1;\n", "what it means", id="empty-meaning"),
        pytest.param("-- name: a\n-- Two.\nSELECT 1; SELECT 2;\n", "2 found", id="two-statements"),
        pytest.param("-- name: a\n-- None.\n", "0 found", id="no-statement"),
        pytest.param(
            "-- name: a\n-- A.\nSELECT 1;\n-- name: a\n-- B.\nSELECT 2;\n", "this name", id="same-name"
        ),
    ],
)
def test_a_wrong_file_is_refused(text: str, rule: str) -> None:
    """A query without a meaning, with more or less than one statement, or with a taken name is our mistake."""
    with pytest.raises(SqlFileWrong, match=rule):
        parse(text)


def test_statements_are_split_where_sqlite_splits_them() -> None:
    """Semicolons in strings, remarks and triggers do not end a statement; the last one needs none."""
    script = """
    -- makes; things
    CREATE TABLE a (x TEXT DEFAULT ';'); CREATE TABLE log (x TEXT);
    CREATE TRIGGER t AFTER INSERT ON a BEGIN
        INSERT INTO log VALUES ('a;b'); /* ; */
        INSERT INTO log VALUES (new.x);
    END;
    INSERT INTO a VALUES ('one;two')
    """
    statements = list(split_statements(script))
    connection = sqlite3.connect(":memory:")
    for statement in statements:
        connection.execute(statement)
    assert len(statements) == 4
    assert connection.execute("SELECT x FROM log ORDER BY rowid").fetchall() == [("a;b",), ("one;two",)]
    connection.close()
