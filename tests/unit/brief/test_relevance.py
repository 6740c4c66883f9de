import pytest

from relayd.brief.relevance import Relevance
from relayd.search.search import Hit


def hit(number, *matched, meant=()):
    why = {"matched": list(matched), "meant": {word: ["other"] for word in meant}}
    return Hit("decision", str(number), 1, None, "text", "text", 1.0, 0, None, 0, True, why)


def kept(prompt, *hits):
    return [one.id for one in Relevance(prompt).keep(hits)]


@pytest.mark.parametrize(
    ("prompt", "matched", "is_kept"),
    [
        ("keep the cache in redis", ("cache", "redis"), True),
        ("keep the cache in redis", ("redis",), False),
        ("change max_upload_bytes now", ("maxuploadbytes",), True),
        ("the page says E1234 again", ("e1234",), True),
        ("the answer is 137 again", ("137",), False),
        ("fix the failing test in the file", ("fix", "failing", "test", "file"), False),
        ("please use Redis as a cache", ("redis", "test"), False),
        ("please use Redis as a cache", ("redis", "cache"), True),
        ("we keep Redis. fix the test, update the file", ("redis", "test", "update"), True),
        ("Redis is what we keep", ("redis", "test", "update"), False),
        ("数据库连接池的上限", ("数据", "据库", "库连", "连接"), True),
        ("请修复失败的测试", ("测试", "修复", "失败"), False),
        ("数据库连接池", ("数据库连接池",), True),
        ("バックアップする", ("する", "した"), False),
    ],
)
def test_what_an_item_must_share(prompt, matched, is_kept):
    """Two words that tell something, one name out of code, or a few pairs of characters."""
    assert kept(prompt, hit(1, *matched)) == (["1"] if is_kept else [])


def test_a_word_that_is_only_nearly_the_same_counts_nothing():
    """What search took for a typing error may be another word."""
    assert kept("keep the cahce in redis", hit(1, "cahce", "redis", meant=["cahce"])) == []


def test_few_are_told_and_none_far_behind_the_best():
    """Five at most, in the order in which they came, with most of what the best one shares."""
    prompt = "redis cache session worker"
    best = hit(1, "redis", "cache", "session", "worker")
    assert kept(prompt, best, hit(2, "redis", "cache")) == ["1"]
    assert kept(prompt, *(hit(number, "redis", "cache") for number in range(8))) == list("01234")
    assert kept(prompt) == []
