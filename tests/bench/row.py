"""A row of the table: what was measured, its floor of the same run, and the bound the ratio must hold."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table; `value` and `floor` carry the same unit."""

    what: str
    value: float
    unit: str
    bound: float | None
    floor: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def measure(self) -> float:
        """The figure the bound speaks of: a ratio where there is a floor, else the value."""
        return self.value / self.floor if self.floor else self.value

    @property
    def holds(self) -> bool:
        """Whether the bound is held in this run; a row without one is for comparison."""
        if self.bound is None:
            return True
        return self.measure >= self.bound if self.at_least else self.measure <= self.bound

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of HEADER."""
        ratio = f"{self.measure:.2f}" if self.floor else "-"
        floor = f"{self.floor:,.1f} {self.unit}" if self.floor else "-"
        sign = ">=" if self.at_least else "<="
        bound = "-" if self.bound is None else f"{sign} {self.bound:.2f}"
        verdict = "" if self.bound is None else "holds" if self.holds else "OVER"
        return (
            self.what,
            f"{self.value:,.1f} {self.unit}",
            floor,
            ratio,
            bound,
            verdict,
            self.note,
        )


HEADER = ("what", "measured", "floor", "ratio", "bound", "", "note")


def table(rows: Iterable[Row]) -> str:
    """All rows as one aligned table."""
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def medians(runs: int, *measures: Callable[[], float]) -> list[float]:
    """Run the measures in turn, `runs` times each, and give each one's median: noise hits all alike."""
    seen: list[list[float]] = [[] for _ in measures]
    for _ in range(runs):
        for kept, measure in zip(seen, measures, strict=True):
            kept.append(measure())
    return [statistics.median(kept) for kept in seen]
