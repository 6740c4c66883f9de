import ast
import re
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest

import relayd.store
from relay_queue.sqlite.named import load, load_migrations
from relayd.store.feed_rows import UsageRow
from relayd.store.judge import Claim, Session
from relayd.store.rows import BoundQueue, FeedRow

QUERIES = load("relayd.store")
USAGE = {
    "kind": "",
    "from_ms": 0,
    "to_ms": 1,
    "by_subscription": 1,
    "by_lane": 1,
    "by_model": 1,
    "project_id": 1,
}
# What a query makes for itself: at most as much as was asked for.
MADE = ("SCAN CONSTANT ROW", "SCAN asked", "SCAN wanted", "SCAN own", "SCAN (subquery", "SCAN narrowed")
# What briefs, recall and `memory history` ask, and what every change asks before it writes.
MEMORY = (
    "decision_history",
    "decisions_at",
    "task_history",
    "task_decisions_at",
    "latest_of_project",
    "latest_of_all_projects",
    "next_decision_changes",
    "decisions_by_id",
    "decisions_alike",
    "first_wording",
    "items_between",
    "newest_id",
)
FEED = sorted(name for name in QUERIES if name.startswith("feed_"))


@pytest.fixture
def migrated():
    connection = sqlite3.connect(":memory:")
    for script in load_migrations("relayd.store"):
        connection.executescript(script)
    yield connection
    connection.close()


def shape(connection):
    """Every table and index with its columns, apart from how the SQL is laid out."""
    objects = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
    ).fetchall()
    tables = [name for kind, name, _, _ in objects if kind == "table"]
    columns = {name: connection.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in tables}
    return [(kind, name, table, " ".join((sql or "").split())) for kind, name, table, sql in objects], columns


def test_the_schema_is_what_the_migrations_make(migrated):
    """A fresh file and a migrated one have the same tables."""
    fresh = sqlite3.connect(":memory:")
    fresh.executescript(files("relayd.store").joinpath("sql", "schema.sql").read_text("utf-8"))
    assert shape(fresh) == shape(migrated)
    fresh.close()


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_prepares(migrated, name):
    """Each named query is valid against the migrated schema, with named parameters only."""
    assert "?" not in QUERIES[name]
    words = {
        word.strip(",();")[1:] for word in QUERIES[name].replace("(", " ").split() if word.startswith(":")
    }
    migrated.execute(f"EXPLAIN {QUERIES[name]}", dict.fromkeys(words, 0))


def test_every_query_is_used():
    """No query outlives the code that asked it, and no code asks one that is not there."""
    texts = set()
    for module in Path(relayd.store.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(module.read_text("utf-8")))
        texts |= {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    assert set(QUERIES) <= texts


def test_every_table_is_strict(migrated):
    """Columns hold what they say they hold."""
    tables = migrated.execute(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'"
    )
    assert all(strict for _, strict in tables.fetchall())


@pytest.mark.parametrize(
    ("query", "row"),
    [("feed_rows", FeedRow), ("usage", UsageRow), ("queues", BoundQueue), ("known_sessions", Session)],
)
def test_rows_have_the_columns_of_their_queries(migrated, query, row):
    """A record has as many fields as its query has columns."""
    parameters = {"session_ids": "[]", "ids": "[]", **USAGE}
    assert len(migrated.execute(QUERIES[query], parameters).description) == len(row.__struct_fields__)


def test_claims_have_the_columns_of_their_query(migrated):
    """Keys come with their scope in the order of the record."""
    found = migrated.execute(QUERIES["claimed_keys"], {"ingest_keys": "[]"}).description
    assert tuple(column[0] for column in found) == Claim._fields


def test_no_id_of_the_feed_is_used_twice(migrated):
    """Even if the newest event were gone, its id would not come back."""
    insert = (
        "INSERT INTO event (at_ms, received_at_ms, kind, actor, agent, workspace, project, event) "
        "VALUES (1, 1, 'hook', 'a', 'codex', 'w', 'p', 'stop')"
    )
    first = migrated.execute(insert).lastrowid
    migrated.execute("DELETE FROM event")
    assert migrated.execute(insert).lastrowid > first


@pytest.mark.parametrize("query", ["known_sessions", "claimed_keys", *FEED, "prune_keys", "prune_excerpts"])
def test_no_query_reads_a_whole_table(migrated, query):
    """Frequent queries find their rows by index, or stop at their limit."""
    parameters = {
        "session_ids": "[]",
        "ingest_keys": "[]",
        "since": 0,
        "limit": 1,
        "before_ms": 0,
        "slice": 1,
        "ids": "[]",
        "kinds": "[]",
        "project_id": 1,
        "from_ms": 0,
    }
    plan = [detail for *_, detail in migrated.execute(f"EXPLAIN QUERY PLAN {QUERIES[query]}", parameters)]
    bounded = (
        ("SCAN json_each", "SCAN event", "SCAN ingest_key", "SCAN excerpt", *MADE)
        if "LIMIT" in QUERIES[query]
        else ("SCAN json_each",)
    )
    assert all(not line.startswith("SCAN") or line.startswith(bounded) for line in plan), plan
    sorts = any("TEMP B-TREE" in line and "ORDER BY" in line for line in plan)
    assert not sorts or query.endswith("_of_kinds"), plan  # those put a page of each kind in order


@pytest.mark.parametrize("query", MEMORY)
def test_no_question_to_the_memory_reads_what_is_of_others(migrated, query):
    """It finds its rows by index and in their order: a page costs as much in a large memory as in a small one."""
    asked = dict.fromkeys(re.findall(r":([a-z_]+)", QUERIES[query]), None)
    plan = [detail for *_, detail in migrated.execute(f"EXPLAIN QUERY PLAN {QUERIES[query]}", asked)]
    assert all(not line.startswith("SCAN") or line.startswith(("SCAN json_each", *MADE)) for line in plan), (
        plan
    )
    assert not any("TEMP B-TREE" in line for line in plan), plan


def test_what_is_still_to_come_is_found_by_its_time(migrated):
    """Every brief asks when it ends to be true: that must not read all decisions of a project."""
    asked = {"project_id": 1, "after_ms": 0}
    plan = migrated.execute(f"EXPLAIN QUERY PLAN {QUERIES['next_decision_changes']}", asked).fetchall()
    reading = [detail for *_, detail in plan if " decision " in detail]
    assert len(reading) == 3
    assert all(">?" in line for line in reading), plan


def test_preferences_are_found_by_their_scope(migrated):
    """Those of other projects are not read; the few that are left are put in their order."""
    for query in ("preferences_at", "preference_history", "current_preference", "project_items"):
        asked = dict.fromkeys(re.findall(r":([a-z_]+)", QUERIES[query]), None)
        plan = [detail for *_, detail in migrated.execute(f"EXPLAIN QUERY PLAN {QUERIES[query]}", asked)]
        reading = [line for line in plan if " preference " in line]
        assert reading
        assert all("INDEX preference_by_scope" in line for line in reading), plan


@pytest.mark.parametrize("query", [name for name in FEED if "_of_" in name] + ["usage", "usage_of_project"])
def test_a_part_of_the_feed_is_found_by_index(migrated, query):
    """Whoever asks for a project or for kinds reads no event of others."""
    parameters = {**USAGE, "kinds": "[]", "since": 0, "limit": 1}
    plan = [detail for *_, detail in migrated.execute(f"EXPLAIN QUERY PLAN {QUERIES[query]}", parameters)]
    reading = [line for line in plan if " event " in line]
    assert reading
    assert all("INDEX event_by_" in line for line in reading), plan
