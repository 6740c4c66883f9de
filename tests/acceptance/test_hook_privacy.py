"""What real hooks leave on disk, and what they must not: private parts, secrets, ignored paths, sessions of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents import Desk, said, serving, settled

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
PRIVATE = "the-merger-is-on-friday"
IGNORED = "tax-return-2026"
HIDDEN = (SECRET, PRIVATE, IGNORED)


@pytest.fixture
def shop(user: Desk) -> Path:
    """A linked repository; no daemon runs, and one will ignore some paths."""
    with user.daemon():
        place = user.link("shop")
    (user.home / "config.toml").write_text(f'[capture]\nignore_paths = ["{IGNORED}"]\n')
    (user.home / "config.toml").chmod(0o600)
    return place


def _speak(user: Desk, shop: Path) -> None:
    """Say what must not be stored, in every event, in every place a text can have."""
    text = f"number 1 <private>{PRIVATE}</private> token {SECRET} and {user.user}/{IGNORED}/form.pdf"
    told = {"deep": [{"list": [text]}], SECRET: "a name", "note": text, "password": PRIVATE}
    for event, name in (("user-prompt-submit", "prompt"), ("stop", "last_assistant_message")):
        user.hook(event, said(event, 1, cwd=shop, **{name: text, **told}), at=shop)
    for event in ("session-start", "pre-compact", "post-compact", "session-end"):
        user.hook(event, said(event, 1, cwd=shop, **told), at=shop)
    ignored = shop / IGNORED
    ignored.mkdir(exist_ok=True)
    user.hook("stop", said("stop", 99, cwd=ignored), at=ignored)


def _found(user: Desk, *, beside: str = "") -> set[str]:
    """Which files of the home have what must not be there."""
    files = (path for path in user.home.rglob("*") if path.is_file() and path.name != "config.toml")
    hidden = [text.encode() for text in HIDDEN]
    return {
        str(path.relative_to(user.home))
        for path in files
        if not (beside and path.relative_to(user.home).parts[0] == beside)
        and any(text in path.read_bytes() for text in hidden)
    }


@pytest.mark.parametrize("spooled", [False, True], ids=["taken", "spooled"])
def test_nothing_hidden_is_on_disk_or_sent(user: Desk, shop: Path, *, spooled: bool) -> None:
    """No file of the home has it once a daemon has the events, nor does the server; before that the spool alone has."""
    with serving() as server:
        with user.daemon():
            user.relayctl("upstream", "set", "--server-url", server.url)
        if spooled:
            _speak(user, shop)
            assert len(user.spool) == 7
            assert _found(user, beside="spool") == set()
        with user.daemon() as daemon:
            if not spooled:
                _speak(user, shop)
            settled(daemon)
            assert _found(user) == set()
        assert _found(user) == set()
        assert len(server.memory.events) == 6
        sent = b"".join(request.head + request.body for request in server.requests)
        assert not any(text.encode() in sent for text in HIDDEN)
        assert b"[PRIVATE]" in sent
        assert b"[REDACTED]" in sent
        assert b"[IGNORED PATH]" in sent


def test_the_daemons_own_receiver_keeps_nothing_hidden(user: Desk, shop: Path) -> None:
    """Nor do its excerpts."""
    with user.daemon() as daemon:
        _speak(user, shop)
        assert len(user.fed(daemon)) == 6
        assert _found(user) == set()
    assert _found(user) == set()


@pytest.mark.parametrize("name", ["AI_MEMORY_CAPTURE_OWNER", "RELAY_GUARD"])
def test_a_session_that_somebody_else_captures(user: Desk, shop: Path, name: str) -> None:
    """Set, nothing is stored or spooled, with a daemon or without; blank and unset are the same: all is."""
    user.stop_hook(1, at=shop, env={name: "another"})
    assert user.spool == []
    with user.daemon() as daemon:
        user.stop_hook(2, at=shop, env={name: "another"})
        assert user.fed(daemon) == []
        assert list(user.home.glob("queue/p-*")) == []
        user.stop_hook(3, at=shop, env={name: " "})
        user.stop_hook(4, at=shop, env={name: ""})
        user.stop_hook(5, at=shop)
        assert [number for *_, number in user.fed(daemon)] == [3, 4, 5]
    user.stop_hook(6, at=shop, env={name: " "})
    assert len(user.spool) == 1
