"""What a question asks for: terms, each with all the ways in which an item can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from relayd.search.fold import compose
from relayd.search.stop_words import stop_words, weak_words
from relayd.search.tokens import Chunk, chunks, is_unspaced

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("MAX_PIECES", "MAX_TERMS", "MAX_TOKENS", "Term", "any_of", "every_of", "read", "within", "word")

MAX_TERMS: Final = 24
"""What a question may cost: so many terms,"""
MAX_TOKENS: Final = 192
"""so many tokens in all ways to write them,"""
MAX_PIECES: Final = 96
"""and so many pieces to be looked for instead of them."""
_MAX_PARTS: Final = 32
"""The first parts of one identifier, or of a run without spaces."""
_MAX_CHARS: Final = 4_096
_PAIR: Final = 2
_WEAK: Final = 0.4


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One word, identifier or run of characters.

    Args:
        text: As it is told to whoever asks for the reasons.
        exact: Tokens, or several with spaces between, that stand next to each other.
        stems: Of words; an item that holds one of them holds another form of the word.
        pieces: Looked for instead where the term is nowhere.
        is_stop: It says nothing about what is looked for.
        weight: How sure it is that this is meant.
        items: How many items hold it.
        meant: What was taken for it, if it was corrected.
    """

    text: str
    exact: tuple[str, ...]
    stems: tuple[str, ...] = ()
    pieces: tuple[Term, ...] = ()
    is_stop: bool = False
    weight: float = 1.0
    items: int = 0
    meant: tuple[str, ...] = ()

    @property
    def match(self) -> str:
        """The term in the language of the index, every token in quotes."""
        # an item that holds a word holds its stem as well
        exact = () if len(self.exact) == 1 and self.stems else self.exact
        ways = [f'exact : "{tokens}"' for tokens in exact] + [f'stem : "{stem}"' for stem in self.stems]
        return f"({' OR '.join(ways)})"


def read(text: str, stems: Stems) -> list[Term]:
    """Read a question; only the first terms of a very long one, no term twice."""
    found: dict[tuple[str, ...], Term] = {}
    for chunk in chunks(compose(text[:_MAX_CHARS])[:_MAX_CHARS]):  # one character may be short for many
        for term in _terms(chunk, stems):
            found.setdefault(term.exact, term)
        if len(found) >= MAX_TERMS * 2:
            break
    telling = [term for term in found.values() if not term.is_stop]
    return _affordable(telling or list(found.values()))


def word(token: str, stems: Stems, **changes: object) -> Term:
    """Make a term of one word."""
    stem = stems.of(token)
    term = Term(
        text=token,
        exact=(token,),
        stems=() if stem is None else (stem,),
        is_stop=token in stop_words(),
        weight=_WEAK if token in weak_words() else 1.0,
    )
    return msgspec.structs.replace(term, **changes) if changes else term


def within(scopes: Iterable[str], match: str) -> str:
    """Limit a match to items of certain scopes."""
    return f"(scope : ({' OR '.join(map(_quoted, scopes))})) AND {match}"


def any_of(terms: Sequence[Term]) -> str:
    """Match what holds at least one term."""
    return f"({' OR '.join(term.match for term in terms)})"


def every_of(terms: Sequence[Term]) -> str:
    """Match what holds all terms."""
    return f"({' AND '.join(term.match for term in terms)})"


def _affordable(terms: Sequence[Term]) -> list[Term]:
    """Give the first terms, as far as they are not too many and have not too many tokens and pieces together."""
    kept: list[Term] = []
    tokens = pieces = 0
    for term in terms[:MAX_TERMS]:
        tokens += len(term.stems) + sum(1 + way.count(" ") for way in term.exact)
        if tokens > MAX_TOKENS:
            break
        some = term.pieces[: MAX_PIECES - pieces]
        pieces += len(some)
        kept.append(msgspec.structs.replace(term, pieces=some) if len(some) < len(term.pieces) else term)
    return kept


def _quoted(token: str) -> str:
    return f'"{token}"'


def _terms(chunk: Chunk, stems: Stems) -> list[Term]:
    chunk = Chunk(chunk.wholes[:_MAX_PARTS], chunk.leaves[:_MAX_PARTS])
    if len(chunk.leaves) == 1 and not chunk.wholes:
        return [_run(chunk.leaves) if is_unspaced(chunk.leaves[0]) else word(chunk.leaves[0], stems)]
    if not any(map(is_unspaced, chunk.leaves)):
        return [_identifier(chunk, stems)] if chunk.leaves else []
    terms: list[Term] = []
    for unspaced, leaves in groupby(chunk.leaves, is_unspaced):
        if unspaced:
            terms.append(_run(tuple(leaves)))
        else:
            terms += [word(leaf, stems) for leaf in leaves]
    return terms


def _identifier(chunk: Chunk, stems: Stems) -> Term:
    """All of it as one, or its parts in order; each of them alone where neither is anywhere."""
    ways = (*chunk.wholes[:1], " ".join(chunk.leaves))
    pieces = dict.fromkeys(token for token in (*chunk.wholes[1:], *chunk.leaves) if len(token) > 1)
    telling = [word(piece, stems, weight=0.7) for piece in pieces if piece not in stop_words()]
    return Term(text=ways[0], exact=tuple(dict.fromkeys(ways)), pieces=tuple(telling))


def _run(characters: tuple[str, ...]) -> Term:
    """All characters in a row; each pair of them where that is nowhere."""
    pairs = dict.fromkeys(" ".join(pair) for pair in pairwise(characters)) if len(characters) > _PAIR else {}
    pieces = tuple(Term(text=pair.replace(" ", ""), exact=(pair,), weight=0.7) for pair in pairs)
    return Term(text="".join(characters), exact=(" ".join(characters),), pieces=pieces)
