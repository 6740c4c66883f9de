"""Anything by its identifier: found by its beginning, shown, and read for the index."""

from functools import partial

import pytest

from relayd.errors import AmbiguousId, UnknownItem
from relayd.store.preferences import Setting
from relayd.store.projects import ProjectFields
from tests.integration.memory.keeping import kept


async def prefer(memory, key, value, scope="global", **more):
    """Set a preference; its identifier."""
    made, _ = await memory.store.preferences.set(
        Setting(key, scope, **more), value, author="ana", reason=None
    )
    return made.id


async def test_a_beginning_that_only_one_has_names_it(tmp_path):
    """Four characters or more, in either case, of a decision or a preference; spaces around do not matter."""
    async with kept(tmp_path) as memory:
        one = await memory.new("We use A.")
        other = await prefer(memory, "tabs", "yes")
        resolve = memory.store.items.resolve
        assert await resolve(one) == ("decision", one)
        assert await resolve(f" {one[:22].lower()} ") == ("decision", one)
        assert await resolve(other[:22]) == ("preference", other)
        with pytest.raises(AmbiguousId) as several:
            await resolve(one[:4])
        assert several.value.matches == (one, other)


@pytest.mark.parametrize(
    "prefix", ["", "   ", "01M", "0" * 26, "0" * 27, "OOOO", "'; --", "🦓🦓🦓🦓", "%%%%", "0000\0"]
)
async def test_what_names_nothing_is_unknown(tmp_path, prefix):
    """Too short, too long, of other letters or not there: it is the same error."""
    async with kept(tmp_path) as memory:
        await memory.new("We use A.")
        for ask in (memory.store.items.resolve, memory.store.items.shown, memory.store.items.purge):
            with pytest.raises(UnknownItem):
                await ask(prefix)


async def test_an_item_is_shown_with_its_project_and_what_it_took_the_place_of(tmp_path):
    """Of either kind."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.", memory.shop)
        new = await memory.new("We use B.", memory.shop, supersedes=old)
        found = await memory.store.items.shown(new[:22])
        assert (found.item.text, found.project, found.supersedes) == ("We use B.", "shop", [old])
        of = {"scope": "project", "project_id": memory.shop.id, "project": "shop"}
        was = await prefer(memory, "tabs", "yes", **of)
        found = await memory.store.items.shown(await prefer(memory, "tabs", "no", **of))
        assert (found.item.value, found.project, found.supersedes) == ("no", "shop", [was])
        everywhere = await memory.store.items.shown(await memory.new("We use C."))
        assert (everywhere.project, everywhere.supersedes) == (None, [])


async def test_everything_is_read_for_the_index_in_slices(tmp_path):
    """Decisions, preferences and summaries, each once, however large a slice is; the history with them."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.", memory.shop)
        ids = {
            old,
            await memory.new("We use B.", memory.shop, supersedes=old),
            await memory.new("We use C.", memory.shop, task="t"),
        }
        ids |= {await prefer(memory, "tabs", "yes"), await prefer(memory, "tabs", "no")}
        for project, said in ((memory.shop, "a shop"), (memory.pub, "a pub")):
            await memory.store.projects.change(project.id, ProjectFields(summary=said), [], actor="ana")
        for limit in (1, 2, 3, 100):
            found = []
            while True:
                read = partial(memory.store.items.entries, after=found[-1] if found else None, limit=limit)
                part = await memory.store.access.maintain(read)
                assert len(part) <= limit
                found += part
                if not part:
                    break
            assert [one.kind for one in found] == ["decision"] * 3 + ["preference"] * 2 + ["summary"] * 2
            assert {one.id for one in found} == {*ids, "shop", "pub"}
        ended = next(one for one in found if one.id == old)
        assert (ended.text, ended.project_id) == ("We use A.", memory.shop.id)
        assert ended.ended_ms is not None
