"""How long answers are: whole items within what clients pass on, and what was left out is said."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from relayd.feed.addition import Addition
from relayd.mcp.feed import FEED
from relayd.store.projects import ProjectFields
from tests.integration.mcp.talking import Result, Talk, talk

_TEXT_BYTES = 12_000
_ALL_BYTES = 20_000
# what JSON and UTF-8 make more of: two bytes, three, four, an escaped one
LETTERS = {"ascii": "x", "cyrillic": "ж", "cjk": "字", "emoji": "🦀", "quote": '"'}


def fits(result: Result) -> Result:
    """Hold an answer against both limits."""
    assert len(result.text.encode()) <= _TEXT_BYTES
    data = json.dumps(result.data, ensure_ascii=False, separators=(",", ":"))
    assert len(json.dumps(result.text, ensure_ascii=False).encode()) + len(data.encode()) < _ALL_BYTES
    return result


async def decide(client: Talk, count: int, size: int, letter: str = "x") -> list[str]:
    """Record decisions about pears, of so many bytes each, the first ones shorter by nothing."""
    made: list[str] = []
    for number in range(count):
        head = f"Pears, number {number}: "
        text = head + letter * ((size - len(head)) // len(letter.encode()))
        made.append((await client.told("relay_decide", text=text, project="shop")).data["id"])
    return made


@pytest.mark.parametrize("letter", LETTERS.values(), ids=LETTERS.keys())
@pytest.mark.parametrize("size", [300, 3_000, 16_384])
async def test_every_item_is_whole_or_named_as_left_out(tmp_path, size, letter):
    """Also those of 16 KiB, none of which fits."""
    async with talk(tmp_path) as client:
        ids = await decide(client, 40 if size == 300 else 12, size, letter)
        result = fits(await client.told("relay_recall", query="pears", project="shop", limit=100))
        items = result.data["items"]
        assert len(items) + result.data["left"] == len(ids)
        assert result.data["left"] > 0
        assert str(result.data["left"]) in result.text
        assert len(result.data["left_out"]) == min(5, result.data["left"])
        for item in items:
            assert item["text"] in result.text
            assert len(item["text"].encode()) > size - 4
        for one in result.data["left_out"]:
            assert one["id"] in result.text
            assert one["begins"].startswith("Pears, number")
        if size == 16_384:
            assert items == []


async def test_a_large_item_does_not_keep_smaller_ones_out(tmp_path):
    """What fits beside it is shown."""
    async with talk(tmp_path) as client:
        (large,) = await decide(client, 1, 16_384)
        small = (await client.told("relay_decide", text="Pears are fine.", project="shop")).data["id"]
        result = fits(await client.told("relay_recall", query="pears", project="shop"))
        assert [item["id"] for item in result.data["items"]] == [small]
        assert [one["id"] for one in result.data["left_out"]] == [large]


@pytest.mark.parametrize("letter", LETTERS.values(), ids=LETTERS.keys())
async def test_a_brief_fits_however_its_letters_are_written(tmp_path, letter):
    """It is compiled shorter until text and data go together; what is left out is counted."""
    async with talk(tmp_path) as client:
        await decide(client, 30, 600, letter)
        result = fits(await client.told("relay_brief", project="shop", max_tokens=3_000))
        assert result.data["tokens"] > 500
        assert any(one["reason"] == "over_budget" and one["count"] for one in result.data["left_out"])
        assert "Left out" in result.text


async def test_pages_of_the_feed_lose_nothing_to_the_limit(tmp_path):
    """An event for which there is no room is behind the cursor of its page."""
    async with talk(tmp_path) as client:
        for number in range(60):
            addition: dict[str, Any] = {"text": f"{number} " + 'жq"' * 300}
            await client.services.feed.add(
                Addition(kind="note.made", data=msgspec.Raw(json.dumps(addition).encode())),
                await client.services.projects.named("shop"),
            )
        read: list[int] = []
        since, pages = 0, 0
        while True:
            page = fits(await client.told("relay_feed", project="shop", since=since, limit=100)).data
            if not page["events"]:
                break
            pages += 1
            read += [event["id"] for event in page["events"]]
            since = page["next"]
        rows = (await client.services.feed.page(since=0, limit=1_000)).events
        assert read == [row.id for row in rows if row.project == "shop"]
        assert pages > 2
        newest = fits(await client.told("relay_feed", project="shop", limit=100)).data
        assert newest["events"][-1]["id"] == newest["next"] == read[-1]
        assert newest["left"] > 0


@pytest.mark.parametrize(("line", "whole"), [("Строка.", True), ('"' * 15, False)])
async def test_a_project_with_long_texts_fits(tmp_path, line, whole):
    """A summary of 8,000 bytes is whole, unless it takes too much as JSON: then it is left out, and that is said."""
    async with talk(tmp_path) as client:
        summary = "\n".join([line] * 495)
        fields = ProjectFields(
            summary=summary, stack="s" * 1_000, check_command="c" * 1_000, repo="r" * 1_000
        )
        await client.services.projects.change("shop", fields)
        result = fits(await client.told("relay_project", slug="shop"))
        assert result.data["summary"] == (summary if whole else None)
        assert result.data["left_out"] == ([] if whole else ["summary"])
        assert ("Left out" in result.text) != whole
        assert result.text.count(f"  > {line}") == (495 if whole else 0)


@pytest.mark.parametrize("letter", [*LETTERS.values(), "\t"], ids=[*LETTERS, "tab"])
async def test_what_is_recorded_is_told_within_the_limit(tmp_path, letter):
    """A preference of the greatest length, and a decision."""
    many = letter * (4_000 // len(letter.encode()))
    async with talk(tmp_path) as client:
        said = {"key": "k", "value": f"v{many}v", "reason": f"r{many[: len(many) // 2]}r"}
        fits(await client.told("relay_prefer", project="shop", **said))
        fits(await client.told("relay_decide", text=f"d{many * 4}d", project="shop"))


def test_the_most_events_of_a_page_are_said():
    """The limit of the argument is in its schema."""
    assert FEED.listed()["inputSchema"]["properties"]["limit"]["maximum"] == 100
