"""A writer whose process is killed while it works."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.sqlite.database import open_writer
from tests.integration.outbox.shelf import SCHEMA_1, make_shelf, titles_in

PRODUCE = """
import asyncio, sys
from pathlib import Path
from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.shelf import SCHEMA_1, add_books

async def produce(writer, name):
    for number in range(100_000):
        book = {"title": f"{name}-{number}", "pages": "x" * 3_000}
        await writer.run(lambda connection: add_books(connection, [book]))
        sys.stdout.write(book["title"] + "\\n")
        sys.stdout.flush()

async def main(path):
    writer = Writer(lambda: open_writer(path, SCHEMA_1), name="w", path=path)
    await writer.start()
    await asyncio.gather(*(produce(writer, name) for name in "abcd"))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("lines", [1, 50, 400])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, lines: int) -> None:
    """After SIGKILL everything a caller had heard of is in the file, each caller's in order, without a gap."""
    path = make_shelf(tmp_path / "shelf.db")
    with subprocess.Popen(
        [sys.executable, "-c", PRODUCE, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        heard = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        heard += process.stdout.read().splitlines(keepends=True)
    acknowledged = {line.strip() for line in heard if line.endswith("\n")}
    assert len(acknowledged) >= lines
    with closing(open_writer(path, SCHEMA_1)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    stored = titles_in(path)
    assert acknowledged <= set(stored)
    for name in "abcd":
        numbers = [int(title.partition("-")[2]) for title in stored if title.startswith(name)]
        assert numbers == list(range(len(numbers)))
