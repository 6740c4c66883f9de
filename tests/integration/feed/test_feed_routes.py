"""The feed's routes against a real daemon."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from relayctl import _wire
from tests import stage

SLACK_S = 30.0


@pytest.fixture(scope="module")
def daemon() -> Iterator[stage.Daemon]:
    """One daemon for all that does not end it."""
    with stage.home() as home, stage.daemon(home) as running:
        for slug in ("shop", "site"):
            assert running.call("POST", "/v1/projects", json.dumps({"slug": slug}).encode())[0] == 201
        yield running


def add(daemon: stage.Daemon, kind: str, **members: Any) -> tuple[int, Any]:
    """Add one event."""
    return daemon.call("POST", "/v1/feed", json.dumps({"kind": kind, **members}).encode())


def page(daemon: stage.Daemon, query: str = "") -> list[Any]:
    """Read one page."""
    status, body = daemon.call("GET", f"/v1/feed?{query}")
    assert status == 200, body
    return body["events"]


class Following:
    """A client of the stream."""

    def __init__(self, home: Path, query: str = "", *, last: int | None = None) -> None:
        self._connection = _wire.connect(str(home))
        headers = [] if last is None else [("Last-Event-ID", str(last))]
        self.stream = self._connection.stream(
            "GET", f"/v1/feed/follow?{query}", headers=headers, timeout_s=SLACK_S
        )
        self.lines = self.stream.lines()

    def next(self) -> dict[str, Any]:
        """Read one event, whole."""
        told: dict[str, str] = {}
        for line in self.lines:
            if not line:
                if told:
                    break
                continue
            name, _, value = line.decode().partition(": ")
            told[name] = value
        event = json.loads(told["data"])
        assert (told["id"], told["event"]) == (str(event["id"]), event["kind"])
        return event

    def close(self) -> None:
        """Go away."""
        self._connection.close()


@contextmanager
def following(home: Path, query: str = "", *, last: int | None = None) -> Iterator[Following]:
    """Follow for the length of a block."""
    client = Following(home, query, last=last)
    try:
        yield client
    finally:
        client.close()


def test_an_event_is_added_and_read_again(daemon: stage.Daemon) -> None:
    """All that was given comes out, the data as it was written."""
    status, told = daemon.call(
        "POST",
        "/v1/feed",
        b'{"kind": "deploy.done", "data": {"cost": 1.50, "to": "\\u00e9"}, "project": "shop", "actor": "ci", '
        b'"session_id": "s-1", "at": "2026-03-03T10:00:00+01:00"}',
    )
    assert (status, told["created"], told["project"]) == (201, True, "shop")
    (event,) = page(daemon, "kind=deploy.done&project=shop")
    assert event["id"] == told["id"]
    assert (event["at"], event["actor"], event["session_id"]) == ("2026-03-03T09:00:00.000Z", "ci", "s-1")
    assert (event["project"], event["data"], event["agent"]) == ("shop", {"cost": 1.5, "to": "é"}, None)


def test_a_repeat_finds_the_first(daemon: stage.Daemon) -> None:
    """The same dedupe key for a kind and a project is 200 and the id of the first; elsewhere it is new."""
    status, first = add(daemon, "build.done", dedupe_key="42", project="shop")
    assert (status, first["created"]) == (201, True)
    again = add(daemon, "build.done", dedupe_key="42", project="shop", data={"other": 1})
    assert again == (200, {"id": first["id"], "created": False, "project": "shop"})
    assert add(daemon, "build.done", dedupe_key="42")[0] == 201
    assert add(daemon, "build.done", dedupe_key="42", project="site")[0] == 201


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"kind": "hook"}, "kind"),
        ({"kind": "decision.captured"}, "kind"),
        ({"kind": "a.b", "data": [1]}, "data"),
        ({"kind": "a.b", "data": {"x": "y" * 16_400}}, "data"),
        ({"kind": "a.b", "at": "yesterday"}, "at"),
        ({"kind": "a.b", "dedupe_key": " "}, "dedupe_key"),
        ({"kind": "a.b", "dedupe_key": "k" * 129}, "dedupe_key"),
        ({"kind": "a.b", "actor": "a\nb"}, "actor"),
        ({"kind": "a.b", "session_id": "s\0"}, "session_id"),
        ({"kind": "step.usage"}, "data.lane"),
        ({"kind": "a.b", "unknown": 1}, "body"),
    ],
)
def test_what_breaks_a_rule_is_refused(daemon: stage.Daemon, members: dict[str, Any], named: str) -> None:
    """400 names the member, and nothing is written."""
    before = page(daemon, "limit=1")
    status, problem = daemon.call("POST", "/v1/feed", json.dumps(members).encode())
    assert (status, problem["code"]) == (400, "parameter_refused")
    assert problem["detail"].startswith(f"{named}: ")
    assert page(daemon, "limit=1") == before


def test_a_credential_in_the_data_is_refused(daemon: stage.Daemon) -> None:
    """Wherever it is, a name of a member too; the answer does not repeat it."""
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    for data in ({"a": [{"b": f"token {secret}"}]}, {secret: 1}, {"a": secret.replace("g", "\\u0067", 1)}):
        raw = json.dumps({"kind": "a.b", "data": data}).replace("\\\\u0067", "\\u0067").encode()
        status, problem = daemon.call("POST", "/v1/feed", raw)
        assert (status, problem["code"]) == (422, "secret_refused")
        assert secret not in json.dumps(problem)


def test_the_data_is_looked_at_under_the_names_of_its_members(daemon: stage.Daemon) -> None:
    """`db_password` makes a value suspicious that is not by itself, in a list of values too."""
    for value in ("Zx9LpW4vT8sBnYc3", ["x", "Zx9LpW4vT8sBnYc3"]):
        named, plain = {"a": {"db_" + "password": value}}, {"a": {"build": value}}
        status, problem = daemon.call("POST", "/v1/feed", json.dumps({"kind": "a.b", "data": named}).encode())
        assert (status, problem["code"]) == (422, "secret_refused")
        assert daemon.call("POST", "/v1/feed", json.dumps({"kind": "a.b", "data": plain}).encode())[0] == 201


def test_an_unknown_project_is_told(daemon: stage.Daemon) -> None:
    """It is neither read from nor written to, nor followed."""
    assert add(daemon, "a.b", project="shopp")[1]["code"] == "unknown_project"
    for target in ("feed?project=shopp", "feed/follow?project=shopp", "usage?project=shopp"):
        status, problem = daemon.call("GET", f"/v1/{target}")
        assert (status, problem["code"]) == (404, "unknown_project")


@pytest.mark.parametrize("query", ["kind=Deploy", "kind=", "kind=a.b,", "from=today", "since=x"])
def test_a_bad_choice_is_refused(daemon: stage.Daemon, query: str) -> None:
    """For a page as for a stream."""
    for route in ("feed", "feed/follow"):
        if not (query.startswith("from") and route == "feed/follow"):
            status, problem = daemon.call("GET", f"/v1/{route}?{query}")
            assert (status, problem["code"]) == (400, "parameter_refused"), route


def test_a_page_is_chosen_by_kind_project_and_time(daemon: stage.Daemon) -> None:
    """Kinds may be repeated; a page of a project says whose it is."""
    for n, (kind, project) in enumerate([("x.one", "shop"), ("x.two", "site"), ("y.one", "shop")]):
        add(daemon, kind, project=project, data={"n": n})
    kinds = [event["kind"] for event in page(daemon, "kind=x.*&kind=y.one")]
    assert kinds == ["x.one", "x.two", "y.one"]
    body = daemon.call("GET", "/v1/feed?project=shop&kind=x.*,y.*")[1]
    assert ([event["kind"] for event in body["events"]], body["project"]) == (["x.one", "y.one"], "shop")
    assert "project" not in daemon.call("GET", "/v1/feed")[1]
    assert len(page(daemon, "from=2020-01-01T00:00:00Z&kind=x.*")) == 2
    assert page(daemon, "from=2999-01-01T00:00:00Z") == []


def test_a_directory_stands_for_its_project(daemon: stage.Daemon, tmp_path: Path) -> None:
    """What is of no project can be added from anywhere, but a directory of none chooses nothing to read."""
    shop, elsewhere = tmp_path / "shop", tmp_path / "elsewhere"
    for place in (shop, elsewhere):
        place.mkdir()
    body = json.dumps({"directory": str(shop), "project": "shop"}).encode()
    assert daemon.call("POST", "/v1/links", body)[0] == 201
    assert add(daemon, "u.one", directory=str(shop))[1]["project"] == "shop"
    assert add(daemon, "u.two", directory=str(elsewhere))[1]["project"] is None
    assert add(daemon, "u.two", directory=str(shop), **{"global": True})[1]["project"] is None
    assert [event["kind"] for event in page(daemon, f"directory={shop}&kind=u.*")] == ["u.one"]
    for route in ("feed", "feed/follow", "usage"):
        assert daemon.call("GET", f"/v1/{route}?directory={elsewhere}")[1]["code"] == "scope_needed"


def test_a_renamed_project_keeps_its_feed(daemon: stage.Daemon) -> None:
    """Its events show its present name; a new project of the former name begins with an empty feed."""
    assert daemon.call("POST", "/v1/projects", b'{"slug": "old-name"}')[0] == 201
    add(daemon, "note.one", project="old-name")
    batch = [{"url": "x?event=stop&agent=codex&project=old-name", "body": {"session_id": "s-9"}}]
    assert daemon.call("POST", "/hook/batch", json.dumps(batch).encode())[0] == 200
    assert daemon.call("POST", "/v1/projects/old-name/rename", b'{"slug": "new-name"}')[0] == 200
    assert daemon.call("DELETE", "/v1/projects/new-name/aliases/old-name")[0] == 200
    assert daemon.call("POST", "/v1/projects", b'{"slug": "old-name"}')[0] == 201
    kept = [(event["kind"], event["project"]) for event in page(daemon, "project=new-name&kind=note.*,hook")]
    assert kept == [("note.one", "new-name"), ("hook", "new-name")]
    assert page(daemon, "project=old-name&kind=note.*,hook") == []


def test_usage_is_summed_by_subscription_lane_and_model(daemon: stage.Daemon) -> None:
    """All three unless said otherwise; cost to a hundredth of a cent, and exactly."""
    steps = [
        ("team", "claude", "opus", "0.1"),
        ("team", "claude", "opus", "0.2"),
        (None, "codex", "gpt", "0.000001"),
    ]
    for subscription, lane, model, cost in steps:
        data = {"lane": lane, "model": model, "tokens_in": 10, "tokens_out": 1, "subscription": subscription}
        raw = json.dumps({"kind": "step.usage", "project": "site", "data": {**data, "cost_usd": 0}})
        assert (
            daemon.call("POST", "/v1/feed", raw.replace('"cost_usd": 0', f'"cost_usd": {cost}').encode())[0]
            == 201
        )
    _, usage = daemon.call("GET", "/v1/usage?project=site")
    told = [(g["subscription"], g["lane"], g["model"], g["calls"], g["cost_usd"]) for g in usage["groups"]]
    assert told == [("team", "claude", "opus", 2, 0.3), (None, "codex", "gpt", 1, 0.0)]
    assert (usage["total"]["tokens_in"], usage["total"]["cost_micros"], usage["project"]) == (
        30,
        300_001,
        "site",
    )
    _, usage = daemon.call("GET", "/v1/usage?project=site&by=lane&from=2999-01-01T00:00:00Z")
    assert (usage["groups"], usage["by"], usage["total"]["calls"]) == ([], ["lane"], 0)
    assert daemon.call("GET", "/v1/usage?by=colour")[1]["code"] == "parameter_refused"


def test_a_follower_gets_what_comes(daemon: stage.Daemon) -> None:
    """From now on without a cursor; an event is an id, its kind and one line of JSON, as the pages have it."""
    with following(daemon.home) as client:
        assert client.stream.status == 200
        assert client.stream.headers["content-type"].startswith("text/event-stream")
        _, told = add(daemon, "z.one", data={"line": "a\nb"})
        event = client.next()
    assert event["id"] == told["id"]
    assert [event] == page(daemon, "kind=z.one")


def test_a_follower_of_a_project_gets_only_that(daemon: stage.Daemon) -> None:
    """A decision's event too, which is written with the decision."""
    since = page(daemon, "limit=1")[-1]["id"]
    with following(daemon.home, f"since={since}&project=shop&kind=w.*,project.*") as client:
        for project in ("site", "shop", None):
            add(daemon, "w.one", **({"project": project} if project else {}))
        assert (client.next()["project"]) == "shop"
        assert daemon.call("PATCH", "/v1/projects/shop", b'{"stack": "python"}')[0] == 200
        assert client.next()["kind"] == "project.changed"


def test_a_follower_goes_on_where_it_was(daemon: stage.Daemon) -> None:
    """The header of a client that comes back counts more than the query it once sent."""
    ids = [add(daemon, "v.one")[1]["id"] for _ in range(3)]
    with following(daemon.home, "since=0&kind=v.one", last=ids[0]) as client:
        assert [client.next()["id"] for _ in range(2)] == ids[1:]
    with following(daemon.home, last=2**80) as client:
        assert client.stream.status == 400


def test_a_look_at_the_head_ends(daemon: stage.Daemon) -> None:
    """HEAD is answered without a stream."""
    with _wire.connect(str(daemon.home)) as connection:
        reply = connection.request("HEAD", "/v1/feed/follow", timeout_s=SLACK_S)
        assert (reply.status, reply.body) == (200, b"")


def test_nothing_is_lost_over_a_kill() -> None:
    """A follower that comes back with the last id it saw gets every event that was acknowledged, once."""
    seen: list[int] = []
    acknowledged: list[int] = []
    with stage.home() as home:
        for _ in range(3):
            running = stage.start(home)
            client = Following(home, "since=0&kind=k.one", last=seen[-1] if seen else None)
            acknowledged += [add(running, "k.one")[1]["id"] for _ in range(4)]
            seen += [client.next()["id"] for _ in range(2)]
            running.kill()
            client.close()
        with stage.daemon(home), following(home, "kind=k.one", last=seen[-1]) as client:
            while len(seen) < len(acknowledged):
                seen.append(client.next()["id"])
    assert seen == acknowledged


@pytest.mark.parametrize("reads", [True, False])
def test_a_follower_does_not_hold_up_the_end(reads: bool) -> None:
    """The daemon leaves long before its grace is over, also under a client that does not read."""
    with stage.home() as home:
        running = stage.start(home, env={"RELAY_STOP_GRACE_S": "600"})
        client = Following(home, "since=0")
        if not reads:
            fill(running, client)
        running.process.terminate()
        assert running.process.wait(timeout=SLACK_S) == 0
        if reads:
            assert list(client.lines) == []  # its end was said
        client.close()


def fill(running: stage.Daemon, client: Following) -> None:
    """Add events until the follower's socket is full: more than it and the daemon's transport hold."""
    held: socket.socket = client._connection._socket
    held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(60):
        add(running, "big.one", data={"x": "y" * 16_000})
