import pytest

from relayd.receiver.request import MAX_ITEMS, Item, RequestRefused, TooManyItems, read_batch, read_body


def test_a_batch_is_urls_and_texts():
    """Bodies stay text, a missing one is null, and unknown members are ignored."""
    items = read_batch(b' [{"body":{"a":1},"url":"x?event=stop","more":[1]},{"url":""}] ')
    assert [(item.url, bytes(item.body)) for item in items] == [("x?event=stop", b'{"a":1}'), ("", b"null")]
    assert isinstance(items[0], Item)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[",
        b"[]x",
        b"\xef\xbb\xbf[]",
        b'[{"url":"a",}]',
        b'[{"url":"\xff"}]',
        b'[{"url":"a","more":"\xff"}]',
        b'[{"url":"\\ud800"}]',
        b'[{"url":"a","body":NaN}]',
        b'[{"url":"a","body":01}]',
        "[]".encode("utf-16"),
        b'[{"url":"a","body":' + b"[" * 100_000,
    ],
)
def test_what_is_no_json_is_refused_with_400(raw):
    """Broken text, wrong encoding and endless nesting are the sender's syntax errors."""
    with pytest.raises(RequestRefused) as refused:
        read_batch(raw)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "raw",
    [
        b"null",
        b"{}",
        b'"x"',
        b"[1]",
        b"[null]",
        b"[{}]",
        b'[["a",{}]]',
        b'[{"url":1}]',
        b'[{"url":null}]',
        b'[{"url":["a"]}]',
        b'[{"URL":"a"}]',
        b'[{"url":"a"},{"body":{}}]',
    ],
)
def test_another_shape_is_refused_with_422(raw):
    """JSON of the wrong types, or an item as a positional array, is no batch."""
    with pytest.raises(RequestRefused) as refused:
        read_batch(raw)
    assert refused.value.status == 422


def test_the_number_of_items_is_bounded():
    """The last number that fits is taken, one more is too many."""
    assert len(read_batch(b"[" + b",".join([b'{"url":""}'] * MAX_ITEMS) + b"]")) == MAX_ITEMS
    with pytest.raises(TooManyItems):
        read_batch(b"[" + b",".join([b'{"url":""}'] * (MAX_ITEMS + 1)) + b"]")


@pytest.mark.parametrize(
    "raw", [b"", b"1e400", b"-1e400", b'"\xff"', b'{"a":"\\udc00"}', b"[" * 100_000, b"{} {}", b"9" * 5_000]
)
def test_a_body_that_is_no_json_is_refused_with_400(raw):
    """Also a number that no double can hold is a syntax error."""
    with pytest.raises(RequestRefused) as refused:
        read_body(raw)
    assert refused.value.status == 400


def test_a_refusal_quotes_nothing():
    """What a request says is never repeated: it may be a secret."""
    for raw in (b'[{"url":7,"sk-secret":1}]', b'[{"url":"sk-secret",}]'):
        with pytest.raises(RequestRefused) as refused:
            read_batch(raw)
        assert "sk-" not in str(refused.value)


def test_numbers_that_an_outbox_takes_are_read():
    """Long integers and tiny exponents are numbers."""
    assert read_body(b"[9223372036854775808, 1e-999, " + b"9" * 300 + b"]") == [2**63, 0.0, int("9" * 300)]
