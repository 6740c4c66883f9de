"""Hooks of each agent CLI, from their documented inputs (synthetic) to the feed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.hooks.hooked import Hooked, hooked
from tests.unit.harness.inputs import CLIS, FILES, files, named, session

WORD_OF = {"post-compaction": "post-compact"}
QUESTION = "why did we drop the retry queue?"


async def _posted(hooks: Hooked, shop: Path, cli: str, path: Path, word: str) -> None:
    answer = await hooks.post(path.read_bytes(), shop, target=f"{cli}/{word}")
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("cli", CLIS)
async def test_each_documented_input_reaches_the_feed(tmp_path: Path, cli: str) -> None:
    """As the event that it means, under the agent's name; foreign ones leave nothing, in between."""
    meanings: dict[str, dict[str, Any]] = json.loads(
        (FILES / cli / "meanings.json").read_text(encoding="utf-8")
    )
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        foreign = files(cli, "none_")
        for path in files(cli):
            event = meanings[path.stem]["event"]
            await _posted(hooks, shop, cli, path, WORD_OF.get(event, event))
            if foreign:
                await _posted(hooks, shop, cli, foreign.pop(), "stop")
        await hooks.fed("p-shop.1")
        came = await hooks.of_hooks()
        expected = [meanings[path.stem] for path in files(cli)]
        assert [(event.agent, event.event, event.session_id) for event in came] == [
            (meaning["agent"], meaning["event"], meaning["session"]) for meaning in expected
        ]


async def test_a_prompt_that_two_hooks_tell_of_is_one_event(tmp_path: Path) -> None:
    """With each CLI, although a turn of Codex may have several prompts."""
    ids = {"claude": "prompt_id", "codex": "turn_id", "grok": "promptId"}
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        for cli, name in ids.items():
            told = session(cli) | {("sessionId" if cli == "grok" else "session_id"): cli}
            first = told | {name: "t-1", "prompt": QUESTION}
            further = told | {name: "t-1" if cli == "codex" else "t-2", "prompt": f"{QUESTION} Say more."}
            for one in (first, first, further):
                target = f"{cli}/user-prompt-submit"
                answer = await hooks.post(json.dumps(one).encode(), shop, target=target)
                assert answer.status_code == 200
        fed = await hooks.fed("p-shop.1")
        assert sorted((name, text) for name, _, text in fed) == [
            (cli, text) for cli in ids for text in (QUESTION, f"{QUESTION} Say more.")
        ]


async def test_the_words_of_grok_build_are_its_texts(tmp_path: Path) -> None:
    """Its answer and its prompt are what the feed shows, as those of the others."""
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        prompt = named("grok", "UserPromptSubmit", prompt=f"<user_query>{QUESTION}</user_query>")
        stop = named("grok", "Stop", reason="end_turn", lastAssistantMessage="It lost events.")
        for one, word in ((prompt, "user-prompt-submit"), (stop, "stop")):
            assert (await hooks.post(json.dumps(one).encode(), shop, target=f"grok/{word}")).content == b""
        assert [text for *_, text in await hooks.fed("p-shop.1")] == [QUESTION, "It lost events."]


async def test_what_relay_told_does_not_come_back(tmp_path: Path) -> None:
    """An agent that quotes it makes no news of it."""
    said = "I was told <relay-memory>\n- Keep the outbox.\n</relay-memory> and did so."
    async with hooked(tmp_path) as hooks:
        shop = await hooks.link()
        told = named("codex", "Stop", last_assistant_message=said)
        assert (await hooks.post(json.dumps(told).encode(), shop, target="codex/stop")).status_code == 200
        ((_, _, text),) = await hooks.fed("p-shop.1")
        assert text == "I was told [RELAY MEMORY] and did so."
