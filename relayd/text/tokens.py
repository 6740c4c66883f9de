r"""What credentials of known makers look like.

Patterns use ASCII look-arounds and spelled-out classes, never `\b` or `\w`: those count CJK letters as parts of a
word, so that a token right behind one would stay hidden.
"""

import re
from typing import Final

__all__ = ("TOKENS", "alone")

_KEY_LABEL = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"

_HEX = "[0-9A-Fa-f]"
_ESCAPES: Final = (
    "\\\\[abefnrtv0]",
    f"\\\\x{_HEX}{{2}}",
    f"\\\\u{_HEX}{{4}}",
    f"%{_HEX}{{2}}",
    "[0-9\\[][mK]",
)
"""What ends in a letter or a digit and yet begins a new word: escapes of JSON and of others, of URLs, and of colours."""


def alone(start: str = "") -> str:
    """Make an expression that stands behind a pattern's first letters: nothing of the same word may come before them.

    Args:
        start: Those letters, as an expression of fixed length.
    """
    escaped = "".join(f"|(?<={escape}{start})" for escape in _ESCAPES)
    return f"(?:(?<![A-Za-z0-9]{start}){escaped})"


_STARTS: Final = {
    "gh": "[a-z]_[A-Za-z0-9]{20,}",
    "github_pat_": "[A-Za-z0-9_]{20,}",
    "glpat-": "[A-Za-z0-9_.-]{20,}",
    "sk-": "[A-Za-z0-9_-]{16,}",
    "sk_": "[A-Za-z0-9_-]{16,}",
    "rk_": "(?:live|test)_[A-Za-z0-9]{16,}",
    "whsec_": "[A-Za-z0-9+/=]{16,}",
    "AKIA": "[A-Z0-9]{16}(?![A-Za-z0-9])",
    "ASIA": "[A-Z0-9]{16}(?![A-Za-z0-9])",
    "AIza": "[A-Za-z0-9_-]{30,}",
    "ya29.": "[A-Za-z0-9_-]{20,}",
    "xox": "[a-z]-[A-Za-z0-9-]{10,}",
    "xapp-": "[A-Za-z0-9-]{20,}",
    "hf_": "[A-Za-z0-9]{20,}",
    "npm_": "[A-Za-z0-9]{20,}",
    "pypi-": "[A-Za-z0-9_-]{50,}",
    "dckr_pat_": "[A-Za-z0-9_-]{20,}",
    "SG.": "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}",
    "SK": "[0-9a-f]{32}(?![A-Za-z0-9])",
    "shpat_": "[0-9a-fA-F]{32}",
    "shpca_": "[0-9a-fA-F]{32}",
    "shppa_": "[0-9a-fA-F]{32}",
    "shpss_": "[0-9a-fA-F]{32}",
    "dop_v1_": "[0-9a-f]{32,}",
    "doo_v1_": "[0-9a-f]{32,}",
    "hvs.": "[A-Za-z0-9_-]{20,}",
    "hvb.": "[A-Za-z0-9_-]{20,}",
    "dapi": "[0-9a-f]{32}(?![A-Za-z0-9])",
    "figd_": "[A-Za-z0-9_-]{20,}",
    "lin_": "(?:api|oauth)_[A-Za-z0-9]{20,}",
    "ntn_": "[A-Za-z0-9]{20,}",
    "sbp_": "[0-9a-f]{32,}",
    "gsk_": "[A-Za-z0-9]{20,}",
    "xai-": "[A-Za-z0-9]{20,}",
    "pplx-": "[A-Za-z0-9]{20,}",
    "tvly-": "[A-Za-z0-9_-]{16,}",
    "nvapi-": "[A-Za-z0-9_-]{20,}",
    "r8_": "[A-Za-z0-9]{20,}",
    "m0-": "[A-Za-z0-9]{20,}",
    "hsk-": "[A-Za-z0-9_-]{16,}",
    "brv_": "[A-Za-z0-9_-]{16,}",
    "AGE-SECRET-KEY-": "[0-9A-Z]{40,}",
    "eyJ": "[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]*){0,2}",
}
"""How each begins, and what follows."""

_BEGIN: Final = "-----BEGIN "

TOKENS: Final = (
    (_BEGIN, f"{_BEGIN}{_KEY_LABEL}-----(?:.*?-----END {_KEY_LABEL}-----|.*)"),
    *((start, f"{re.escape(start)}{alone(re.escape(start))}{rest}") for start, rest in _STARTS.items()),
    ("://", "(?<=://)[^/?#@: \\t\\r\\n\"']{0,256}:[^/?#@ \\t\\r\\n\"']{1,256}(?=@)"),
)
"""What must be in a text for a pattern to match, and the pattern: most texts hold none of it, and `in` is quick.

They are text, and a dot in them is any character: most are never needed, and compiling all of them takes milliseconds.
"""
