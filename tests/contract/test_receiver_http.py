"""The receiver's routes on a real socket."""

import asyncio
import json
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import structlog

from relayd.api import feed as feed_routes
from relayd.api import receiver
from relayd.api.app import App
from relayd.feed import Feed
from relayd.home import Home
from relayd.listen import bind
from relayd.memory.gate import Gate
from relayd.receiver import Receiver
from relayd.server import Server
from relayd.store import open_store

LIMIT_S = 20
BATCH = b'[{"url":"x?event=stop&ingest_key=k","body":{"session_id":"s"}}]'


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


async def ask(home, method, target, body=b"", *, length=None, kind="application/json"):
    """One request on a connection of its own."""
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_unix_connection(str(home.socket))
        lines = [
            f"{method} {target} HTTP/1.1",
            "host: relayd",
            f"content-length: {len(body) if length is None else length}",
        ]
        if kind is not None:
            lines.append(f"content-type: {kind}")
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        answer = Answer(
            int(first.split()[1]), headers, await reader.readexactly(int(headers["content-length"]))
        )
        writer.close()
        await writer.wait_closed()
    return answer


@asynccontextmanager
async def serving(home):
    async with open_store(home) as store:
        services = SimpleNamespace(
            store=store,
            receiver=Receiver(store),
            feed=Feed(store, Gate(home.secret_patterns)),
            log=structlog.get_logger(),
        )
        listener = bind(home)
        server = Server(App(services, [*receiver.routes, *feed_routes.routes]), listener)
        await server.start()
        try:
            yield home
        finally:
            await server.refuse()
            await server.close()
            listener.close()


@pytest.fixture
async def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with serving(Home(tmp_path)) as home:
        yield home


async def test_a_batch_is_answered_with_an_ack(home):
    """200, JSON, its length announced."""
    answer = await ask(home, "POST", "/hook/batch", BATCH)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert json.loads(answer.body) == {"accepted": 1, "results": [{"index": 0, "outcome": "stored"}]}


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"]
)
async def test_every_content_type_of_json_is_taken(home, kind):
    """Case, parameters and vendor types do not matter."""
    assert (await ask(home, "POST", "/hook/batch", BATCH, kind=kind)).status == 200


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/jsonx", "text/json", "application/x-www-form-urlencoded"]
)
@pytest.mark.parametrize("target", ["/hook/batch", "/hook?event=stop"])
async def test_other_content_types_are_refused(home, kind, target):
    """A body that does not say it is JSON is 415, whatever it holds."""
    answer = await ask(home, "POST", target, BATCH, kind=kind)
    assert (answer.status, answer.headers["content-type"]) == (415, "application/problem+json")
    assert json.loads(answer.body)["code"] == "media_type_refused"
    assert json.loads((await ask(home, "GET", "/v1/feed")).body)["events"] == []


@pytest.mark.parametrize(("body", "status"), [(b"[", 400), (b"{}", 422)])
async def test_a_refused_batch_is_answered_with_a_problem(home, body, status):
    """Bad JSON and wrong types are told apart by status, in the daemon's form of errors."""
    answer = await ask(home, "POST", "/hook/batch", body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert json.loads(answer.body)["status"] == status


async def test_too_many_items_are_answered_with_an_empty_ack(home):
    """413 with a JSON ack that acknowledges nothing."""
    answer = await ask(home, "POST", "/hook/batch", b"[" + b",".join([b'{"url":""}'] * 257) + b"]")
    assert (answer.status, answer.headers["content-type"]) == (413, "application/json")
    assert json.loads(answer.body) == {"accepted": 0, "results": []}


async def test_too_many_bytes_are_answered_plainly(home):
    """413 in plain text, before the body is read; the largest body that fits is read."""
    answer = await ask(home, "POST", "/hook/batch", length=10 * 1024 * 1024 + 1)
    assert (answer.status, answer.headers["content-type"]) == (413, "text/plain; charset=utf-8")
    full = b"[" + b" " * (10 * 1024 * 1024 - 2) + b"]"
    assert (await ask(home, "POST", "/hook/batch", full)).status == 200


async def test_a_single_hook_is_answered_with_202(home):
    """The parameters of POST /hook are its own query."""
    answer = await ask(home, "POST", "/hook?event=stop&project=p%2Bq&ingest_key=k", b'{"session_id":"s"}')
    assert (answer.status, answer.body) == (202, b'{"outcome":"stored"}')
    assert (await ask(home, "POST", "/hook?event=stop", b"[")).status == 400
    (event,) = json.loads((await ask(home, "GET", "/v1/feed")).body)["events"]
    assert (event["event"], event["project"]) == ("stop", "p+q")


async def test_the_feed_is_read_page_by_page(home):
    """`since` and `limit` come from the query, and an event has all its fields."""
    items = [{"url": f"x?event=stop&ingest_key={n}", "body": {"session_id": "s"}} for n in range(3)]
    await ask(home, "POST", "/hook/batch", json.dumps(items).encode())
    page = json.loads((await ask(home, "GET", "/v1/feed?since=0&limit=2")).body)
    assert [event["id"] for event in page["events"]] == [1, 2]
    assert page["next"] == 2
    assert list(page["events"][0]) == [
        "id", "at", "kind", "actor", "producer", "agent", "session_id", "workspace", "project", "event", "excerpt", "ref",
        "data", "subscription", "lane", "model", "tokens_in", "tokens_out", "cost_micros",
    ]  # fmt: skip
    assert [
        event["id"] for event in json.loads((await ask(home, "GET", "/v1/feed?since=2")).body)["events"]
    ] == [3]


@pytest.mark.parametrize(
    "query",
    [
        "since=-1",
        "since=x",
        "since=",
        "since=1.0",
        "since=%D9%A1",
        "limit=0",
        "limit=1001",
        "since=" + "9" * 40,
    ],
)
async def test_a_bad_page_is_refused(home, query):
    """A cursor or limit that is no number within bounds is 400, named and not repeated."""
    answer = await ask(home, "GET", f"/v1/feed?{query}")
    problem = json.loads(answer.body)
    assert (answer.status, problem["code"]) == (400, "parameter_refused")
    assert problem["detail"].startswith(query.partition("=")[0])
