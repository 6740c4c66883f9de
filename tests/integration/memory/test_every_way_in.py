"""Every route of the memory and of the feed, as it is described: what passes the gate, and what a refusal says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec

from tests.contract.openapi.document import OPERATIONS
from tests.contract.openapi.operation import Operation
from tests.integration.hooks.hooked import Hooked, hooked

TOKEN = "glpat-" + "4f9a8c7d6e5b4a3f2e1d"
"""It could be the name of a project, too."""

ODD = "Xq7wVz"
"""What no answer may repeat."""

ID = "01K6Z3T9Y8QW5V2M7N4R6X0BCD"

BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v1/links"): {"directory": "/usr"},
    ("POST", "/v1/projects"): {"slug": "till"},
    ("PATCH", "/v1/projects/{name}"): {},
    ("POST", "/v1/projects/{name}/rename"): {"slug": "store"},
    ("POST", "/v1/decisions"): {"text": "We use it.", "project": "shop"},
    ("PATCH", "/v1/decisions/{id}"): {"text": "We use it."},
    ("POST", "/v1/decisions/{id}/forget"): {},
    ("PUT", "/v1/preferences"): {"key": "runner", "value": "uv", "scope": "lane", "id": "grok"},
    ("POST", "/v1/feed"): {"kind": "deploy.done"},
    ("POST", "/v1/recall"): {},
    ("POST", "/v1/brief"): {},
    ("PUT", "/v1/rules/grok"): {"path": "/w/grok/rules/relay.md"},
}
"""What each route would take."""

QUERIES = {("DELETE", "/v1/preferences"): {"key": "runner", "scope": "lane", "id": "grok"}}
"""Likewise in its query."""

FREE = {
    ("POST", "/v1/links"): {"project", "directory"},
    ("POST", "/v1/projects"): {"slug", "repo", "stack", "check_command", "summary", "roots", "author"},
    ("PATCH", "/v1/projects/{name}"): {"repo", "stack", "check_command", "summary", "roots", "author"},
    ("POST", "/v1/projects/{name}/rename"): {"slug", "author"},
    ("POST", "/v1/decisions"): {"text", "task", "author", "ref", "ref_text"},
    ("PATCH", "/v1/decisions/{id}"): {"text", "author"},
    ("POST", "/v1/decisions/{id}/forget"): {"reason", "author"},
    ("PUT", "/v1/preferences"): {"key", "value", "id", "reason", "author"},
    ("DELETE", "/v1/preferences"): {"reason", "author"},
    ("DELETE", "/v1/items/{id}"): {"author"},
    ("DELETE", "/v1/projects/{name}"): {"author"},
    ("PUT", "/v1/projects/{name}/aliases/{alias}"): {"author"},
    ("DELETE", "/v1/projects/{name}/aliases/{alias}"): {"author"},
    ("POST", "/v1/feed"): {"kind", "data", "actor", "session_id", "dedupe_key"},
}
"""What of a change may be any text: a name, or something for people."""


class Try(NamedTuple):
    """One request, and the member in which it is odd."""

    one: Operation
    member: str
    query: dict[str, str]
    body: dict[str, Any] | None

    async def ask(self, http: httpx.AsyncClient, **path: str) -> httpx.Response:
        """Send it; what stands in braces in its path is taken from `path`."""
        return await http.request(
            self.one.method, self.one.path.format_map(path), params=self.query, json=self.body
        )


def _described() -> list[Operation]:
    """List what is described but what belongs to queues and to the receiver, and streams."""
    others = re.compile(
        "/v1/(queues|events|credentials|upstream|hooks|health|stop|status|flush|feed/follow)|/hook"
    )
    return [one for one in OPERATIONS if not others.match(one.path)]


def _tries(one: Operation, value: str) -> Iterator[Try]:
    """Put a text into each parameter and each member that may be a text, one at a time."""
    for parameter in one.query:
        asked = QUERIES.get((one.method, one.path), {})
        yield Try(one, parameter.name, {**asked, parameter.name: value}, None)
    for field in msgspec.structs.fields(one.body["application/json"]) if one.body else ():
        kind, body = str(field.type), BODIES[one.method, one.path]
        name, said = field.encode_name, f"/{value}" if field.name == "directory" else value
        if "Raw" in kind:
            yield Try(one, name, {}, {**body, name: {"note": [said]}})
        elif kind.startswith(("list", "tuple")):
            yield Try(one, name, {}, {**body, name: [f"/{said}" if name == "roots" else said]})
        else:
            yield Try(one, name, {}, {**body, name: f"deploy.{said}" if name == "kind" else said})


async def test_every_text_of_every_change_passes_the_gate(tmp_path: Path) -> None:
    """Whatever may be said in any words is refused with the name of its member, and nothing of it is kept or told."""
    async with hooked(tmp_path) as at:
        await _furnish(at)
        refused: dict[tuple[str, str], set[str]] = {}
        for one in _described():
            if one.method == "GET" or one.path in {"/v1/recall", "/v1/brief"}:
                continue
            for each in _tries(one, TOKEN):
                answer = await each.ask(at.http, name="shop", id=ID, alias="webshop")
                assert answer.status_code >= 400 or each.member == "directory", each  # where it means nothing
                assert TOKEN not in answer.text, each
                if answer.status_code == 422:
                    assert {suspect["field"] for suspect in answer.json()["suspects"]} == {each.member}
                    refused.setdefault((one.method, one.path), set()).add(each.member)
        alias = await at.http.put(f"/v1/projects/shop/aliases/{TOKEN}")
        assert alias.status_code == 422
        assert refused == FREE
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
    assert kept == []


async def test_no_refusal_repeats_what_was_sent(tmp_path: Path) -> None:
    """Neither the value of a member or parameter, nor one that nobody knows; and each answer says how long it is."""
    async with hooked(tmp_path) as at:
        await _furnish(at)
        for one in _described():
            tries = [*_tries(one, ODD)]
            if one.body:
                body = BODIES[one.method, one.path]
                tries.append(Try(one, ODD, {}, {**body, ODD: 1}))
                tries += [
                    each._replace(body={**body, each.member: {ODD: ODD}}) for each in tries if each.body
                ]
            for each in tries:
                answer = await each.ask(at.http, name=ODD, id=ODD, alias=ODD)
                assert int(answer.headers["content-length"]) == len(answer.content), each
                if answer.status_code >= 400:
                    assert ODD not in answer.text, each
                    assert answer.headers["content-type"] == "application/problem+json", each


async def _furnish(at: Hooked) -> None:
    assert (await at.http.post("/v1/projects", json={"slug": "shop"})).status_code == 201
