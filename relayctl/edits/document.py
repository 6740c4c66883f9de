"""The text of a settings file and the bytes around it."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from relayctl.edits.place import refusal

__all__ = ("Document", "decode")

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Document(NamedTuple):
    """A file's content, whose lines end as they end in the file.

    Args:
        text: All of it but the byte order mark.
        bom: The file begins with one.
    """

    text: str
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """Give the bytes of another text in this one's place.

        Raises:
            EditRefused: It holds half a surrogate pair, which UTF-8 has no bytes for.
        """
        try:
            return (codecs.BOM_UTF8 if self.bom else b"") + text.encode()
        except UnicodeEncodeError as error:
            raise refusal(text, error.start, "it holds half a character") from None


def decode(content: bytes | None) -> Document:
    """Read the content of a file; that of a file that is not there is empty.

    Raises:
        EditRefused: It is not UTF-8.
    """
    content = content or b""
    if content.startswith(_WIDE):
        raise refusal("", 0, "it is UTF-16, not UTF-8")
    bom = content.startswith(codecs.BOM_UTF8)
    body = content[len(codecs.BOM_UTF8) :] if bom else content
    try:
        return Document(body.decode(), bom)
    except UnicodeDecodeError as error:
        before = body[: error.start].decode()
        raise refusal(before, len(before), "it is not UTF-8") from None
