"""Every form of acknowledgement: which are believed, which cannot be read, which contradict themselves."""

import pytest

from relay_queue.ack import OUTCOMES, Ack, read_ack
from relay_queue.errors import AckRefused


def kind(raw: bytes, n: int) -> str:
    with pytest.raises(AckRefused) as caught:
        read_ack(raw, n)
    return caught.value.kind


@pytest.mark.parametrize(
    ("raw", "n", "accepted", "failed"),
    [
        ('{"accepted":0}', 3, (), None),
        ('{"accepted":3}', 3, (0, 1, 2), None),
        ('{"accepted":2,"accepted_indices":null,"failed_index":null}', 3, (0, 1), None),
        ('{"accepted":0,"accepted_indices":[]}', 3, (), None),
        ('{"accepted":0,"accepted_indices":[1]}', 3, (1,), None),
        ('{"accepted":0,"accepted_indices":[2]}', 3, (2,), None),
        ('{"accepted":1,"accepted_indices":[0,2]}', 3, (0, 2), None),
        ('{"accepted":2,"accepted_indices":[0,1]}', 3, (0, 1), None),
        ('{"accepted":1,"failed_index":1}', 3, (0,), 1),
        ('{"accepted":1,"failed_index":2}', 3, (0,), 2),
        ('{"accepted":0,"failed_index":0}', 3, (), 0),
        ('{"accepted":0,"accepted_indices":[1],"failed_index":2}', 3, (1,), 2),
        ('{"accepted":0,"results":[]}', 3, (), None),
        (' {"accepted" : 1 }\r\n\t ', 1, (0,), None),
        ('{"accepted":1,"more":{"accepted":7,"accepted":8},"more":[1e400,-0.5]}', 1, (0,), None),
        ('{"accept\\u0065d":1}', 1, (0,), None),
        ('{"accepted":0,"x":123456789012345678901234567890}', 1, (), None),
        (f'{{"accepted":0,"x":{"9" * 5_000}}}', 1, (), None),
        ('{"accepted":0}', 0, (), None),
    ],
)
def test_an_acknowledgement_names_what_was_taken(raw: str, n: int, accepted, failed):
    """The listed indices if there are any, else the first so many; unknown members do not count."""
    assert read_ack(raw.encode(), n) == Ack(accepted, ("unknown",) * len(accepted), failed)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_known_outcome_is_kept(outcome: str):
    """An outcome that the contract names is reported by its name."""
    raw = f'{{"accepted":1,"results":[{{"index":0,"outcome":"{outcome}","extra":1}}]}}'
    assert read_ack(raw.encode(), 1).outcomes == (outcome,)


def test_there_are_ten_outcomes():
    """The set of outcomes is the contract's, in the order of the alphabet."""
    assert len(OUTCOMES) == 10
    assert list(OUTCOMES) == sorted(OUTCOMES)


def test_outcomes_follow_their_indices():
    """A result belongs to the index beside it; one that is not known is `unknown`."""
    raw = b"""{"accepted":1,"accepted_indices":[0,2],
        "results":[{"outcome":"stored","index":0},{"index":2,"outcome":"brand_new"}]}"""
    assert read_ack(raw, 3) == Ack((0, 2), ("stored", "unknown"), None)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " ",
        "ok",
        "null",
        "3",
        '"accepted"',
        "[]",
        "[2]",
        "{}",
        '{"accepted":1',
        '{"accepted":1}x',
        '{"accepted":1}{"accepted":1}',
        '{"accepted":1,}',
        '\ufeff{"accepted":1}',
        '{"accepted":null}',
        '{"accepted":-1}',
        '{"accepted":-0}',
        '{"accepted":01}',
        '{"accepted":1.0}',
        '{"accepted":1e0}',
        '{"accepted":"1"}',
        '{"accepted":true}',
        '{"accepted":[1]}',
        '{"accepted":NaN}',
        '{"accepted":1,"x":Infinity}',
        '{"accepted":18446744073709551616}',
        '{"accepted":%s}' % ("9" * 5000),
        '{"accepted":1,"accepted":1}',
        '{"accepted":1,"\\u0061ccepted":1}',
        '{"accepted":1,"accepted_indices":{}}',
        '{"accepted":1,"accepted_indices":0}',
        '{"accepted":1,"accepted_indices":[0.0]}',
        '{"accepted":1,"accepted_indices":[true]}',
        '{"accepted":1,"accepted_indices":["0"]}',
        '{"accepted":1,"accepted_indices":[-1]}',
        '{"accepted":1,"accepted_indices":[null]}',
        '{"accepted":1,"accepted_indices":[18446744073709551616]}',
        '{"accepted":1,"accepted_indices":[0],"accepted_indices":[0]}',
        '{"accepted":1,"failed_index":"1"}',
        '{"accepted":1,"failed_index":1.5}',
        '{"accepted":1,"failed_index":-1}',
        '{"accepted":1,"failed_index":false}',
        '{"accepted":1,"failed_index":1,"failed_index":1}',
        '{"accepted":1,"results":null}',
        '{"accepted":1,"results":{}}',
        '{"accepted":1,"results":"stored"}',
        '{"accepted":1,"results":[null]}',
        '{"accepted":1,"results":["stored"]}',
        '{"accepted":1,"results":[[0,"stored"]]}',
        '{"accepted":1,"results":[{"index":0}]}',
        '{"accepted":1,"results":[{"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":null,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":0.0,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":null}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":1}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":"\\ud800"}]}',
        '{"accepted":1,"results":[{"index":0,"index":0,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":"stored","outcome":"stored"}]}',
        '{"accepted":1,"results":[],"results":[]}',
        '{"accepted":1,"x":"\n"}',
        '{"accepted":1,"x":%s}' % ("[" * 30_000),
    ],
)
def test_an_unreadable_acknowledgement_is_malformed(raw: str):
    """What is no object of the right members, each once and of its exact type, cannot be read."""
    assert kind(raw.encode(), 3) == "malformed ack"


@pytest.mark.parametrize("raw", [b"\xff", b'{"accepted":1,"x":"\xc3"}', '{"accepted":1}'.encode("utf-16")])
def test_an_acknowledgement_in_another_encoding_is_malformed(raw: bytes):
    """Only UTF-8 can be read."""
    assert kind(raw, 3) == "malformed ack"


def test_an_acknowledgement_has_a_greatest_length():
    """64 KiB can be read, one byte more cannot."""
    raw = b'{"accepted":1}'
    assert read_ack(raw + b" " * (65_536 - len(raw)), 1).accepted == (0,)
    assert kind(raw + b" " * (65_537 - len(raw)), 1) == "malformed ack"


@pytest.mark.parametrize(
    "raw",
    [
        '{"accepted":4}',
        '{"accepted":18446744073709551615}',
        '{"accepted":0,"accepted_indices":[3]}',
        '{"accepted":0,"accepted_indices":[1,18446744073709551615]}',
        '{"accepted":1,"accepted_indices":[0,0]}',
        '{"accepted":0,"accepted_indices":[2,1]}',
        '{"accepted":1,"accepted_indices":[1,0]}',
        '{"accepted":0,"accepted_indices":[0]}',
        '{"accepted":2,"accepted_indices":[0,2]}',
        '{"accepted":1,"accepted_indices":[]}',
        '{"accepted":1,"accepted_indices":[1]}',
        '{"accepted":3,"accepted_indices":[0,1]}',
        '{"accepted":0,"failed_index":3}',
        '{"accepted":1,"failed_index":0}',
        '{"accepted":2,"failed_index":0}',
        '{"accepted":2,"accepted_indices":[0,1],"failed_index":1}',
        '{"accepted":1,"accepted_indices":[0,2],"failed_index":1}',
        '{"accepted":1,"results":[]}',
        '{"accepted":0,"results":[{"index":0,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":1,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":"stored"},{"index":1,"outcome":"stored"}]}',
        '{"accepted":1,"results":[{"index":0,"outcome":"stored"},{"index":0,"outcome":"stored"}]}',
        '{"accepted":2,"results":[{"index":0,"outcome":"stored"}]}',
        '{"accepted":2,"results":[{"index":1,"outcome":"stored"},{"index":0,"outcome":"stored"}]}',
        '{"accepted":1,"accepted_indices":[0,2],"results":[{"index":0,"outcome":"a"},{"index":1,"outcome":"b"}]}',
    ],
)
def test_a_contradictory_acknowledgement_is_inconsistent(raw: str):
    """Indices outside the batch, out of order or at odds with each other are not believed."""
    assert kind(raw.encode(), 3) == "inconsistent ack"
