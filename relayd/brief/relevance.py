"""Which of the items that hold words of a prompt are worth telling: better none than one that it is not about.

Search finds what holds any word of a question. Whoever asks a memory a question wants that; whoever asks an agent to fix
a failing test does not want to be told of every decision about tests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, cast

from relayd.search.search import Hit
from relayd.search.stop_words import prompt_words, weak_words
from relayd.search.tokens import chunk_of, is_unspaced, words_of
from relayd.text.late import Late

__all__ = ("Relevance",)

_FLOOR: Final = 2.0
"""So much must an item share with a prompt: two words that say what it is about, or one name out of its code."""
_OF_BEST: Final = 0.7
"""And so much of what the best item shares."""
_MOST: Final = 5

_NAME: Final = 2.0
_PROPER: Final = 1.5
_WORD: Final = 1.0
_USUAL: Final = 0.25
_PAIR: Final = 0.5

_CODE = Late(r"[_\d/\\.:@$#]|[a-z][A-Z]")
_ENDINGS = Late("[\u3040-\u309f]+")  # hiragana: what Japanese puts between words, and behind them
_SENTENCE_ENDS: Final = ".!?:;\"'\u201c*-"


class Relevance:
    """How much of a prompt there is in what was found for it.

    Every word that both have counts once: an identifier, a path or an error code as two words; a name with a capital letter
    in the middle of a sentence as one and a half; a word that comes in prompts of any kind as a quarter; two characters of
    a script without spaces as a half. A word that is only nearly the same counts nothing.

    Args:
        prompt: As it was searched for.
    """

    def __init__(self, prompt: str) -> None:
        self._names: set[str] = set()
        self._proper: set[str] = set()
        for start, word in words_of(prompt):
            self._read(word, is_inside=_is_inside(prompt, start))

    def keep(self, hits: Sequence[Hit]) -> list[Hit]:
        """Keep a few of the hits, which say why they were found, the best first; often none."""
        shares = [(self._share(hit.why or {}), hit) for hit in hits]
        floor = max(_FLOOR, _OF_BEST * max((share for share, _ in shares), default=0.0))
        return [hit for share, hit in shares if share >= floor][:_MOST]

    def _read(self, word: str, *, is_inside: bool) -> None:
        chunk = chunk_of(word)
        tokens = chunk.wholes[:1] or chunk.leaves[:1]
        if not tokens or any(map(is_unspaced, chunk.leaves)):
            return
        if _CODE.search(word) and not word.isdecimal():
            self._names.update(tokens)
        elif is_inside and word[:1].isupper():
            self._proper.update(tokens)

    def _share(self, why: Mapping[str, object]) -> float:
        matched = cast("Sequence[str]", why.get("matched", ()))
        meant = cast("Collection[str]", why.get("meant", ()))
        return sum(self._counts(term) for term in matched if term not in meant)

    def _counts(self, term: str) -> float:
        if any(map(is_unspaced, term)):
            is_telling = term not in prompt_words() and not _ENDINGS.fullmatch(term)
            return _PAIR * (len(term) - 1) if is_telling else 0.0
        if term in self._names:
            return _NAME
        if term in prompt_words() or term in weak_words():
            return _USUAL
        return _PROPER if term in self._proper else _WORD


def _is_inside(prompt: str, start: int) -> bool:
    before = prompt[max(0, start - 8) : start].rstrip(" \t")
    return bool(before) and before[-1] not in _SENTENCE_ENDS and not before.endswith(("\n", "\r"))
