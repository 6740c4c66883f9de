"""Take secrets out of text and of JSON values before anything of them is kept.

Source: docs/receiver.md, "Excerpts".
"""

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from relayd.text.late import Late
from relayd.text.tokens import alone, possible

__all__ = ("LONGEST_START", "MARK", "is_secret_key", "scrub_key", "scrub_text")

MARK: Final = "[REDACTED]"

LONGEST_START: Final = 600
"""No pattern needs more characters than this before it matches: what a cut leaves unrecognized of a secret is shorter."""

_BEARER = Late(
    f"({alone()}bearer[ \\t]{{1,8}})(?!\\[REDACTED)[A-Za-z0-9._~+/=-]{{8,}}", re.IGNORECASE | re.ASCII
)

_NAMED = Late(
    "((?:api|access|auth)[ _-]?(?:key|token)|token|secret|password|passwd|passphrase)"
    "(\\\\{0,4}[\"']?[ \\t]{0,8}[=:\uff1a][ \\t]{0,8}\\\\{0,4}[\"']?)(?!\\[REDACTED)"
    "(?:(?<=\")[^\"\\\\\\r\\n]{6,}|(?<=')[^'\\\\\\r\\n]{6,}|[^ \\t\\r\\n\"',;&\\\\]{6,})",
    re.IGNORECASE,
)

_NAMES: Final = ("key", "token", "secret", "passw", "passphrase")
"""One of these is in every name that `_NAMED` knows."""

_SHORTEST: Final = 6
"""Characters of the shortest text that any pattern matches: `://:x@`."""

_UNSEEN = Late("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069]")

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
_READ_KEY = 4_096
"""No more of a name is read for words."""


def scrub_text(text: str) -> str:
    """Replace what looks like a credential, and characters that hide or reorder text; scrubbing twice changes nothing."""
    if not text.isprintable():
        text = _UNSEEN.sub("\ufffd", text)
    if len(text) < _SHORTEST:
        return text
    for shape in possible(text):
        text = _compiled(shape.pattern).sub(MARK, text)
    plain = text.lower()
    if "bearer" in plain:
        text = _BEARER.sub(rf"\1{MARK}", text)
    if any(name in plain for name in _NAMES):
        text = _NAMED.sub(rf"\1\2{MARK}", text)
    return text


def is_secret_key(key: str, value: object) -> bool:
    """Whether a member's name says that its value is a credential, in any camel, snake or kebab spelling.

    A number under the name of a usage metric is none.
    """
    names_secret, names_metric = (
        _read_key(key) if len(key) <= _CACHED_KEY else _read_key.__wrapped__(key[:_READ_KEY])
    )
    if not names_secret:
        return False
    return not names_metric or isinstance(value, bool) or not isinstance(value, int | float)


def scrub_key(key: str) -> str:
    """Scrub a member's name: someone may have put a credential there."""
    return _scrub_short(key) if len(key) <= _CACHED_KEY else scrub_text(key)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


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
