"""What a hook's call means, alike for every agent CLI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relayd.errors import HookRefused
from relayd.harness.adapters import EVENTS, read
from relayd.harness.clean import Cleaner
from tests.unit.harness.inputs import (
    CALL_ID,
    CLIS,
    FILES,
    call,
    files,
    meant,
    named,
    refused,
    session,
    summary,
)

AGENTS = {"claude": "claude-code", "codex": "codex", "grok": "grok"}
EVENT_OF = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compaction",
}
WORD_OF = {name: "post-compact" if name == "PostCompact" else event for name, event in EVENT_OF.items()}
QUESTION = "why did we drop the retry queue?"
CLI = pytest.mark.parametrize("cli", CLIS)


def each(*prefixes: str) -> list[Any]:
    """Each file of each CLI, as parameters."""
    return [
        pytest.param(cli, path, id=f"{cli}-{path.stem}") for cli in CLIS for path in files(cli, *prefixes)
    ]


@pytest.mark.parametrize(("cli", "path"), each())
def test_each_input_has_its_meaning(cli: str, path: Path) -> None:
    """Of every documented input, and of odd ones, what it means and is stored as is written down."""
    expected = json.loads((FILES / cli / "meanings.json").read_text(encoding="utf-8"))
    assert summary(cli, path) == expected[path.stem]


@CLI
def test_nothing_is_written_down_without_an_input(cli: str) -> None:
    """And each of the six events has one."""
    expected = json.loads((FILES / cli / "meanings.json").read_text(encoding="utf-8"))
    assert expected.keys() == {path.stem for path in files(cli)}
    assert {meaning["event"] for meaning in expected.values()} == set(EVENT_OF.values())


@pytest.mark.parametrize(("cli", "path"), each("none_"))
def test_foreign_inputs_mean_nothing(cli: str, path: Path) -> None:
    """Another event, one that is not known yet and another CLI's form are no error, and nothing is captured."""
    assert read(call(path.read_bytes(), cli=cli)) is None


@pytest.mark.parametrize(("cli", "path"), each("refused_"))
def test_an_input_without_a_session_is_refused(cli: str, path: Path) -> None:
    """What belongs to no session cannot be stored."""
    assert "session" in refused(path.read_bytes(), cli=cli)


@pytest.mark.parametrize("under", ["claude", "codex"])
@pytest.mark.parametrize("path", files("grok"), ids=lambda path: path.stem)
def test_the_form_of_grok_build_is_nobody_elses(under: str, path: Path) -> None:
    """It runs the hooks of others, and says so in nothing but its form if the environment is lost."""
    assert read(call(path.read_bytes(), cli=under)) is None


@pytest.mark.parametrize("path", [*files("claude"), *files("codex")], ids=lambda path: path.stem)
def test_no_other_form_is_grok_builds(path: Path) -> None:
    """A hook of its own that another CLI runs captures nothing."""
    assert read(call(path.read_bytes(), cli="grok")) is None


@CLI
@pytest.mark.parametrize("word", EVENTS)
@pytest.mark.parametrize("nothing", ["", None, 7])
def test_the_command_line_names_the_event_if_the_input_does_not(cli: str, word: str, nothing: object) -> None:
    """Each word has its event, under which a server knows it."""
    name = "hookEventName" if cli == "grok" else "hook_event_name"
    meaning = meant(session(cli, **{name: nothing}), cli=cli, event=word)
    assert meaning.event == ("post-compaction" if word == "post-compact" else word)


@CLI
def test_the_input_names_the_event_against_the_command_line(cli: str) -> None:
    """A settings file may have a hook under the wrong event."""
    assert meant(named(cli, "SessionEnd"), cli=cli, event="session-start").event == "session-end"


@pytest.mark.parametrize(
    ("cli", "event"),
    [
        ("cursor", "stop"),
        ("", "stop"),
        ("claude", "pre-tool-use"),
        ("claude", ""),
        ("grok", "post-compaction"),
    ],
)
def test_unknown_words_are_refused(cli: str, event: str) -> None:
    """A command line of nobody's is an error, whatever the input."""
    assert "not known" in refused(session("claude"), cli=cli, event=event)
    assert "not known" in refused(session("claude"), cli=cli, event=event, guarded=True)


@CLI
@pytest.mark.parametrize("fields", [{"guarded": True}, {"captured_elsewhere": True}])
def test_what_is_not_ours_to_capture_is_not_even_read(cli: str, fields: Mapping[str, bool]) -> None:
    """With a guard or a capture owner no input is wrong."""
    assert read(call(b"no JSON", cli=cli, **fields)) is None


@CLI
def test_under_grok_build_only_its_own_hooks_capture(cli: str) -> None:
    """It runs those of others as well: each event would come twice."""
    event = call(named(cli, "Stop"), cli=cli, under_grok=True)
    assert (read(event) is not None) == (cli == "grok")


@CLI
@pytest.mark.parametrize("name", EVENT_OF)
def test_only_a_prompt_has_an_id_of_its_own(cli: str, name: str) -> None:
    """The id of the prompt or turn identifies the prompt; a stop of the same turn may come again."""
    ids = {"prompt_id": "p-1", "turn_id": "p-1", "promptId": "p-1"}
    meaning = meant(named(cli, name, prompt=QUESTION, **ids), cli=cli)
    assert meaning.event == EVENT_OF[name]
    assert meaning.event_id == ("p-1" if name == "UserPromptSubmit" else None)
    assert (meaning.told_apart_by is not None) == (cli == "codex" and name == "UserPromptSubmit")


@CLI
@pytest.mark.parametrize("unusable", [None, "", " ", 7, ["p"], "a\nb", "x" * 129, b'"\\ud800"'])
def test_an_unusable_prompt_id_counts_as_none(cli: str, unusable: object) -> None:
    """Then the id of the call is the event's."""
    text = unusable if isinstance(unusable, bytes) else json.dumps(unusable).encode()
    name = {"claude": "prompt_id", "codex": "turn_id", "grok": "promptId"}[cli]
    told = json.dumps(session(cli))[:-1].encode()
    meaning = meant(b'%b,"%b":%b}' % (told, name.encode(), text), cli=cli, event="user-prompt-submit")
    assert (meaning.event_id, meaning.told_apart_by) == (None, None)


@CLI
@pytest.mark.parametrize("odd", [None, "", " \u3000", 5, {}, "a\nb", "a\x7f", "x" * 257, "bad\ufffd"])
def test_a_session_that_cannot_be_kept_as_it_is_is_refused(cli: str, odd: object) -> None:
    """A session's id is never altered, and no rule quotes it."""
    rule = refused(session(cli) | {("sessionId" if cli == "grok" else "session_id"): odd}, cli=cli)
    assert "session" in rule
    assert "bad" not in rule


@CLI
@pytest.mark.parametrize("name", ["s", " padded ", "x" * 256, "雪/🦊", "a\u2028b"])
def test_any_other_session_is_taken_as_it_is(cli: str, name: str) -> None:
    """Spaces, other scripts and the full length are kept."""
    told = session(cli) | {("sessionId" if cli == "grok" else "session_id"): name}
    assert meant(told, cli=cli).session_id == name


@CLI
@pytest.mark.parametrize("cwd", [None, "", "relative", 5, "/a\nb", "/" + "x" * 4096, ["/w"]])
def test_an_unusable_directory_is_replaced(cli: str, cwd: object) -> None:
    """The call's own directory stands in for it, then the root; without either the call is refused."""
    payload = session(cli) | {"cwd": cwd}
    assert meant(payload, cli=cli, directory="/d", root="/r").cwd == "/d"
    assert meant(payload, cli=cli, directory="not/absolute", root="/r").cwd == "/r"
    assert "directory" in refused(payload, cli=cli)


def test_the_workspace_of_grok_build_stands_in_for_its_directory() -> None:
    """Before that of the call, which it may have been started in by something else."""
    told = {"sessionId": "s-1", "cwd": "", "workspaceRoot": "/w/root"}
    assert meant(told, cli="grok", directory="/d").cwd == "/w/root"
    assert meant(told | {"workspaceRoot": 5}, cli="grok", directory="/d").cwd == "/d"


@CLI
@pytest.mark.parametrize(
    ("source", "beginning"),
    [
        ("startup", "startup"),
        ("resume", "resume"),
        ("clear", "clear"),
        ("compact", "compact"),
        ("fork", "fork"),
        ("new", "startup"),
        ("load", "resume"),
        ("later", "startup"),
        ("", "startup"),
        (None, "startup"),
        (["resume"], "startup"),
        ({"resume": 1}, "startup"),
    ],
)
def test_how_a_session_begins(cli: str, source: object, beginning: str) -> None:
    """Every CLI's word is taken from every CLI; one that nobody documents counts as a new session."""
    assert meant(named(cli, "SessionStart", source=source), cli=cli).beginning == beginning
    assert meant(named(cli, "PreCompact", source=source), cli=cli).beginning is None


@CLI
@pytest.mark.parametrize(
    "odd",
    [
        None,
        "",
        " ",
        5,
        {"id": "m"},
        ["m"],
        "a\nb",
        "x" * 5_000,
        "bad\ufffd",
        "/t/ghp_a1B2c3D4e5F6g7H8i9J0k1L2",
    ],
)
def test_what_says_more_is_left_out_if_it_is_odd(cli: str, odd: object) -> None:
    """A model or a transcript with a secret or a line break in it is none; the event is captured without."""
    names = (
        {"modelId": odd, "transcriptPath": odd} if cli == "grok" else {"model": odd, "transcript_path": odd}
    )
    meaning = meant(named(cli, "SessionStart", **names), cli=cli)
    assert (meaning.model, meaning.transcript) == (None, None)


@CLI
def test_a_transcript_is_named_by_an_absolute_path(cli: str) -> None:
    """What stands elsewhere cannot be found again; spaces and letters of any script are fine."""
    name = "transcriptPath" if cli == "grok" else "transcript_path"
    assert meant(named(cli, "Stop", **{name: "relative.jsonl"}), cli=cli).transcript is None
    path = "/home/Ana María/界/5b1c0a52-7d1e-4c7e-9a55-0d3f1f6a2b10.jsonl"
    assert meant(named(cli, "Stop", **{name: path}), cli=cli).transcript == path


@CLI
def test_only_a_prompt_asks(cli: str) -> None:
    """Other events have no question, whatever they hold; one that is none leaves the event as it is."""
    assert meant(named(cli, "UserPromptSubmit", prompt=QUESTION), cli=cli).prompt == QUESTION
    assert meant(named(cli, "Stop", prompt=QUESTION), cli=cli).prompt is None
    machine = meant(
        named(cli, "UserPromptSubmit", prompt="<task-notification>x</task-notification>"), cli=cli
    )
    assert machine.prompt is None
    assert machine.body["prompt"] == "<task-notification>x</task-notification>"


@pytest.mark.parametrize("cli", ["claude", "codex"])
def test_an_agent_that_another_one_started(cli: str) -> None:
    """It says which it is; a session that was begun as a certain agent only says what it is."""
    assert meant(named(cli, "UserPromptSubmit", agent_id="a-1", agent_type="Plan"), cli=cli).subagent
    assert not meant(named(cli, "UserPromptSubmit", agent_type="Plan"), cli=cli).subagent
    assert not meant(named(cli, "UserPromptSubmit", agent_id=None), cli=cli).subagent


@pytest.mark.parametrize("name", EVENT_OF)
@pytest.mark.parametrize("kind", [None, "", "explore"])
def test_children_of_grok_build(name: str, kind: str | None) -> None:
    """Their prompts and their ends are no prompts and no ends of the session."""
    meaning = read(call(named("grok", name, subagentType=kind), cli="grok"))
    if kind and name in ("UserPromptSubmit", "SessionEnd"):
        assert meaning is None
    else:
        assert meaning is not None
        assert meaning.subagent == bool(kind)


@pytest.mark.parametrize("name", EVENT_OF)
@pytest.mark.parametrize(
    "reason", ["channel_closed", "shutdown", "end_turn", "later", "", None, ["shutdown"]]
)
def test_a_last_stop_of_grok_build_is_none(name: str, reason: object) -> None:
    """When it leaves it stops once more; a session that ends for the same reason does end."""
    meaning = read(call(named("grok", name, reason=reason), cli="grok"))
    assert (meaning is None) == (name == "Stop" and reason in ("channel_closed", "shutdown"))


def test_grok_builds_members_are_called_as_by_others() -> None:
    """Where it documents them; others keep their names, and none can pass for what is not its own."""
    told = named("grok", "Stop", lastAssistantMessage="done", last_assistant_message="forged", laterOn=1)
    body = meant(told, cli="grok").body
    assert body["last_assistant_message"] == "done"
    assert body["laterOn"] == 1
    assert not {"sessionId", "hookEventName", "lastAssistantMessage"} & body.keys()


def _id(cli: str, **members: Any) -> str:
    one = call(named(cli, "UserPromptSubmit", **members), cli=cli)
    meaning = read(one)
    assert meaning is not None
    event = Cleaner(["/w/hidden"]).event(one, meaning)
    assert event is not None
    return event.event_id


def test_prompts_of_one_turn_of_codex() -> None:
    """Two are two events, one that is heard twice is one; so is the same text in another turn, but not of it."""
    first = _id("codex", turn_id="t-1", prompt=QUESTION)
    assert first == _id("codex", turn_id="t-1", prompt=QUESTION, later="member")
    others = {
        _id("codex", turn_id="t-1", prompt=f"{QUESTION} "),
        _id("codex", turn_id="t-2", prompt=QUESTION),
        _id("codex", turn_id="t-1"),
        _id("codex", turn_id="t-1", prompt=None),
    }
    assert len(others - {first}) == 4
    assert first.startswith("t-1:")
    assert _id("codex", prompt=QUESTION) == CALL_ID


def test_a_prompts_id_gives_away_nothing_that_is_not_stored() -> None:
    """A digest of what is private could be guessed."""
    ids = {
        _id("codex", turn_id="t-1", prompt=f"pin <private>{pin}</private> password={pin} /w/hidden/{pin}")
        for pin in ("hunter12345", "hunter67890")
    }
    assert len(ids) == 1


def test_long_turn_ids_stay_apart() -> None:
    """Although the id of an event has no room for all of both."""
    ids = {_id("codex", turn_id="t" * 127 + last, prompt=QUESTION) for last in "ab"}
    assert len(ids) == 2
    assert {len(one) for one in ids} == {128}


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(
        [
            "s-1",
            "/w",
            "Stop",
            "stop",
            "SessionStart",
            "user_prompt_submit",
            "shutdown",
            QUESTION,
            "\ud800",
            "<private>",
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    [
        *("session_id", "sessionId", "cwd", "workspaceRoot", "hook_event_name", "hookEventName", "prompt"),
        *(
            "prompt_id",
            "promptId",
            "turn_id",
            "source",
            "model",
            "modelId",
            "transcript_path",
            "transcriptPath",
        ),
        *("agent_id", "subagentType", "reason", "foreign_name", "foreignName", "last_assistant_message"),
    ]
)


@given(
    st.dictionaries(MEMBERS | st.text(max_size=9), ODD, max_size=9),
    st.sampled_from(CLIS),
    st.sampled_from(EVENTS),
)
@settings(deadline=None)
def test_nothing_but_a_refusal_comes_of_any_object(told: dict[str, Any], cli: str, word: str) -> None:
    """Whatever its members are, they mean something that can be stored, or nothing, or are refused."""
    raw = json.dumps(told).encode(errors="surrogatepass")
    one = call(raw, cli=cli, event=word, directory="/d")
    try:
        meaning = read(one)
    except HookRefused:
        return
    if meaning is not None:
        assert meaning.agent == AGENTS[cli]
        event = Cleaner([]).event(one, meaning)
        assert event is not None
        assert msgspec.json.decode(event.body)["session_id"] == meaning.session_id


@given(st.binary(max_size=200), st.sampled_from(CLIS), st.sampled_from(EVENTS))
@settings(deadline=None)
def test_nothing_but_a_refusal_comes_of_any_bytes(raw: bytes, cli: str, word: str) -> None:
    """Nearly none of them are an object."""
    with suppress(HookRefused):
        read(call(raw, cli=cli, event=word))
