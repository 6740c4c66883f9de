"""Words that say little about what a text is about, in English and Russian, folded as tokens are."""

from functools import cache
from importlib.resources import files

__all__ = ("stop_words", "weak_words")


@cache
def stop_words() -> frozenset[str]:
    """Give the words that say nothing."""
    return _words("english") | _words("russian")


@cache
def weak_words() -> frozenset[str]:
    """Give the words of most questions to a memory: they count, but less."""
    return _words("weak")


def _words(name: str) -> frozenset[str]:
    return frozenset(files("relayd.search").joinpath("words", f"{name}.txt").read_text("utf-8").split())
