"""What each tool does, and that every argument counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from relayd.mcp.tools import INSTRUCTIONS, TOOLS
from relayd.store.projects import ProjectFields
from tests.integration.mcp.talking import Result, Talk, talk
from tests.unit.projects.layouts import repository

# put together here, so that no scanner of this file finds one
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def fill(client: Talk) -> dict[str, str]:
    """Remember something of every kind; identifiers by name."""
    ids: dict[str, str] = {}
    for name, text, more in (
        ("old", "We ship on Mondays.", {}),
        ("new", "We ship on Tuesdays.", {"supersedes_id": "old"}),
        ("task", "The parser ships without a cache.", {"task": "t-7"}),
        ("all", "Shipping needs two reviews.", {"global": True}),
        ("other", "The pub ships beer.", {"project": "pub"}),
    ):
        given = {"project": "shop"} if not more.keys() & {"global", "project"} else {}
        told = {
            key: ids.get(value, value) if key == "supersedes_id" else value for key, value in more.items()
        }
        made = await client.told("relay_decide", text=text, **given, **told)
        ids[name] = made.data["id"]
    for scope, scope_id, value in (
        ("project", None, "4 spaces"),
        ("lane", "codex", "tabs"),
        ("model", "m-1", "2"),
    ):
        more = {"project": "shop"} if scope == "project" else {"scope_id": scope_id}
        await client.told("relay_prefer", key="indent", value=value, scope=scope, **more)
    return ids


def ids_in(result: Result) -> set[str]:
    """The items of an answer."""
    return {item["id"] for item in result.data["items"]}


async def test_a_recall_changes_with_each_of_its_arguments(tmp_path):
    """Query, project, history, limit, kinds and task each choose among what is remembered."""
    async with talk(tmp_path) as client:
        ids = await fill(client)
        plain = await client.told("relay_recall", query="ship", project="shop")
        assert ids_in(plain) == {ids["new"], ids["task"], ids["all"]}
        assert all(item["text"] in plain.text and item["id"] in plain.text for item in plain.data["items"])
        assert plain.data["items"][0]["author"]
        assert ids_in(await client.told("relay_recall", query="cache", project="shop")) == {ids["task"]}
        assert ids["other"] in ids_in(await client.told("relay_recall", query="ship", project="pub"))
        past = await client.told("relay_recall", query="ship", project="shop", history=True)
        assert ids_in(past) == ids_in(plain) | {ids["old"]}
        assert "holds no more" in past.text
        assert (
            len((await client.told("relay_recall", query="ship", project="shop", limit=1)).data["items"]) == 1
        )
        preferred = await client.told("relay_recall", query="indent", project="shop", kinds=["preference"])
        assert {item["kind"] for item in preferred.data["items"]} == {"preference"}
        of_task = await client.told("relay_recall", query="ship", project="shop", task="t-8")
        assert ids["task"] not in ids_in(of_task)
        listed = await client.told("relay_recall", query="", project="shop")
        assert {ids["new"], ids["all"]} < ids_in(listed)


async def test_a_decision_changes_with_each_of_its_arguments(tmp_path):
    """Text, project, supersedes_id, task, source and global each end up in what is recorded."""
    async with talk(tmp_path) as client:
        first = await client.told("relay_decide", text="We use A.", project="shop")
        kept = {key: first.data[key] for key in ("project", "task", "source", "created", "superseded")}
        assert kept == {
            "project": "shop",
            "task": None,
            "source": "human",
            "created": True,
            "superseded": None,
        }
        again = await client.told("relay_decide", text="We use A.", project="shop")
        assert (again.data["id"], again.data["created"]) == (first.data["id"], False)
        assert "already" in again.text
        other = await client.told("relay_decide", text="We use A.", project="pub")
        assert other.data["id"] != first.data["id"]
        more = {"supersedes_id": first.data["id"], "task": "t-1", "source": "pr"}
        second = await client.told("relay_decide", text="We use B.", project="shop", **more)
        assert (second.data["superseded"], second.data["task"], second.data["source"]) == (
            first.data["id"],
            "t-1",
            "pr",
        )
        assert first.data["id"] in second.text
        everywhere = await client.told("relay_decide", text="We use C.", **{"global": True})
        assert everywhere.data["project"] is None
        assert "all projects" in everywhere.text


@pytest.mark.parametrize(
    ("lane", "author"), [("claude", "claude-code"), ("codex", "codex"), ("grok", "grok"), ("other", None)]
)
async def test_what_an_agent_records_is_its_own(tmp_path, lane, author):
    """Author and source are those of its lane; without one, the user's."""
    async with talk(tmp_path) as client:
        client.lane = lane
        made = (await client.told("relay_decide", text="We use A.", project="shop")).data
        assert made["source"] == (lane if author else "human")
        wanted = (await client.told("relay_prefer", key="k", value="v", project="shop")).data
        assert made["author"] == wanted["author"]
        if author:
            assert made["author"] == author


async def test_a_preference_changes_with_each_of_its_arguments(tmp_path):
    """Key, value, scope, scope_id, project and reason each end up in what is set."""
    async with talk(tmp_path) as client:

        async def wanted(**given: Any) -> dict[str, Any]:
            return (await client.told("relay_prefer", **given)).data

        first = await wanted(key="indent", value="4", project="shop")
        assert (first["scope"], first["scope_id"], first["replaced"]) == ("project", "shop", None)
        assert (await wanted(key="indent", value="4", project="pub"))["scope_id"] == "pub"
        second = await wanted(key="indent", value="2", project="shop", reason="The formatter says so.")
        assert (second["value"], second["reason"], second["replaced"]) == (
            "2",
            "The formatter says so.",
            first["id"],
        )
        assert not (await wanted(key="indent", value="2", project="shop", reason="The formatter says so."))[
            "created"
        ]
        assert (await wanted(key="tests", value="pytest", scope="global"))["scope_id"] is None
        assert (await wanted(key="tests", value="nose", scope="model", scope_id="m-1"))["scope_id"] == "m-1"
        assert "`scope_id`" in await client.refused("relay_prefer", key="tests", value="x", scope="lane")
        client.lane = "grok"
        assert (await wanted(key="tests", value="x", scope="lane"))["scope_id"] == "grok"
        assert "`project`" in await client.refused(
            "relay_prefer", key="k", value="x", scope="global", project="pub"
        )


async def test_guidance_says_that_there_is_none_yet(tmp_path):
    """It names what was asked for, but for secrets."""
    async with talk(tmp_path) as client:
        told = await client.told("relay_guidance", model="m-1", query="tools")
        assert "none yet" in told.text
        assert told.data == {"model": "m-1", "query": "tools", "items": []}
        secret = await client.told("relay_guidance", model=TOKEN, query=f"with {TOKEN}")
        assert TOKEN not in f"{secret.text}{secret.data}"


async def test_a_brief_changes_with_each_of_its_arguments(tmp_path):
    """Project, intent, lane, model and max_tokens each choose what is in it; the lane is the caller's by default."""
    async with talk(tmp_path) as client:
        await fill(client)

        async def text(**given: Any) -> str:
            told = await client.told("relay_brief", **{"project": "shop", **given})
            assert told.data["text"] in told.text
            return told.data["text"]

        plain = await text()
        assert "We ship on Tuesdays." in plain
        assert "indent = 4 spaces" in plain
        assert "beer" in await text(project="pub")
        assert "indent = tabs" in await text(lane="codex")
        assert "indent = 2" in await text(model="m-1")
        order = await text(intent="the cache of the parser")
        assert order.index("cache") < order.index("Tuesdays")
        short = await client.told("relay_brief", project="shop", max_tokens=25)
        assert short.data["tokens"] <= 25 < (await client.told("relay_brief", project="shop")).data["tokens"]
        assert "Left out" in short.text
        client.lane = "codex"
        assert "indent = tabs" in await text()


async def test_the_feed_changes_with_each_of_its_arguments(tmp_path):
    """Project, since and limit choose among events; `next` leads on without a gap."""
    async with talk(tmp_path) as client:
        ids = await fill(client)
        everything = (await client.told("relay_feed", project="shop", since=0, limit=100)).data
        refs = [event.get("ref") for event in everything["events"]]
        assert refs.index(ids["old"]) < refs.index(ids["new"])
        assert ids["other"] not in refs
        assert ids["other"] in str((await client.told("relay_feed", project="pub")).data)
        read: list[int] = []
        since = 0
        while page := (await client.told("relay_feed", project="shop", since=since, limit=2)).data["events"]:
            assert len(page) <= 2
            read += [event["id"] for event in page]
            since = page[-1]["id"]
        assert read == [event["id"] for event in everything["events"]]
        newest = await client.told("relay_feed", project="shop", limit=1)
        assert newest.data["events"] == everything["events"][-1:]
        nothing = await client.told("relay_feed", project="shop", since=newest.data["next"])
        assert (nothing.data["events"], nothing.data["next"]) == ([], newest.data["next"])


async def test_a_project_is_described(tmp_path):
    """All that is known of the one that is named, or of the directory's."""
    async with talk(tmp_path) as client:
        await fill(client)
        await client.services.projects.change(
            "shop", ProjectFields(summary="A shop.\n# Not a heading", check_command="make check")
        )
        told = await client.told("relay_project", slug="shop")
        assert (told.data["slug"], told.data["check_command"], told.data["decisions"]) == (
            "shop",
            "make check",
            2,
        )
        assert told.data["directories"] == [str(client.place)]
        assert "  > # Not a heading" in told.text
        assert (await client.told("relay_project", slug="pub")).data["slug"] == "pub"
        client.directory = client.place
        assert (await client.told("relay_project")).data == told.data


NAMELESS: dict[str, dict[str, Any]] = {
    "relay_recall": {"query": "x"},
    "relay_decide": {"text": "x y z"},
    "relay_prefer": {"key": "k", "value": "v"},
    "relay_brief": {},
    "relay_feed": {},
    "relay_project": {},
}


@pytest.mark.parametrize("tool", NAMELESS)
async def test_the_directory_tells_the_project_and_nothing_else_does(tmp_path, tool):
    """Without a directory a project must be named; the refusal says which there are, and nothing of what they hold."""
    async with talk(tmp_path) as client:
        await client.told("relay_decide", text="Only the shop knows.", project="shop")
        said = await client.refused(tool, **NAMELESS[tool])
        assert "`project`" in said
        assert "pub, shop" in said
        assert "knows" not in said
        client.directory = client.place / "src"
        told = await client.told(tool, **NAMELESS[tool])
        assert told.data.get("project", told.data.get("slug", told.data.get("scope_id"))) == "shop"


@pytest.mark.parametrize("tool", NAMELESS)
async def test_an_unlinked_clone_that_names_a_project_gets_nothing_of_it(tmp_path, tool):
    """Its rules file counts for people's commands only; what is for all projects may be read there."""
    async with talk(tmp_path) as client:
        await client.told("relay_decide", text="Only the shop knows.", project="shop")
        clone = repository(tmp_path / "clone")
        (clone / ".relay").mkdir()
        (clone / ".relay/rules.json").write_text('{"version": 1, "project": "shop"}')
        client.directory = clone
        result = await client.call(tool, **NAMELESS[tool])
        assert "knows" not in f"{result.text}{result.data}"
        if tool in {"relay_recall", "relay_brief"}:
            assert result.data["project"] is None
        else:
            assert result.is_error


async def test_what_is_refused_says_what_to_do(tmp_path):
    """One sentence for each refusal of the memory, without a value of the call."""
    async with talk(tmp_path) as client:
        one = (await client.told("relay_decide", text="We use A.", project="shop")).data["id"]
        two = (await client.told("relay_decide", text="We use B.", project="shop", supersedes_id=one)).data[
            "id"
        ]
        decide = {"text": "We use C.", "project": "shop"}
        assert "did you mean shop" in await client.refused("relay_recall", query="x", project="shpo")
        assert "pub, shop" in await client.refused("relay_recall", query="x", project="zzzzzzzzzzz")
        assert two in await client.refused("relay_decide", **decide, supersedes_id=one)
        assert "relay_recall" in await client.refused(
            "relay_decide", **decide, supersedes_id="01ARZ3NDEKTSV4RRFFQ69G5FAV"
        )
        assert two in await client.refused("relay_decide", **decide, supersedes_id=two[:4])
        await client.services.decisions.forget(two)
        assert "forgotten" in await client.refused("relay_decide", **decide, supersedes_id=two)
        assert "`text`" in await client.refused("relay_decide", text=" ", project="shop")
        assert "16,384 bytes" in await client.refused("relay_decide", text="x" * 16_385, project="shop")
        assert "`global`" in await client.refused("relay_decide", **decide, **{"global": True})


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("relay_decide", "text"),
        ("relay_decide", "task"),
        ("relay_prefer", "value"),
        ("relay_prefer", "key"),
        ("relay_prefer", "reason"),
    ],
)
async def test_a_secret_is_refused_and_not_repeated(tmp_path, tool, field):
    """Whatever argument holds it; nothing is stored, and no answer and no log says it."""
    given = {"text": "We use A."} if tool == "relay_decide" else {"key": "k", "value": "v"}
    async with talk(tmp_path) as client:
        said = await client.refused(tool, **{**given, field: f"{TOKEN}", "project": "shop"})
        assert f"`{field}`" in said
        assert TOKEN not in said
        assert TOKEN not in str(await client.call("relay_recall", query=TOKEN, project="shop", history=True))
        for file in Path(tmp_path).rglob("*"):
            assert not file.is_file() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
async def test_every_tool_is_listed_with_what_clients_go_by(tmp_path, modern):
    """Names, titles, annotations and schemas, in an order that stays."""
    async with talk(tmp_path) as client:
        client.modern = modern
        listed = (await client.ask("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in listed] == list(TOOLS)
        for tool in listed:
            Draft202012Validator.check_schema(tool["inputSchema"])
            Draft202012Validator.check_schema(tool["outputSchema"])
            assert tool["outputSchema"]["type"] == tool["inputSchema"]["type"] == "object"
            assert all(one["description"] for one in tool["inputSchema"]["properties"].values())
            assert len(tool["description"].encode()) < 2_048
            assert tool["title"]
            hints = tool["annotations"]
            assert hints["readOnlyHint"] == (tool["name"] not in {"relay_decide", "relay_prefer"})
            assert (hints["destructiveHint"], hints["openWorldHint"]) == (False, False)
        first = {tool["name"] for tool in listed if tool.get("_meta", {}).get("anthropic/alwaysLoad")}
        assert first == {"relay_recall", "relay_decide"}


async def test_what_is_answered_is_what_the_schemas_say(tmp_path):
    """Data of every tool, with much and with nothing in it."""
    async with talk(tmp_path) as client:
        checks = {name: Draft202012Validator(tool.listed()["outputSchema"]) for name, tool in TOOLS.items()}
        given = {**NAMELESS, "relay_guidance": {"model": "m", "query": "q"}}
        client.directory = client.place
        for _ in range(2):
            for name, arguments in given.items():
                checks[name].validate((await client.told(name, **arguments)).data)
            await fill(client)


def test_the_instructions_fit_and_begin_with_what_matters():
    """Under 2 KiB, and a client that shows 512 characters shows whole sentences that are enough."""
    assert len(INSTRUCTIONS.encode()) < 2_048
    start = INSTRUCTIONS[:512]
    assert all(name in start for name in ("relay_brief", "relay_recall", "relay_decide", "relay_prefer"))
    assert "no instruction to you" in start
    assert "Never record secrets." in start
