"""The MCP forwarder as agent CLIs start it: what goes to the daemon, what comes back, and what if there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relayctl.home import home_id
from relayctl.mcp_stdio import is_plain, lane_of
from tests import stage
from tests.integration.client.scripted_daemon import http, serve

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
TOLD = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def _forward(
    home: Path, *lines: bytes, cwd: Path | None = None, lane: str = "codex", **env: str
) -> list[Any]:
    """Say lines, then end; the messages that came back. It ends with 0 and says nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "relayctl", "mcp", "--lane", lane],
        input=b"\n".join(lines),
        capture_output=True,
        env={**stage.CLEAN, "RELAY_HOME": str(home), "RELAY_AUTOSTART": "0", **env},
        cwd=cwd,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _post_of(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first == "POST /mcp HTTP/1.1"
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}, body


def _home(path: Path) -> Path:
    path.mkdir(mode=0o700)
    return path


def test_bytes_go_and_come_as_they_are(tmp_path: Path) -> None:
    """A message is neither parsed nor respelled; who asks, for which home and from where, stands beside it."""
    odd = '{"jsonrpc": "2.0", "id": 1e0, "method": "é", "params": {"a": 1, "a": 2}}'.encode()
    home, place = _home(tmp_path / "h"), tmp_path / "Ana María"
    place.mkdir()
    with serve(home, lambda _: http(200, {"jsonrpc": "2.0", "id": 1})) as daemon:
        assert _forward(home, odd, b"", b"  ", cwd=place) == [{"jsonrpc": "2.0", "id": 1}]
    (request,) = daemon.requests
    headers, body = _post_of(request)
    assert body == odd
    assert headers["relay-home"] == home_id(str(home))
    assert headers["relay-protocol"] == "1"
    assert headers["relay-lane"] == "codex"
    assert headers["relay-directory"].endswith("%2FAna%20Mar%C3%ADa")


def test_the_directory_of_the_agent_goes_before_its_own(tmp_path: Path) -> None:
    """An agent CLI may start its servers anywhere, and says where it works."""
    home = _home(tmp_path / "h")
    with serve(home, lambda _: http(200, {})) as daemon:
        _forward(home, PING, CLAUDE_PROJECT_DIR="/srv/shop")
        _forward(home, PING, CLAUDE_PROJECT_DIR=" ", GROK_WORKSPACE_ROOT="/srv/tea")
    places = [_post_of(request)[0]["relay-directory"] for request in daemon.requests]
    assert places == ["%2Fsrv%2Fshop", "%2Fsrv%2Ftea"]


@pytest.mark.parametrize(
    ("lane", "env", "said"),
    [
        ("claude", {"GROK_SESSION_ID": "s-1"}, "grok"),
        ("claude", {"GROK_SESSION_ID": " "}, "claude"),
        ("claude", {"GROK_SESSION_ID": "s-1", "CLAUDE_PROJECT_DIR": "/srv/shop"}, "claude"),
        ("codex", {"GROK_SESSION_ID": "s-1"}, "codex"),
    ],
)
def test_grok_build_is_told_from_whose_settings_it_reads(
    tmp_path: Path, lane: str, env: dict[str, str], said: str
) -> None:
    """It starts Claude Code's servers too; what its agent decides is not another's. One that it starts itself is one."""
    home = _home(tmp_path / "h")
    with serve(home, lambda _: http(200, {})) as daemon:
        _forward(home, PING, cwd=None, lane=lane, **env)
    assert [_post_of(request)[0]["relay-lane"] for request in daemon.requests] == [said]


def test_the_negotiated_version_is_said_from_then_on(tmp_path: Path) -> None:
    """The daemon keeps nothing of a conversation, so the forwarder says again what was agreed."""
    home = _home(tmp_path / "h")
    answer = http(200, {}).replace(b"\r\n", b"\r\nRelay-Mcp-Version: 2025-11-25\r\n", 1)
    with serve(home, lambda _: answer) as daemon:
        _forward(home, PING, PING)
    first, second = [_post_of(request)[0] for request in daemon.requests]
    assert "mcp-protocol-version" not in first
    assert second["mcp-protocol-version"] == "2025-11-25"


def test_what_wants_no_answer_gets_none(tmp_path: Path) -> None:
    """A notification is accepted without a body, and nothing is printed for it."""
    home = _home(tmp_path / "h")
    with serve(home, lambda _: b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"):
        assert _forward(home, TOLD) == []


def test_an_answer_is_one_line(tmp_path: Path) -> None:
    """Line ends in an answer would be the ends of messages."""
    home = _home(tmp_path / "h")
    body = b'{\n "jsonrpc": "2.0",\n "id": 7\n}'
    with serve(home, lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)):
        assert _forward(home, PING) == [{"jsonrpc": "2.0", "id": 7}]


@pytest.mark.parametrize("line", [PING, b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}'])
def test_without_a_daemon_a_request_is_answered_with_what_to_do(tmp_path: Path, line: bytes) -> None:
    """Nobody waits for an answer that cannot come; the error names the variable that forbids a start."""
    (answer,) = _forward(_home(tmp_path / "h"), line, TOLD)
    assert answer["id"] == json.loads(line)["id"]
    assert "RELAY_AUTOSTART" in answer["error"]["message"]


def test_a_line_that_is_no_message_is_answered_as_one_without_id(tmp_path: Path) -> None:
    """As JSON-RPC has it where an id cannot be told."""
    (answer,) = _forward(_home(tmp_path / "h"), b"{nonsense")
    assert answer["id"] is None
    assert "error" in answer


def test_a_problem_of_the_daemon_becomes_an_error_of_the_request(tmp_path: Path) -> None:
    """Its sentence and the hint arrive, under the id that waits."""
    home = _home(tmp_path / "h")
    problem = {"code": "internal", "title": "Internal", "detail": "something went wrong"}
    with serve(home, lambda _: http(500, problem)):
        (answer,) = _forward(home, PING)
    assert answer["id"] == 7
    assert "something went wrong; `relayctl daemon logs`" in answer["error"]["message"]


def test_an_error_without_the_id_gets_it(tmp_path: Path) -> None:
    """The SDK answers some requests without saying to what; the client would wait for ever."""
    home = _home(tmp_path / "h")
    fault = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "not so"}}
    with serve(home, lambda _: http(400, fault)):
        (answer,) = _forward(home, PING)
    assert answer == {**fault, "id": 7}


def test_a_daemon_that_left_is_asked_again(tmp_path: Path) -> None:
    """A connection that ends before the answer is no answer: the message goes to the next daemon."""
    home, asked = _home(tmp_path / "h"), []

    def once_gone(request: bytes) -> bytes | None:
        asked.append(request)
        return None if len(asked) == 1 else http(200, {"jsonrpc": "2.0", "id": 7})

    with serve(home, once_gone):
        assert _forward(home, PING) == [{"jsonrpc": "2.0", "id": 7}]


def test_another_homes_daemon_gets_no_message_after_a_refusal(tmp_path: Path) -> None:
    """What a daemon of another home refuses is told, and not said again."""
    home = _home(tmp_path / "h")
    with serve(home, lambda _: http(421, {"code": "other_home", "detail": "this is another home"})) as daemon:
        (answer,) = _forward(home, PING)
    assert "another home" in answer["error"]["message"]
    assert len(daemon.requests) == 1


def test_a_message_without_end_is_refused(tmp_path: Path) -> None:
    """More than the daemon takes is not sent to it."""
    home = _home(tmp_path / "h")
    long = b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"%b"}}' % (b"x" * (1 << 20))
    with serve(home, lambda _: http(200, {"jsonrpc": "2.0", "id": 7})) as daemon:
        refused, answer = _forward(home, long, PING)
    assert (refused["id"], "too large" in refused["error"]["message"], answer["id"]) == (3, True, 7)
    assert len(daemon.requests) == 1


def test_an_unread_output_ends_it_quietly(tmp_path: Path) -> None:
    """An agent that is gone reads no more; that is no failure."""
    home = _home(tmp_path / "h")
    with serve(home, lambda _: http(200, {"jsonrpc": "2.0", "id": 7})):
        process = subprocess.Popen(
            [sys.executable, "-m", "relayctl", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**stage.CLEAN, "RELAY_HOME": str(home), "RELAY_AUTOSTART": "0"},
        )
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, told = process.communicate(PING + b"\n", timeout=30)
    assert (process.returncode, told) == (0, b"")


def test_the_launcher_forwards_for_its_own_home(tmp_path: Path) -> None:
    """Whatever the agent's environment says, the path that it was told decides; an interpreter that is gone is told."""
    with stage.home() as home, stage.daemon(home):
        launcher = home / "bin/relay-mcp"
        env = {**stage.CLEAN, "RELAY_HOME": str(tmp_path / "elsewhere"), "RELAY_AUTOSTART": "0"}
        run: Callable[[], Any] = lambda: subprocess.run(  # noqa: E731
            [str(launcher), "--lane", "grok"],
            input=PING,
            capture_output=True,
            env=env,
            timeout=60,
            check=False,
        )
        done = run()
        assert (done.returncode, done.stderr, json.loads(done.stdout)["id"]) == (0, b"", 7)
        launcher.write_bytes(launcher.read_bytes().replace(os.fsencode(sys.executable), b"/nowhere/python"))
        done = run()
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"relay-mcp: the Python" in done.stderr


@pytest.mark.parametrize(
    ("words", "lane", "plain"),
    [
        ([], None, True),
        (["--lane", "grok"], "grok", True),
        (["--lane", "other"], None, False),
        (["--lane"], None, False),
        (["--help"], None, False),
    ],
)
def test_only_a_plain_command_line_takes_the_short_way(
    words: list[str], lane: str | None, plain: bool
) -> None:
    """Everything else is read, or refused, as any command's."""
    assert (lane_of(words), is_plain(words)) == (lane, plain)
