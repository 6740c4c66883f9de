"""The queries of the store are such that another engine could stand behind their names; search has its own."""

import re

import pytest

from relay_queue.sqlite.named import load

QUERIES = load("relayd.store")
WORDS = r"rowid|_rowid_|oid|match|glob|regexp|pragma|indexed\s+by|insert\s+or|replace\s+into|update\s+or|without\s+rowid"
TABLES = r"fts5\w*|sqlite_\w+|search_\w+"
FUNCTIONS = "strftime|julianday|unixepoch|typeof|iif|ifnull|group_concat|printf|instr|last_insert_rowid|changes|random"
ALONE = re.compile(rf"\b(?:{WORDS}|{TABLES})\b|\b(?:{FUNCTIONS})\s*\(", re.IGNORECASE)


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_no_query_leans_on_sqlite_alone(name):
    """Lists that come as JSON are the one habit to be translated."""
    assert ALONE.findall(re.sub(r"--.*", "", QUERIES[name])) == []


@pytest.mark.parametrize(
    "words",
    ["WHERE rowid = 1", "INSERT OR IGNORE INTO t", "t MATCH :x", "SELECT ifnull (a, b)", "FROM search_item"],
)
def test_the_guard_sees(words):
    """What only SQLite has is found in the middle of a query."""
    assert ALONE.search(f"SELECT 1; {words}")
