import msgspec
import pytest

from relayd.store import Arrival
from relayd.store.judge import Bench, Claim, Session

NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000

ARRIVAL = Arrival(
    at_ms=1,
    received_at_ms=1,
    ingest_key=None,
    actor="a",
    producer=None,
    agent="codex",
    session_id="s",
    workspace="w",
    project="p",
    event="stop",
    source_event=None,
    subagent=False,
    drop_subagent=False,
    excerpt=None,
)

LIVE = Session("s", "codex", "w", "p", "live", NOW_MS)
ENDED = Session("s", "codex", "w", "p", "ended", NOW_MS)
SUBAGENTS = Session("s", "codex", "w", "p", "subagent", NOW_MS)


def arrival(event="stop", **changes):
    return msgspec.structs.replace(ARRIVAL, event=event, **changes)


def judged(arrivals, sessions=(), claimed=()):
    bench = Bench(sessions, claimed, NOW_MS)
    return [bench.judge(one) for one in arrivals], bench.seen


def test_a_first_event_is_stored_and_its_session_known():
    """Any event makes its session live, in its own scope."""
    assert judged([arrival()]) == (["stored"], {"s": LIVE})


def test_a_start_without_a_session_is_stored():
    """It belongs to no session, so that nothing is remembered."""
    assert judged([arrival("session-start", session_id=None)]) == (["stored"], {})


def test_a_taken_key_is_replayed():
    """A key that was claimed before, or earlier in the batch, stores nothing more."""
    keyed = arrival(ingest_key="k")
    assert judged([keyed, keyed])[0] == ["stored", "replayed"]
    assert judged([keyed], [LIVE], [Claim("k", "w", "p")]) == (["replayed"], {})


@pytest.mark.parametrize("elsewhere", [{"workspace": "w2"}, {"project": "p2"}])
def test_a_key_is_taken_in_its_scope_only(elsewhere):
    """The same key in another workspace or project is another one, whoever produced it."""
    keyed = arrival(ingest_key="k", producer="one")
    assert judged([keyed, arrival(ingest_key="k", **elsewhere)])[0] == ["stored", "stored"]
    assert judged([keyed, arrival(ingest_key="k", producer="two")])[0] == ["stored", "replayed"]


def test_events_without_a_key_are_stored_each_time():
    """Nothing but a key makes a repeat recognizable."""
    assert judged([arrival(), arrival()])[0] == ["stored", "stored"]


def test_another_agents_session_is_a_collision():
    """A session belongs to the agent that was seen first, also after its end and within one batch."""
    other = arrival(agent="grok", ingest_key="k")
    assert judged([other], [LIVE]) == (["dropped_collision"], {})
    assert judged([other], [ENDED])[0] == ["dropped_collision"]
    assert judged([arrival(), other])[0] == ["stored", "dropped_collision"]


def test_an_end_means_something_once():
    """The end of a live session is stored, a second one is ignored."""
    end = arrival("session-end")
    assert judged([end, end], [LIVE]) == (["stored", "ignored_end"], {"s": ENDED})


@pytest.mark.parametrize(
    "session",
    [
        None,
        ENDED,
        Session("s", "codex", "w2", "p", "live", NOW_MS),
        Session("s", "codex", "w", "p2", "live", NOW_MS),
    ],
)
def test_an_end_of_nothing_is_ignored(session):
    """The end of an unknown, ended or differently scoped session changes nothing, and claims no key."""
    end = arrival("session-end", ingest_key="k")
    assert judged([end], [session] if session else []) == (["ignored_end"], {})


def test_an_ended_end_is_judged_before_its_key():
    """A repeated end is ignored, not replayed."""
    end = arrival("session-end", ingest_key="k")
    assert judged([end], [ENDED], [Claim("k", "w", "p")])[0] == ["ignored_end"]


def test_a_session_may_come_back_after_its_end():
    """A later event makes it live again, where that event belongs, so that its next end counts."""
    back = arrival("session-start", project="p2")
    outcomes, seen = judged([back, arrival("session-end", project="p2")], [ENDED])
    assert outcomes == ["stored", "stored"]
    assert seen["s"] == Session("s", "codex", "w", "p2", "ended", NOW_MS)


def test_a_replay_does_not_bring_a_session_back():
    """What was stored before its session's end does not undo that end."""
    assert judged([arrival(ingest_key="k")], [ENDED], [Claim("k", "w", "p")]) == (["replayed"], {})


def test_a_live_session_stays_where_it_began():
    """An event in another scope is stored there, but does not take the session along."""
    assert judged([arrival(project="p2")], [LIVE]) == (["stored"], {})


@pytest.mark.parametrize(
    "marked", [arrival(subagent=True), arrival("subagent-start"), arrival("subagent-stop")]
)
def test_subagents_are_dropped_on_request(marked):
    """A marked event is dropped if the sender wants that, and its session's unmarked tail with it."""
    wanted = msgspec.structs.replace(marked, drop_subagent=True)
    tail = arrival("session-end", drop_subagent=True)
    assert judged([wanted, tail]) == (["dropped_subagent", "dropped_subagent"], {"s": SUBAGENTS})
    assert judged([marked])[0] == ["stored"]


def test_the_tail_of_a_known_subagent_is_dropped_across_batches():
    """What was remembered of a subagent's session counts in a later batch, in its scope only."""
    tail = arrival(drop_subagent=True)
    assert judged([tail], [SUBAGENTS])[0] == ["dropped_subagent"]
    assert judged([arrival(drop_subagent=True, project="p2")], [SUBAGENTS])[0] == ["stored"]


def test_a_subagents_mark_does_not_silence_its_parent():
    """Marked events of a live session are dropped alone: it is the session of the agent above."""
    marked = arrival(subagent=True, drop_subagent=True)
    assert judged([marked, arrival(drop_subagent=True)], [LIVE]) == (["dropped_subagent", "stored"], {})


def test_a_dropped_subagents_session_belongs_to_nobody():
    """Who does not ask to drop may use the session, with any agent, but not end it at once."""
    assert judged([arrival(agent="grok")], [SUBAGENTS]) == (
        ["stored"],
        {"s": Session("s", "grok", "w", "p", "live", NOW_MS)},
    )
    assert judged([arrival("session-end")], [SUBAGENTS])[0] == ["ignored_end"]


def test_without_a_session_nothing_is_a_subagents():
    """A start without a session is stored whatever it is marked as."""
    start = arrival("session-start", session_id=None, subagent=True, drop_subagent=True)
    assert judged([start])[0] == ["stored"]


@pytest.mark.parametrize(("age_ms", "seen"), [(DAY_MS - 1, {}), (DAY_MS, {"s": LIVE})])
def test_a_session_is_not_written_again_just_because_it_was_seen(age_ms, seen):
    """When it was seen is renewed once a day."""
    assert judged([arrival()], [msgspec.structs.replace(LIVE, last_seen_ms=NOW_MS - age_ms)]) == (
        ["stored"],
        seen,
    )
