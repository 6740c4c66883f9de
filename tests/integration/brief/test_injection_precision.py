"""Prompts that are about something remembered, and prompts that are about nothing of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from sqlite3 import Connection

import pytest

from relayd.store.projects import Project
from tests.bench import evaluation_set
from tests.bench.evaluation_set import Question
from tests.integration.brief.injecting import Teller
from tests.integration.brief.remembering import Memory, remembering
from tests.integration.search.memory import keep

HIT_FLOOR = {"about": 0.75, "about-later": 0.65}
PRECISION_FLOOR = 0.9


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[Memory]:
    """Give a memory without anything in it."""
    async with remembering(tmp_path) as opened:
        yield opened


async def filled(memory: Memory) -> Project:
    """Put the evaluation set into a project."""
    shop = await memory.project("shop")
    entries = evaluation_set.entries(shop.id)

    def job(connection: Connection) -> None:
        keep(connection, entries)
        memory.store.access.index.put(connection, entries)

    await memory.store.access.change(partial(job))
    return shop


async def test_what_is_told_beside_a_prompt_is_about_it(memory: Memory):
    """Nothing at all for a prompt of any kind; for others the right item mostly, and hardly a wrong one."""
    shop, teller = await filled(memory), Teller(memory)
    answers: dict[Question, list[str]] = {}
    for one in evaluation_set.prompts():
        answers[one] = evaluation_set.keys((await teller.about(shop, one.text)).told.items)
    assert [one.text for one, keys in answers.items() if keys and not one.expected] == []
    for group, floor in HIT_FLOOR.items():
        found = {one: keys for one, keys in answers.items() if one.group == group}
        hits = sum(not one.expected.isdisjoint(keys) for one, keys in found.items())
        right = sum(len(one.expected.intersection(keys)) for one, keys in found.items())
        assert hits / len(found) >= floor, group
        assert right / sum(map(len, found.values())) >= PRECISION_FLOOR, group


def test_the_prompts_are_whole():
    """Enough of each kind, and every expected item is there."""
    prompts = evaluation_set.prompts()
    assert sum(not one.expected for one in prompts) >= 100
    assert {key for one in prompts for key in one.expected} <= set(evaluation_set.items())
    assert len({one.text for one in prompts}) == len(prompts)
