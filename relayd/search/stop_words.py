"""Words that say little about what a text is about, in English and Russian, folded as tokens are."""

from functools import cache

from relay_queue.package import package_directory

__all__ = ("prompt_words", "stop_words", "weak_words")


@cache
def stop_words() -> frozenset[str]:
    """Give the words that say nothing."""
    return _words("english") | _words("russian")


@cache
def weak_words() -> frozenset[str]:
    """Give the words of most questions to a memory: they count, but less."""
    return _words("weak")


@cache
def prompt_words() -> frozenset[str]:
    """Give the words of prompts to an agent of any kind; search itself counts them like others."""
    return _words("prompt")


def _words(name: str) -> frozenset[str]:
    return frozenset(
        (package_directory("relayd.search") / "words" / f"{name}.txt").read_text("utf-8").split()
    )
