"""What the tests of edits share: values of ours, and what an edit must leave alone."""

from __future__ import annotations

from relayctl.edits import json_text, values

__all__ = ("EVENTS", "SERVER", "added_between", "group", "present", "pruned")

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreCompact", "PostCompact")
SERVER = {"command": "/home/me/relay home/bin/relay-mcp", "args": ["--lane", "codex"]}


def group(event):
    """Make a group of hooks with one of ours."""
    command = f"'/home/me/relay home/bin/relay-hook' claude {event}"
    return {"hooks": [{"type": "command", "command": command, "timeout": 3}]}


def added_between(old, new):
    """Tell what one piece was put into a text; fails if anything else was done to it."""
    at = 0
    while at < len(old) and at < len(new) and old[at] == new[at]:
        at += 1
    size = len(new) - len(old)
    # What was added can begin with what follows it: any place before the first difference would do.
    assert any(new[:start] + new[start + size :] == old for start in range(at, -1, -1)), (
        "more than one place was changed"
    )
    return new[at : at + size]


def present(text, path):
    """Count the steps of a path that a JSON text has."""
    return values.count_present(json_text.parse(text), path)


def pruned(text, path, keep):
    """Drop what is empty on the way to a member, from the innermost on, but for the first steps that are to be kept."""
    while len(path) > keep and not values.look_up(json_text.parse(text), path):
        text = json_text.drop_member(text, path)
        path = path[:-1]
    return text
