"""The routes of queues, held heads, events and credentials over a running delivery."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from relay_queue.limits import RETRY_WINDOW_MS, Limits
from relayd.api.app import App, all_routes
from relayd.events import EventsStored, HeadReleased
from relayd.testing import ScriptedServer, Step, scripted_server
from tests.house import Clock, House, event, house, services_of, spread


class Client:
    """Asks the application; answers are status and decoded JSON."""

    def __init__(self, http: httpx.AsyncClient, home: House) -> None:
        """Take the way to the application and what runs behind it."""
        self.http = http
        self.home = home

    async def ask(self, method: str, target: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Send one request."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = await self.http.request(method, target, content=content, headers=headers)
        if answer.headers["content-type"] == "application/x-ndjson":
            return answer.status_code, [json.loads(line) for line in answer.text.splitlines()]
        assert int(answer.headers["content-length"]) == len(answer.content)
        return answer.status_code, answer.json()


@asynccontextmanager
async def asking(path: Path, **how: Any) -> AsyncGenerator[Client]:
    """The application of a daemon in this process."""
    async with house(path, **how) as home:
        transport = httpx.ASGITransport(App(services_of(home), all_routes()))
        async with httpx.AsyncClient(transport=transport, base_url="http://relayd") as http:
            yield Client(http, home)


def binding(server: ScriptedServer, directory: Path, **more: str) -> dict[str, str]:
    """A request to bind a directory to a server."""
    scope = {"producer": "p", "actor": "a", "workspace": "w", "project": "x"}
    return {"queue_dir": str(directory), "server_url": server.url + "/", **scope, **more}


async def test_binds_lists_and_changes_who_delivers(tmp_path: Path) -> None:
    """A new queue answers 201, the same again 200, another binding 409 with what differs."""
    async with asking(tmp_path) as client, scripted_server() as server:
        directory = tmp_path / "q"
        order = binding(server, directory, mode="manual")
        status, made = await client.ask("POST", "/v1/queues", order)
        assert (status, made["created"], made["server_url"], made["mode"]) == (
            201,
            True,
            server.url,
            "manual",
        )
        assert made["queue"] == str(directory / "queue.db")
        status, again = await client.ask("POST", "/v1/queues", {**order, "mode": None})
        assert (status, again) == (200, {**made, "created": False})
        status, refused = await client.ask("POST", "/v1/queues", {**order, "project": "y"})
        assert (status, refused["code"]) == (409, "binding_mismatch")
        assert "binding mismatch" in refused["detail"]
        status, changed = await client.ask(
            "PATCH", "/v1/queues", {"queue_dir": str(directory), "mode": "auto"}
        )
        assert (status, changed["mode"]) == (200, "auto")
        status, listed = await client.ask("GET", "/v1/queues")
        (row,) = listed["queues"]
        assert (row["queue_dir"], row["name"], row["mode"], row["problem"]) == (
            str(directory),
            None,
            "auto",
            None,
        )
        assert (row["state"], row["pending_items"], row["held_sessions"]) == ("open", 0, 0)


async def test_a_binding_is_checked_before_anything_is_made(tmp_path: Path) -> None:
    """A bad field, an unknown member and a relative directory are refused, and nothing is on disk."""
    async with asking(tmp_path) as client, scripted_server() as server:
        good = binding(server, tmp_path / "q")
        for bad, code in (
            ({**good, "actor": "a b"}, "binding_refused"),
            ({**good, "server_url": "ftp://h"}, "binding_refused"),
            ({**good, "s3cret": "x"}, "parameter_refused"),
            ({**good, "queue_dir": "q"}, "parameter_refused"),
            ({**good, "queue_dir": f"{tmp_path}/a/../q"}, "directory_refused"),
        ):
            status, refused = await client.ask("POST", "/v1/queues", bad)
            assert (status, refused["code"]) == (400, code)
            assert "s3cret" not in json.dumps(refused)
        assert not (tmp_path / "q").exists()


async def test_a_file_is_stored_and_recognized(tmp_path: Path) -> None:
    """The answer counts what was stored and what was known, and the same file again stores nothing."""
    async with asking(tmp_path) as client, scripted_server() as server:
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory, mode="manual"))
        file = spread(1000, 7)
        target = f"/v1/queues/enqueue?queue_dir={directory}"
        status, first = await client.ask("POST", target, file)
        assert status == 200
        assert (first["stored"], first["recognized"], first["pending_sessions"]) == (1000, 0, 7)
        _, second = await client.ask("POST", target, file)
        assert (second["stored"], second["recognized"], second["pending_items"]) == (0, 1000, 1000)
        assert (await client.home.until(EventsStored)).stored == 1000


async def test_all_problems_of_a_file_are_told_with_their_index(tmp_path: Path) -> None:
    """Problems beyond the first slice count too; nothing is stored and no value is repeated."""
    async with asking(tmp_path) as client:
        file = spread(600, 3)
        file[2]["body"]["session_id"] = 1
        file[599]["s3cret"] = "x"
        status, refused = await client.ask("POST", "/v1/queues/enqueue", file)
        assert (status, refused["code"], refused["total"]) == (400, "input_refused", 2)
        assert [problem["index"] for problem in refused["problems"]] == [2, 599]
        assert "s3cret" not in json.dumps(refused)
        _, found = await client.ask("GET", "/v1/status")
        assert found["pending_items"] == 0


async def test_an_input_over_32_mib_is_refused(tmp_path: Path) -> None:
    """The limit of a file is told by its own name; much more than that is not even read."""
    async with asking(tmp_path) as client:
        target = "/v1/queues/enqueue"
        status, refused = await client.ask("POST", target, b"[" + b" " * (32 * 1024 * 1024) + b"]")
        assert (status, refused["code"]) == (400, "input_refused")
        status, refused = await client.ask("POST", target, b" " * (33 * 1024 * 1024))
        assert (status, refused["code"]) == (413, "payload_too_large")


async def test_a_large_file_leaves_the_loop_to_others(tmp_path: Path) -> None:
    """While 32 MiB are parsed and stored, other requests are answered."""
    async with asking(tmp_path) as client:
        await client.home.queue("local", "default")
        large = [event(number, f"s-{number % 50}", text="x" * 3000) for number in range(10_000)]
        done = anyio.Event()
        answered = 0

        async def enqueue() -> None:
            status, _ = await client.ask("POST", "/v1/queues/enqueue", large)
            assert status == 200
            done.set()

        async with anyio.create_task_group() as group:
            group.start_soon(enqueue)
            while not done.is_set():
                await anyio.lowlevel.checkpoint()
                assert (await client.ask("GET", "/v1/health"))[0] == 200
                answered += 1
        assert answered > 40  # as many as there are slices, at the least


async def test_a_full_table_forgets_what_is_past_its_window_first(tmp_path: Path) -> None:
    """Receipts and pins that protect nothing refuse nobody; those that do refuse new input."""
    clock = Clock()
    async with asking(tmp_path, ticks=clock, limits=Limits(receipts=3, known_sessions=3)) as client:
        for number in range(3):
            await client.ask("POST", "/v1/events", event(number, f"s-{number}"))
        await client.home.drained(client.home.registry.places.default)
        status, refused = await client.ask("POST", "/v1/events", event(3, "s-3"))
        assert (status, refused["code"]) == (507, "session_table_full")
        status, refused = await client.ask("POST", "/v1/events", event(3, "s-1"))
        assert (status, refused["code"]) == (507, "replay_protection_full")
        clock.now_ms += RETRY_WINDOW_MS + 1
        assert (await client.ask("POST", "/v1/events", event(3, "s-3")))[1]["stored"] == 1


async def test_events_come_one_by_one_or_in_an_array(tmp_path: Path) -> None:
    """An envelope and an array of them go to the queue that is named, else to the default one."""
    async with asking(tmp_path) as client:
        assert (await client.ask("POST", "/v1/events", event(1)))[1]["stored"] == 1
        assert (await client.ask("POST", "/v1/events", [event(1), event(2)]))[1]["recognized"] == 1
        big = event(3, text="x" * 100_000)
        assert (await client.ask("POST", "/v1/events?queue=default", big))[1]["stored"] == 1
        assert (await client.ask("POST", "/v1/events", [event(4), {**big, "event_id": "e-5"}]))[1][
            "stored"
        ] == 2
        await client.home.drained(client.home.registry.places.default)
        assert len(await client.home.store.feed.newest(limit=10)) == 5
        for name, code in (("no-such", 404), ("..", 404), ("a%2Fb", 404)):
            assert (await client.ask("POST", f"/v1/events?queue={name}", event(9)))[0] == code


async def test_status_creates_nothing(tmp_path: Path) -> None:
    """The default queue shows zeros before its first use; another directory that is no queue is an error."""
    async with asking(tmp_path) as client:
        status, found = await client.ask("GET", "/v1/status")
        assert (status, found["pending_items"], found["server_url"]) == (200, 0, "local")
        assert list(found) == sorted(found)
        assert set(found["daemon"]) == {"pid", "version"}
        assert not client.home.registry.places.default.exists()
        status, refused = await client.ask("GET", f"/v1/status?queue_dir={tmp_path}/none")
        assert (status, refused["code"]) == (404, "not_a_queue")
        assert not (tmp_path / "none").exists()


async def test_a_flush_streams_progress_and_a_summary(tmp_path: Path) -> None:
    """Lines of JSON, the last one the summary, with the token for this flush only."""
    async with asking(tmp_path) as client, scripted_server() as server:
        server.token = "t-1"
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory, mode="manual"))
        await client.ask("POST", f"/v1/queues/enqueue?queue_dir={directory}", [event(n) for n in range(3)])
        target = f"/v1/queues/flush?queue_dir={directory}"
        status, lines = await client.ask("POST", f"{target}&max_batches=0", Authorization="bearer t-1")
        assert (status, lines[0]["kind"], lines[-1]["kind"]) == (200, "progress", "summary")
        assert (lines[-1]["batches"], lines[-1]["exit_code"]) == (1, 3)
        _, lines = await client.ask("POST", f"{target}&all=true", Authorization="Bearer t-1")
        assert (lines[-1]["exit_code"], lines[-1]["error"], lines[-1]["pending_items"]) == (0, None, 0)
        assert set(lines[-1]) == {
            "kind",
            "acknowledged",
            "batches",
            "pending_items",
            "pending_sessions",
            "acknowledged_outcomes",
            "rate_limited",
            "deferred_sessions",
            "expired_sessions",
            "error",
            "exit_code",
            "ack_means",
        }


@pytest.mark.parametrize(
    ("query", "headers", "code"),
    [
        ("max_batches=-1", {}, "parameter_refused"),
        ("max_batches=x", {}, "parameter_refused"),
        ("max_batches=9999999999999999999", {}, "parameter_refused"),
        ("queue_dir=q", {}, "parameter_refused"),
        ("queue_dir=/no/such", {}, "not_a_queue"),
        ("", {"Authorization": "Basic s3cret"}, "parameter_refused"),
        ("", {"Authorization": b"Bearer s3c\x85ret".decode("latin-1")}, "parameter_refused"),
    ],
)
async def test_a_flush_that_cannot_begin_is_refused_with_a_status(
    tmp_path: Path, query: str, headers: dict[str, str], code: str
) -> None:
    """What is wrong before the first request is an error answer, not a stream."""
    async with asking(tmp_path) as client:
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = await client.http.post(f"/v1/queues/flush?{query}", headers=raw)
        assert answer.status_code in (400, 404)
        assert answer.json()["code"] == code
        assert "s3c" not in answer.text


async def test_held_heads_are_listed_shown_released_and_given_up(tmp_path: Path) -> None:
    """What is held has a reason; an export is the envelope; a retry goes out, a discard is remembered."""
    async with asking(tmp_path) as client, scripted_server() as server:
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory, mode="manual"))
        at = f"queue_dir={directory}"
        file = [event(0, "a", deep={"n": [1.50]}), event(1, "b"), event(2, "c")]
        await client.ask("POST", f"/v1/queues/enqueue?{at}", file)
        server.script(Step(fail_at=0), Step(fail_at=0), Step(fail_at=0))
        await client.ask("POST", f"/v1/queues/flush?{at}")
        status, shown = await client.ask("GET", f"/v1/queues/held?{at}&limit=2")
        assert (status, shown["total"], len(shown["held"])) == (200, 3, 2)
        head = shown["held"][0]
        assert (head["session_id"], head["reason"], head["last_error"]) == ("a", "failed", "failed_index")
        _, rest = await client.ask("GET", f"/v1/queues/held?{at}&after={shown['held'][1]['seq']}")
        assert [one["session_id"] for one in rest["held"]] == ["c"]
        _, envelope = await client.ask("GET", f"/v1/queues/held/{head['ingest_key'][:12]}?{at}")
        assert envelope == file[0]
        keys = {"keys": [head["ingest_key"]]}
        retried = {"retried": 1, "expired_items": 0}
        assert await client.ask("POST", f"/v1/queues/held/retry?{at}", keys) == (200, retried)
        keys = {"keys": [rest["held"][0]["ingest_key"]]}
        assert await client.ask("POST", f"/v1/queues/held/discard?{at}", keys) == (200, {"discarded": 1})
        assert await client.ask("POST", f"/v1/queues/held/retry?{at}", {"keys": "all"}) == (200, retried)
        _, lines = await client.ask("POST", f"/v1/queues/flush?{at}")
        assert lines[-1]["acknowledged"] == 2
        _, found = await client.ask("GET", f"/v1/status?{at}")
        assert (found["discarded"], found["pending_items"]) == (1, 0)
        assert (await client.home.until(HeadReleased, lambda one: one.action == "discard")).count == 1


async def test_a_retry_of_all_counts_what_its_window_holds(tmp_path: Path) -> None:
    """Expired heads are left and counted, until the request says that the server may store them twice."""
    clock = Clock()
    async with asking(tmp_path, ticks=clock) as client, scripted_server() as server:
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory, mode="manual"))
        at = f"queue_dir={directory}"
        await client.ask("POST", f"/v1/queues/enqueue?{at}", spread(3, 3))
        server.script(Step(fail_at=0), Step(fail_at=0), Step(fail_at=0))
        await client.ask("POST", f"/v1/queues/flush?{at}")
        clock.now_ms += RETRY_WINDOW_MS
        retry = f"/v1/queues/held/retry?{at}"
        assert await client.ask("POST", retry, {"keys": "all"}) == (200, {"retried": 0, "expired_items": 3})
        both = {"keys": "all", "may_duplicate": True}
        assert await client.ask("POST", retry, both) == (200, {"retried": 3, "expired_items": 0})


async def test_the_list_tells_what_was_delivered_and_what_failed(tmp_path: Path) -> None:
    """As the status of each queue does; a directory that is gone has no numbers."""
    async with asking(tmp_path) as client, scripted_server() as server:
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory, mode="manual"))
        at = f"queue_dir={directory}"
        await client.ask("POST", f"/v1/queues/enqueue?{at}", [event(0, "a"), event(1, "b")])
        await client.ask("POST", f"/v1/queues/flush?{at}")
        await client.ask("POST", f"/v1/queues/enqueue?{at}", [event(2, "b")])
        server.script(Step(status=503))
        await client.ask("POST", f"/v1/queues/flush?{at}&max_batches=1")
        _, status = await client.ask("GET", f"/v1/status?{at}")
        (row,) = (await client.ask("GET", "/v1/queues"))[1]["queues"]
        assert row["delivered_items"] == sum(status["receipt_outcomes"].values()) == 2
        assert row["last_error"] == status["last_error"] == "http 503"
        directory.rename(tmp_path / "aside")
        (row,) = (await client.ask("GET", "/v1/queues"))[1]["queues"]
        assert (row["delivered_items"], row["last_error"], row["problem"] is None) == (None, None, False)


async def test_a_head_being_sent_is_left_alone(tmp_path: Path) -> None:
    """Neither retry nor discard touches an event that a server may be storing now."""
    async with asking(tmp_path) as client, scripted_server() as server:
        answer = anyio.Event()
        server.script(Step(wait=answer))
        directory = tmp_path / "q"
        await client.ask("POST", "/v1/queues", binding(server, directory))
        at = f"queue_dir={directory}"
        await client.ask("POST", f"/v1/queues/enqueue?{at}", [event(1)])
        await server.received(1)
        key = server.requests[0].items[0].parameters["ingest_key"]
        for verb in ("retry", "discard"):
            status, refused = await client.ask("POST", f"/v1/queues/held/{verb}?{at}", {"keys": [key]})
            assert (status, refused["code"]) == (409, "being_sent")
        answer.set()
        await client.home.drained(directory)


async def test_tokens_come_in_and_never_go_out(tmp_path: Path) -> None:
    """A token is kept under the normalised URL, listed by server only, and refused without being repeated."""
    async with asking(tmp_path) as client:
        target = "/v1/credentials"
        order = {"server_url": "HTTPS://H:443/base/", "token": " s3cret "}
        assert await client.ask("PUT", target, order) == (200, {"server_url": "https://h/base"})
        assert client.home.credentials.token("https://h/base") == "s3cret"
        assert await client.ask("GET", target) == (200, {"servers": ["https://h/base"]})
        for bad in (
            {"server_url": "https://h", "token": "s3c\nret"},
            {"server_url": "https://h", "token": " "},
            {"server_url": "s3cret", "token": "t"},
            {"server_url": "local", "token": "s3cret"},
            {"server_url": "https://h", "token": ["s3cret"]},
            {"server_url": "https://h", "token": "t", "s3cret": 1},
        ):
            status, refused = await client.ask("PUT", target, bad)
            assert (status, refused["code"]) == (400, "parameter_refused")
            assert "s3c" not in json.dumps(refused)
        gone = {"server_url": "https://h/base"}
        assert (await client.ask("DELETE", target, gone))[1]["cleared"] is True
        assert (await client.ask("DELETE", target, gone))[1]["cleared"] is False
