"""A server's acknowledgement of a batch, believed only if every part of it fits the batch and each other part."""

import json
import re
from collections import Counter
from itertools import pairwise
from typing import TypeGuard

import msgspec

from relay_queue.errors import AckRefused
from relay_queue.limits import LIMITS

__all__ = ("OUTCOMES", "Ack", "read_ack")

OUTCOMES = (
    "dropped_collision",
    "dropped_invalid",
    "dropped_policy",
    "dropped_subagent",
    "dropped_unauthorized",
    "ignored_end",
    "replayed",
    "resumed",
    "stored",
    "unknown",
)
"""What may have become of an acknowledged event; each of them releases it."""

_MEMBERS = {"accepted", "accepted_indices", "failed_index", "results"}
_RESULT_MEMBERS = {"index", "outcome"}
_MALFORMED = "malformed ack"
_INCONSISTENT = "inconsistent ack"
_MAX_INTEGER = 2**64 - 1
_MAX_DIGITS = 20
_SURROGATES = re.compile(r"[\ud800-\udfff]")


class Ack(msgspec.Struct, frozen=True):
    """What a server took of a batch.

    Attributes:
        accepted: Places in the batch, from 0, ascending.
        outcomes: What became of each of these, in the same order; one of `OUTCOMES`.
        failed_index: Where the server stopped, if it says so.
    """

    accepted: tuple[int, ...]
    outcomes: tuple[str, ...]
    failed_index: int | None


def read_ack(raw: bytes, n: int) -> Ack:
    """Read the acknowledgement of a batch.

    Args:
        raw: The body of a 200 or 429.
        n: Events in the batch.

    Raises:
        AckRefused: It cannot be read, or contradicts itself or the batch; nothing of it may be applied.

    Source: docs/outbox.md, "Acknowledgements".
    """
    ack = _parsed(raw)
    _require_known_once(ack, _MEMBERS)
    count = _index(ack.get("accepted"), "accepted")
    indices = _indices(ack.get("accepted_indices"))
    failed = None if ack.get("failed_index") is None else _index(ack["failed_index"], "failed_index")
    results = _results(ack["results"]) if "results" in ack else None
    accepted = _accepted(count, indices, n)
    _check_failed(failed, accepted, n)
    return Ack(accepted, _outcomes(results, accepted), failed)


class _Object(dict[str, object]):
    """A JSON object that remembers which keys it had more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: set[str] = set()
        if len(self) != len(pairs):
            self.repeated = {key for key, times in Counter(key for key, _ in pairs).items() if times > 1}


def _integer(text: str) -> int | float:
    # A float is no index, and unlike an int it may be of any length; -0 is a float in JSON.
    return int(text) if len(text) <= _MAX_DIGITS and text.isdigit() else float(text)


def _no_constant(_: str) -> None:
    raise AckRefused(_MALFORMED, "must be JSON, which has no NaN and no Infinity")


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, parse_int=_integer, parse_constant=_no_constant)


def _parsed(raw: bytes) -> _Object:
    if len(raw) > LIMITS.ack_bytes:
        raise AckRefused(_MALFORMED, f"must not be longer than {LIMITS.ack_bytes} bytes")
    try:
        value: object = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError):
        raise AckRefused(_MALFORMED, "must be JSON in UTF-8") from None
    if not isinstance(value, _Object):
        raise AckRefused(_MALFORMED, "must be an object")
    return value


def _require_known_once(found: _Object, known: set[str]) -> None:
    if found.repeated & known:
        raise AckRefused(_MALFORMED, "must have each of its members once")


def _index(value: object, name: str) -> int:
    if type(value) is not int or value > _MAX_INTEGER:
        raise AckRefused(_MALFORMED, f"{name} must be a whole number of at most 64 bits, not below 0")
    return value


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _indices(value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not _is_list(value):
        raise AckRefused(_MALFORMED, "accepted_indices must be a list")
    return tuple(_index(index, "each of accepted_indices") for index in value)


def _results(value: object) -> list[tuple[int, str]]:
    if not _is_list(value):
        raise AckRefused(_MALFORMED, "results must be a list")
    return [_result(result) for result in value]


def _result(value: object) -> tuple[int, str]:
    if not isinstance(value, _Object):
        raise AckRefused(_MALFORMED, "each of results must be an object")
    _require_known_once(value, _RESULT_MEMBERS)
    outcome = value.get("outcome")
    if not isinstance(outcome, str) or _SURROGATES.search(outcome):
        raise AckRefused(_MALFORMED, "each of results must have an outcome that is a string")
    return _index(value.get("index"), "the index of each of results"), outcome


def _accepted(count: int, indices: tuple[int, ...] | None, n: int) -> tuple[int, ...]:
    if indices is None:
        if count > n:
            raise AckRefused(_INCONSISTENT, "accepted must not be greater than the batch")
        return tuple(range(count))
    if any(later <= earlier for earlier, later in pairwise(indices)):
        raise AckRefused(_INCONSISTENT, "accepted_indices must ascend")
    if indices and indices[-1] >= n:
        raise AckRefused(_INCONSISTENT, "accepted_indices must lie within the batch")
    run = sum(place == index for place, index in enumerate(indices))
    if count != run:
        raise AckRefused(_INCONSISTENT, "accepted must be the length of the leading run of accepted_indices")
    return indices


def _check_failed(failed: int | None, accepted: tuple[int, ...], n: int) -> None:
    if failed is None:
        return
    if failed >= n:
        raise AckRefused(_INCONSISTENT, "failed_index must lie within the batch")
    if accepted and accepted[-1] >= failed:
        raise AckRefused(_INCONSISTENT, "failed_index must come after every acknowledged index")


def _outcomes(results: list[tuple[int, str]] | None, accepted: tuple[int, ...]) -> tuple[str, ...]:
    if results is None:
        return ("unknown",) * len(accepted)
    if tuple(index for index, _ in results) != accepted:
        raise AckRefused(_INCONSISTENT, "results must have one entry for each acknowledged index, in order")
    return tuple(outcome if outcome in OUTCOMES else "unknown" for _, outcome in results)
