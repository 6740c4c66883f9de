"""What must still be done to `relay.db`, remembered in it, so that a crash does not lose it."""

from typing import Final

__all__ = ("PURGE", "REINDEX")

REINDEX: Final = "reindex"
"""The search index must be filled anew."""

PURGE: Final = "purge"
"""Free pages and the index may hold what was purged."""
