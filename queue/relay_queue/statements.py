"""The named queries and the schema of `queue.db`."""

from collections.abc import Iterable
from typing import Final

import msgspec

from relay_queue.sqlite.database import Schema
from relay_queue.sqlite.named import load, load_migrations

__all__ = ("SCHEMA", "SQL", "json_list")

SQL: Final = load("relay_queue")

SCHEMA: Final = Schema(application_id=0x72_6C_79_71, migrations=load_migrations("relay_queue"))
"""The mark spells `rlyq`."""


def json_list(values: Iterable[object]) -> str:
    """Write values as the JSON array that one `json_each` parameter takes."""
    return msgspec.json.encode(list(values)).decode()
