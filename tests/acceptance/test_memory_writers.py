"""Many processes decide at once while some of them, or the daemon, are killed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

from tests import stage
from tests.indexed import differences

WORKERS = 8
EACH = 200
HALF = EACH // 2
DECIDING = Path(__file__).with_name("deciding.py")
ROOT = Path(__file__).parents[2]


class Worker:
    """A process that decides.

    Attributes:
        acknowledged: How many of its decisions were answered, as far as it was read.
    """

    def __init__(self, stack: ExitStack, home: Path, number: int, count: int = EACH) -> None:
        self.name = f"w{number}"
        self._count = count
        self.process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, str(DECIDING), str(home), self.name, str(count)],
                stdout=subprocess.PIPE,
                text=True,
                env={**stage.CLEAN, "PYTHONPATH": str(ROOT)},
            )
        )
        stack.callback(self.process.kill)
        self.acknowledged = 0

    def advance(self, until: int) -> None:
        """Read what it says until so many were acknowledged, or it ends."""
        assert self.process.stdout is not None
        while self.acknowledged < until and (line := self.process.stdout.readline()):
            assert int(line) == self.acknowledged
            self.acknowledged += 1

    def ended(self) -> int:
        """Read to the end; the exit status."""
        self.advance(self._count)
        return self.process.wait(timeout=stage.STOP_S)


def _check(home: Path, workers: list[Worker], killed: list[Worker]) -> None:
    """See that each acknowledged decision is there once, with its event and its entry, and hardly anything else."""
    with closing(sqlite3.connect(home / "relay.db")) as connection:
        rows = connection.execute("SELECT id, author, text FROM decision").fetchall()
        events = connection.execute("SELECT ref FROM event WHERE kind = 'decision.captured'").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert differences(connection) == []
    there = Counter((author, text) for _, author, text in rows)
    assert set(there.values()) == {1}
    assert sorted(ref for (ref,) in events) == sorted(one for one, _, _ in rows)
    for worker in workers:
        said = {
            (worker.name, f"worker {worker.name} keeps rule number {n}") for n in range(worker.acknowledged)
        }
        assert said <= set(there)
        more = sum(author == worker.name for author, _ in there) - worker.acknowledged
        assert 0 <= more <= (worker in killed)


def _found(running: stage.Daemon, text: str) -> set[str]:
    body = b'{"text": "%s", "global": true, "limit": 100}' % text.encode()
    status, answer = running.call("POST", "/v1/recall", body)
    assert status == 200, answer
    return {item["text"] for item in answer["items"]}


def test_of_eight_writers_two_are_killed(home: Path) -> None:
    """What was acknowledged is there exactly once, of each that was killed at most one more, and all of it is found."""
    with ExitStack() as stack:
        running = stack.enter_context(stage.daemon(home))
        workers = [Worker(stack, home, number) for number in range(WORKERS)]
        killed = workers[:2]
        for worker in killed:
            worker.advance(HALF)
            worker.process.kill()
        assert [worker.ended() for worker in workers[2:]] == [0] * (WORKERS - 2)
        for worker in killed:
            worker.ended()
            assert HALF <= worker.acknowledged < EACH
        _check_search(running)
        assert running.stop() == 0
    assert sum(worker.acknowledged for worker in workers[2:]) == (WORKERS - 2) * EACH
    _check(home, workers, killed)


def test_the_daemon_is_killed_under_eight_writers(home: Path) -> None:
    """Writers that say it again to the next daemon find each decision once, whatever the first one had not answered."""
    with ExitStack() as stack:
        running = stage.start(home)
        stack.callback(lambda: running.kill())  # noqa: PLW0108 -- the one that runs then
        workers = [Worker(stack, home, number, HALF) for number in range(WORKERS)]
        for until in (HALF // 4, HALF // 2):
            workers[0].advance(until)
            running.kill()
            running = stage.start(home)
        assert [worker.ended() for worker in workers] == [0] * WORKERS
        _check_search(running)
        assert running.stop() == 0
    _check(home, workers, [])


def _check_search(running: stage.Daemon) -> None:
    """See that search finds what is there."""
    with closing(sqlite3.connect(running.home / "relay.db")) as connection:
        texts = {text for (text,) in connection.execute("SELECT text FROM decision")}
    for number in range(0, EACH, 25):
        of_number = {text for text in texts if text.endswith(f" number {number}")}
        assert of_number <= _found(running, f"rule number {number}")
