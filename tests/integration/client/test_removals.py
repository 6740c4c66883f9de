"""What is removed for good, where the daemon could not finish it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.client.command import run
from tests.integration.client.scripted_daemon import http, serve

GONE: dict[str, object] = {"copies": [], "finished": False}


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("purge", "01K6Z3"), {**GONE, "kind": "decision", "id": "01K6Z3", "removed": 1}),
        (("project", "remove", "shop"), {**GONE, "project": "shop", "removed": {"links": 0}}),
    ],
)
def test_a_rest_is_told(home: Path, words: tuple[str, ...], answer: dict[str, object]) -> None:
    """The answer is printed all the same; the code and a line say that free space is still to be wiped."""
    with serve(home, lambda _request: http(200, answer)):
        done = run(home, *words, "--yes")
    assert (done.returncode, json.loads(done.stdout)) == (2, answer)
    assert b"restart the daemon" in done.stderr
