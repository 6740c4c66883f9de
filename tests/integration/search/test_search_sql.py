import ast
import re
import sqlite3
from pathlib import Path

import pytest

import relayd.search
from relay_queue.sqlite.named import load, load_migrations
from relayd.search.index import SearchIndex
from relayd.search.rank import Found

QUERIES = load("relayd.search")
MADE = [name for name in QUERIES if name.startswith("make_")]


@pytest.fixture
def made():
    connection = sqlite3.connect(":memory:")
    for script in load_migrations("relayd.store"):
        connection.executescript(script)
    SearchIndex().prepare(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize("name", sorted(set(QUERIES) - set(MADE)))
def test_every_query_prepares(made, name):
    """Each named query is valid in a file with an index, with named parameters only."""
    assert "?" not in QUERIES[name]
    words = set(re.findall(r":([a-z_]+)", QUERIES[name]))
    made.execute(f"EXPLAIN {QUERIES[name]}", dict.fromkeys(words, 0))


def test_every_query_is_used():
    """No query outlives the code that asked it, and no code asks one that is not there."""
    texts = set()
    for module in Path(relayd.search.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(module.read_text("utf-8")))
        texts |= {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    assert set(QUERIES) <= texts


def test_every_plain_table_is_strict(made):
    """Columns hold what they say they hold."""
    tables = made.execute(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
        "AND name LIKE 'search_%'"
    ).fetchall()
    assert {name for name, strict in tables if strict} == {"search_index", "search_item", "search_term"}


@pytest.mark.parametrize("query", ["best", "newest", "alike"])
def test_candidates_have_the_columns_of_their_queries(made, query):
    """A record has as many fields as its query has columns, in the same order."""
    words = dict.fromkeys(re.findall(r":([a-z_]+)", QUERIES[query]), None)
    cursor = made.execute(
        QUERIES[query], {**words, "match": '"x"', "terms": "[]", "patterns": "[]", "limit": 1}
    )
    assert tuple(column[0] for column in cursor.description) == Found.__struct_fields__


@pytest.mark.parametrize("query", ["best", "newest"])
def test_candidates_are_looked_up_by_their_rows(made, query):
    """After the index itself nothing is read from end to end."""
    words = dict.fromkeys(re.findall(r":([a-z_]+)", QUERIES[query]), None)
    plan = [detail for *_, detail in made.execute(f"EXPLAIN QUERY PLAN {QUERIES[query]}", words)]
    scans = [line for line in plan if line.startswith("SCAN")]
    assert {line.split()[1] for line in scans} <= {"search_word", "json_each", "asked", "held", "found"}, plan
