"""Paths of which nothing is captured, by patterns as in `.gitignore`.

Nothing here looks at the disk: a path is what it says, symbolic links are not followed.

Source: docs/hooks.md, "Ignored paths".
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from os.path import expanduser
from posixpath import normpath
from typing import Final

from relayd.errors import ConfigRefused
from relayd.text.tokens import alone

__all__ = ("IGNORED", "Patterns", "names_paths")

IGNORED: Final = "[IGNORED PATH]"
"""Stands where a path was."""

_SETTING: Final = "capture.ignore_paths"
_FLAGS: Final = re.IGNORECASE if sys.platform == "darwin" else 0
"""As the disk of the system usually has it."""

_PATH_KEYS: Final = ("path", "paths", "cwd", "file", "files", "dir", "dirs", "directory", "root", "uri")

_END = "\\s\"'`<>"
_BREAK = (
    _END
    + "()\\[\\]{},;:=|\uff0c\u3002\u3001\uff1b\uff1a\uff01\uff1f\u300c-\u300f\uff08\uff09\u300a\u300b\u3010\u3011\u2018-\u201d"
)
_QUOTED = alone() + r"([\"'`])(@?[^\"'`\n/]{0,255}/[^\"'`\n]{0,4096})\1"
"""A text between quotes that may be a path with spaces."""
_WORD = rf"(?<![^{_BREAK}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://[^{_END}]*|(?=[^{_BREAK}/.@~]*[/.@~])(?:\\ |[^{_BREAK}])+)"
"""A URL, or a word that may be a path."""
_MARKS: Final = "/.@~"
_STOPS: Final = ".!?\u2026"
_ESCAPE = r"(\\(?:u[0-9A-Fa-f]{4}|[\\\"'abefnrtv]))"
"""As JSON has it in a string: in text that was quoted so, a path may stand right behind one."""
_TILDE = re.compile(r"~(?=/|\Z)")

_FLAWS: Final = (
    (r"\A[\s/]*\Z", "names no path"),
    (r"[\x00-\x1f\x7f]", "must not have control characters"),
    (r"\A!", "must not begin with !: what is ignored cannot be taken in again"),
    (r"(?<!\\)(?:\\\\)*\[", "must not have a set in [ ]; write \\[ for the character itself"),
    (r"(?<!\\)(?:\\\\)*\\\Z", "ends with a backslash that escapes nothing"),
    (r"(?:\A|/)\.\.?(?:/|\Z)", "must not have . or .. as a part"),
)
"""What no pattern may have, and how that is told."""


def names_paths(key: str) -> bool:
    """Whether a member's name says that its value is a path, or several."""
    return key.lower().endswith(_PATH_KEYS)


class Patterns:
    """What is ignored, compiled once.

    Args:
        patterns: Each that of a path or of the end of one; none has a flaw.
        home: What `~` stands for, absolute.
    """

    def __init__(self, patterns: Sequence[str], home: str) -> None:
        self._home = home
        whole = [_expanded(pattern, home) for pattern in patterns]
        self._path = _compiled(f"/(?:{'|'.join(map(_expression, whole))})") if patterns else None
        spellings = dict.fromkeys((*whole, *map(_composed, patterns)))
        spaced = [_in_text(spelling) for spelling in spellings if " " in spelling]
        self._spaced = _compiled("|".join(spaced)) if spaced else None

    @classmethod
    def parse(cls, patterns: Sequence[str], home: str | None = None) -> "Patterns":
        """Check patterns and compile them.

        Args:
            patterns: As set.
            home: What `~` stands for; this user's home if None.

        Raises:
            ConfigRefused: One could never match, or says what is not supported.
        """
        home = expanduser("~") if home is None else home  # noqa: PTH111 -- Path would raise where there is none
        for number, pattern in enumerate(patterns, 1):
            rule = _flaw(pattern, home)
            if rule is not None:
                raise ConfigRefused(_SETTING, f"pattern {number} {rule}")
        return cls(patterns, home)

    def __bool__(self) -> bool:
        return self._path is not None

    def cover(self, path: str, base: str | None) -> bool:
        """Whether a path, or a directory above it, is ignored.

        Args:
            path: Absolute, from `~`, or relative.
            base: What a relative one starts from, absolute; None if that is not known.
        """
        if self._path is None or not path:
            return False
        path = path.replace("\\ ", " ")
        if _TILDE.match(path):
            path = self._home + path[1:]
        whole = path if path[0] == "/" else f"{base or ''}/{path}"
        if "//" in whole or "/." in whole:
            # Two slashes at the start mean nothing to us, but normpath keeps them.
            whole = normpath(f"/{whole.lstrip('/')}")
        return self._path.match(_composed(whole) + "/") is not None

    def hide(self, text: str, base: str | None) -> str:
        """Replace each ignored path in a text: a quoted one, or a word that has a slash or a dot or begins with `@`."""
        if self._path is None:
            return text
        if self._spaced is not None and self._spaced.search(composed := _composed(text)):
            text = self._spaced.sub(IGNORED, composed)
        if "/" in text and any(quote in text for quote in "\"'`"):
            text = _compiled(_QUOTED).sub(lambda found: self._quoted(found, base), text)
        return _compiled(_WORD).sub(lambda found: self._word(found[0], base), text)

    def _quoted(self, found: re.Match[str], base: str | None) -> str:
        path = found[2].rstrip("\\")  # of a closing quote that is escaped
        if not self.cover(path.lstrip("@"), base):
            return found[0]
        return f"{found[1]}{IGNORED}{found[2][len(path) :]}{found[1]}"

    def _word(self, word: str, base: str | None) -> str:
        if "://" in word and not word.startswith("file://"):
            return word
        bare = word.rstrip(_STOPS)
        if not any(mark in bare for mark in _MARKS):
            return word
        path = bare.removeprefix("file://").lstrip("@")
        if self.cover(path, base):
            return IGNORED + word[len(bare) :]
        if "\\" in bare and len(pieces := _compiled(_ESCAPE).split(word)) > 1:
            return "".join(
                piece if number % 2 else self._word(piece, base) for number, piece in enumerate(pieces)
            )
        # In a script without spaces a path follows right behind a word.
        at = bare.find("/")
        if at > 0 and not bare[at - 1].isascii() and self.cover(bare[at:], base):
            return bare[:at] + IGNORED + word[len(bare) :]
        return word


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compile when it is first needed: most homes have no patterns."""
    return re.compile(expression, _FLAGS)


def _flaw(pattern: str, home: str) -> str | None:
    """Say what is wrong with a pattern; None if nothing is."""
    for flawed, rule in _FLAWS:
        if re.search(flawed, pattern):
            return rule
    if _TILDE.match(pattern) and not home.startswith("/"):
        return "begins with ~, but the home directory is not known"
    return None


def _expanded(pattern: str, home: str) -> str:
    """Put the home for `~`, whose own characters mean themselves."""
    if _TILDE.match(pattern):
        pattern = re.sub(r"([\\*?\[])", r"\\\1", home.rstrip("/")) + pattern[1:]
    return _composed(pattern)


def _composed(text: str) -> str:
    """Bring letters with marks into one form: some disks take them apart."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _expression(pattern: str) -> str:
    """Translate a pattern into one that matches the start of a path that ends in a slash, after its first slash.

    Two stars at the end say what holds anyway: all below is ignored too, and the directory with it.
    Each run of segments is taken where it is first found and never again (`?>`): so the time is bounded by the length of
    the path, whatever the stars.
    """
    absolute = pattern.startswith("/")
    segments = [segment for segment in pattern.split("/") if segment]
    runs: list[str] = []
    run = ""
    for number, segment in enumerate(segments):
        if segment != "**":
            run += f"{_segment(segment)}/"
        elif number:
            runs.append(run)
            run = ""
        else:
            absolute = False
    first, *others = [*runs, run] if run or not runs else runs
    anywhere = "(?>(?:[^/]+/)*?{})"
    return (first if absolute else anywhere.format(first)) + "".join(anywhere.format(run) for run in others)


def _segment(segment: str) -> str:
    """Translate one part of a path: `*` and `?` for characters of it, a backslash before one that means itself."""
    pieces = list(_pieces(segment))
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _pieces(segment: str) -> Iterator[str]:
    """Cut at the stars."""
    piece = ""
    for mark in re.findall(r"\\.|.", segment):
        if mark == "*":
            yield piece
            piece = ""
        else:
            piece += "[^/]" if mark == "?" else re.escape(mark[-1])
    yield piece


def _in_text(pattern: str) -> str:
    """Translate a pattern with a space, which words of a text would miss; its stars do not reach over spaces."""
    segments = [_segment(segment).replace("[^/]", f"[^/{_END}]") for segment in pattern.split("/") if segment]
    start = {"/": "/", "~": ""}.get(pattern[0], "(?<=/)")
    return start + "/".join(segments) + f"(?=[/{_BREAK}{_STOPS}]|\\Z)(?:/[^{_BREAK}]*)?"
