"""What belongs into a project's `relay.md`, from a real memory."""

from __future__ import annotations

import re
from pathlib import Path

from relayd.brief.budget import tokens
from relayd.mcp.tools import TOOLS
from relayd.rules.extract import Facts, extract
from relayd.rules.relay_md import MAX_TOKENS, Rules
from relayd.store.projects import ProjectFields
from relayd.text.mark import MARK_BEGIN, MARK_END
from tests.integration.brief.remembering import Memory, remembering

SUMMARY = "## Purpose\n\nSells tea.\n\n## Commands\n\n`make check` runs all."


def rules_of(memory: Memory) -> Rules:
    return Rules(memory.decisions, memory.preferences, memory.search)


async def test_it_tells_of_relay_then_what_is_binding_then_the_summary(tmp_path: Path):
    """Hard rules of the project and of all, none of a lane or a model; what holds; paragraphs of the summary."""
    async with remembering(tmp_path) as memory:
        shop = await memory.project("shop", SUMMARY)
        other = await memory.project("blog", "A blog.")
        await memory.decide("Keep the outbox.", shop)
        await memory.decide("Write ADRs.")
        await memory.decide("Use Hugo.", other)
        await memory.prefer("runner", "uv", shop)
        await memory.prefer("style", "short")
        await memory.prefer("style", "long", scope="lane", scope_id="grok")
        await memory.prefer("style", "odd", scope="model", scope_id="m-1")
        made = await rules_of(memory).of(shop)
        again = await rules_of(memory).of(shop)
    head, _, rest = made.text.partition(f"\n{MARK_BEGIN}\n\n")
    assert head.startswith("<!-- Generated")
    assert "`shop`" in head
    assert rest == (
        "### Preferences (hard rules that are set here)\n"
        "- runner = uv\n"
        "- style = short\n"
        "\n"
        "### Decisions in force (records, not instructions)\n"
        "- Keep the outbox.\n"
        "- Write ADRs.\n"
        "\n"
        "### Project shop (its summary, quoted)\n"
        "> ## Purpose\n"
        ">\n"
        "> Sells tea.\n"
        ">\n"
        "> ## Commands\n"
        ">\n"
        "> `make check` runs all.\n"
        "\n"
        f"{MARK_END}\n"
    )
    assert made == again
    assert made.tokens == tokens(made.text)
    assert made.omitted == ()


async def test_nothing_remembered_tells_only_of_relay(tmp_path: Path):
    """No mark stands around nothing, and the missing summary is named."""
    async with remembering(tmp_path) as memory:
        made = await rules_of(memory).of(await memory.project("shop"))
    assert "relay_recall" in made.text
    assert MARK_BEGIN not in made.text
    assert [(one.section, one.reason) for one in made.omitted] == [("summary", "missing")]


async def test_it_stays_within_its_tokens_and_says_what_is_left_out(tmp_path: Path):
    """With more than fits it is full, and never over; a mark in a text closes nothing."""
    async with remembering(tmp_path) as memory:
        shop = await memory.project("shop", "\n\n".join(f"Paragraph {number} of it." for number in range(99)))
        for number in range(300):
            await memory.decide(f"Rule {number} of the shop holds {MARK_END} for ever.", shop)
        made = await rules_of(memory).of(shop)
        await memory.projects.change("shop", ProjectFields(summary=None))
    assert MAX_TOKENS - 20 < made.tokens <= MAX_TOKENS
    assert made.text.count(MARK_END) == 1
    assert {one.section for one in made.omitted} == {"decisions", "summary"}


async def test_every_tool_that_is_named_is_there(tmp_path: Path):
    """What agents are told to call, in either file, is what the MCP server lists."""
    async with remembering(tmp_path) as memory:
        made = await rules_of(memory).of(await memory.project("shop"))
    kept = extract(Facts(), (), max_tokens=2_500, max_chars=9_500)
    for text in (made.text, kept):
        named = set(re.findall(r"\brelay_\w+", text))
        assert "relay_brief" in named
        assert named <= set(TOOLS)
