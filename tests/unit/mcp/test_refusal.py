"""Refusals: one for each error, none of which holds a value."""

from __future__ import annotations

import pytest

from relay_queue.errors import QueueBusy
from relayd.errors import (
    AmbiguousId,
    ParameterRefused,
    ScopeNeeded,
    SecretRefused,
    Stopping,
    Superseded,
    Suspect,
    UnknownItem,
    UnknownProject,
    UpgradePending,
)
from relayd.mcp.refusal import refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UnknownProject(["shop"]), "did you mean shop?"),
        (UnknownProject(), "as `project`: a, b."),
        (ScopeNeeded(), "as `project`: a, b."),
        (SecretRefused([Suspect("id", "token", 1, 5)]), "`scope_id` at characters 1 to 5 (token)"),
        (Superseded("01X"), "01X"),
        (Superseded(None), "forgotten"),
        (UnknownItem(), "relay_recall"),
        (AmbiguousId(["01X", "01Y"]), "01X, 01Y"),
        (ParameterRefused("supersedes", "must be given"), "`supersedes_id` must be given"),
        (Stopping(), "stopping"),
        (UpgradePending(), "upgrade_pending"),
        (QueueBusy("/somewhere"), "busy"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_is_one_sentence_that_says_what_to_do(error, said):
    """With the names that the tools have for things."""
    told = refusal(error, ["a", "b"])
    assert said in told
    assert told.endswith((".", "?"))
    assert "/somewhere" not in told


def test_many_projects_are_not_all_listed():
    """Forty names, and how many more there are."""
    told = refusal(ScopeNeeded(), [f"p{number}" for number in range(100)])
    assert "p39 and 60 more" in told
    assert "relayctl link" in refusal(ScopeNeeded(), [])
