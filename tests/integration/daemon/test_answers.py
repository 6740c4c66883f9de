"""What a running daemon answers when a request is wrong, large or unlucky."""

import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio
import httpx
import msgspec
import pytest
from starlette.responses import StreamingResponse
from starlette.routing import Route

from relay_queue.errors import QueueBusy
from relayd.api.app import App, all_routes
from relayd.api.body import FILE_BYTES, SMALL_BYTES, read_body, read_json
from relayd.api.response import Json
from relayd.config import Config
from relayd.events import Bus
from relayd.home import Home
from relayd.log import open_log


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """What the test's route takes."""

    count: int
    mode: str = "auto"


async def order(request):
    return Json(msgspec.to_builtins(await read_json(request, Order)))


async def small(request):
    return Json(len(await read_body(request, 100)))


async def faulty(request):
    raise KeyError(request.query_params["secret"])


async def busy(_):
    raise QueueBusy("/q")


async def torn(_):
    async def lines():
        yield b"{}\n"
        raise KeyError("hunter2")

    return StreamingResponse(lines())


ROUTES = [
    Route("/order", order, methods=["POST"]),
    Route("/small", small, methods=["POST"]),
    Route("/faulty", faulty),
    Route("/busy", busy),
    Route("/torn", torn),
]


@asynccontextmanager
async def serving(path):
    """The boundary around routes of the test's own."""
    home = Home(path)
    home.logs.mkdir()
    log = open_log(Config().log, home, {})
    yield App(SimpleNamespace(home=home, log=log, bus=Bus(), stopping=anyio.Event()), ROUTES)


@asynccontextmanager
async def asking(path):
    """A client of that."""
    async with (
        serving(path) as app,
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://relayd") as http,
    ):
        yield http


def logged(path):
    return (path / "logs" / "relayd.log").read_text()


async def test_a_fault_of_ours_is_told_without_its_text(tmp_path):
    """An unknown exception answers 500 `internal`; the log has its traceback, neither has what it quotes."""
    async with asking(tmp_path) as http:
        answer = await http.get("/faulty?secret=hunter2")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "hunter2" not in answer.text
    line = json.loads(logged(tmp_path))
    assert (line["event"], line["level"], line["path"]) == ("request_failed", "error", "/faulty")
    assert "test_answers.py" in line["fault"]
    assert "hunter2" not in logged(tmp_path)


async def test_an_error_of_ours_keeps_its_code(tmp_path):
    """What the outbox refuses reaches the client by its code, and is no fault in the log."""
    async with asking(tmp_path) as http:
        answer = await http.get("/busy")
    assert (answer.status_code, answer.json()["code"]) == (503, "queue_busy")
    assert answer.headers["content-type"] == "application/problem+json"
    assert not (tmp_path / "logs" / "relayd.log").exists()


async def test_a_torn_stream_ends_short(tmp_path):
    """An error in a stream that has begun cannot be answered: the stream stays without its end, and the log says so."""
    sent = []

    async def send(message):
        sent.append(message)

    async with serving(tmp_path) as app:
        scope = {"type": "http", "method": "GET", "path": "/torn", "query_string": b"", "headers": []}
        await app(scope, anyio.sleep_forever, send)
    assert [message.get("more_body") for message in sent] == [None, True]
    assert [json.loads(line)["event"] for line in logged(tmp_path).splitlines()] == [
        "request_failed",
        "answer_cut_short",
    ]
    assert "hunter2" not in logged(tmp_path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"count": "hunter2"}', "Expected `int`, got `str` - at `$.count`"),
        (b'{"mode": "auto"}', "missing required field `count`"),
        (b'{"count": 1, "hunter2": 2}', "has a member that this route does not know"),
        (b"[1]", "Expected `object`, got `array`"),
        (b'{"count": 1', "must be JSON text"),
        (b"", "must be JSON text"),
        (b'{"count": 1, "mode": "\xff"}', "must be JSON text"),
    ],
)
async def test_a_wrong_body_is_named_but_not_repeated(tmp_path, body, said):
    """A body of another shape is refused by what must hold; its values and unknown keys are not in the answer."""
    async with asking(tmp_path) as http:
        answer = await http.post("/order", content=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_refused")
    assert said in answer.json()["detail"]
    assert "hunter2" not in answer.text


async def test_a_body_is_read_within_its_limit(tmp_path):
    """A body of exactly the limit passes; one more byte is refused, with its length announced or not."""

    async def chunks(count):
        for _ in range(count):
            yield b"x"

    async with asking(tmp_path) as http:
        assert (await http.post("/small", content=b"x" * 100)).json() == 100
        assert (await http.post("/small", content=chunks(100))).json() == 100
        for content in (b"x" * 101, chunks(101)):
            answer = await http.post("/small", content=content)
            assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")


def test_unknown_paths_and_methods_are_problems(start, home):
    """404 and 405 are problems too, and 405 names what is allowed; the connection goes on."""
    daemon = start(home)
    with daemon.client() as client:
        lost = client.ask("GET", "/v1/nothing")
        wrong = client.ask("DELETE", "/v1/health")
        several = client.ask("PUT", "/v1/queues")
        head = client.send("HEAD", "/v1/health")
        assert head is None
    assert (lost.status, lost.json()["code"]) == (404, "not_found")
    assert (wrong.status, wrong.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in wrong.headers["allow"]
    assert {"GET", "PATCH", "POST"} <= set(several.headers["allow"].split(", "))
    assert lost.headers["content-type"] == wrong.headers["content-type"] == "application/problem+json"


def test_bodies_over_the_limit_are_refused_and_the_connection_lives(start, home):
    """Routes that take parameters read little, the one that takes a file reads all of it; none falls over."""
    daemon = start(home)
    with daemon.client() as client:
        for method, path, limit in (
            ("POST", "/v1/queues", SMALL_BYTES),
            ("POST", "/v1/queues/enqueue", FILE_BYTES),
            ("POST", "/v1/events", FILE_BYTES),
        ):
            answer = client.ask(method, path, b" " * (limit + 1))
            assert (answer.status, answer.json()["code"]) == (413, "payload_too_large"), path
        answer = client.ask("POST", "/v1/queues/enqueue", b" " * (32 * 1024 * 1024 + 1))
        assert (answer.status, answer.json()["code"]) == (400, "input_refused")
        assert client.ask("GET", "/v1/health").json()["ready"]


def test_an_announced_length_over_the_limit_is_refused_at_once(start, home):
    """A client that announces too much is told before it has sent any of it."""
    daemon = start(home)
    with daemon.client() as client:
        client.send("POST", "/v1/queues/enqueue", length=FILE_BYTES + 1)
        assert client.read().status == 413


def test_a_client_that_goes_away_harms_nobody(start, home):
    """A client that hangs up in the middle of its request is forgotten, without a line in the log."""
    daemon = start(home)
    for _ in range(20):
        with daemon.client() as client:
            client.send("POST", "/v1/queues/enqueue", b"[", length=1000)
    assert daemon.health()["ready"]
    daemon.signal()
    assert daemon.ended() == (0, "")
    events = [json.loads(line)["event"] for line in (home / "logs" / "relayd.log").read_bytes().splitlines()]
    assert events == ["daemon_ready", "stop_requested", "daemon_stopped"]


def test_every_route_is_in_its_place():
    """No two routes answer to the same method and path, and all live below the prefixes that clients know."""
    seen = [(method, route.path) for route in all_routes() for method in route.methods]
    assert len(seen) == len(set(seen))
    assert {path.split("/")[1] for _, path in seen} == {"v1", "hook"}
