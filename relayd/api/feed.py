"""The feed, page by page."""

from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import number
from relayd.api.response import Json
from relayd.receiver.feed import MAX_PAGE, PAGE
from relayd.services import services

__all__ = ("routes",)


async def feed(request: Request) -> Json:
    """GET /v1/feed?since=&limit=: events behind a cursor, oldest first; without one, from the newest on.

    Args:
        request: `since` is the `next` of the page before; `limit` is 1 to 1,000.

    Raises:
        ParameterRefused: One of them is no such number.
    """
    since = number(request, "since")
    limit = number(request, "limit", least=1, most=MAX_PAGE)
    return Json(await services(request).feed.page(since=since, limit=PAGE if limit is None else limit))


routes = [Route("/v1/feed", feed, methods=["GET"])]
