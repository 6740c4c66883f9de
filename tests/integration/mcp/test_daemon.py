"""A real daemon: through the real forwarder with the SDK's own client, beside hooks, and on its way out."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from relayd.mcp.tools import INSTRUCTIONS, TOOLS
from tests import stage
from tests.integration.mcp.talking import MODERN, enveloped
from tests.unit.projects.layouts import repository
from tests.waiting import eventually

# 44 MiB before; a model of the whole protocol is what takes the rest
_MOST_KIB = 95 * 1024


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A linked repository."""
    with stage.home() as path:
        yield repository(path / "shop")


@pytest.fixture(scope="module")
def daemon(place: Path) -> Iterator[stage.Daemon]:
    """A daemon to which that belongs."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as running:
            body = json.dumps({"directory": str(place), "project": "shop"}).encode()
            assert running.call("POST", "/v1/links", body)[0] in {200, 201}
            yield running


def forwarder(daemon: stage.Daemon, place: Path) -> StdioServerParameters:
    """How an agent CLI starts its server."""
    env = {"RELAY_HOME": str(daemon.home), "PATH": os.environ["PATH"]}
    words = ["-m", "relayctl", "mcp", "--lane", "codex"]
    return StdioServerParameters(command=sys.executable, args=words, env=env, cwd=str(place))


def ask(daemon: stage.Daemon, method: str, headers: str = "", **params: Any) -> tuple[int, Any]:
    """One request over the socket, as a forwarder of nothing but bytes sends it."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return daemon.call("POST", "/mcp", json.dumps(message).encode(), headers)


def resident_kib(daemon: stage.Daemon) -> int:
    """Memory of the daemon's process."""
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def loaded(daemon: stage.Daemon) -> bool:
    """Tell whether the SDK is in the daemon's process, by a library that only it needs."""
    return "pydantic_core" in Path(f"/proc/{daemon.process.pid}/maps").read_text()


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    return "".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
async def test_the_client_of_the_sdk_talks_through_the_forwarder(daemon, place, mode):
    """It shakes hands or does not, lists the tools, and records and recalls; data is checked against the schemas."""
    async with Client(forwarder(daemon, place), mode=mode) as client:
        if mode != MODERN:  # which asks for nothing that it does not need
            assert client.instructions == INSTRUCTIONS
            assert client.server_info.name == "relay"
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == list(TOOLS)
        made = await client.call_tool("relay_decide", {"text": f"We talk in mode {mode}."})
        assert made.structured_content["project"] == "shop"
        assert (made.structured_content["author"], made.structured_content["source"]) == ("codex", "codex")
        found = await client.call_tool("relay_recall", {"query": f"talk in mode {mode}"})
        assert f"We talk in mode {mode}." in text_of(found)
        wrong = await client.call_tool("relay_recall", {"query": "x", "project": "nope"})
        assert wrong.is_error
        assert "No project has this name" in text_of(wrong)


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_both_forms_of_the_protocol_work_over_the_socket(daemon, modern):
    """Bytes and nothing else: no header but the length."""
    params = {"name": "relay_recall", "arguments": {"query": "mode", "project": "shop"}}
    status, told = ask(daemon, "tools/call", **(enveloped(params) if modern else params))
    assert (status, told["result"]["structuredContent"]["project"]) == (200, "shop")
    assert ("resultType" in told["result"]) == modern


def test_twenty_clients_at_once_are_answered(daemon):
    """Each on a connection of its own."""

    def one(number: int) -> str:
        arguments = {"text": f"Client {number} was here.", "project": "shop"}
        told = ask(daemon, "tools/call", name="relay_decide", arguments=arguments)[1]
        return told["result"]["structuredContent"]["begins"]

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(one, range(20))) == [f"Client {number} was here." for number in range(20)]


def test_the_log_tells_nothing_of_what_clients_send(daemon):
    """Calls, refusals and messages that are none leave no line; nor does the SDK."""
    log = daemon.home / "logs/relayd.log"
    before = log.read_text()
    for body in (
        b"{",
        b"[]",
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    ):
        daemon.call("POST", "/mcp", body)
    for name, arguments in (
        ("nope", {}),
        ("relay_recall", {"hunter2": 1}),
        ("relay_recall", {"query": ["hunter2"]}),
    ):
        for form in (dict, enveloped):
            ask(daemon, "tools/call", **form({"name": name, "arguments": arguments}))
    ask(daemon, "tools/call", name="relay_recall", arguments="hunter2")
    ask(daemon, "initialize", protocolVersion=5)
    assert log.read_text() == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded_and_nothing_is_imported_before_it_is_needed():
    """A daemon that serves no MCP has none of it; one that does stays within its bound, also after many calls."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as daemon:
            assert daemon.call("GET", "/v1/status")[0] == 200
            assert daemon.call("GET", "/mcp")[0] == 405
            assert daemon.call("POST", "/mcp", b"[]")[1]["error"]["code"] == -32600
            assert not loaded(daemon)
            assert daemon.call("POST", "/v1/projects", b'{"slug": "shop"}')[0] == 201
            for number in range(60):
                arguments = {"text": f"We use tool {number} for this and that.", "project": "shop"}
                assert ask(daemon, "tools/call", name="relay_decide", arguments=arguments)[0] == 200
                assert ask(daemon, "tools/call", name="relay_brief", arguments={"project": "shop"})[0] == 200
            assert loaded(daemon)
            assert resident_kib(daemon) < _MOST_KIB


def test_others_are_answered_while_the_sdk_is_imported():
    """Whoever asks for something else during the first request is not behind it."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as daemon:
            first: list[int] = []
            asking = threading.Thread(target=lambda: first.append(ask(daemon, "ping")[0]))
            asking.start()
            answered = 0
            while asking.is_alive():
                assert daemon.call("GET", "/v1/health")[0] == 200
                answered += not first
            asking.join()
            assert first == [200]
            assert answered > 5  # of about a hundred


@pytest.mark.parametrize("warm", [False, True], ids=["during the import", "afterwards"])
def test_a_daemon_that_is_told_to_stop_during_calls_answers_them(warm):
    """It leaves with status 0, and whoever is answered, is with a whole message or the code of one that stops."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as daemon:
            daemon.call("POST", "/v1/projects", b'{"slug": "shop"}')
            if warm:
                ask(daemon, "ping")
            answers: list[tuple[int, Any]] = []
            sent = threading.Event()

            def one(number: int) -> None:
                arguments = {"text": f"Number {number}.", "project": "shop"}
                sent.set()
                try:
                    answers.append(ask(daemon, "tools/call", name="relay_decide", arguments=arguments))
                except OSError:
                    return  # it came too late for this daemon

            with ThreadPoolExecutor(8) as pool:
                for number in range(24):
                    pool.submit(one, number)
                sent.wait()
                eventually(lambda: daemon.process.poll() is not None or answers or not warm)
                assert daemon.stop() == 0
            for status, told in answers:
                assert status == 200 or told["code"] == "stopping"
            assert "fault" not in (home / "logs/relayd.log").read_text()
