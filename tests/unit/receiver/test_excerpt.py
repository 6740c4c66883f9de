import json

import pytest

from relayd.receiver.excerpt import MAX_CHARACTERS, _Scrubber, excerpt_of
from relayd.text.scrub import MARK

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("user-prompt-submit", {"prompt": "hello"}),
        ("user-prompt-submit", {"prompt": "", "message": "hello"}),
        ("notification", {"text": "hello"}),
        ("post-compaction", {"summary": "hello", "x": 1}),
        ("post-compaction", {"compact_summary": "hello", "trigger": "auto"}),
        ("post-compaction", {"summary": "", "compact_summary": "hello"}),
        ("stop", {"last_assistant_message": "hello", "stop_hook_active": False}),
    ],
)
def test_text_events_give_their_text(event, body):
    """A prompt, a notification, a summary and an agent's last message are kept as text."""
    assert excerpt_of(event, {"session_id": "s", "cwd": "/w"} | body) == "hello"


def test_other_bodies_are_kept_as_json_in_their_own_order():
    """What has no text of its own is kept as JSON, without what the event says elsewhere."""
    body = {"session_id": "s", "z": [1, None, True, 0.5], "cwd": "/w", "a": {"k": "v"}, "occurred_at": "x"}
    assert excerpt_of("stop", body) == '{"z":[1,null,true,0.5],"a":{"k":"v"}}'
    assert excerpt_of("user-prompt-submit", {"prompt": ["x"]}) == '{"prompt":["x"]}'


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("session-start", {"source": "resume", "model": "m-5"}),
        ("session-end", {"reason": "logout"}),
        ("pre-compact", {"trigger": "manual", "custom_instructions": "keep the table"}),
        ("stop", {"stop_hook_active": True}),
    ],
)
def test_what_tells_a_reader_nothing_is_left_out(event, told):
    """Of what a hook sends along, why it came is kept; where its files are and how it is set are not."""
    sent = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w", "hook_event_name": "X"}
    assert json.loads(excerpt_of(event, sent | {"permission_mode": "plan"} | told) or "") == told
    assert excerpt_of(event, sent) is None


@pytest.mark.parametrize(
    ("event", "name"), [("stop", "last_assistant_message"), ("post-compaction", "compact_summary")]
)
def test_a_text_of_an_agent_is_scrubbed_and_bounded(event, name):
    """What an agent wrote is treated as what a user wrote."""
    assert excerpt_of(event, {name: f"key {TOKEN}"}) == f"key {MARK}"
    assert excerpt_of(event, {name: "x" * 200_000}) == "x" * MAX_CHARACTERS
    assert excerpt_of(event, {name: ["x"]}) == f'{{"{name}":["x"]}}'


def test_nothing_to_tell_is_none():
    """A body of session and directory alone leaves nothing."""
    assert excerpt_of("session-start", {"session_id": "s", "cwd": "/w", "_ai_memory_capture": {}}) is None
    assert excerpt_of("stop", {}) is None


def test_it_is_bounded():
    """No body gives more than the limit, whether text or JSON, wide or deep."""
    assert excerpt_of("user-prompt-submit", {"prompt": "x" * 200_000}) == "x" * MAX_CHARACTERS
    for value in ("x" * 200_000, ["x"] * 100_000, {str(n): n for n in range(100_000)}, list(range(100_000))):
        assert len(excerpt_of("stop", {"value": value}) or "") == MAX_CHARACTERS


def test_only_the_start_of_a_large_body_is_looked_at():
    """Copying stops with the text that is kept, and after a number of members that say nothing."""
    assert len(_Scrubber().value(["x" * 100] * 100_000, 64)) == MAX_CHARACTERS // 100
    assert len(_Scrubber().value([0] * 100_000, 64)) == 1_000
    assert len(_Scrubber().value({f"{n:0100}": 0 for n in range(1_000)}, 64)) == MAX_CHARACTERS // 100


def test_it_ends_between_characters():
    """The cut does not fall inside a family."""
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    text = excerpt_of("user-prompt-submit", {"prompt": "x" * (MAX_CHARACTERS - 2) + family})
    assert text == "x" * (MAX_CHARACTERS - 2)


def test_depth_is_bounded():
    """A body nested beyond any use becomes a mark, not an error."""
    deep = "end"
    for _ in range(500):
        deep = [deep]
    assert "…" in (excerpt_of("stop", {"value": deep}) or "")


def test_secrets_are_gone_at_every_depth():
    """Tokens in text, in keys, and values under a secret's name are marked."""
    body = {"output": f"key {TOKEN}", TOKEN: 1, "list": [{"apiKey": {"deep": TOKEN}}], "max_tokens": 5}
    kept = json.loads(excerpt_of("post-tool-use", body) or "")
    assert kept == {"output": f"key {MARK}", MARK: 1, "list": [{"apiKey": MARK}], "max_tokens": 5}


@pytest.mark.parametrize("start", range(MAX_CHARACTERS - 30, MAX_CHARACTERS + 5))
def test_a_secret_across_the_cut_leaves_nothing(start):
    """Scrubbing comes before cutting."""
    text = excerpt_of("user-prompt-submit", {"prompt": "." * start + TOKEN})
    assert "ghp_" not in (text or "")
    assert "ghp_" not in (excerpt_of("stop", {"value": "." * start + TOKEN}) or "")


@pytest.mark.parametrize("end", range(4 * MAX_CHARACTERS - 30, 4 * MAX_CHARACTERS + 5, 3))
def test_a_secret_across_the_window_leaves_nothing(end):
    """Nor does a secret show that is cut where scrubbing stops, however much shorter the rest became."""
    filler = "ghp_" + "b" * (end - 4)
    text = excerpt_of("user-prompt-submit", {"prompt": f"{filler} {TOKEN} and more " + "x" * 100})
    assert "a1B2" not in (text or "")


def test_large_numbers_are_kept_as_they_are():
    """An integer beyond 64 bits is no error."""
    assert excerpt_of("stop", {"n": 10**300}) == '{"n":1' + "0" * 300 + "}"
