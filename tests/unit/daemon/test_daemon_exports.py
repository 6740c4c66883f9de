"""What the daemon's modules offer."""

import importlib
import inspect
import pkgutil

import pytest

import relayd
from relayd.mcp.tool import Tool

ROUTES = "routes"
"""What a module of the API offers: its handlers and their shapes are reached through the application alone. A module of a
tool is as that."""

MODULES = [found.name for found in pkgutil.walk_packages(relayd.__path__, "relayd.") if not found.ispkg]


@pytest.mark.parametrize("name", MODULES)
def test_all_lists_what_is_public(name):
    """`__all__` is a tuple of the public classes and functions that a module defines, and of its constants."""
    module = importlib.import_module(name)
    made_here = {
        key
        for key, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == name
    }
    assert isinstance(module.__all__, tuple)
    assert all(hasattr(module, key) for key in module.__all__)
    offers_a_tool = any(isinstance(getattr(module, key), Tool) for key in module.__all__)
    if not offers_a_tool and ROUTES not in module.__all__:
        assert {key for key in made_here if not key.startswith("_")} <= set(module.__all__)
