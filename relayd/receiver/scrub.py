r"""Take secrets out of text and of JSON values before anything of them is kept.

Patterns use ASCII look-arounds and spelled-out classes, never `\b` or `\w`: those count CJK letters as parts of a
word, so that a token right behind one would stay hidden.

Source: docs/receiver.md, "Excerpts".
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

__all__ = ("LONGEST_START", "MARK", "is_secret_key", "scrub_key", "scrub_text")

MARK: Final = "[REDACTED]"

LONGEST_START: Final = 600
"""No pattern needs more characters than this before it matches: what a cut leaves unrecognized of a secret is shorter."""

_ALONE = "(?<![A-Za-z0-9]{0})"
"""Behind a pattern's first letters: nothing of the same word may stand before them."""

_KEY_LABEL = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"

_TOKENS: Final = tuple(
    (hint, re.compile(pattern, re.DOTALL))
    for hint, pattern in (
        (
            "-----BEGIN ",
            f"-----BEGIN {_KEY_LABEL}-----(?:.*?-----END {_KEY_LABEL}-----|.*)",
        ),
        ("gh", f"gh{_ALONE.format('gh')}[a-z]_[A-Za-z0-9]{{20,}}"),
        ("github_pat_", f"github_pat_{_ALONE.format('github_pat_')}[A-Za-z0-9_]{{20,}}"),
        ("sk-", f"sk-{_ALONE.format('sk-')}[A-Za-z0-9_-]{{16,}}"),
        ("sk_", f"sk_{_ALONE.format('sk_')}[A-Za-z0-9_-]{{16,}}"),
        ("AKIA", f"AKIA{_ALONE.format('AKIA')}[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
        ("eyJ", f"eyJ{_ALONE.format('eyJ')}[A-Za-z0-9_-]{{16,}}(?:\\.[A-Za-z0-9_-]*){{0,2}}"),
        ("://", "(?<=://)[^/?#@: \\t\\r\\n\"']{0,256}:[^/?#@ \\t\\r\\n\"']{1,256}(?=@)"),
    )
)
"""What must be in a text for a pattern to match, and the pattern: most texts hold none of it, and `in` is quick."""

_BEARER = re.compile(
    "((?<![A-Za-z0-9])bearer[ \\t]{1,8})(?!\\[REDACTED)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE | re.ASCII
)

_NAMED = re.compile(
    "((?:api|access|auth)[ _-]?(?:key|token)|token|secret|password)"
    "(\\\\{0,4}[\"']?[ \\t]{0,8}[=:\uff1a][ \\t]{0,8}\\\\{0,4}[\"']?)(?!\\[REDACTED)"
    "(?:(?<=\")[^\"\\\\\\r\\n]{6,}|(?<=')[^'\\\\\\r\\n]{6,}|[^ \\t\\r\\n\"',;&\\\\]{6,})",
    re.IGNORECASE,
)

_SHORTEST: Final = 6
"""Characters of the shortest text that any pattern matches: `://:x@`."""

_UNSEEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069]")

_SECRET_WORDS = frozenset(
    (
        "authorization", "auth", "jwt", "pwd", "bearer", "password", "passwd", "secret", "token", "cookie", "credential",
        "apikey", "privatekey", "accesskey", "signature",
    )
)  # fmt: skip
_KEY_KINDS = frozenset(("api", "private", "access", "session"))

_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_METRICS = frozenset(
    (
        "tokens", "max_tokens", "input_tokens", "output_tokens", "total_tokens", "prompt_tokens", "completion_tokens",
        "cached_tokens", "reasoning_tokens", "token_count", "tokens_used",
    )
)  # fmt: skip
_QUALIFIERS = frozenset(("access", "api", "auth", "bearer", "id", "refresh", "secret", "session"))

_CACHED_KEY = 64
"""Names up to this length are remembered; longer ones are rare and could fill the memory."""


def scrub_text(text: str) -> str:
    """Replace what looks like a credential, and characters that hide or reorder text; scrubbing twice changes nothing."""
    if not text.isprintable():
        text = _UNSEEN.sub("\ufffd", text)
    if len(text) < _SHORTEST:
        return text
    for hint, pattern in _TOKENS:
        if hint in text:
            text = pattern.sub(MARK, text)
    plain = text.lower()
    if "bearer" in plain:
        text = _BEARER.sub(rf"\1{MARK}", text)
    if "key" in plain or "token" in plain or "secret" in plain or "password" in plain:
        text = _NAMED.sub(rf"\1\2{MARK}", text)
    return text


def is_secret_key(key: str, value: object) -> bool:
    """Whether a member's name says that its value is a credential, in any camel, snake or kebab spelling.

    A number under the name of a usage metric is none.
    """
    names_secret, names_metric = _read_key(key) if len(key) <= _CACHED_KEY else _read_key.__wrapped__(key)
    if not names_secret:
        return False
    return not names_metric or isinstance(value, bool) or not isinstance(value, int | float)


def scrub_key(key: str) -> str:
    """Scrub a member's name: someone may have put a credential there."""
    return _scrub_short(key) if len(key) <= _CACHED_KEY else scrub_text(key)


_scrub_short = lru_cache(maxsize=1_024)(scrub_text)


@lru_cache(maxsize=1_024)
def _read_key(key: str) -> tuple[bool, bool]:
    """Whether a name is that of a secret, and whether it is that of a metric that sounds like one."""
    words = [word.lower() for word in _WORD.findall(key)]
    singular = [word.removesuffix("s") for word in words]
    named = not _SECRET_WORDS.isdisjoint(words) or not _SECRET_WORDS.isdisjoint(singular)
    paired = any(kind in _KEY_KINDS and word in ("key", "keys") for kind, word in pairwise(words))
    metric = "_".join(words) in _METRICS or (words[-1:] == ["tokens"] and _QUALIFIERS.isdisjoint(words))
    return named or paired, metric
