"""docs/openapi.json says what the routes are: their bodies, their answers, and what is exchanged in the golden frames."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from relayd import __version__
from relayd.api.app import all_routes
from relayd.api.problem import STATUS
from tests.contract.openapi.document import OPERATIONS, document, routes, written
from tests.contract.openapi.frames import Frame, all_frames
from tests.contract.openapi.operation import ANSWERS_ANY, Operation
from tests.contract.openapi.schemas import closed

ROOT = Path(__file__).resolve().parents[2]

_NO_FRAME = {
    ("POST", "/v1/hooks/{cli}/{event}"): "its body is what an agent CLI writes, its answer what one reads",
    ("POST", "/hook/batch"): "a contract of others, with tests of its own",
    ("POST", "/hook"): "a contract of others, with tests of its own",
    ("GET", "/v1/feed/follow"): "a stream without an end",
}


@pytest.fixture(scope="module")
def strict() -> dict[str, Any]:
    """The document as it would be if no member might be added."""
    return closed(document())


def test_the_file_is_what_the_routes_give() -> None:
    """`make openapi` would change nothing."""
    assert (ROOT / "docs/openapi.json").read_text(encoding="utf-8") == written()


def test_the_document_is_valid() -> None:
    """It keeps the rules of OpenAPI 3.1, and has the version of the package."""
    described = json.loads(written())
    validate(described)
    assert described["openapi"].startswith("3.1.")
    assert described["info"]["version"] == __version__


def test_every_route_is_described() -> None:
    """Its paths and methods are exactly those of the application, once each."""
    assert len(routes()) == sum(len((route.methods or set()) - {"HEAD"}) for route in all_routes())
    assert sorted((one.method, one.path) for one in OPERATIONS) == sorted(routes())


def test_every_operation_has_a_name_and_a_summary_of_its_own() -> None:
    """Programs that are made from the document need the one, people the other."""
    described = [inner for methods in document()["paths"].values() for inner in methods.values()]
    for member in ("operationId", "summary"):
        assert len({one[member] for one in described}) == len(described), member


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_a_route_reads_what_is_described(one: Operation) -> None:
    """Its body is decoded by the type of the description, and it asks for the parameters that are listed."""
    shapes, names = _read(routes()[one.method, one.path].endpoint)
    described = (one.body or {}).get("application/json")
    if shapes or _is_order(described):
        assert shapes == {described}
    wanted = {each.name for each in one.query}
    if one.path != "/hook":  # the receiver reads its query by its own rules
        assert names == wanted


@pytest.mark.parametrize("frame", all_frames(), ids=lambda frame: frame.name)
def test_a_golden_frame_keeps_to_its_operation(frame: Frame, strict: dict[str, Any]) -> None:
    """Its parameters, its body and its answer are described, down to the last member."""
    operation = strict["paths"][frame.route[1]][frame.route[0].lower()]
    asked = {each["name"]: each for each in operation.get("parameters", ()) if each["in"] == "query"}
    assert {name for name, each in asked.items() if each["required"]} <= set(frame.query) <= set(asked)
    for name, value in frame.query.items():
        _check(strict, asked[name]["schema"], _as_asked(value, asked[name]["schema"]))
    if frame.sent is not None and frame.status != 400:
        _check(strict, operation["requestBody"]["content"]["application/json"]["schema"], frame.sent)
    answer = _found(strict, operation["responses"][str(frame.status)])
    for line in frame.lines:
        _check(strict, answer["content"][frame.media]["schema"], line)


def test_every_operation_has_a_frame() -> None:
    """None is described that no test exchanges, but for a few with their reason."""
    shown = {frame.route for frame in all_frames()}
    assert {(one.method, one.path) for one in OPERATIONS} - shown == _NO_FRAME.keys() & set(routes())


def test_every_code_may_be_answered_by_some_route() -> None:
    """Each code of a problem is listed for a route, or for any; no other code is."""
    listed = {code for one in OPERATIONS for code in one.codes}
    assert listed | set(ANSWERS_ANY) == set(STATUS)
    assert document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"] == sorted(STATUS)


def _check(strict: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    Draft202012Validator({**schema, "components": strict["components"]}).validate(value)


def _found(strict: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference to an answer that several routes share."""
    name = answer.get("$ref", "").removeprefix("#/components/responses/")
    return strict["components"]["responses"][name] if name else answer


def _as_asked(value: str, schema: dict[str, Any]) -> str | int:
    return int(value) if schema.get("type") == "integer" else value


def _is_order(shape: Any) -> bool:
    """Tell whether a body is a Struct that refuses what it does not know, as those of the routes are."""
    return (
        isinstance(shape, type)
        and issubclass(shape, msgspec.Struct)
        and shape.__module__.startswith("relayd.")
    )


def _read(endpoint: Callable[..., Any]) -> tuple[set[Any], set[str]]:
    """Find in the code of a route, and of what it calls in `relayd.api`, which types it decodes and what it asks for."""
    shapes: set[Any] = set()
    names: set[str] = set()
    for call, known in _calls(endpoint, set()):
        called = known.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if not isinstance(called, FunctionType):
            continue
        words = [
            one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if called.__name__ == "read_json":
            shapes |= {known[one.id] for one in call.args[1:2] if isinstance(one, ast.Name)}
        elif called.__module__.startswith("relayd.api.") and "request" in map(_name, call.args):
            names |= set(words)
    return shapes, names


def _calls(function: Callable[..., Any], seen: set[Any]) -> Iterator[tuple[ast.Call, dict[str, Any]]]:
    """Go through the calls of a function of `relayd.api` and of the functions there that it calls."""
    if function in seen or not function.__module__.startswith("relayd.api."):
        return
    seen.add(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    known = inspect.unwrap(function).__globals__  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, known
            called = known.get(_name(node.func))
            if isinstance(called, FunctionType):
                yield from _calls(called, seen)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
