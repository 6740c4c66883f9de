"""The document: what the routes are, with the schemas of what they decode and examples that are golden frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import msgspec
from starlette.routing import Route

from relayd import __version__
from relayd.api.app import all_routes
from relayd.api.problem import STATUS
from tests.contract.openapi import answers, frames, schemas
from tests.contract.openapi.feed import OPERATIONS as FEED
from tests.contract.openapi.memory import OPERATIONS as MEMORY
from tests.contract.openapi.operation import ANSWERS_ANY, Content, Operation, Parameter
from tests.contract.openapi.outbox import OPERATIONS as OUTBOX

__all__ = ("OPERATIONS", "document", "routes", "written")

OPERATIONS: Sequence[Operation] = (*OUTBOX, *MEMORY, *FEED)
"""Every route, as it is described."""

_ABOUT = """\
The daemon's routes: HTTP/1.1 on the Unix socket `relayd.sock` in the home, with JSON in UTF-8 both ways. There is no
port, and the host name in a URL means nothing. Who may open the socket may do everything.

Members may be added to answers; none is renamed or removed within protocol 1. A request with a member that its route
does not know is refused. An error is a problem document with a stable `code`; any request may be answered with
{any}.

This file is generated (`make openapi`); its examples are the frames that the tests of client and daemon read."""

_PROBLEM = "application/problem+json"

_SERVER = {
    "url": "http://relayd",
    "description": "HTTP over the Unix socket relayd.sock in the home; the name of the host means nothing.",
}

_MEANING = {200: "Done", 201: "Made, or set", 202: "Taken", 413: "Too large; nothing was taken"}

_IN_PATHS = {
    "cli": "`claude`, `codex` or `grok`.",
    "event": "The hook's event, such as `stop`.",
    "key": "An ingest key, or its first eight or more digits.",
    "id": "An identifier in any case, or its first four or more characters.",
    "name": "A project's slug or alias.",
    "alias": "A further name of the project.",
}


def written() -> str:
    """Give the text of the file."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def document() -> dict[str, Any]:
    """Make the whole document."""
    found = schemas.Schemas(_types(OPERATIONS))
    served = routes()
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(
            one, served[one.method, one.path], found
        )
    any_code = ", ".join(f"`{code}`" for code in ANSWERS_ANY)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "relayd",
            "version": __version__,
            "description": _ABOUT.replace("{any}", any_code),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [_SERVER],
        "paths": paths,
        "components": {
            "schemas": found.components | {"Problem": _problem(found.components["Problem"])},
            "responses": {
                "Problem": {
                    "description": f"Any other error; any request may be answered with {any_code}.",
                    "content": {_PROBLEM: {"schema": found.of(answers.Problem)}},
                },
                **_shared(paths),
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def routes() -> Mapping[tuple[str, str], Route]:
    """Find every route of the application by method and path."""
    return {
        (method, route.path): route
        for route in all_routes()
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }


def _types(operations: Iterable[Operation]) -> list[Any]:
    """List the type of every body."""
    contents = chain.from_iterable([one.body or {}, *one.answers.values()] for one in operations)
    return [answers.Problem, *chain.from_iterable(content.values() for content in contents)]


def _operation(one: Operation, route: Route, found: schemas.Schemas) -> dict[str, Any]:
    """Describe one route."""
    module = route.endpoint.__module__.rpartition(".")[2]
    shown = [frame for frame in frames.all_frames() if frame.route == (one.method, one.path)]
    described: dict[str, Any] = {
        "operationId": f"{module}_{route.endpoint.__name__}",
        "tags": [module],
        "summary": _summary(route),
    }
    if parameters := _parameters(one):
        described["parameters"] = parameters
    if one.body is not None:
        sent = {frame.name: frame.sent for frame in shown if frame.sent is not None and frame.status < 400}
        described["requestBody"] = {"required": True, "content": _content(one.body, found, sent)}
    if one.bearer:
        described["security"] = [{}, {"bearer": []}]
    described["responses"] = _responses(one, shown, found)
    return described


def _summary(route: Route) -> str:
    """Say what it does, by the first line of its function's docstring."""
    first = (route.endpoint.__doc__ or "").partition("\n")[0].strip().removesuffix(".")
    said = re.sub(r"^[A-Z]+ /\S+ *:? *", "", first)
    return said[:1].upper() + said[1:] + "."


def _parameters(one: Operation) -> list[dict[str, Any]]:
    in_path = [Parameter(name, _IN_PATHS[name], required=True) for name in re.findall(r"\{(\w+)", one.path)]
    places = {"path": in_path, "query": one.query, "header": one.headers}
    return [
        {
            "name": each.name,
            "in": place,
            "required": each.required,
            "description": each.meaning,
            "schema": msgspec.json.schema(each.shape),
        }
        for place, listed in places.items()
        for each in listed
    ]


def _responses(one: Operation, shown: Sequence[frames.Frame], found: schemas.Schemas) -> dict[str, Any]:
    """List the answers by status: what was asked for, then the problems."""
    told: dict[int, dict[str, Any]] = {}
    for status, content in one.answers.items():
        examples = {frame.name: frame.told for frame in shown if frame.status == status}
        told[status] = {"description": _MEANING[status]}
        if content:
            told[status]["content"] = _content(content, found, examples)
    for status, codes in _by_status(one.codes):
        examples = {frame.name: frame.told for frame in shown if frame.status == status}
        answer = told.setdefault(status, {"description": ""})
        listed = ", ".join(f"`{code}`" for code in codes)
        answer["description"] = f"{answer['description']}; {listed}".removeprefix("; ")
        schema = {**found.of(answers.Problem), "properties": {"code": {"enum": codes}}}
        answer.setdefault("content", {})[_PROBLEM] = {"schema": schema, **_examples(examples)}
    answered = {str(status): told[status] for status in sorted(told)}
    return {**answered, "default": {"$ref": "#/components/responses/Problem"}}


def _shared(paths: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Move what several routes answer alike to where each refers to it: problems of which no example is shown."""
    seen: dict[str, list[dict[str, Any]]] = {}
    told: dict[str, Any] = {}
    for described in chain.from_iterable(methods.values() for methods in paths.values()):
        for status, answer in described["responses"].items():
            if (
                answer.get("content", {}).keys() == {_PROBLEM}
                and "examples" not in answer["content"][_PROBLEM]
            ):
                codes = answer["content"][_PROBLEM]["schema"]["properties"]["code"]["enum"]
                name = f"{status}.{'.'.join(codes)}"
                seen.setdefault(name, []).append(described["responses"])
                told[name] = answer
    shared = {name: told[name] for name in sorted(told) if len(seen[name]) > 1}
    for name in shared:
        for responses in seen[name]:
            responses[name[:3]] = {"$ref": f"#/components/responses/{name}"}
    return shared


def _by_status(codes: Iterable[str]) -> list[tuple[int, list[str]]]:
    pairs = sorted({(STATUS[code], code) for code in codes})
    return [(status, [code for _, code in group]) for status, group in groupby(pairs, key=itemgetter(0))]


def _content(content: Content, found: schemas.Schemas, examples: Mapping[str, Any]) -> dict[str, Any]:
    return {
        media: {"schema": found.of(shape), **(_examples(examples) if media == "application/json" else {})}
        for media, shape in content.items()
    }


def _examples(examples: Mapping[str, Any]) -> dict[str, Any]:
    return {"examples": {name: {"value": examples[name]} for name in sorted(examples)}} if examples else {}


def _problem(schema: dict[str, Any]) -> dict[str, Any]:
    """List every code there is."""
    return {**schema, "properties": {**schema["properties"], "code": {"enum": sorted(STATUS)}}}
