"""Print the table of figures: `python -m tests.bench [--strict] [NAME ...]`."""

from __future__ import annotations

import importlib
import sys

from tests.bench.row import Row, table

NAMES = (
    "hooks",
    "processes",
    "posts",
    "enqueue",
    "flush",
    "backlog",
    "brief",
    "recall",
    "gate",
    "mcp",
    "idle",
)


def main(arguments: list[str]) -> int:
    """Measure each group in a fresh home; with --strict a bound that does not hold makes the exit status 1."""
    strict = "--strict" in arguments
    names = [name for name in arguments if not name.startswith("-")] or NAMES
    rows: list[Row] = []
    for name in names:
        sys.stderr.write(f"measuring {name} ...\n")
        rows += importlib.import_module(f"tests.bench.{name}").rows()
    sys.stdout.write(table(rows) + "\n")
    over = [row.what for row in rows if not row.holds]
    if over:
        sys.stdout.write(
            f"\nover the bound in this run (machines are shared and noisy: repeat): {'; '.join(over)}\n"
        )
    return 1 if strict and over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
