"""Cut text without breaking what a reader sees as one character."""

import unicodedata

__all__ = ("LONGEST", "cut", "cut_bytes")

LONGEST = 64
"""How far back a cut looks for a border; no honest character is longer."""

_ZWJ = "\u200d"
_JOINERS = (_ZWJ, "\u200c")
_EXTENDING = ("Mn", "Mc", "Me")


def cut(text: str, limit: int) -> str:
    """Keep the first `limit` characters or fewer, up to where a grapheme ends.

    A cluster longer than `LONGEST` (stacked marks) is cut inside, so that the result is never empty for its sake.

    Source: Unicode UAX #29, extended grapheme clusters.
    """
    if len(text) <= limit:
        return text
    for end in range(limit, max(limit - LONGEST, 0), -1):
        if not _joined(text, end):
            return text[:end]
    return text[:limit]


def cut_bytes(text: str, limit: int) -> str:
    """Keep the first `limit` bytes of UTF-8 or fewer, up to where a grapheme ends."""
    if 4 * len(text) <= limit:
        return text
    # No character takes less than a byte, so that what lies behind cannot be kept.
    start = text[:limit].encode()[:limit]
    return cut(text, len(start.decode(errors="ignore")))


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after this place belong together."""
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        _extends(after)
        or before == _ZWJ
        or (_is_flag_half(after) and _flag_halves_before(text, at) % 2 == 1)
        or _is_hangul_pair(before, after)
    )


def _extends(character: str) -> bool:
    """Whether it goes with what stands before it: marks, joiners, variation selectors, skin tones, tag characters."""
    return (
        character in _JOINERS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character) in _EXTENDING
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start


def _is_hangul_pair(before: str, after: str) -> bool:
    """Leading, vowel and trailing jamo, or a syllable and what completes it."""
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    return (
        "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    ) and "\u1160" <= after <= "\u11ff"
