"""Where a client looks for its daemon."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from relayctl.errors import PathRefused
from relayctl.home import absolute, home_fault, home_id, home_path
from relayctl.user import user_as_actor


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")


@pytest.mark.parametrize(
    ("environ", "home"),
    [
        ({"RELAY_HOME": "/r", "XDG_STATE_HOME": "/x"}, "/r"),
        ({"RELAY_HOME": "~/r"}, "/home/ana/r"),
        ({"RELAY_HOME": " ", "XDG_STATE_HOME": "/x"}, "/x/relayd"),
    ],
)
def test_the_home_is_named_by_the_nearest_variable(environ: dict[str, str], home: str) -> None:
    """RELAY_HOME before XDG_STATE_HOME; blank is unset; `~` is expanded."""
    if sys.platform == "darwin" and "RELAY_HOME" not in environ:
        pytest.skip("XDG is not asked on macOS")
    assert home_path(environ) == home


@pytest.mark.parametrize("environ", [{}, {"XDG_STATE_HOME": "relative"}, {"XDG_STATE_HOME": ""}])
def test_without_variables_it_is_the_platforms_place(environ: dict[str, str]) -> None:
    """A relative XDG_STATE_HOME is ignored, as its specification wants."""
    place = "Library/Application Support/relayd" if sys.platform == "darwin" else ".local/state/relayd"
    assert home_path(environ) == f"/home/ana/{place}"


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("/a//b/./c/", "/a/b/c"),
        ("/a/../b", "/a/../b"),
        ("~/Ana María/x y", "/home/ana/Ana María/x y"),
        ("/", "/"),
    ],
)
def test_one_directory_has_one_spelling(path: str, whole: str) -> None:
    """Doubled and trailing slashes and dots go; `..` stays, since what it means depends on links."""
    assert absolute(path, "--queue-dir") == whole


def test_a_relative_path_is_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon has another working directory."""
    monkeypatch.chdir(tmp_path)
    assert absolute("q", "--queue-dir") == f"{tmp_path}/q"


@pytest.mark.parametrize("path", ["", "a\0b", "~nobody-of-that-name/x", "/a\udcff"])
def test_a_path_that_names_nothing_is_refused(path: str) -> None:
    """The message names the option it came from."""
    with pytest.raises(PathRefused, match=r"^--queue-dir: "):
        absolute(path, "--queue-dir")


def test_a_path_from_a_directory_that_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell may sit in a directory that somebody removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(PathRefused, match="working directory is gone"):
        absolute("q", "--queue-dir")
    assert absolute("/q", "--queue-dir") == "/q"


def test_a_copied_home_has_another_id(tmp_path: Path) -> None:
    """Identity is the directory itself, not what is in it."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    assert home_id(str(one)) != home_id(str(other))
    assert home_id(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("mode", "holds", "closes"),
    [
        (0o755, None, True),
        (0o775, "relay.db", True),
        (0o755, "relayd.lock", True),
        (0o755, "thesis.tex", False),
        (0o1777, None, False),
        (0o777, "relay.db", False),
    ],
)
def test_only_what_is_plainly_a_home_is_to_be_closed(
    tmp_path: Path, mode: int, holds: str | None, closes: bool
) -> None:
    """`chmod 700 /tmp` would break a machine: what others may need is not to be closed, but another home named."""
    home = tmp_path / "home"
    home.mkdir()
    if holds:
        (home / holds).touch()
    home.chmod(mode)
    own = "set RELAY_HOME to a directory of its own, for you alone"
    assert home_fault(str(home)) == ("others can look into it", f"chmod 700 {home}" if closes else own)


def test_the_user_is_an_actor() -> None:
    """Whatever the account is called, the default actor is one that a queue takes."""
    actor = user_as_actor()
    assert 1 <= len(actor) <= 64
    assert all(char.isascii() and (char.isalnum() or char in "._:-") for char in actor)
