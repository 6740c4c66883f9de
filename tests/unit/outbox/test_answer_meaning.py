"""What each reply to a batch means for the queue."""

import pytest

from relay_queue.ack import Ack
from relay_queue.answer import Acknowledged, Denied, RefusedWhole, Suspect, Unavailable, judge

GOOD = b'{"accepted":1,"failed_index":1}'
BAD = b"<html>"
CONTRADICTORY = b'{"accepted":9}'


@pytest.mark.parametrize(("status", "throttled"), [(200, False), (429, True)])
def test_a_good_acknowledgement_counts_with_200_and_429(status: int, throttled: bool):
    """Both may have taken events; the second wants no more for now."""
    assert judge(status, GOOD, 2) == Acknowledged(Ack((0,), ("unknown",), 1), throttled)


@pytest.mark.parametrize("body", [GOOD, BAD, b""])
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_refused_whole_may_have_one_guilty_event(status: int, body: bytes):
    """The body of such a reply does not matter, even if it looks like an acknowledgement."""
    assert judge(status, body, 2) == RefusedWhole(f"http {status}")


@pytest.mark.parametrize(
    ("status", "body", "label"),
    [
        (500, GOOD, "http 500"),
        (200, BAD, "malformed ack"),
        (200, b"", "malformed ack"),
        (200, CONTRADICTORY, "inconsistent ack"),
    ],
)
def test_a_server_that_fails_on_a_batch_is_suspect(status: int, body: bytes, label: str):
    """A crash and an unbelievable acknowledgement may come from one event."""
    assert judge(status, body, 2) == Suspect(label)


@pytest.mark.parametrize("status", [401, 403])
def test_credentials_may_be_missing(status: int):
    """Nothing was seen by the server, whatever the body says."""
    assert judge(status, GOOD, 2) == Denied(f"http {status}")


@pytest.mark.parametrize(
    "status", [201, 202, 204, 301, 302, 307, 404, 405, 408, 409, 415, 501, 502, 503, 504, 599]
)
def test_everything_else_is_no_event_s_fault(status: int):
    """The same batch may go again later, whole."""
    assert judge(status, GOOD, 2) == Unavailable(f"http {status}")


@pytest.mark.parametrize("body", [BAD, b"", CONTRADICTORY])
def test_a_bare_429_is_no_event_s_fault(body: bytes):
    """A rate limiter in front of the server knows no acknowledgements."""
    assert judge(429, body, 2) == Unavailable("http 429", throttled=True)
