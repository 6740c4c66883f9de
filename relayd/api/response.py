"""Answers with a JSON body and a Content-Length."""

from typing import Any

import msgspec
from starlette.responses import Response

__all__ = ("Json", "Problem")


class Json(Response):
    """Any value that msgspec can encode; 200 unless told otherwise."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - what msgspec takes
        """Encode the body; bytes are taken as JSON text already."""
        return content if isinstance(content, bytes) else msgspec.json.encode(content)


class Problem(Json):
    """Why a request was refused, in the form of RFC 9457."""

    media_type = "application/problem+json"
