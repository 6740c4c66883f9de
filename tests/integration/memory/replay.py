"""What a memory must answer, worked out the slow way: a log that is only added to, played again for every question."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ("Log",)

FOREVER_MS = 1 << 60


class _Recorded(NamedTuple):
    at_ms: int
    name: str
    project: str | None
    from_ms: int
    to_ms: int


class _Ended(NamedTuple):
    at_ms: int
    name: str
    true_until_ms: int


class Log:
    """Everything that was ever recorded, in order; only a purge takes something out of it."""

    def __init__(self) -> None:
        self._lines: list[_Recorded | _Ended] = []
        self._over: set[str] = set()

    def record(self, name: str, project: str | None, *, at_ms: int, from_ms: int, to_ms: int | None) -> None:
        """Note that something is true from one instant to another."""
        self._lines.append(_Recorded(at_ms, name, project, from_ms, FOREVER_MS if to_ms is None else to_ms))

    def end(self, name: str, *, at_ms: int, true_until_ms: int) -> None:
        """Note that it was true no longer than this, which was learnt at `at_ms`."""
        self._lines.append(_Ended(at_ms, name, true_until_ms))
        self._over.add(name)

    def purge(self, name: str) -> None:
        """Have it never been there; what it took the place of stays ended."""
        self._lines = [line for line in self._lines if line.name != name]

    @property
    def names(self) -> list[str]:
        """What is recorded, the oldest first."""
        return [line.name for line in self._lines if isinstance(line, _Recorded)]

    @property
    def open_names(self) -> list[str]:
        """What nothing has ended yet."""
        return [name for name in self.names if name not in self._over]

    def project(self, name: str) -> str | None:
        """Whose it is."""
        return self._recorded(name).project

    def span(self, name: str) -> tuple[int, int | None]:
        """From when until when it was said to be true."""
        line = self._recorded(name)
        return line.from_ms, None if line.to_ms == FOREVER_MS else line.to_ms

    def instants(self) -> list[int]:
        """When something was learnt, and when something began or ended to be true."""
        found = {line.at_ms for line in self._lines}
        for line in self._lines:
            found |= {line.from_ms, line.to_ms} if isinstance(line, _Recorded) else {line.true_until_ms}
        return sorted(found - {FOREVER_MS})

    def held(self, project: str | None, *, as_of_ms: int, known_at_ms: int) -> list[str]:
        """What was true in one project alone (None: of all projects), as far as it was known; the newest first."""
        spans: dict[str, tuple[int, int]] = {}
        for line in self._lines:
            if line.at_ms > known_at_ms:
                continue
            if isinstance(line, _Recorded):
                if line.project == project:
                    spans[line.name] = (line.from_ms, line.to_ms)
            elif line.name in spans:
                begin, end = spans[line.name]
                spans[line.name] = (begin, min(end, line.true_until_ms))
        return [name for name, (begin, end) in reversed(spans.items()) if begin <= as_of_ms < end]

    def _recorded(self, name: str) -> _Recorded:
        return next(line for line in self._lines if isinstance(line, _Recorded) and line.name == name)
