"""TODO: the routes of this resource."""

from starlette.routing import BaseRoute

__all__ = ("routes",)

routes: list[BaseRoute] = []
