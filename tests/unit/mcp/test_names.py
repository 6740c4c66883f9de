"""Tools that agents are told of are tools that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from relayd.mcp.tools import INSTRUCTIONS, TOOLS

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [file for package in ("relayd", "relayctl") for file in sorted((ROOT / package).rglob("*.py"))]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# names of ours that begin alike and are no tools
_OTHERS = {"relay_queue", "relay_hook", "relay_hook_fallback", "relay_store", "relay_home"}
_NAME = re.compile(r"(?<![A-Za-z0-9_./-])relay_[a-z_]*[a-z](?![A-Za-z0-9_./-]*\.(?:py|db))")


def texts(source: str) -> Iterator[str]:
    """Every text that a module holds."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def told(text: str) -> set[str]:
    """Names in a text that must be tools."""
    return {*_NAME.findall(text)} - _OTHERS


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_texts_of_the_code_name_tools_that_there_are(file):
    """Briefs, injections, rules files and sections among them, wherever they are made."""
    for text in texts(file.read_text(encoding="utf-8")):
        assert told(text) <= TOOLS.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_tools_that_there_are(page):
    """So do the docs."""
    assert told(page.read_text(encoding="utf-8")) <= TOOLS.keys()


def test_a_tool_that_is_not_there_would_be_found():
    """The search sees names in sentences, in code marks and at their ends."""
    assert told("Call relay_recal, or `relay_forget`; see relay_queue. Then relay_brief.") == {
        "relay_recal",
        "relay_forget",
        "relay_brief",
    }


def test_every_tool_is_explained():
    """In the instructions, and in the page on MCP."""
    assert told(INSTRUCTIONS) == TOOLS.keys()
    assert told((ROOT / "docs/mcp.md").read_text(encoding="utf-8")) == TOOLS.keys()
