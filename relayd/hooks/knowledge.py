"""What a session of an agent knows of the memory, as it is kept in the session's row."""

from __future__ import annotations

import msgspec

from relayd.brief.told import Told, newest_of
from relayd.store.sessions import SessionRow

__all__ = ("Knowledge",)


class Knowledge(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session was told, as it is kept on disk: identifiers and times only.

    Args:
        told: As those say it who make the texts.
        whole_of: The project of which it was told all it should know; None if only what its prompts were about.
        beginning: How it began when it was.
        whole_at_ms: When that was, wall clock.
    """

    told: Told
    whole_of: int | None = None
    beginning: str | None = None
    whole_at_ms: int = 0

    @classmethod
    def read(cls, row: SessionRow | None) -> Knowledge | None:
        """Read what a row says; None if nothing, or nothing that can be read: it is told again then."""
        if row is None or row.told is None:
            return None
        try:
            return msgspec.json.decode(row.told, type=cls)
        except msgspec.DecodeError:
            return None

    def written(self) -> str:
        """Write it for a row, no more of it than is kept."""
        told = msgspec.structs.replace(self.told, items=newest_of(self.told.items.items()))
        return msgspec.json.encode(msgspec.structs.replace(self, told=told)).decode()
