"""A small kind of database file to try `relay_queue.sqlite` on: books on a shelf."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from relay_queue.sqlite.database import Schema, close_writer, open_writer

MARK = 0x5E1F

SHELF_1 = """
CREATE TABLE book (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL UNIQUE,
    pages TEXT NOT NULL DEFAULT ''
) STRICT;
"""

SHELF_2 = """
CREATE TABLE loan (
    book INTEGER NOT NULL REFERENCES book (id),
    reader TEXT NOT NULL
) STRICT;
CREATE INDEX loan_book ON loan (book);
-- A table is rebuilt, with rows of another table that point at it.
CREATE TABLE new_book (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL UNIQUE,
    pages TEXT NOT NULL DEFAULT '',
    shelf TEXT NOT NULL DEFAULT 'a;b'
) STRICT;
INSERT INTO new_book (id, title, pages) SELECT id, title, pages FROM book;
DROP TABLE book;
ALTER TABLE new_book RENAME TO book;
"""

SCHEMA_1 = Schema(MARK, (SHELF_1,))
SCHEMA_2 = Schema(MARK, (SHELF_1, SHELF_2))


def make_shelf(path: Path, titles: Iterable[str] = (), schema: Schema = SCHEMA_1) -> Path:
    """Make a file with these books, closed cleanly."""
    connection = open_writer(path, schema, create=True)
    add_books(connection, [{"title": title} for title in titles])
    close_writer(connection)
    return path


def add_books(connection: sqlite3.Connection, books: list[dict[str, str]]) -> list[int]:
    """Insert books; one result for each, as a merged job must give."""
    connection.executemany(
        "INSERT INTO book (title, pages) VALUES (:title, :pages)", [{"pages": "", **b} for b in books]
    )
    return [len(book["title"]) for book in books]


def titles_in(path: Path) -> list[str]:
    """Read all titles through a connection of its own, as another process would."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return [title for (title,) in connection.execute("SELECT title FROM book ORDER BY id")]


def names_beside(path: Path) -> list[str]:
    """Name every file of the directory."""
    return sorted(file.name for file in path.parent.iterdir())


def scribble(path: Path, page: int) -> None:
    """Overwrite the middle of one page (from 1, of 4 KiB) with nonsense."""
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 2048)
