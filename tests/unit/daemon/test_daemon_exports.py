"""What the daemon's modules offer."""

import importlib
import inspect

import pytest

MODULES = [
    "config",
    "daemon",
    "errors",
    "events",
    "exits",
    "fault",
    "home",
    "leaving",
    "listen",
    "lock",
    "log",
    "log_file",
    "report",
    "server",
    "services",
    "api.app",
    "api.body",
    "api.problem",
    "api.response",
    "projects.directory",
    "projects.git",
    "projects.git_config",
    "projects.place",
    "projects.remote",
    "projects.rules_file",
    "projects.slug",
    "projects.small_file",
]


@pytest.mark.parametrize("name", MODULES)
def test_all_lists_what_is_public(name):
    """`__all__` is a tuple of exactly the public classes and functions that a module defines, and its constants."""
    module = importlib.import_module(f"relayd.{name}")
    made_here = {
        key
        for key, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__
    }
    assert isinstance(module.__all__, tuple)
    assert {key for key in made_here if not key.startswith("_")} <= set(module.__all__)
    assert all(hasattr(module, key) for key in module.__all__)
    assert all(key in made_here or key.isupper() or key == "Log" for key in module.__all__)
