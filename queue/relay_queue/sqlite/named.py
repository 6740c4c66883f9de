"""SQL kept in files: named queries and numbered migrations."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from relay_queue.package import package_directory

__all__ = ("SqlFileWrong", "load", "load_migrations", "parse", "split_statements")

_NAME = "-- name: "
_COMMENT = "--"
_SCHEMA = "schema.sql"


class SqlFileWrong(ValueError):
    """A file of SQL that we ship is not written as it must be."""

    def __init__(self, what: str, rule: str) -> None:
        self.what = what
        self.rule = rule
        super().__init__(f"{what}: {rule}")


def load(package: str) -> Mapping[str, str]:
    """Read the queries of a package, by name: every file of its `sql/` but `schema.sql`.

    Raises:
        SqlFileWrong: See `parse`.
    """
    found = (package_directory(package) / "sql").glob("*.sql")
    queries = sorted((file for file in found if file.name != _SCHEMA), key=_file_name)
    return parse("\n".join(file.read_text("utf-8") for file in queries))


def parse(text: str) -> Mapping[str, str]:
    """Split a file of queries: each is `-- name: x`, a comment line of meaning, one statement.

    What stands before the first name is for the reader of the file.

    Raises:
        SqlFileWrong: A query has no meaning, is not exactly one statement, or shares its name.
    """
    queries: dict[str, str] = {}
    for part in ("\n" + text).split("\n" + _NAME)[1:]:
        name, _, rest = part.partition("\n")
        name = name.strip()
        if name in queries:
            raise SqlFileWrong(name, "two queries have this name")
        queries[name] = _one_statement(name, rest)
    return MappingProxyType(queries)


def load_migrations(package: str) -> tuple[str, ...]:
    """Read `sql/migrations/0001_*.sql`, `0002_*.sql`, ... of a package, in order.

    Raises:
        SqlFileWrong: A number is missing or used twice.
    """
    scripts = sorted((package_directory(package) / "sql" / "migrations").glob("*.sql"), key=_file_name)
    numbers = [file.name.partition("_")[0] for file in scripts]
    if numbers != [f"{number:04}" for number in range(1, len(numbers) + 1)]:
        raise SqlFileWrong(package, f"migrations are numbered {numbers}, not 0001, 0002, ...")
    return tuple(file.read_text("utf-8") for file in scripts)


def split_statements(script: str) -> Iterator[str]:
    """Give the statements of a script one by one, each with the comments before it.

    For what must stay in one transaction: `executescript()` commits the one it is called in.
    """
    statement = ""
    for part in re.split(r"(?<=;)", script):
        statement += part
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if any(map(_is_sql, statement.splitlines())):
        yield statement


def _one_statement(name: str, text: str) -> str:
    meaning, _, rest = text.partition("\n")
    if not meaning.removeprefix(_COMMENT).strip() or _is_sql(meaning):
        raise SqlFileWrong(name, "the line after the name must say what it means")
    statements = list(split_statements(rest))
    if len(statements) != 1:
        raise SqlFileWrong(name, f"one statement expected, {len(statements)} found")
    return statements[0].strip()


def _is_sql(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENT)


def _file_name(file: Path) -> str:
    return file.name
