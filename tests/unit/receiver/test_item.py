from datetime import UTC, datetime, timedelta

import pytest

from relayd.receiver.item import Taking, read_item
from relayd.store import Arrival

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1_000)
TAKING = Taking("ana", NOW_MS, excerpts=True)

QUERY = {
    "event": "user-prompt-submit",
    "agent": "codex",
    "workspace": "work",
    "project": "shop",
    "extension": "maker",
    "source_event": "user-prompt-submit",
    "ingest_key": "k" * 64,
}
BODY = {"session_id": "s-1", "cwd": "/w", "prompt": "hello"}


def read(query=QUERY, body=BODY, taking=TAKING):
    return read_item(query, body, taking)


def test_an_item_of_an_outbox_is_read_whole():
    """URL and body of our own outbox give every field."""
    assert read() == Arrival(
        at_ms=NOW_MS,
        received_at_ms=NOW_MS,
        ingest_key="k" * 64,
        actor="ana",
        producer="maker",
        agent="codex",
        session_id="s-1",
        workspace="work",
        project="shop",
        event="user-prompt-submit",
        source_event="user-prompt-submit",
        subagent=False,
        drop_subagent=False,
        excerpt="hello",
    )


def test_lost_parameters_mean_defaults():
    """An item whose query was lost is still an event, without key, producer and scope of its own."""
    arrival = read({})
    assert (arrival.event, arrival.agent, arrival.workspace, arrival.project) == (
        "other",
        "other",
        "default",
        "default",
    )
    assert (arrival.ingest_key, arrival.producer, arrival.source_event) == (None, None, None)


@pytest.mark.parametrize("key", ["a", "A-b_9", "x" * 64])
def test_plain_keys_are_taken(key):
    """A key is one to 64 letters, digits, underscores and hyphens."""
    assert read(QUERY | {"ingest_key": key}).ingest_key == key


@pytest.mark.parametrize("key", ["", "x" * 65, "a.b", "a b", "é", "a\n"])
def test_other_keys_count_as_absent(key):
    """A malformed key is no error: the event is stored unkeyed."""
    assert read(QUERY | {"ingest_key": key}).ingest_key is None


@pytest.mark.parametrize(
    ("changes", "origin"),
    [
        ({"extension": " maker "}, ("maker", "user-prompt-submit")),
        ({"source_event": " my.event:1 "}, ("maker", "my.event:1")),
        ({"extension": "x" * 65}, (None, None)),
        ({"extension": "a b"}, (None, None)),
        ({"extension": ""}, (None, None)),
        ({"source_event": "x" * 129}, (None, None)),
        ({"source_event": "a b"}, (None, None)),
    ],
)
def test_producer_and_source_event_are_kept_together_or_not_at_all(changes, origin):
    """A producer without a valid name for its event is not kept."""
    arrival = read(QUERY | changes)
    assert (arrival.producer, arrival.source_event) == origin


def test_an_unknown_event_is_its_own_source_event():
    """Without a source event an unrecognized name serves as one."""
    query = {"event": "deploy.done", "extension": "maker"}
    assert (read(query).event, read(query).source_event) == ("other", "deploy.done")
    assert read(query | {"event": "stop"}).source_event is None


@pytest.mark.parametrize(
    "body",
    [
        {"sessionId": "s-1"},
        {"sessionID": "s-1"},
        {"session": "s-1"},
        {"conversationId": "s-1"},
        {"payload": {"session_id": "s-1"}},
        {"event": {"sessionId": "s-1"}},
        {"properties": {"sessionID": "s-1"}},
        {"properties": {"info": {"session_id": "s-1"}}},
        {"info": {"session_id": "s-1"}},
        {"path": {"session_id": "s-1"}},
        {"payload": {"properties": {"sessionID": "s-1"}}},
        {"session_id": 7, "sessionId": "s-1"},
        {"session_id": "", "session": "s-1"},
    ],
)
def test_a_session_is_found_wherever_agents_put_it(body):
    """The names and places of the contract are searched, and what is no text is passed over."""
    assert read(body=body).session_id == "s-1"


def test_the_body_names_the_session_before_the_query():
    """The query's session is only for bodies without one."""
    query = QUERY | {"session_id": "of-query"}
    assert read(query).session_id == "s-1"
    assert read(query, {}).session_id == "of-query"


def test_a_session_that_is_a_uuid_has_one_spelling():
    """Spellings of one UUID are one session."""
    body = {"session_id": "6F9619FF-8B86-D011-B42D-00C04FC964FF"}
    assert read(body=body).session_id == "6f9619ff-8b86-d011-b42d-00c04fc964ff"


@pytest.mark.parametrize("body", [None, [], "text", 1, {}, {"session_id": None}, {"session_id": ["s"]}])
def test_no_session_makes_an_item_invalid_but_for_a_start(body):
    """Only a session start may come without a session."""
    assert read(body=body) == "dropped_invalid"
    start = read(QUERY | {"event": "SessionStart"}, body)
    assert (start.event, start.session_id) == ("session-start", None)


@pytest.mark.parametrize(
    ("query", "body"),
    [
        (QUERY | {"workspace": "x" * 129}, BODY),
        (QUERY | {"project": "x" * 129}, BODY),
        (QUERY, {"session_id": "x" * 513}),
    ],
)
def test_names_without_bound_make_an_item_invalid(query, body):
    """What no outbox would send is not stored at any length."""
    assert read(query, body) == "dropped_invalid"


def test_invalid_aliases_come_before_everything():
    """An item with malformed aliases is invalid even where its policy would drop it."""
    body = BODY | {"_ai_memory_capture": {"version": 1, "disposition": "drop"}}
    assert read(QUERY | {"aliases": "["}, body) == "dropped_invalid"


CLAIM = {
    "version": 1,
    "disposition": "drop",
    "policy_state": "active",
    "tool_family": "unknown",
    "path_count": 0,
    "extraction_state": "unsupported-schema",
}


def test_a_policy_drop_comes_before_the_session():
    """A dropped item need not have a session."""
    assert read(body={"_ai_memory_capture": CLAIM}) == "dropped_policy"


def test_metadata_is_what_the_excerpt_shows():
    """Of a reduced body only its metadata is kept, and the event keeps its session."""
    body = BODY | {"tool_name": "Edit", "tool_input": {"path": "secret"}, "_ai_memory_capture": "broken"}
    arrival = read(QUERY | {"event": "pre-tool-use"}, body)
    assert arrival.excerpt == '{"tool_family":"file","tool_name":"file"}'
    assert arrival.session_id == "s-1"


def test_cursor_says_so_itself():
    """A body with Cursor's mark is Cursor's, whatever the URL says."""
    assert read(body=BODY | {"cursor_version": "1.2"}).agent == "cursor"
    assert read(body=BODY | {"cursor_version": 1.2}).agent == "codex"


@pytest.mark.parametrize("mark", [{"agent_id": "a"}, {"subagentType": "explore"}])
def test_marks_of_subagents_are_seen(mark):
    """A filled mark at the top counts, and the sender's wish to drop is read beside it."""
    arrival = read(QUERY | {"drop_subagent": "1"}, BODY | mark)
    assert (arrival.subagent, arrival.drop_subagent) == (True, True)


@pytest.mark.parametrize(
    "mark", [{}, {"agent_id": " "}, {"agent_id": 1}, {"agent_type": "x"}, {"info": {"agent_id": "a"}}]
)
def test_other_marks_are_none(mark):
    """A blank, nested or other mark makes no subagent."""
    assert not read(body=BODY | mark).subagent


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("2026-02-28T10:00:00Z", datetime(2026, 2, 28, 10, tzinfo=UTC)),
        ("2026-02-28T10:00:00.123999+02:00", datetime(2026, 2, 28, 8, 0, 0, 123_000, tzinfo=UTC)),
        ("2026-02-28t10:00:00.000000001z", datetime(2026, 2, 28, 10, tzinfo=UTC)),
        ((NOW + timedelta(minutes=5)).isoformat(), NOW + timedelta(minutes=5)),
        ("1970-01-01T00:00:00.001Z", datetime(1970, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC)),
        ("1970-01-01T00:00:00Z", NOW),
        ("1969-12-31T23:59:59Z", NOW),
        ("0001-01-01T00:00:00+14:00", NOW),
        ("9999-12-31T23:59:59-14:00", NOW),
        ((NOW + timedelta(minutes=5, milliseconds=1)).isoformat(), NOW),
        ("2026-02-28T10:00:00", NOW),
        ("2026-02-28", NOW),
        ("yesterday", NOW),
        ("", NOW),
        (1_700_000_000, NOW),
        (None, NOW),
    ],
)
def test_time_is_the_senders_where_it_can_be(told, at):
    """A full RFC 3339 time after 1970 and at most five minutes ahead counts; else the time it came."""
    assert read(body=BODY | {"occurred_at": told}).at_ms == int(at.timestamp() * 1_000)


def test_time_is_read_at_the_top_only():
    """A nested member of that name is an agent's own."""
    assert read(body=BODY | {"payload": {"occurred_at": "2026-02-28T10:00:00Z"}}).at_ms == NOW_MS


def test_excerpts_can_be_turned_off():
    """Without excerpts nothing of a body is kept."""
    assert read(taking=TAKING._replace(excerpts=False)).excerpt is None
