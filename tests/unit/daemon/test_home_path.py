"""Where the home lies."""

import sys
from pathlib import Path

import pytest

from relayd.errors import HomeRefused
from relayd.home import Home, home_path


def test_flag_wins(tmp_path):
    """`--home` is taken before any variable."""
    assert home_path(str(tmp_path), {"RELAY_HOME": "/elsewhere"}) == tmp_path


def test_variable_before_default():
    """RELAY_HOME is taken before the platform's place."""
    assert home_path(None, {"RELAY_HOME": "/x/y", "XDG_STATE_HOME": "/state"}) == Path("/x/y")


def test_blank_variable_is_unset(monkeypatch):
    """A RELAY_HOME of spaces counts as not set."""
    monkeypatch.setattr(sys, "platform", "linux")
    assert home_path(None, {"RELAY_HOME": "  ", "XDG_STATE_HOME": "/state"}) == Path("/state/relayd")


def test_relative_state_home_is_ignored(monkeypatch):
    """A relative XDG_STATE_HOME is invalid by its specification and counts as not set."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/users/ann")
    assert home_path(None, {"XDG_STATE_HOME": "state"}) == Path("/users/ann/.local/state/relayd")


def test_macos_default(monkeypatch):
    """On macOS the home lies in the user's Application Support."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", "/Users/ann")
    expected = Path("/Users/ann/Library/Application Support/relayd")
    assert home_path(None, {"XDG_STATE_HOME": "/state"}) == expected


@pytest.mark.parametrize("given", ["~/relay home", "~/relay home/"])
def test_tilde_is_expanded(monkeypatch, given):
    """`~` is the user's directory, in the flag as in the variable."""
    monkeypatch.setenv("HOME", "/users/ann")
    assert home_path(given, {}) == Path("/users/ann/relay home")
    assert home_path(None, {"RELAY_HOME": given}) == Path("/users/ann/relay home")


def test_unknown_user_is_refused():
    """`~name` of nobody is refused in one sentence."""
    with pytest.raises(HomeRefused, match="no such user"):
        home_path("~no-such-user-here/relay", {})


def test_relative_path_is_made_absolute(monkeypatch, tmp_path):
    """A relative path counts from the working directory, with its dots resolved."""
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert home_path("b", {}) == tmp_path / "a" / "b"
    assert home_path("../b", {}) == tmp_path / "b"


def test_home_id_tells_a_copy(tmp_path):
    """The id is that of the directory itself: another one with the same content has another."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    found = one.stat()
    assert Home(one).home_id == f"{found.st_dev:x}-{found.st_ino:x}"
    assert Home(one).home_id != Home(other).home_id
