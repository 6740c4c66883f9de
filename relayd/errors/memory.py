"""What the memory refuses."""

from collections.abc import Sequence
from typing import NamedTuple

from relayd.errors.base import RelaydError

__all__ = (
    "AmbiguousId",
    "SecretRefused",
    "Superseded",
    "Suspect",
    "UnknownItem",
)


class UnknownItem(RelaydError):
    """Nothing in the memory has this identifier."""

    code = "unknown_item"

    def __init__(self) -> None:
        super().__init__("nothing has this identifier")


class AmbiguousId(RelaydError):
    """The beginning of an identifier fits several.

    Args:
        matches: Some of them.
    """

    code = "ambiguous_id"

    def __init__(self, matches: Sequence[str]) -> None:
        self.matches = tuple(matches)
        super().__init__("several identifiers begin like this; give more of it")


class Superseded(RelaydError):
    """What is to be changed was superseded or forgotten.

    Args:
        superseded_by: What took its place; None if nothing did.
    """

    code = "superseded"

    def __init__(self, superseded_by: str | None) -> None:
        self.superseded_by = superseded_by
        super().__init__(
            "it was forgotten" if superseded_by is None else f"it was superseded by {superseded_by}"
        )


class Suspect(NamedTuple):
    """Where a text holds what looks like a credential, and of which kind.

    Args:
        start: Character offset of its first character.
        end: Character offset behind its last one.
    """

    field: str
    kind: str
    start: int
    end: int


class SecretRefused(RelaydError):
    """A text holds what looks like a credential; nothing was stored."""

    code = "secret_refused"

    def __init__(self, suspects: Sequence[Suspect]) -> None:
        self.suspects = tuple(suspects)
        told = "; ".join(
            f"{one.field}: {one.kind} at characters {one.start} to {one.end}" for one in suspects
        )
        super().__init__(f"refused, it looks like a credential: {told}")
