"""The public surface of the library: what it names it has, and nothing is loaded before it is used."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import relay_queue

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(relay_queue.__path__, "relay_queue.")
    if "__main__" not in module.name
)


def test_every_name_can_be_had() -> None:
    """All names of `__all__` exist, are sorted, and are what their modules export."""
    assert len(set(relay_queue.__all__)) == len(relay_queue.__all__)
    for name in relay_queue.__all__:
        assert getattr(relay_queue, name) is not None
        assert name in dir(relay_queue)


def test_the_surface_is_the_same_for_types_and_at_run_time() -> None:
    """What type checkers see imported, what is found lazily and `__all__` are the same names."""
    tree = ast.parse(Path(str(relay_queue.__file__)).read_text())
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    checked = [name.name for node in guarded.body for name in node.names]
    assert sorted(checked) == sorted(relay_queue._MODULE_OF) == sorted(relay_queue.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that is not exported fails as it does for any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = relay_queue.nothing


@pytest.mark.parametrize("name", MODULES)
def test_modules_export_what_they_say(name: str) -> None:
    """Each module has a tuple `__all__` whose names exist, and the package takes only names from it."""
    module = importlib.import_module(name)
    if name == "relay_queue.sqlite":
        return
    assert isinstance(module.__all__, tuple)
    assert [one for one in module.__all__ if not hasattr(module, one)] == []
    taken = relay_queue._HOMES.get(name.removeprefix("relay_queue."), ())
    assert set(taken) <= set(module.__all__)


def test_the_lock_can_be_taken_before_anything_heavy() -> None:
    """Importing the module of private directories loads none of the library's dependencies."""
    program = "import relay_queue.private, sys; print(*sys.modules)"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60, env=clean
    ).stdout.split()
    heavy = {"msgspec", "sqlite3", "asyncio", "anyio", "aiosqlite", "json", "relay_queue.outbox"}
    assert heavy.isdisjoint(loaded)
