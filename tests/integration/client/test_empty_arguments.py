"""Arguments without a character, as of a variable that is not set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.client.command import run


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("forget", ""), "ID"),
        (("purge", "", "--yes"), "ID"),
        (("memory", "show", ""), "ID"),
        (("memory", "edit", "", "text"), "ID"),
        (("prefer", "", "value"), "KEY"),
        (("unprefer", ""), "KEY"),
        (("project", "add", ""), "SLUG"),
        (("project", "set", ""), "SLUG"),
        (("project", "show", ""), "SLUG"),
        (("project", "remove", "", "--yes"), "SLUG"),
        (("project", "rename", "", "store"), "OLD"),
        (("project", "rename", "shop", ""), "NEW"),
        (("project", "alias", "shop", ""), "ALIAS"),
        (("project", "unalias", "shop", ""), "ALIAS"),
        (("queue", "show", ""), "KEY"),
    ],
)
def test_an_empty_argument_is_named_and_not_sent(tmp_path: Path, words: tuple[str, ...], named: str) -> None:
    """The command says which argument it was, before a daemon is asked for."""
    done = run(tmp_path / "home", *words, env={"RELAY_AUTOSTART": "0"})
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"Invalid value for '{named}': must not be empty" in done.stderr.decode()
