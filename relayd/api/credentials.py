"""Bearer tokens by server. They come in here and never go out."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relay_queue.binding import LOCAL, normalise_url
from relay_queue.errors import BindingRefused
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.credentials import clean_token
from relayd.errors import ParameterRefused
from relayd.services import services

__all__ = ("routes",)


class TokenOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The token to keep for a server."""

    server_url: str
    token: str

    def __repr__(self) -> str:
        """Name the server only: a repr may end up in a log."""
        return f"TokenOrder({self.server_url!r})"


class ServerNamed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The server whose token to forget."""

    server_url: str


async def put_token(request: Request) -> Json:
    """PUT /v1/credentials: keep a server's token; queues that wait for it go on."""
    order = await read_json(request, TokenOrder)
    server_url = _server(order.server_url)
    token = clean_token(order.token)
    if token is None:
        raise ParameterRefused("token", "must not be blank")
    await services(request).credentials.put(server_url, token)
    return Json({"server_url": server_url})


async def forget_token(request: Request) -> Json:
    """DELETE /v1/credentials: forget a server's token."""
    server_url = _server((await read_json(request, ServerNamed)).server_url)
    had = await services(request).credentials.remove(server_url)
    return Json({"server_url": server_url, "cleared": had})


async def list_servers(request: Request) -> Json:
    """GET /v1/credentials: the servers that have a token."""
    return Json({"servers": services(request).credentials.servers()})


def _server(url: str) -> str:
    if url == LOCAL:
        raise ParameterRefused("server_url", "must be a server: the local receiver takes no token")
    try:
        return normalise_url(url)
    except BindingRefused as error:
        raise ParameterRefused("server_url", error.rule) from None


routes = [
    Route("/v1/credentials", put_token, methods=["PUT"]),
    Route("/v1/credentials", forget_token, methods=["DELETE"]),
    Route("/v1/credentials", list_servers, methods=["GET"]),
]
