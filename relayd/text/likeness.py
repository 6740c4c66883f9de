"""Whether something that stands where a credential may stand looks made up by chance, or by a person who writes words.

Nothing here weighs letters against a language: it asks how letters, digits and cases change within what a reader
sees as one word. Words, names, versions, paths, variables and masks do not change much; keys do all the time.
"""

import re
from typing import Final

from relayd.text.late import Late

__all__ = ("is_irregular", "is_key", "is_mask", "is_password", "is_wordy")

_RUN = Late("[A-Za-z0-9]+")
_PLAIN = Late(
    "[A-Z]?[a-z]{1,24}|[A-Z]{1,24}|[0-9]{1,4}|[A-Za-z]{1,8}[0-9]{1,2}|[0-9]{1,2}[A-Za-z]{1,2}|[A-Z]?[a-z]{2,16}(?:[A-Z][a-z]{2,16}){1,5}"
)
_KNOWN = Late(
    "(?:(?:sha|md|rsa|aes|ed|tls|utf|base|oauth|argon|pbkdf|bcrypt|blake|pkcs|http|ipv|rfc|iso|secp|curve)[0-9]{1,5}"
    "|[hrep]s(?:256|384|512)|[px](?:256|384|521|509|25519))[a-z]{0,20}[0-9]{0,2}",
    re.IGNORECASE,
)
"""Algorithms, encodings and standards: they are named where credentials are spoken of."""

_WITHIN = Late("sha(?:1|224|256|384|512)|aes(?:128|192|256)|md5|base64|oauth2", re.IGNORECASE)
"""The same within a name: `HmacSHA256Key`."""

_CHANGE = Late("(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_UUID = Late("[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_DATE = Late("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MAIL = Late("[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,255}\\.[A-Za-z]{2,}")
_ELSEWHERE = Late(
    "[$<{]|%(?:[A-Za-z_]{1,64}%|[sd({])|@[A-Za-z_]{1,64}@|[~.]{0,2}/|[A-Za-z][A-Za-z0-9+.-]{1,20}://|sha[0-9]{1,3}[:-]"
    "|(?:os\\.environ|process\\.env|env|secrets|vault|ssm|arn|file)[.:/]",
    re.IGNORECASE,
)
"""How a value begins that only says where the secret is: a variable, a path, an address, a template, a digest."""

_MASK = Late(
    "[xX*.\u2026\u2022#_?0-]+|\\[REDACTED.*|<[^<>]*>|\\$?\\{[^{}]*\\}|\\$[A-Za-z_][A-Za-z0-9_]*|%[A-Za-z_]*%?s?"
)
_SPECIAL = frozenset("!@#$%^&*?+~=|")
_BASE64 = re.compile("[A-Za-z0-9+/_-]{32,}={0,2}")

_PASSWORD_CHARS: Final = 8
_KEY_CHARS: Final = 12


def is_mask(value: str) -> bool:
    """Tell whether a value stands in for another: crosses, stars, dots, a variable, something in angle brackets."""
    return _MASK.fullmatch(value) is not None


def is_wordy(text: str) -> bool:
    """Tell whether a text is made of words and numbers, whatever stands between them."""
    return all(
        _PLAIN.fullmatch(run) or _KNOWN.fullmatch(run) or len({*run.lower()}) == 1
        for run in _RUN.findall(text)
    )


def is_password(value: str) -> bool:
    """Tell whether a value looks like one that somebody chose: eight characters or more, letters mixed with others."""
    if len(value) < _PASSWORD_CHARS or _speaks_of_others(value):
        return False
    if " " in value:
        return any(map(is_key, value.split()))
    mixed = _mixed(value)
    if sum(map(len, mixed)) >= _PASSWORD_CHARS:
        return True
    return bool(_SPECIAL & {*value}) and any(c.isalpha() for c in value) and any(c.isdigit() for c in value)


def is_irregular(value: str) -> bool:
    """Tell whether more than a number is added to a word: `attempt12` is regular, `hunter2abc` is not."""
    return len(_CHANGE.findall(value)) > 1 or bool(_SPECIAL & {*value})


def is_key(value: str) -> bool:
    """Tell whether a value looks like one that a program made."""
    if len(value) < _KEY_CHARS or _speaks_of_others(value):
        return False
    if " " in value:
        return any(map(is_key, value.split()))
    mixed = _mixed(value)
    changes, chars = sum(len(_CHANGE.findall(run)) for run in mixed), sum(map(len, mixed))
    if chars >= _KEY_CHARS and changes >= 3:  # noqa: PLR2004 -- `key1-dev2` has two
        return True
    if any(len(run) >= 16 and len(_CHANGE.findall(run)) >= 2 for run in mixed):  # noqa: PLR2004 -- see above
        return True
    return _BASE64.fullmatch(value) is not None and _classes(value) == len("aA1") and not is_wordy(value)


def _speaks_of_others(value: str) -> bool:
    """Tell whether a value is known not to be a secret itself."""
    if is_mask(value) or _ELSEWHERE.match(value):
        return True
    return any(shape.fullmatch(value) for shape in (_UUID, _MAIL)) or _DATE.match(value) is not None


def _mixed(value: str) -> list[str]:
    """Give the runs that have letters and digits, without those that are known words."""
    runs = (_WITHIN.sub("", run) for run in _RUN.findall(value) if not _KNOWN.fullmatch(run))
    return [run for run in runs if run and not run.isalpha() and not run.isdigit()]


def _classes(value: str) -> int:
    return sum((any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value))))
