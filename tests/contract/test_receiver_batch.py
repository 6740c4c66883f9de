"""The receiver keeps the contract of an ai-memory server's hook routes: docs/receiver.md."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay_queue.ack import OUTCOMES, read_ack
from relay_queue.answer import Acknowledged, RefusedWhole, judge
from relay_queue.binding import bind
from relay_queue.envelope import parse
from relay_queue.item import batch_body, ingest_key, item_url
from relayd.feed import Feed
from relayd.home import Home
from relayd.memory.gate import Gate
from relayd.receiver import Receiver
from relayd.store import open_store

SCOPE = "workspace=w&project=p&agent=codex"


@pytest.fixture
async def site(tmp_path):
    """A receiver and the feed behind it."""
    async with open_store(Home(tmp_path)) as store:
        yield Receiver(store, actor="ana"), Feed(store, Gate(Path(tmp_path, "patterns")))


def item(event="stop", session="s-1", key=None, query="", **body):
    """One item as an outbox sends it."""
    keyed = "" if key is None else f"&ingest_key={key}"
    told = body if session is None else {"session_id": session} | body
    return {"url": f"http://h/hook?event={event}&{SCOPE}{keyed}{query}", "body": told}


async def take(receiver, *items):
    status, ack = await receiver.batch(json.dumps(items).encode())
    assert status == 200
    return read_ack(ack, len(items))


def claim(disposition):
    return {
        "version": 1,
        "disposition": disposition,
        "policy_state": "active",
        "tool_family": "file",
        "path_count": 1,
        "extraction_state": "extracted",
    }


async def test_every_outcome_is_acknowledged_in_place(site):
    """One batch with every outcome there is: all are acknowledged, in order, by one prefix."""
    receiver, feed = site
    ack = await take(
        receiver,
        item("session-start", key="k-1"),
        item("session-start", key="k-1"),
        item("session-end", session="unknown"),
        item("pre-tool-use", _ai_memory_capture=claim("drop")),
        item("stop", session="sub", query="&drop_subagent=1", agent_id="a"),
        item("stop", session=None),
        item("stop", query="&aliases=x"),
        {"url": f"x?event=stop&{SCOPE.replace('codex', 'grok')}", "body": {"session_id": "s-1"}},
        item("session-end"),
        item("session-end"),
    )
    assert ack.accepted == tuple(range(10))
    assert ack.failed_index is None
    assert ack.outcomes == (
        "stored",
        "replayed",
        "ignored_end",
        "dropped_policy",
        "dropped_subagent",
        "dropped_invalid",
        "dropped_invalid",
        "dropped_collision",
        "stored",
        "ignored_end",
    )
    assert [event.event for event in (await feed.page(since=0)).events] == ["session-start", "session-end"]


async def test_an_ack_has_exactly_the_members_of_a_prefix(site):
    """`accepted_indices` and `failed_index` are left out where everything was acknowledged."""
    receiver, _ = site
    status, ack = await receiver.batch(json.dumps([item(), item(session=None)]).encode())
    assert (status, json.loads(ack)) == (
        200,
        {
            "accepted": 2,
            "results": [{"index": 0, "outcome": "stored"}, {"index": 1, "outcome": "dropped_invalid"}],
        },
    )


async def test_an_empty_batch_is_acknowledged_as_such(site):
    """Nothing sent is nothing acknowledged, said with an empty list."""
    receiver, _ = site
    status, ack = await receiver.batch(b"[]")
    assert (status, json.loads(ack)) == (200, {"accepted": 0, "accepted_indices": [], "results": []})
    assert read_ack(ack, 0).accepted == ()


async def test_256_items_are_taken_and_257_are_not(site):
    """One item too many refuses the batch with an ack that acknowledges nothing."""
    receiver, feed = site
    items = [item(key=f"k-{n}") for n in range(257)]
    status, ack = await receiver.batch(json.dumps(items).encode())
    assert (status, json.loads(ack)) == (413, {"accepted": 0, "results": []})
    assert read_ack(ack, 257).accepted == ()
    assert (await feed.page()).events == []
    assert (await take(receiver, *items[:256])).outcomes == ("stored",) * 256


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 400),
        (b"[", 400),
        (b'[{"url":"x?event=stop","body":{"session_id":"s"}},', 400),
        (b'[{"url":"x?event=stop","body":{"session_id":"s","n":1e400}}]', 400),
        (b'[{"url":"x?event=stop","body":{"session_id":"\\ud800"}}]', 400),
        (b"{}", 422),
        (b'[{"body":{"session_id":"s"}}]', 422),
        (b'[{"url":"x?event=stop","body":{"session_id":"s"}},{"url":1}]', 422),
        (b'[["x?event=stop",{"session_id":"s"}]]', 422),
    ],
)
async def test_a_bad_request_is_refused_whole(site, raw, status):
    """Bad JSON is 400 and wrong types are 422; nothing of the batch is taken, and a sender halves it."""
    receiver, feed = site
    answered, problem = await receiver.batch(raw)
    assert answered == status
    assert isinstance(judge(answered, problem, 1), RefusedWhole)
    assert json.loads(problem)["code"] == "input_refused"
    assert (await feed.page()).events == []


async def test_a_body_may_be_anything(site):
    """A body that is no object, or is missing, is an item without a session."""
    receiver, _ = site
    bodies = ({}, {"body": None}, {"body": []}, {"body": "x"}, {"body": 1})
    ack = await take(receiver, *[{"url": "x?event=stop"} | body for body in bodies])
    assert set(ack.outcomes) == {"dropped_invalid"}
    start = await take(receiver, {"url": "x?event=session-start"})
    assert start.outcomes == ("stored",)


async def test_unkeyed_items_are_stored_every_time(site):
    """A missing or malformed key recognizes nothing."""
    receiver, _ = site
    assert (await take(receiver, item(), item(), item(key="a.b"), item(key="a.b"))).outcomes == (
        "stored",
    ) * 4


async def test_a_key_holds_in_its_project_whoever_sends_it(site):
    """A key is of its workspace and project, independent of the producer."""
    receiver, _ = site
    elsewhere = {"url": "x?event=stop&workspace=w&project=p2&ingest_key=k", "body": {"session_id": "s-2"}}
    ack = await take(
        receiver,
        item(key="k"),
        item(key="k", query="&extension=one&source_event=stop"),
        elsewhere,
        elsewhere,
    )
    assert ack.outcomes == ("stored", "replayed", "stored", "replayed")


async def test_one_session_under_two_spellings_has_one_owner(site):
    """A UUID in other letters is the same session, so that another agent's event for it collides."""
    receiver, _ = site
    uuid = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
    other = {"url": "x?event=stop&agent=grok", "body": {"sessionId": uuid.upper()}}
    assert (await take(receiver, item(session=uuid), other)).outcomes == ("stored", "dropped_collision")


async def test_a_lost_reply_costs_no_double(site):
    """The same batch again is acknowledged whole and adds nothing to the feed."""
    receiver, feed = site
    batch = [item("session-start", key="a"), item("user-prompt", key="b"), item("session-end", key="c")]
    assert (await take(receiver, *batch)).outcomes == ("stored",) * 3
    assert (await take(receiver, *batch)).outcomes == ("replayed", "replayed", "ignored_end")
    assert len((await feed.page()).events) == 3


EVENTS = b"""[
 {"event_id":"e-1","agent":"claude-code","event":"session-start","body":{"session_id":" sess/\xc3\xa9 ","cwd":"/w"}},
 {"event_id":"e-2","agent":"claude-code","event":"user-prompt-submit","body":{"session_id":" sess/\xc3\xa9 ","cwd":"/w","prompt":"hi \\u00e9"}},
 {"event_id":"e-3","agent":"codex","event":"deploy.done","body":{"session_id":"s2","cwd":"/w","n":99999999999999999999999999999999}}
]"""


async def test_what_an_outbox_sends_comes_out_of_the_feed(site):
    """Scope, producer, names and text survive the way from an envelope through an item's URL."""
    receiver, feed = site
    binding = bind("local", "my-orchestrator", "developer", "wörk & co", "a+b=c~*")
    events = parse(EVENTS)
    items = [(item_url(binding, event, ingest_key(binding, event)), event.body) for event in events]
    status, ack = await receiver.batch(batch_body(items), actor=binding.actor)
    answer = judge(status, ack, 3)
    assert isinstance(answer, Acknowledged)
    assert answer.ack.outcomes == ("stored",) * 3
    shown = (await feed.page()).events
    assert {(one.actor, one.producer, one.workspace, one.project, one.kind) for one in shown} == {
        ("developer", "my-orchestrator", "wörk & co", "a+b=c~*", "hook")
    }
    assert [(one.agent, one.session_id, one.event, one.excerpt) for one in shown] == [
        ("claude-code", " sess/é ", "session-start", None),
        ("claude-code", " sess/é ", "user-prompt-submit", "hi é"),
        ("codex", "s2", "deploy.done", '{"n":99999999999999999999999999999999}'),
    ]


async def test_a_large_batch_is_taken_like_a_small_one(site):
    """A request that is read beside the loop has the same outcomes."""
    receiver, feed = site
    ack = await take(receiver, *[item(key=f"k-{n}", text="x" * 40_000) for n in range(20)])
    assert ack.outcomes == ("stored",) * 20
    assert len((await feed.page()).events) == 20
    status, _ = await receiver.batch(b'[{"url":1,"body":"' + b"x" * 200_000 + b'"}]')
    assert status == 422


async def test_a_single_event_is_on_disk_when_it_is_answered(site):
    """POST /hook takes its parameters from the query and its body alone."""
    receiver, feed = site
    query = f"event=stop&{SCOPE}&ingest_key=k"
    assert await receiver.single(b'{"session_id":"s"}', query) == (202, b'{"outcome":"stored"}')
    assert await receiver.single(b'{"session_id":"s"}', query) == (202, b'{"outcome":"replayed"}')
    assert await receiver.single(b"null", query) == (202, b'{"outcome":"dropped_invalid"}')
    status, problem = await receiver.single(b"{", query)
    assert (status, json.loads(problem)["code"]) == (400, "input_refused")
    assert [event.event for event in (await feed.page()).events] == ["stop"]


async def test_pages_lead_on_from_each_other(site):
    """`next` of one page is `since` of the following, and it stays where nothing new is."""
    receiver, feed = site
    assert (await feed.page()).next == 0
    await take(receiver, *[item(key=f"k-{n}", occurred_at="2026-02-28T10:00:00.120Z") for n in range(5)])
    first = await feed.page(since=0, limit=3)
    rest = await feed.page(since=first.next)
    assert [len(first.events), len(rest.events)] == [3, 2]
    assert first.events[0].at == "2026-02-28T10:00:00.120Z"
    assert (await feed.page(since=rest.next)).next == rest.next
    newest = await feed.page(limit=2)
    assert (newest.events, newest.next) == (rest.events, rest.next)


NAMES = st.sampled_from(
    ["session-start", "user-prompt-submit", "stop", "session-end", "subagent-stop", "custom", ""]
)
ITEMS = st.builds(
    item,
    NAMES,
    session=st.sampled_from(["a", "b", None]),
    key=st.sampled_from([None, "k1", "k2", "k3", "bad key"]),
    query=st.sampled_from(["", "&drop_subagent=1", "&event=twice", "&aliases=1"]),
    agent_id=st.sampled_from(["", "sub"]),
    _ai_memory_capture=st.sampled_from([None, claim("drop"), claim("keep"), claim("metadata-only")]),
)
WILD = st.fixed_dictionaries(
    {"url": st.text(max_size=20)}, optional={"body": st.none() | st.text() | st.lists(st.integers())}
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ITEMS | WILD, max_size=12))
async def test_every_ack_is_one_that_an_outbox_believes(site, items):
    """Whatever is posted, the ack fits the batch, and the feed grows by exactly what was stored."""
    receiver, feed = site
    before = (await feed.page(limit=1)).next
    ack = await take(receiver, *items)
    assert ack.accepted == tuple(range(len(items)))
    assert set(ack.outcomes) <= set(OUTCOMES) - {"unknown", "resumed", "dropped_unauthorized"}
    assert len((await feed.page(since=before, limit=1000)).events) == ack.outcomes.count("stored")
