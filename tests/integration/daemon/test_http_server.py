"""The server on a real socket: keep-alive, and an end that loses nothing."""

import gc
import os
import socket
import threading
from contextlib import AsyncExitStack, ExitStack, suppress
from functools import partial

import anyio
import anyio.to_thread
import pytest
import uvloop

import relayd.server
from relayd.errors import ListenerRefused
from relayd.home import Home
from relayd.listen import adopt, bind
from relayd.server import Server
from tests.integration.daemon.conftest import Client

LIMIT_S = 20


def on_uvloop(test):
    """Run an async function as the daemon runs: on uvloop, within a limit.

    It is given how to start a server. What a failed test leaves open is closed, else uvloop would wait for it.
    """

    async def limited():
        async with AsyncExitStack() as stack:

            async def serve(site, listener):
                server = Server(site, listener)
                stack.push_async_callback(closed, server)
                await server.start()
                return server

            with anyio.fail_after(LIMIT_S):
                await test(serve)

    anyio.run(limited, backend_options={"loop_factory": uvloop.new_event_loop})


async def closed(server):
    with anyio.CancelScope(shield=True):
        if not server._refusing:
            await server.refuse()
        await server.close()


async def blocking(call, *arguments):
    return await anyio.to_thread.run_sync(partial(call, *arguments))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path)


@pytest.fixture
def connect(home):
    """Open connections to the home's socket; closed afterwards."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Client(home.path))


class Site:
    """An application with a fast route and one that waits until it is told."""

    def __init__(self):
        self.entered = anyio.Event()
        self.go = anyio.Event()
        self.cancelled = False

    async def __call__(self, scope, receive, send):
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        if scope["path"] == "/slow":
            self.entered.set()
            try:
                await self.go.wait()
            except BaseException:
                self.cancelled = True
                raise
        if scope["path"] == "/large":
            body = b"x" * 8_000_000
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def test_a_connection_is_kept(home, connect):
    """Several requests go over one connection, and answers have no Date that would need a timer."""

    async def test(serve):
        server = await serve(Site(), bind(home))
        client = connect()
        for body in (b"one", b"", b"x" * 300_000):
            answer = await blocking(client.ask, "POST", "/", body)
            assert (answer.status, answer.body) == (200, body)
            assert answer.headers == {"content-length": str(len(body))}
        await server.refuse()
        await server.close()
        assert await blocking(client.at_end)

    on_uvloop(test)


@pytest.mark.parametrize("upgrade", ["h2c", "websocket"])
def test_an_offer_of_another_protocol_is_not_heard(home, connect, upgrade):
    """A request that offers to go on otherwise, as `curl --http2` does, keeps its body, and so does the next one."""

    async def test(serve):
        server = await serve(Site(), bind(home))
        client = connect()
        text = b"\r\nUpgrade: of a body is left alone" * 2_000
        for body in (b"", text, b"last"):
            ask = partial(client.ask, Connection="Upgrade", Upgrade=upgrade)
            answer = await blocking(ask, "POST", "/", body)
            assert (answer.status, answer.body) == (200, body)
        await server.refuse()
        await server.close()

    on_uvloop(test)


def test_leaving_takes_no_more_and_finishes_what_began(home, connect):
    """The socket's file goes, an idle connection ends at once, a request under way is answered and then ends."""

    async def test(serve):
        site = Site()
        server = await serve(site, bind(home))
        idle, busy = connect(), connect()
        assert (await blocking(idle.ask, "GET", "/")).status == 200
        busy.send("POST", "/slow", b"work")
        await site.entered.wait()
        await server.refuse()
        assert not home.socket.exists()
        assert await blocking(idle.at_end)
        with pytest.raises(FileNotFoundError):
            connect()
        site.go.set()
        await server.finish()
        await server.close()
        answer = await blocking(busy.read)
        assert (answer.body, answer.headers["connection"]) == (b"work", "close")
        assert await blocking(busy.at_end)
        assert server.cancelled == 0

    on_uvloop(test)


def test_what_was_sent_before_the_end_is_answered(home, connect):
    """Who connected and sent while the loop was away, and who sent on a kept connection, gets an answer."""

    async def test(serve):
        server = await serve(Site(), bind(home))
        kept = connect()
        assert (await blocking(kept.ask, "GET", "/")).status == 200
        late = [connect() for _ in range(20)]  # in the backlog: this thread is the loop's
        for client in (kept, *late):
            client.send("POST", "/", b"late")
        await server.refuse()
        await server.finish()
        await server.close()
        answers = [await blocking(client.read) for client in (kept, *late)]
        assert [answer and answer.body for answer in answers] == [b"late"] * 21

    on_uvloop(test)


def test_a_request_beyond_the_grace_is_cancelled(home, connect):
    """A request that does not end is cancelled, and its connection closed."""

    async def test(serve):
        site = Site()
        server = await serve(site, bind(home))
        client = connect()
        client.send("POST", "/slow")
        await site.entered.wait()
        await server.refuse()
        with anyio.CancelScope() as grace:
            grace.deadline = anyio.current_time()
            await server.finish()
        assert grace.cancelled_caught
        await server.close()
        assert site.cancelled
        assert server.cancelled == 1
        assert (await blocking(client.read)).status == 500

    on_uvloop(test)


def test_a_client_that_does_not_read_is_cut_off(home, connect, monkeypatch):
    """An answer that nobody takes does not keep the daemon."""
    monkeypatch.setattr(relayd.server, "_FLUSH_S", 0.05)

    async def test(serve):
        server = await serve(Site(), bind(home))
        deaf = connect()
        deaf.send("GET", "/large")
        await blocking(deaf.socket.recv, 1)
        await server.refuse()
        await server.finish()
        await server.close()

    on_uvloop(test)


def test_half_a_request_ends_with_the_daemon(home, connect):
    """A connection in the middle of a request line is closed without waiting for the rest."""

    async def test(serve):
        server = await serve(Site(), bind(home))
        client = connect()
        client.more(b"GET / HT")
        await server.refuse()
        await server.finish()
        await server.close()
        assert await blocking(client.at_end)

    on_uvloop(test)


def test_where_the_system_does_not_say_who_listens_a_socket_is_adopted_all_the_same(home, monkeypatch):
    """On macOS the option has a name, and no answer; a socket that cannot listen is refused there too."""
    monkeypatch.setattr(socket, "SO_ACCEPTCONN", 9999)
    with socket.socket(socket.AF_UNIX) as theirs, socket.socket(socket.AF_UNIX) as unbound:
        theirs.bind("relayd.sock")
        theirs.listen(5)
        adopted = adopt(os.dup(theirs.fileno()))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(home.socket.name))
        adopted.close()
        with pytest.raises(ListenerRefused):
            adopt(os.dup(unbound.fileno()))


def test_an_inherited_socket_stays(home, connect):
    """A socket that someone else made keeps its file and its backlog: the next daemon answers there."""
    theirs = socket.socket(socket.AF_UNIX)
    theirs.bind("relayd.sock")
    theirs.listen(5)

    async def serve_once(serve):
        server = await serve(Site(), adopt(os.dup(theirs.fileno())))
        client = connect()
        assert (await blocking(client.ask, "GET", "/")).status == 200
        await server.refuse()
        await server.finish()
        await server.close()

    on_uvloop(serve_once)
    assert home.socket.is_socket()
    with connect() as waiting:
        waiting.send("POST", "/", b"kept")
        answers = []
        reader = threading.Thread(target=lambda: answers.append(waiting.read()))
        reader.start()

        async def next_daemon(serve):
            server = await serve(Site(), adopt(os.dup(theirs.fileno())))
            await blocking(reader.join)
            await server.refuse()
            await server.close()

        on_uvloop(next_daemon)
        assert [answer.body for answer in answers] == [b"kept"]
    theirs.close()


def test_a_garbled_request_is_refused(home, connect):
    """What is no HTTP gets 400 and the end of its connection; others go on."""

    async def test(serve):
        server = await serve(Site(), bind(home))
        client, other = connect(), connect()
        client.more(b"\x16\x03\x01 no http\r\n\r\n")
        answer = await blocking(client.read)
        assert (answer.status, answer.json()["code"]) == (400, "request_unreadable")
        assert answer.headers["content-type"] == "application/problem+json"
        assert await blocking(client.at_end)
        assert (await blocking(other.ask, "GET", "/")).status == 200
        await server.refuse()
        await server.close()

    on_uvloop(test)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 400_000,
    ],
    ids=["many headers", "long target", "endless header"],
)
def test_a_head_has_a_limit(home, connect, head):
    """A request line and headers over 64 KiB are refused as a problem, whole or still growing; a long body is no head."""

    async def test(serve):
        await serve(Site(), bind(home))
        client = connect()
        body = b"b" * 200_000
        for _ in range(2):
            assert (await blocking(client.ask, "POST", "/", body)).body == body
        with suppress(BrokenPipeError):  # it does not wait for the rest
            await blocking(client.more, head)
        answer = await blocking(client.read)
        assert (answer.status, answer.json()["code"]) == (431, "head_too_large")

    on_uvloop(test)


def test_a_deaf_client_that_asked_for_more_does_not_hold_up_the_end(home, connect, monkeypatch, caplog):
    """Requests sent in a row by a client that never reads end with it, and none is left behind unheard."""
    monkeypatch.setattr(relayd.server, "_FLUSH_S", 0.05)
    monkeypatch.setattr(relayd.server, "_CANCEL_S", LIMIT_S)

    async def test(serve):
        server = await serve(Site(), bind(home))
        deaf = connect()
        for _ in range(3):
            deaf.send("GET", "/large")
        await blocking(deaf.socket.recv, 1)
        await server.refuse()
        await server.close()
        assert not server._state.tasks

    on_uvloop(test)
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_failed_test_fails(home, connect):
    """What a test leaves open does not keep its loop from ending."""

    async def test(serve):
        site = Site()
        await serve(site, bind(home))
        connect().send("GET", "/slow")
        await site.entered.wait()
        raise AssertionError

    with pytest.raises(AssertionError):
        on_uvloop(test)
