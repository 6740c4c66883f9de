"""The bytes of a batch, read strictly."""

from http import HTTPStatus
from typing import Any, Final, NoReturn

import msgspec

__all__ = ("MAX_BYTES", "MAX_ITEMS", "Item", "RequestRefused", "TooManyItems", "read_batch", "read_body")

MAX_ITEMS: Final = 256
MAX_BYTES: Final = 10 * 1024 * 1024


class Item(msgspec.Struct, frozen=True):
    """One item as sent; other members are ignored."""

    url: str
    body: msgspec.Raw = msgspec.Raw(b"null")


class RequestRefused(Exception):
    """The request as a whole cannot be read; nothing of it was taken.

    Args:
        status: As a server answers it.
        rule: What must hold; it quotes nothing of the request.
    """

    def __init__(self, status: HTTPStatus, rule: str) -> None:
        self.status = status
        self.rule = rule
        super().__init__(rule)


class TooManyItems(Exception):
    """The batch has more than `MAX_ITEMS` items; nothing of it was taken."""


_BATCH: Final = msgspec.json.Decoder(list[Item])
_ANY: Final = msgspec.json.Decoder()

_NO_JSON: Final = "must be JSON text in UTF-8"


def read_batch(raw: bytes) -> list[Item]:
    """Read a batch; its bodies are still text.

    Raises:
        RequestRefused: 400 if it is no JSON in UTF-8, 422 if it has another shape.
        TooManyItems: It is well formed, but too long.

    Source: docs/receiver.md, "Request".
    """
    try:
        _check_utf8(raw)
        items = _BATCH.decode(raw)
    except msgspec.ValidationError:
        _refuse(HTTPStatus.UNPROCESSABLE_ENTITY, "must be an array of objects with a text `url`")
    except (msgspec.DecodeError, RecursionError):
        _refuse(HTTPStatus.BAD_REQUEST, _NO_JSON)
    if len(items) > MAX_ITEMS:
        raise TooManyItems
    return items


def read_body(raw: bytes | msgspec.Raw) -> Any:  # noqa: ANN401 - any JSON value
    """Read one body.

    Raises:
        RequestRefused: 400 if it is no JSON in UTF-8.
    """
    try:
        return _ANY.decode(raw)
    except (msgspec.DecodeError, RecursionError):  # also for a number that no double can hold
        _refuse(HTTPStatus.BAD_REQUEST, _NO_JSON)


def _check_utf8(raw: bytes) -> None:
    """Check all of it: the decoder does not look into what it skips."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        _refuse(HTTPStatus.BAD_REQUEST, _NO_JSON)


def _refuse(status: HTTPStatus, rule: str) -> NoReturn:
    raise RequestRefused(status, rule) from None
