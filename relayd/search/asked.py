"""Who asks, and for which part of the memory."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from relayd.memory.moment import Moment
from relayd.search.index import scope_token
from relayd.store.index import Kind

__all__ = ("Asked",)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What may be found at all.

    Args:
        project_id: Of this project and of all projects; None is only what is of all.
        moment: When it must hold.
        history: What held at any time too, as far as it was known at that moment.
        kinds: Only these; none means all.
        task: What is of another task is left out; None leaves nothing out.
    """

    project_id: int | None
    moment: Moment
    history: bool
    kinds: Sequence[Kind]
    task: str | None

    @property
    def scopes(self) -> tuple[str, ...]:
        """Whose items, as tokens of the index."""
        everybody = scope_token(None)
        return (everybody,) if self.project_id is None else (scope_token(self.project_id), everybody)

    @property
    def parameters(self) -> dict[str, object]:
        """The same for the queries."""
        return {
            "project_id": self.project_id,
            "as_of_ms": self.moment.as_of_ms,
            "known_at_ms": self.moment.known_at_ms,
            "is_now": self.moment.is_now,
            "history": self.history,
            "kinds": msgspec.json.encode(self.kinds).decode() if self.kinds else None,
            "task": self.task,
        }
