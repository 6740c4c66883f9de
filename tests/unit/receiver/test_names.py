import pytest

from relayd.receiver.names import AGENTS, EVENTS, agent_named, event_named, session_named


def test_there_are_twenty_three_agents():
    """The list is that of the contract."""
    assert len(AGENTS) == 23


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("claude-code", "claude-code"),
        ("Claude_Code", "claude-code"),
        ("opencode", "open-code"),
        ("never-heard-of", "other"),
        ("", "other"),
        (None, "other"),
    ],
)
def test_agents_in_other_spellings(given, canonical):
    """Case and underscores do not matter; an unknown agent is no error."""
    assert agent_named(given) == canonical


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_events_in_every_spelling(event):
    """Kebab, snake, Pascal and camel spellings mean the same event."""
    pascal = "".join(map(str.capitalize, event.split("-")))
    spellings = (event, event.replace("-", "_"), pascal, pascal[0].lower() + pascal[1:])
    assert {event_named(name) for name in spellings} == {event}


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("user-prompt", "user-prompt-submit"),
        ("user_prompt", "user-prompt-submit"),
        ("beforeSubmitPrompt", "user-prompt-submit"),
        ("PostToolUseFailure", "post-tool-use"),
        ("AfterTool", "post-tool-use"),
        ("BeforeTool", "pre-tool-use"),
        ("PreCompress", "pre-compact"),
        ("SubagentEnd", "subagent-stop"),
        ("deploy.finished", "other"),
        ("", "other"),
    ],
)
def test_events_under_other_names(given, canonical):
    """Names that agents use for the same thing are known, all others are `other`."""
    assert event_named(given) == canonical


@pytest.mark.parametrize(
    "spelling",
    [
        "6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "6f9619ff8b86d011b42d00c04fc964ff",
        "{6f9619ff-8b86-d011-b42d-00c04fc964ff}",
        "urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff",
    ],
)
def test_spellings_of_a_uuid_are_one_session(spelling):
    """Case, hyphens, braces and the URN prefix do not make another session."""
    assert session_named(spelling) == "6f9619ff-8b86-d011-b42d-00c04fc964ff"


@pytest.mark.parametrize(
    "text", [" Sessão/1 ", "s-1", "6f9619ff-8b86-d011-b42d-00c04fc964f", "6F96" * 8 + "0"]
)
def test_any_other_text_is_its_own_session(text):
    """Nothing is trimmed or folded that is no UUID."""
    assert session_named(text) == text
