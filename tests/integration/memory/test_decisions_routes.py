"""Decisions and items over HTTP: one daemon answers all of these."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests import stage


@pytest.fixture(scope="module")
def daemon() -> Iterator[stage.Daemon]:
    """A daemon with two projects."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home) as running:
            for slug in ("shop", "pub"):
                assert running.call("POST", "/v1/projects", json.dumps({"slug": slug}).encode())[0] == 201
            yield running


def ask(daemon: stage.Daemon, method: str, target: str, body: Any = None) -> tuple[int, Any]:
    """One request with a JSON body."""
    return daemon.call(method, target, b"" if body is None else json.dumps(body).encode())


def decide(daemon: stage.Daemon, text: str, **more: Any) -> dict[str, Any]:
    """Record a new decision of the shop."""
    status, answer = ask(daemon, "POST", "/v1/decisions", {"text": text, "project": "shop", **more})
    assert status == 201, answer
    return answer


def test_a_decision_is_recorded_and_recognized(daemon):
    """201 for a new one with all that is known of it, 200 for the same again."""
    said = {"text": "We use A.", "project": "shop", "source": "codex", "ref": "s-1", "author": "ana"}
    times = {"valid_from": "2026-03-03T10:00:00+01:00", "valid_to": "2036-03-03T00:00:00Z"}
    status, made = ask(daemon, "POST", "/v1/decisions", {**said, **times})
    assert status == 201
    assert {name: made[name] for name in said} == said
    assert (made["valid_from"], made["valid_to"]) == ("2026-03-03T09:00:00.000Z", "2036-03-03T00:00:00.000Z")
    assert (made["created"], made["superseded"], made["ended"]) == (True, None, None)
    status, again = ask(daemon, "POST", "/v1/decisions", {**said, **times})
    assert (status, again["created"], again["id"]) == (200, False, made["id"])


def test_a_scope_must_be_said_to_write(daemon, tmp_path):
    """A project, a directory of one, or `global`; not two of them."""
    status, made = ask(daemon, "POST", "/v1/decisions", {"text": "Reviews need two.", "global": True})
    assert (status, made["project"]) == (201, None)
    for more, status, code in (
        ({}, 400, "scope_needed"),
        ({"directory": str(tmp_path)}, 400, "scope_needed"),
        ({"project": "shpo"}, 404, "unknown_project"),
        ({"project": "shop", "global": True}, 400, "parameter_refused"),
        ({"project": "shop", "why": "x"}, 400, "parameter_refused"),
        ({"project": "shop", "valid_from": "yesterday"}, 400, "parameter_refused"),
        ({"project": "shop", "source": "gossip"}, 400, "parameter_refused"),
    ):
        answer = ask(daemon, "POST", "/v1/decisions", {"text": "We use B.", **more})
        assert (answer[0], answer[1]["code"]) == (status, code)


def test_a_text_that_is_too_long_is_told_by_how_much(daemon):
    """However its JSON is written."""
    text = "\u044f" * 8_192
    assert decide(daemon, text)["text"] == text
    status, refused = ask(daemon, "POST", "/v1/decisions", {"text": f"{text} and", "project": "shop"})
    assert (status, refused["code"]) == (400, "parameter_refused")
    assert "4 too many" in refused["detail"]
    assert text[:10] not in refused["detail"]


def test_a_directory_of_no_project_reads_what_is_for_all(daemon, tmp_path):
    """The answer says that no project was meant."""
    ask(daemon, "POST", "/v1/decisions", {"text": "Tests are quick.", "global": True})
    mine = decide(daemon, "Only in the shop.")
    for scope in (f"directory={quote(str(tmp_path))}", "global=true"):
        status, answer = ask(daemon, "GET", f"/v1/decisions?{scope}")
        assert (status, answer["project"]) == (200, None)
        assert mine["id"] not in {one["id"] for one in answer["decisions"]}
        assert {one["project"] for one in answer["decisions"]} == {None}
    status, answer = ask(daemon, "GET", "/v1/decisions?project=shop")
    assert answer["project"] == "shop"
    assert {one["project"] for one in answer["decisions"]} == {None, "shop"}


def test_a_history_is_read_page_by_page(daemon):
    """`next` is the `before` of the following page, null at the end; a task's own is its own."""
    ids = [decide(daemon, f"number {number}", task="pages")["id"] for number in range(5)]
    found, before = [], ""
    while before is not None:
        _, answer = ask(
            daemon, "GET", f"/v1/decisions?project=shop&task=pages&limit=2{before and f'&before={before}'}"
        )
        found += [one["id"] for one in answer["decisions"]]
        before = answer["next"]
    assert found == ids[::-1]


def test_both_axes_can_be_asked(daemon):
    """What was true, and what was known; a wrong instant is refused."""
    old = decide(daemon, "We use axes.", task="axes", valid_from="2026-01-01T00:00:00Z")
    decide(daemon, "We use no axes.", task="axes", valid_from="2026-02-01T00:00:00Z", supersedes=old["id"])

    def texts(asked: str) -> list[str]:
        status, answer = ask(daemon, "GET", f"/v1/decisions?project=shop&task=axes&{asked}")
        assert status == 200
        return [one["text"] for one in answer["decisions"]]

    assert texts("current") == ["We use no axes."]
    assert texts("as_of=2026-01-15T00:00:00Z") == ["We use axes."]
    assert texts("as_of=2026-02-01T00:00:00Z") == ["We use no axes."]
    assert texts("known_at=2026-01-15T00:00:00Z") == []
    assert texts(f"as_of=2026-02-01T00:00:00Z&known_at={old['recorded_at']}") == ["We use axes."]
    for asked in ("as_of=yesterday", "current=maybe", "limit=0", "limit=1001", "before=x", "global=1"):
        status, refused = ask(daemon, "GET", f"/v1/decisions?project=shop&{asked}")
        assert (status, refused["code"]) == (400, "parameter_refused"), asked


def test_wordings_are_corrected_and_decisions_forgotten(daemon):
    """What was ended answers 409 and names its successor; an identifier may be shortened."""
    one = decide(daemon, "We use CC.")
    status, other = ask(daemon, "PATCH", f"/v1/decisions/{one['id'][:24].lower()}", {"text": "We use C."})
    assert (status, other["created"], other["superseded"], other["project"]) == (201, True, one["id"], "shop")
    path = f"/v1/decisions/{other['id']}"
    assert ask(daemon, "PATCH", path, {"text": "We use C."})[0] == 200
    status, gone = ask(daemon, "POST", f"{path}/forget", {"reason": "too late", "author": "bob"})
    assert (status, gone["reason"], gone["superseded_by"]) == (200, "too late", None)
    for target, successor in ((one["id"], other["id"]), (other["id"], None)):
        status, refused = ask(daemon, "POST", f"/v1/decisions/{target}/forget", {})
        assert (status, refused["code"], refused["superseded_by"]) == (409, "superseded", successor)


def test_who_purges_passes_the_gate(daemon):
    """An author that looks like a credential is refused, and nothing is removed."""
    one = decide(daemon, "A text that was given away.")
    fake = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    status, problem = ask(daemon, "DELETE", f"/v1/items/{one['id']}?author={fake}")
    assert (status, problem["code"], problem["suspects"][0]["field"]) == (422, "secret_refused", "author")
    assert ask(daemon, "DELETE", f"/v1/items/{one['id']}")[0] == 200


def test_items_are_shown_and_purged(daemon):
    """Of either kind; what is gone is unknown."""
    one = decide(daemon, "We use D.")
    two = decide(daemon, "We use E.", supersedes=one["id"])
    status, item = ask(daemon, "GET", f"/v1/items/{two['id'][:24]}")
    assert (status, item["kind"], item["project"], item["supersedes"]) == (
        200,
        "decision",
        "shop",
        [one["id"]],
    )
    status, made = ask(
        daemon, "PUT", "/v1/preferences", {"key": "indent", "value": "tabs", "scope": "global"}
    )
    assert status == 201
    status, item = ask(daemon, "GET", f"/v1/items/{made['id']}")
    assert (status, item["kind"], item["value"], item["supersedes"]) == (200, "preference", "tabs", [])
    status, gone = ask(daemon, "DELETE", f"/v1/items/{two['id']}?author=eve")
    assert status == 200
    assert gone == {"kind": "decision", "id": two["id"], "removed": 1, "finished": True, "copies": []}
    for method in ("GET", "DELETE"):
        status, refused = ask(daemon, method, f"/v1/items/{two['id']}")
        assert (status, refused["code"]) == (404, "unknown_item")
    status, refused = ask(daemon, "GET", f"/v1/items/{one['id'][:4]}")
    assert (status, refused["code"]) == (409, "ambiguous_id")
    assert one["id"] in refused["matches"] or len(refused["matches"]) == 10


def test_the_index_is_filled_anew(daemon):
    """The answer says how many items were taken in."""
    decide(daemon, "We index.")
    status, answer = ask(daemon, "POST", "/v1/reindex")
    assert status == 200
    assert answer["items"] >= 1
