"""The section of an instruction file that belongs to relay: what a run makes of a file, decided without touching one.

Everything outside the markers is its owner's, byte for byte. Within them relay writes over nothing but what it wrote.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal, NamedTuple

from relayctl.edits.document import Document, decode
from relayctl.edits.errors import EditRefused
from relayctl.edits.place import newline_of
from relayctl.repository.markers import BEGIN, END, Section, Unclear, find_section

__all__ = (
    "MAX_BYTES",
    "Outcome",
    "Record",
    "digest",
    "is_digest",
    "is_include",
    "plan_file",
    "plan_removal",
    "plan_section",
    "plan_unfile",
)

MAX_BYTES = 1024 * 1024
"""No instruction file that an agent reads is larger."""

_EDITED = "what relay wrote was changed; --force writes over it"
_FOREIGN = "relay did not write what is there; --force takes it over"
_OFF = "its markers were deleted, so relay leaves it alone; --force adds the section again"
_TOO_LARGE = f"it is over {MAX_BYTES // 1024**2} MiB"
_NO_TEXT = "it is no text"
_CHANGED = "what relay wrote was changed"
_OPEN_FENCE = "a code fence in it is never closed, so a section at its end would be code"

State = Literal["fresh", "written", "created", "removed", "off", "skipped", "refused"]


class Record(NamedTuple):
    """What is known of a file that relay wrote to.

    Args:
        hash: Of what it wrote last; None if it was never seen to end.
        next: Of what it was about to write; None if it is not writing.
        created: The file was not there before.
        before: What it put between the file's end and the section.
    """

    hash: str | None = None
    next: str | None = None
    created: bool = False
    before: str = ""

    def wrote(self, found: str) -> bool:
        """Tell whether a hash is that of something relay wrote."""
        return found in (self.hash, self.next)


class Outcome(NamedTuple):
    """What becomes of a file.

    Args:
        state: `fresh`: it is as it should be. `off`: its owner wants no section. `skipped`: it needs none.
        content: What it shall hold; None if it is not written, or is removed.
        record: What is to be kept of it; None for nothing.
        reason: Why it is `off`, `skipped` or `refused`; without any value of the file.
    """

    state: State
    content: bytes | None = None
    record: Record | None = None
    reason: str = ""


def digest(text: str) -> str:
    """Hash a text; how its lines end does not count, since version control may change that."""
    return "sha256:" + hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def is_digest(found: object) -> bool:
    """Tell whether something that was read is a hash of a text."""
    return isinstance(found, str) and re.fullmatch(r"sha256:[0-9a-f]{64}", found) is not None


def is_include(content: bytes) -> bool:
    """Tell whether a CLAUDE.md does nothing but include AGENTS.md; white space and comments do not count."""
    try:
        text = decode(content).text
    except EditRefused:
        return False
    told = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return told.strip() in ("@AGENTS.md", "@./AGENTS.md")


def plan_section(content: bytes | None, record: Record | None, body: str, *, force: bool) -> Outcome:
    """Decide what a file becomes whose section shall hold a text.

    Args:
        content: The file's; None if there is no file, which makes one.
        record: What is known of it.
        body: Whole lines, each ending in a newline.
        force: What somebody else wrote between the markers may be written over, and deleted ones written again.
    """
    if content is None:
        made = Record(digest(body), created=True)
        return Outcome("created", _with_markers(body, "\n").encode(), made)
    try:
        document = _document(content)
        section = find_section(document.text)
        if section is None:
            return _add(document, record, body, force=force)
        return _update(document, section, record, body, force=force)
    except (EditRefused, Unclear) as refused:
        return Outcome("refused", None, record, str(refused))


def plan_removal(content: bytes | None, record: Record) -> Outcome:
    """Decide what a file becomes without its section: what it was before, if nothing else was changed."""
    if content is None:
        return Outcome("fresh")
    try:
        document = _document(content)
        section = find_section(document.text)
    except (EditRefused, Unclear) as refused:
        return Outcome("refused", None, record, str(refused))
    if section is None:
        return Outcome("fresh")
    if not record.wrote(digest(document.text[section.body : section.body_end])):
        return Outcome("refused", None, record, _CHANGED)
    text = _cut(document.text, section, record.before)
    if record.created and not text.strip():
        return Outcome("removed")
    return Outcome("written", document.encode(text))


def plan_file(content: bytes | None, record: Record | None, text: str, *, force: bool) -> Outcome:
    """Decide what a file becomes that is relay's as a whole."""
    wanted = Record(digest(text), created=content is None or (record is not None and record.created))
    if content is None:
        return Outcome("created", text.encode(), wanted)
    found = _digest_of(content)
    if found == wanted.hash:
        return Outcome("fresh", None, None if record is None and not force else wanted)
    if not force and (record is None or not record.wrote(found)):
        return Outcome("refused", None, record, _FOREIGN if record is None else _EDITED)
    return Outcome("written", text.encode(), wanted)


def plan_unfile(content: bytes | None, record: Record) -> Outcome:
    """Decide whether a file that is relay's as a whole may be removed."""
    if content is None:
        return Outcome("fresh")
    if record.wrote(_digest_of(content)):
        return Outcome("removed")
    return Outcome("refused", None, record, _CHANGED)


def _document(content: bytes) -> Document:
    if len(content) > MAX_BYTES:
        raise EditRefused(_TOO_LARGE)
    document = decode(content)
    if "\0" in document.text:
        raise EditRefused(_NO_TEXT)
    return document


def _digest_of(content: bytes) -> str:
    """Hash a whole file; what is no UTF-8 was not written by relay, and equals nothing it wrote."""
    try:
        return digest(content.decode())
    except UnicodeDecodeError:
        return ""


def _add(document: Document, record: Record | None, body: str, *, force: bool) -> Outcome:
    """Append the section to a file without one, unless its owner deleted it."""
    if record is not None and record.hash is not None and not force:
        return Outcome("off", None, record, _OFF)
    text = document.text
    newline = newline_of(text)
    before = _gap(text, newline)
    whole = text + before + _with_markers(body, newline)
    made = Record(digest(body), before=before)
    try:
        section = find_section(whole)
    except Unclear:
        section = None
    if section is None or section.start != len(text) + len(before):
        raise EditRefused(_OPEN_FENCE)
    return Outcome("written", document.encode(whole), made)


def _update(
    document: Document, section: Section, record: Record | None, body: str, *, force: bool
) -> Outcome:
    """Exchange what is between the markers, if relay wrote it."""
    text = document.text
    found, wanted = digest(text[section.body : section.body_end]), digest(body)
    if found == wanted:
        known = Record() if record is None and force else record
        return Outcome("fresh", None, known and _now(known, wanted))
    if not force and (record is None or not record.wrote(found)):
        return Outcome("refused", None, record, _FOREIGN if record is None else _EDITED)
    newline = "\r\n" if text[: section.body].endswith("\r\n") else "\n"
    whole = text[: section.body] + body.replace("\n", newline) + text[section.body_end :]
    return Outcome("written", document.encode(whole), _now(record or Record(), wanted))


def _now(record: Record, wanted: str) -> Record:
    return record._replace(hash=wanted, next=None)


def _with_markers(body: str, newline: str) -> str:
    return f"{BEGIN}\n{body}{END}\n".replace("\n", newline)


def _gap(text: str, newline: str) -> str:
    """Give what parts a section from the text before it: an empty line."""
    if not text or text.endswith(2 * newline):
        return ""
    return newline if text.endswith("\n") else 2 * newline


def _cut(text: str, section: Section, before: str) -> str:
    """Take a section out; the empty line that came with it stays if it parts what is above from what is below."""
    above, below = text[: section.start], text[section.end :]
    if below or not before:
        return above + below
    for newline in ("\r\n", "\n"):  # version control may have changed them since
        spelt = before.replace("\r\n", "\n").replace("\n", newline)
        if above.endswith(spelt):
            return above.removesuffix(spelt)
    return above
