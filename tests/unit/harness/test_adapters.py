"""What a hook's call means."""

import json
from pathlib import Path

import msgspec
import pytest

from relayd.errors import HookRefused
from relayd.harness.adapters import EVENTS, read
from relayd.harness.call import HookCall

INPUTS = Path(__file__).resolve().parents[2] / "contract" / "claude"
EVENT_OF = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compaction",
}
SESSION = {"session_id": "s-1", "cwd": "/w"}


def call(payload=SESSION, **fields):
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    told = {"cli": "claude", "event": "stop", "call_id": "c" * 32, "at_ms": 1_764_456_000_123}
    return HookCall(**told | fields, payload=raw)


def inputs(prefix):
    return sorted(INPUTS.glob(f"{prefix}*.json"))


def refused(payload, **fields):
    with pytest.raises(HookRefused) as caught:
        read(call(payload, **fields))
    return caught.value.rule


@pytest.mark.parametrize(
    "path",
    [path for path in inputs("") if path.stem.split("_")[0] not in ("none", "refused")],
    ids=lambda p: p.stem,
)
def test_each_event_has_its_meaning(path):
    """Every documented input is an event of Claude Code's, with all of its members."""
    told = json.loads(path.read_text(encoding="utf-8"))
    meaning = read(call(path.read_bytes(), directory="/said/by/the/call"))
    assert meaning is not None
    assert (meaning.agent, meaning.event) == ("claude-code", EVENT_OF[told["hook_event_name"]])
    assert meaning.session_id == told["session_id"]
    assert meaning.cwd == told.get("cwd", "/said/by/the/call")
    assert json.loads(msgspec.json.encode(meaning.body)) == told


def test_there_is_an_input_of_each_event():
    """No event of the six lacks one."""
    names = {json.loads(path.read_text(encoding="utf-8")).get("hook_event_name") for path in inputs("")}
    assert EVENT_OF.keys() <= names


@pytest.mark.parametrize("path", inputs("none_"), ids=lambda path: path.stem)
def test_foreign_inputs_mean_nothing(path):
    """Another event, an event that is not known yet and another CLI's form are no error, and nothing is captured."""
    assert read(call(path.read_bytes())) is None


@pytest.mark.parametrize("path", inputs("refused_"), ids=lambda path: path.stem)
def test_an_input_without_a_session_is_refused(path):
    """What belongs to no session cannot be stored."""
    assert "session" in refused(path.read_bytes())


@pytest.mark.parametrize("word", EVENTS)
def test_the_command_line_names_the_event_if_the_input_does_not(word):
    """Each word has its event, under which a server knows it."""
    meaning = read(call(SESSION | {"hook_event_name": ""}, event=word))
    assert meaning is not None
    assert meaning.event == ("post-compaction" if word == "post-compact" else word)


def test_the_input_names_the_event_against_the_command_line():
    """A settings file may have a hook under the wrong event."""
    meaning = read(call(SESSION | {"hook_event_name": "SessionEnd"}, event="session-start"))
    assert meaning is not None
    assert meaning.event == "session-end"


@pytest.mark.parametrize(
    ("cli", "event"), [("cursor", "stop"), ("", "stop"), ("claude", "pre-tool-use"), ("claude", "")]
)
def test_unknown_words_are_refused(cli, event):
    """A command line of nobody's is an error, whatever the input."""
    assert "not known" in refused(SESSION, cli=cli, event=event)
    assert "not known" in refused(SESSION, cli=cli, event=event, guarded=True)


@pytest.mark.parametrize(
    "fields",
    [
        {"guarded": True},
        {"captured_elsewhere": True},
        {"under_grok": True},
        {"cli": "codex"},
        {"cli": "grok"},
        {"cli": "grok", "under_grok": True},
    ],
)
def test_what_is_not_ours_to_capture_is_not_even_read(fields):
    """With a guard or a capture owner, under Grok, and for CLIs that come later, no input is wrong."""
    assert read(call(b"no JSON", **fields)) is None


@pytest.mark.parametrize("event", EVENT_OF)
def test_only_a_prompt_has_an_id_of_its_own(event):
    """The id of the prompt identifies the prompt; a stop of the same turn may come again."""
    meaning = read(call(SESSION | {"hook_event_name": event, "prompt_id": "p-1"}))
    assert meaning is not None
    assert meaning.event_id == ("p-1" if event == "UserPromptSubmit" else None)


@pytest.mark.parametrize("prompt_id", [None, "", " ", 7, ["p"], "a\nb", "x" * 129, b'"\\ud800"'])
def test_an_unusable_prompt_id_counts_as_none(prompt_id):
    """Then the id of the call is the event's."""
    text = prompt_id if isinstance(prompt_id, bytes) else json.dumps(prompt_id).encode()
    meaning = read(call(b'{"session_id":"s","cwd":"/w","prompt_id":%b}' % text, event="user-prompt-submit"))
    assert meaning is not None
    assert meaning.event_id is None


@pytest.mark.parametrize("session", [None, "", " \u3000", 5, {}, "a\nb", "a\x7f", "x" * 257, "bad\ufffd"])
def test_a_session_that_cannot_be_kept_as_it_is_is_refused(session):
    """A session's id is never altered, and no rule quotes it."""
    rule = refused(SESSION | {"session_id": session})
    assert "session" in rule
    assert "bad" not in rule


@pytest.mark.parametrize("session", ["s", " padded ", "x" * 256, "雪/🦊", "a\u2028b"])
def test_any_other_session_is_taken_as_it_is(session):
    """Spaces, other scripts and the full length are kept."""
    meaning = read(call(SESSION | {"session_id": session}))
    assert meaning is not None
    assert meaning.session_id == session


@pytest.mark.parametrize("cwd", [None, "", "relative", 5, "/a\nb", "/" + "x" * 4096, ["/w"]])
def test_an_unusable_directory_is_replaced(cwd):
    """The call's own directory stands in for it, then the root; without either the call is refused."""
    payload = SESSION | {"cwd": cwd}
    first = read(call(payload, directory="/d", root="/r"))
    second = read(call(payload, directory="not/absolute", root="/r"))
    assert first is not None
    assert second is not None
    assert (first.cwd, second.cwd) == ("/d", "/r")
    assert "directory" in refused(payload)
