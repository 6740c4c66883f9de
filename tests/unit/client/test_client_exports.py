"""What each module of the client says it offers is what it offers."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import relayctl

_MODULES = [found.name for found in pkgutil.walk_packages(relayctl.__path__, "relayctl.") if not found.ispkg]


def _own(module: ModuleType) -> set[str]:
    """Name the public classes and functions that a module defines itself."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and getattr(value, "__module__", None) == module.__name__
    }


@pytest.mark.parametrize("name", _MODULES)
def test_all_is_a_tuple_of_what_is_there(name: str) -> None:
    """Every name exists, and no public class or function is left out."""
    module = importlib.import_module(name)
    assert isinstance(module.__all__, tuple)
    assert [entry for entry in module.__all__ if not hasattr(module, entry)] == []
    assert _own(module) <= set(module.__all__)
