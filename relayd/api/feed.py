"""The feed, page by page."""

from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import parameter
from relayd.api.response import Json
from relayd.errors import ParameterRefused
from relayd.receiver.feed import MAX_PAGE, PAGE
from relayd.services import services

__all__ = ("routes",)

_MAX_DIGITS = 18


async def feed(request: Request) -> Json:
    """GET /v1/feed?since=&limit=: events behind a cursor, oldest first; without one, from the newest on.

    Args:
        request: `since` is the `next` of the page before; `limit` is 1 to 1,000.

    Raises:
        ParameterRefused: One of them is no such number.
    """
    since = _number(request, "since", 0, 10**_MAX_DIGITS - 1)
    limit = _number(request, "limit", 1, MAX_PAGE)
    return Json(await services(request).feed.page(since=since, limit=PAGE if limit is None else limit))


def _number(request: Request, name: str, least: int, most: int) -> int | None:
    text = parameter(request, name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS and least <= int(text) <= most):
        raise ParameterRefused(name, f"must be a whole number from {least} to {most}")
    return int(text)


routes = [Route("/v1/feed", feed, methods=["GET"])]
