"""What a person asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.harness.prompt import MAX_CHARACTERS, MIN_CHARACTERS, question_in, unwrapped

QUESTION = "why did we drop the retry queue?"


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        (QUESTION, QUESTION),
        (f"\n  {QUESTION}\t ", QUESTION),
        (f"<user_query>{QUESTION}</user_query>", QUESTION),
        (f" <user_query>\n{QUESTION}\n</user_query>\n", QUESTION),
        (f"<user_query>{QUESTION}", QUESTION),
        (
            "请问我们为什么决定不再使用重试队列而是改用发件箱表?",
            "请问我们为什么决定不再使用重试队列而是改用发件箱表?",
        ),
        ("/home/ana/shop/queue.py fails, why?", "/home/ana/shop/queue.py fails, why?"),
        ("/etc/hosts", None),
        ("/home/ana/shop/queue.py", "/home/ana/shop/queue.py"),
        ("// what does this comment mean?", "// what does this comment mean?"),
        ("/ what is below the root directory?", "/ what is below the root directory?"),
        ("<div> does not close, why is that?", "<div> does not close, why is that?"),
        ("<goals> is the table's name, or not?", "<goals> is the table's name, or not?"),
        ("what is a <task-notification> good for?", "what is a <task-notification> good for?"),
        ("does <user_query>x</user_query> mean us?", "does <user_query>x</user_query> mean us?"),
        ("[Request] what does this heading mean?", "[Request] what does this heading mean?"),
        (f"{QUESTION} <private>because of Bob</private>", QUESTION),
        (f"<relay-memory>told before</relay-memory> {QUESTION}", QUESTION),
    ],
)
def test_what_a_person_asked(prompt: str, question: str | None) -> None:
    """Without what a CLI put around it, what is private, and what relay had told."""
    assert question_in(prompt) == question


@pytest.mark.parametrize(
    "prompt",
    [
        None,
        7,
        ["why did we drop the retry queue?"],
        {"text": QUESTION},
        "",
        " " * 100,
        "yes, go on please",
        "a" + " " * 50 + "b",
        "/clear",
        "/review the retry queue once more",
        "  /review\nthe retry queue once more",
        "/plugin:review the retry queue once more",
        "/mcp__server__prompt with many arguments",
        "/实现 为什么我们决定不再使用重试队列而是改用发件箱表",
        "<user_query>/compact all but the retry queue</user_query>",
        "<user_query>yes, please do</user_query>",
        "<user_query></user_query>",
        "<private>why did we drop the retry queue?</private>",
        "<private>why did we drop the retry queue?",
        "[Request interrupted by user for tool use]",
        "[Request interrupted by user]",
        "# AGENTS.md instructions for /home/ana/shop",
    ],
)
def test_what_is_no_question(prompt: object) -> None:
    """Too short, a command, or nothing that was said."""
    assert question_in(prompt) is None


@pytest.mark.parametrize(
    "name",
    [
        *("command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr"),
        *("local-command-caveat", "session-start-hook", "user-prompt-submit-hook", "tick", "goal"),
        *("ide_opened_file", "ide_selection", "ide_diagnostics", "bash-input", "bash-stdout", "bash-stderr"),
        *(
            "task-notification",
            "system-reminder",
            "system_reminder",
            "environment_context",
            "user_instructions",
        ),
        *("turn_aborted", "subagent_notification", "user_shell_command", "user_action", "user_info"),
        *("teammate-message", "cross-session-message", "permissions instructions"),
    ],
)
def test_what_machines_say(name: str) -> None:
    """Their tags begin a text, with or without attributes, whole or cut off, in any case."""
    for begun in (
        f"<{name}>",
        f'<{name} id="7">',
        f"\n <{name}>\n",
        f"<{name.upper()}>",
        f"<{name}\n>",
        f"<{name}/>",
    ):
        assert question_in(f"{begun}{QUESTION}</{name}>") is None
        assert question_in(f"<user_query>{begun}{QUESTION}</{name}></user_query>") is None


@pytest.mark.parametrize("length", [MIN_CHARACTERS - 1, MIN_CHARACTERS])
def test_a_question_has_a_least_length(length: int) -> None:
    """It counts characters, not bytes."""
    assert (question_in("é" * length) is None) == (length < MIN_CHARACTERS)
    assert (question_in(f"<user_query>{'雪' * length}</user_query>") is None) == (length < MIN_CHARACTERS)


def test_of_a_pasted_file_the_start_is_looked_at() -> None:
    """However long it is, and whatever stands behind."""
    pasted = question_in(f"{QUESTION}\n" + "x" * 5_000_000)
    assert pasted is not None
    assert pasted.startswith(QUESTION)
    assert len(pasted) == MAX_CHARACTERS
    assert question_in(" " * 5_000_000 + QUESTION) == QUESTION
    assert question_in("x" * 19 + "<private>" + "y" * 5_000_000 + "</private>" + "z" * 30) is None


def test_what_is_no_wrapping_stays() -> None:
    """A tag in the middle, another one, and the spaces of a text that has none."""
    for text in (" a ", "a <user_query>b</user_query>", "<query>b</query>", ""):
        assert unwrapped(text) == text


@given(
    st.text()
    | st.lists(
        st.sampled_from(["<user_query>", "</user_query>", "<private>", "</private>", " ", "/a", QUESTION])
    ).map("".join)
)
def test_a_question_is_never_blank_short_or_long(text: str) -> None:
    """Whatever a prompt is."""
    question = question_in(text)
    assert question is None or MIN_CHARACTERS <= len(question) <= MAX_CHARACTERS
