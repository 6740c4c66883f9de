"""What a hook prints, so that its agent reads a text."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.harness.adapters import answer
from relayd.harness.meaning import EventName
from tests.unit.harness.inputs import CLIS

READ = {"session-start": "SessionStart", "user-prompt-submit": "UserPromptSubmit"}
EVENTS = get_args(EventName)


@pytest.mark.parametrize("cli", ["claude", "codex"])
@pytest.mark.parametrize("event", READ)
def test_a_text_is_handed_over_in_the_form_that_both_know(cli: str, event: EventName) -> None:
    """One document of exactly these members: Codex takes no others."""
    printed = answer(cli, event, "Keep the outbox.\n雪 🦊\x00")
    assert json.loads(printed) == {
        "hookSpecificOutput": {
            "hookEventName": READ[event],
            "additionalContext": "Keep the outbox.\n雪 🦊\x00",
        }
    }
    assert printed.startswith(b'{"hookSpecificOutput":{"hookEventName":')


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("event", EVENTS)
def test_what_cannot_be_read_is_not_printed(cli: str, event: EventName) -> None:
    """At other events, by Grok Build, and where there is nothing to say."""
    assert bool(answer(cli, event, "text")) == (cli != "grok" and event in READ)
    assert answer(cli, event, "") == b""
    assert answer(cli, event, " \n") == b""


def test_an_unknown_cli_is_told_nothing() -> None:
    """Nobody knows what it would make of it."""
    assert answer("cursor", "session-start", "text") == b""


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_printed_as_valid_json(text: str) -> None:
    """Halves of surrogate pairs are replaced, whole ones in two halves put together; nothing else changes."""
    printed = answer("codex", "session-start", f"x{text}")
    said = json.loads(printed.decode())["hookSpecificOutput"]["additionalContext"]
    assert said == f"x{text}".encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_halves_of_surrogate_pairs() -> None:
    """No answer has one."""
    printed = answer("claude", "session-start", "a\ud800b \ud83e\udd8a \udc00")
    assert json.loads(printed)["hookSpecificOutput"]["additionalContext"] == "a\ufffdb 🦊 \ufffd"
