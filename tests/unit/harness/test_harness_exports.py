"""What the modules of the harness room and of the text room offer."""

import importlib
import inspect

import pytest

MODULES = [
    "harness.adapters",
    "harness.claude_code",
    "harness.clean",
    "harness.fitting",
    "harness.identity",
    "harness.ignored",
    "harness.meaning",
    "harness.payload",
    "harness.private_parts",
    "text.graphemes",
    "text.scrub",
    "text.tokens",
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
    assert all(key in made_here or key.isupper() or key == "EventName" for key in module.__all__)
