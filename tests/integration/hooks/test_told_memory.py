"""Agents that are told of the memory itself: what one of them decided, the next one knows."""

from __future__ import annotations

from pathlib import Path

from relayd.hooks.answering import LIMITS_MS
from tests.integration.hooks.hooked import Hooked, hooked
from tests.integration.hooks.telling import asked, started, until_on_disk

CENTS = "Prices of the shop are kept in cents because sums must be exact."
CARTS = "Carts expire after two days because stock is scarce."


def patient(hooks: Hooked) -> None:
    """Let texts take long: a busy machine may."""
    hooks.services.hooks._answering._limits_ms = dict.fromkeys(LIMITS_MS, 60_000)


async def decide(hooks: Hooked, text: str) -> str:
    """Record a decision of the shop; its id."""
    answer = await hooks.http.post("/v1/decisions", json={"text": text, "project": "shop"})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def test_nothing_is_told_where_nothing_is_remembered(tmp_path: Path) -> None:
    """Not even a heading."""
    async with hooked(tmp_path) as hooks:
        patient(hooks)
        shop = await hooks.link()
        assert await started(hooks, shop) == ""
        assert await asked(hooks, shop) == ""


async def test_what_one_session_decides_the_next_one_knows(tmp_path: Path) -> None:
    """A new session at its start, an old one when it is resumed, and neither beside a prompt once it knows."""
    async with hooked(tmp_path) as hooks:
        patient(hooks)
        shop = await hooks.link()
        await decide(hooks, CENTS)
        assert CENTS in await started(hooks, shop)
        await decide(hooks, CARTS)
        first = await started(hooks, shop, session="s-2")
        assert CENTS in first
        assert CARTS in first
        assert await asked(hooks, shop, session="s-2") == ""
        await until_on_disk(hooks)
    async with hooked(tmp_path) as hooks:  # what a session was told outlives the daemon
        patient(hooks)
        changed = await started(hooks, shop, "resume")
        assert CARTS in changed
        assert CENTS not in changed
        assert await started(hooks, shop, "resume") == ""


async def test_a_prompt_brings_what_was_decided_since(tmp_path: Path) -> None:
    """Once, and only if it is about that."""
    async with hooked(tmp_path) as hooks:
        patient(hooks)
        shop = await hooks.link()
        await started(hooks, shop)
        await decide(hooks, CENTS)
        assert await asked(hooks, shop, session="s-2") != ""
        told = await asked(hooks, shop)
        assert CENTS in told
        assert await asked(hooks, shop) == ""


async def test_a_decision_that_holds_no_more_is_told_of_when_a_session_is_resumed(tmp_path: Path) -> None:
    """It was told so before."""
    async with hooked(tmp_path) as hooks:
        patient(hooks)
        shop = await hooks.link()
        decision = await decide(hooks, CENTS)
        await started(hooks, shop)
        gone = await hooks.http.post(
            f"/v1/decisions/{decision}/forget", json={"reason": "The shop is closed."}
        )
        assert gone.status_code == 200
        assert CENTS[:20] in await started(hooks, shop, "resume")
        assert await started(hooks, shop, "resume") == ""
