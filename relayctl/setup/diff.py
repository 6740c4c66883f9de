"""A change of settings as people read it: what is ours in full, what is others' without its values.

Settings hold credentials, in places that nobody can list: so a text that is not ours is never shown, wherever it is.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import lru_cache

from relayctl.setup.entries import shown

__all__ = ("between",)

_CONTEXT_LINES = 1
_HIDDEN = "…"
# A file without line ends, as programs write them, is laid out for the eye.
_WIDE = 200
_CUT = 400
_SHORT = 16
_JSON = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*")(?P<key>\s*:)?')
_TOML = re.compile(
    r'(?P<text>"""(?:\\[\s\S]|[^\\])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')(?P<key>[ \t]*[.=])?'
    r"|(?P<comment>#[^\n]*)"
)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{\[,]')


@lru_cache(maxsize=16)  # large settings take seconds, and the same change is looked at more than once
def between(path: str, old: bytes | None, new: bytes | None) -> str:
    """Compare a file as it is with what it shall be; a unified diff, in which no text of others' stands.

    Args:
        path: Its name, which also tells its form: TOML by its ending, else JSON.
        old: UTF-8; None if it is not there.
        new: UTF-8; None if it goes.
    """
    toml = path.endswith(".toml")
    before, after = (_masked(content, toml=toml) for content in (old, new))
    if not toml and any(len(line) > _WIDE for line in (*before.split("\n"), *after.split("\n"))):
        before, after = _laid_out(before), _laid_out(after)
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), *_names(path, old, new), n=_CONTEXT_LINES, lineterm=""
    )
    return "\n".join(_cut(lines))


def _names(path: str, old: bytes | None, new: bytes | None) -> tuple[str, str]:
    return (
        f"{path} (is not there)" if old is None else path,
        f"{path} (is removed)" if new is None else path,
    )


def _masked(content: bytes | None, *, toml: bool) -> str:
    """Take all texts that are not ours out of a file, and what its comments say."""
    text = (content or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return (_TOML if toml else _JSON).sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    if found.groupdict().get("comment"):
        return f"# {_HIDDEN}"
    if found["key"] is not None or (_may_be_ours(found["text"]) and shown(_value(found["text"]))):
        return found[0]
    return f'"{_HIDDEN}"'


def _may_be_ours(token: str) -> bool:
    """Tell whether a text is worth reading: settings can hold a million that are not."""
    return len(token) <= _SHORT or "relay-" in token


def _value(token: str) -> str:
    """Read a text as JSON or TOML writes it; what cannot be read so is none of ours."""
    if token.startswith("'"):
        return token.strip("'")
    try:
        value = json.loads(token)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def _laid_out(text: str) -> str:
    """Begin a line after every comma and bracket outside of texts."""
    return _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else f"{found[0]}\n", text)


def _cut(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if len(line) <= _CUT else f"{line[:_CUT]}{_HIDDEN}"
