"""One batch over real sockets: what is sent, what comes back, and what a failure says."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from relayd.delivery.http_sender import HttpSender, open_client
from relayd.delivery.sender import NotReached, Reply, ReplyLost
from relayd.testing import Cut, ScriptedServer, Step, scripted_server

BODY = b'[{"url":"http://h/hook?event=stop&ingest_key=k","body":{"session_id":"s"}}]'
LONG_S = 30.0


@asynccontextmanager
async def talking(prefix: str = "") -> AsyncGenerator[tuple[ScriptedServer, HttpSender]]:
    """A server and a sender for it."""
    async with scripted_server() as server, open_client() as client:
        yield server, HttpSender(client, server.url + prefix)


async def post(sender: HttpSender, token: str | None = None, timeout_s: float = LONG_S) -> Reply:
    """Send the batch."""
    return await sender.post(BODY, token=token, timeout_s=timeout_s)


async def test_sends_the_bytes_it_was_given_and_no_header_of_its_own() -> None:
    """The request has the headers of the reference relay, and the body to the byte."""
    async with talking("/base") as (server, sender):
        reply = await post(sender)
        assert (reply.status, reply.retry_after) == (200, None)
        (request,) = server.requests
        host = server.url.removeprefix("http://")
        assert request.head.decode().split("\r\n") == [
            "POST /base/hook/batch HTTP/1.1",
            f"Host: {host}",
            "Content-Type: application/json",
            "Accept: */*",
            f"Content-Length: {len(BODY)}",
            "",
            "",
        ]
        assert request.body == BODY


async def test_sends_a_token_only_if_it_has_one() -> None:
    """Authorization goes along with a token and with nothing else."""
    async with talking() as (server, sender):
        await post(sender, "t-1")
        await post(sender)
        assert server.requests[0].headers["authorization"] == "Bearer t-1"
        assert "authorization" not in server.requests[1].headers


async def test_keeps_the_connection() -> None:
    """Batch after batch goes over one connection."""
    async with talking() as (server, sender):
        for _ in range(3):
            await post(sender)
        assert server.connections == 1


async def test_follows_no_redirect_and_keeps_no_cookie() -> None:
    """A redirect is an answer like any other, and nothing a server sets comes back to it."""
    async with talking() as (server, sender):
        server.script(
            Step(status=307, headers=(("Location", server.url + "/elsewhere"), ("Set-Cookie", "a=b")))
        )
        assert (await post(sender)).status == 307
        await post(sender)
        assert [request.target for request in server.requests] == ["/hook/batch", "/hook/batch"]
        assert "cookie" not in server.requests[1].headers


async def test_passes_retry_after_on() -> None:
    """The header goes on as it came."""
    async with talking() as (server, sender):
        server.script(Step(status=429, headers=(("Retry-After", "7"),)))
        assert (await post(sender)).retry_after == "7"


async def test_takes_no_proxy_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxy variables change nothing: the server is reached directly."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with talking() as (_, sender):
        assert (await post(sender)).status == 200


async def test_goes_through_a_configured_proxy() -> None:
    """With a proxy in the configuration the request goes there, in the form a proxy expects."""
    async with scripted_server() as proxy, open_client(proxy.url) as client:
        reply = await post(HttpSender(client, "http://example.invalid"))
        assert reply.status == 200
        assert proxy.requests[0].target == "http://example.invalid/hook/batch"


async def test_reads_64_kib_of_reply_and_no_more() -> None:
    """A reply of exactly the limit is read; one byte more counts as lost."""
    async with talking() as (server, sender):
        server.script(Step(body=b" " * 65_536), Step(body=b" " * 65_537))
        assert len((await post(sender)).body) == 65_536
        with pytest.raises(ReplyLost) as lost:
            await post(sender)
        assert lost.value.reason == "oversize"
        assert (await post(sender)).status == 200


@pytest.mark.parametrize("cut", ["accept", "request", "reply", "reply_head", "reply_body"])
async def test_a_cut_connection_may_have_been_seen(cut: Cut) -> None:
    """Wherever a connection ends after it was made, the events may have taken effect."""
    async with talking() as (server, sender):
        server.script(Step(cut=cut))
        with pytest.raises(ReplyLost) as lost:
            await post(sender)
        assert lost.value.reason == "io"
        assert (await post(sender)).status == 200


async def test_silence_ends_with_the_time_given() -> None:
    """A server that takes the request and never answers is given up, and may have seen it."""
    async with talking() as (server, sender):
        server.script(Step(wait=anyio.Event()))
        with pytest.raises(ReplyLost) as lost:
            await post(sender, timeout_s=0.05)
        assert lost.value.reason == "timeout"


async def test_no_connection_means_nothing_was_seen() -> None:
    """A port where nobody listens, a name that does not exist, and no time left: nothing was sent."""
    async with scripted_server() as gone:
        url = gone.url
    async with open_client() as client:
        for server_url, reason in ((url, "connect"), ("http://no-such-host.invalid", "connect")):
            with pytest.raises(NotReached) as missed:
                await post(HttpSender(client, server_url))
            assert missed.value.reason == reason
        async with scripted_server() as server:
            with pytest.raises(NotReached) as missed:
                await post(HttpSender(client, server.url), timeout_s=0)
            assert missed.value.reason == "timeout"
            assert not server.requests


async def test_a_server_without_tls_is_not_reached_by_https() -> None:
    """A failed handshake is a connection that could not be made: no event left."""
    async with scripted_server() as server, open_client() as client:
        server.script(Step(cut="accept"))
        with pytest.raises(NotReached):
            await post(HttpSender(client, server.url.replace("http:", "https:")))


async def test_tls_is_verified() -> None:
    """The client checks names and chains against the system's roots."""
    async with open_client() as client:
        context = client._transport._pool._ssl_context  # type: ignore[attr-defined] # what httpx does not tell
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
