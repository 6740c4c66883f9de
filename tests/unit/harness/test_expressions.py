"""What every Python that we run on finds in the same way."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages

import relay_queue
import relayd
from relayd.text.late import Late


def _expressions() -> dict[str, str]:
    """The text of every regular expression that a module holds, by where it is."""
    found: dict[str, str] = {}
    for package in (relayd, relay_queue):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            for name, value in vars(import_module(module.name)).items():
                text = _source(value)
                if isinstance(text, str) and not name.startswith("__") and _compiles(text):
                    found[f"{module.name}.{name}"] = text
    return found


def _source(value: object) -> object:
    """The text of an expression, also of one that is not compiled yet."""
    match value:
        case re.Pattern():
            return value.pattern
        case Late():
            return value._source
        case _:
            return value


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, FutureWarning):  # a constant that is no expression
        return False
    return True


def test_no_expression_has_a_possessive_quantifier() -> None:
    """`re` before Python 3.11.5 misses matches with them: private parts were stored under it."""
    without_sets = {
        where: re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]", "x", text) for where, text in _expressions().items()
    }
    assert {
        f"relayd.harness.marked_parts.{name}" for name in ("_PRIVATE_TAG", "_RELAY_TAG")
    } <= without_sets.keys()
    assert [where for where, text in without_sets.items() if re.search(r"[*+?}]\+", text)] == []
