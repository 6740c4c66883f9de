"""Decisions recorded, superseded, corrected, forgotten: what is refused, and what the feed is told."""

import json

import anyio
import pytest

from relayd.errors import AmbiguousId, ParameterRefused, SecretRefused, Superseded, UnknownItem
from relayd.memory.decisions import TEXT_BYTES
from relayd.store.preferences import Setting
from tests.integration.memory.keeping import DAY_MS, kept, now_ms

GONE = "0" * 26


async def test_a_decision_is_recorded_with_all_that_is_said_of_it(tmp_path):
    """What was given is what is stored; who, since when and where from have defaults."""
    async with kept(tmp_path) as memory:
        before_ms = now_ms()
        plain = (await memory.decide("  We use tabs.\n")).decision
        assert (plain.text, plain.project_id, plain.task) == ("We use tabs.", None, None)
        assert plain.author
        assert (plain.source, plain.valid_to_ms) == ("human", None)
        assert before_ms <= plain.recorded_at_ms == plain.valid_from_ms <= now_ms()
        said = {
            "author": "ana",
            "source": "pr",
            "ref": "https://x/pr/7",
            "ref_text": "the review",
            "task": "t-1",
        }
        times = {"valid_from_ms": 1_000, "valid_to_ms": 2_000}
        full = (await memory.decide("We use spaces.", memory.shop, **said, **times)).decision
        assert {name: getattr(full, name) for name in (*said, *times)} == {**said, **times}
        assert full.project_id == memory.shop.id


async def test_the_same_decision_is_recognized(tmp_path):
    """White space and how letters are composed make no other decision; another project or task does."""
    async with kept(tmp_path) as memory:
        first = await memory.new("We eat at the café.", memory.shop)
        again = await memory.decide(" We eat\n at  the cafe\u0301. ", memory.shop)
        assert (again.created, again.decision.id, again.superseded) == (False, first, None)
        assert (
            len(
                {
                    first,
                    await memory.new("We eat at the café.", memory.pub),
                    await memory.new("We eat at the café."),
                }
            )
            == 3
        )
        assert await memory.new("We eat at the café.", memory.shop, task="t-1") != first
        assert await memory.new("We eat at the Café.", memory.shop) != first
        assert memory.look("SELECT count(*) FROM decision") == [(5,)]
        assert len(memory.events()) == 5


async def test_only_what_holds_is_recognized(tmp_path):
    """What was superseded, forgotten or is over can be decided again."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.")
        await memory.new("We use B.", supersedes=old)
        assert await memory.new("We use A.") != old
        gone = await memory.new("We use C.")
        await memory.decisions.forget(gone)
        assert await memory.new("We use C.") != gone
        over = await memory.new("We use D.", valid_from_ms=1_000, valid_to_ms=2_000)
        assert await memory.new("We use D.") != over


async def test_what_says_when_it_holds_is_another_decision(tmp_path):
    """The same text for another time is recorded; for just the same time it is recognized, even if that is to come."""
    async with kept(tmp_path) as memory:
        now = await memory.new("We freeze.")
        later = now_ms() + DAY_MS
        planned = await memory.new("We freeze.", valid_from_ms=later)
        assert planned != now
        assert (await memory.decide("We freeze.", valid_from_ms=later)).decision.id == planned
        assert await memory.new("We freeze.", valid_to_ms=later) not in {now, planned}
        assert (await memory.decide("We freeze.", valid_to_ms=later)).created is False


async def test_superseding_ends_the_old_one_where_the_new_one_begins(tmp_path):
    """Both are in the history; the old one names its successor, and its own end stays as it was said."""
    async with kept(tmp_path) as memory:
        start, turn, end = now_ms() - 3 * DAY_MS, now_ms() - DAY_MS, now_ms() + DAY_MS
        old = await memory.new("We use A.", memory.shop, valid_from_ms=start, valid_to_ms=end)
        done = await memory.decide("We use B.", memory.shop, supersedes=old[:20].lower(), valid_from_ms=turn)
        assert (done.created, done.superseded) == (True, old)
        (ended,) = await memory.decisions.by_ids([old])
        assert (ended.ended_ms, ended.superseded_by, ended.valid_to_ms) == (turn, done.decision.id, end)
        assert ended.superseded_at_ms == done.decision.recorded_at_ms
        assert await memory.texts(memory.shop, current=True) == ["We use B."]
        assert await memory.texts(memory.shop) == ["We use B.", "We use A."]


async def test_what_begins_before_the_old_one_leaves_nothing_of_it(tmp_path):
    """A decision never ends before it began."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.")
        await memory.new("We use B.", supersedes=old, valid_from_ms=1_000)
        (ended,) = await memory.decisions.by_ids([old])
        assert ended.ended_ms == ended.valid_from_ms


async def test_of_two_that_supersede_one_decision_one_wins(tmp_path):
    """The other is told who won, and leaves nothing."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.")
        outcomes = []

        async def supersede(text):
            try:
                outcomes.append(await memory.decide(text, supersedes=old))
            except Superseded as error:
                outcomes.append(error)

        async with anyio.create_task_group() as tasks:
            for text in ("We use B.", "We use C.", "We use D."):
                tasks.start_soon(supersede, text)
        lost = [one for one in outcomes if isinstance(one, Superseded)]
        (won,) = [one for one in outcomes if not isinstance(one, Superseded)]
        assert [one.superseded_by for one in lost] == [won.decision.id] * 2
        assert await memory.texts() == [won.decision.text, "We use A."]


async def test_superseding_with_a_text_that_is_there(tmp_path):
    """One's own text changes nothing; that of another decision ends the old one with it, and records nothing."""
    async with kept(tmp_path) as memory:
        one, other = await memory.new("We use A."), await memory.new("We use B.")
        same = await memory.decide("We  use A.", supersedes=one)
        assert (same.created, same.decision.id, same.superseded) == (False, one, None)
        merged = await memory.decide("We use B.", supersedes=one)
        assert (merged.created, merged.decision.id, merged.superseded) == (False, other, one)
        (ended,) = await memory.decisions.by_ids([one])
        assert (ended.superseded_by, ended.superseded_at_ms) == (other, ended.ended_ms)
        again = await memory.decide("We use B.", supersedes=one)
        assert (again.created, again.decision.id, again.superseded) == (False, other, None)
        assert memory.events()[2:] == [("decision.superseded", one)]


async def test_of_several_with_one_text_the_one_that_is_named_is_recognized(tmp_path):
    """To supersede a decision with its own text changes nothing, also where another one has this text."""
    async with kept(tmp_path) as memory:
        one = await memory.new("We use A.", valid_from_ms=1_000)
        two = await memory.new("We use A.", valid_from_ms=2_000)
        for item in (one, two):
            same = await memory.decide("We use A.", supersedes=item)
            assert (same.created, same.decision.id, same.superseded) == (False, item, None)
        assert len(memory.events()) == 2


async def test_a_request_that_comes_twice_supersedes_once(tmp_path):
    """Whoever did not hear the answer may ask again."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.")
        done = await memory.decide("We use B.", supersedes=old)
        again = await memory.decide("We use B.", supersedes=old)
        assert (again.created, again.decision.id) == (False, done.decision.id)
        with pytest.raises(Superseded):
            await memory.decide("We use C.", supersedes=old)


async def test_chains_never_close_to_a_ring(tmp_path):
    """What will be superseded can be recognized, but nothing is superseded by it."""
    async with kept(tmp_path) as memory:
        one = await memory.new("We use A.")
        two = (await memory.decide("We use B.", supersedes=one, valid_from_ms=now_ms() + DAY_MS)).decision.id
        assert (await memory.decide("We use A.")).decision.id == one
        three = await memory.decide("We use A.", supersedes=two)
        assert three.created
        links = dict(memory.look("SELECT id, superseded_by FROM decision"))
        assert links == {one: two, two: three.decision.id, three.decision.id: None}


async def test_only_decisions_of_the_same_scope_are_superseded(tmp_path):
    """Another project's are not even there; of those for all projects it is said why not, and the other way round."""
    async with kept(tmp_path) as memory:
        shop, everywhere = await memory.new("We use A.", memory.shop), await memory.new("We use A.")
        for of, project, error in (
            (shop, memory.pub, UnknownItem),
            (everywhere, memory.shop, ParameterRefused),
            (shop, None, ParameterRefused),
            (GONE, memory.shop, UnknownItem),
            (shop[:3], memory.shop, UnknownItem),
            ("nothing like it", memory.shop, UnknownItem),
            (shop[:4], memory.shop, AmbiguousId),
        ):
            with pytest.raises(error):
                await memory.decide("We use B.", project, supersedes=of)
        assert len(memory.events()) == 2
        assert len(memory.look("SELECT id FROM decision")) == 2


@pytest.mark.parametrize(
    ("said", "member"),
    [
        ({"text": "  \n"}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"text": "я" * (TEXT_BYTES // 2) + "end"}, "text"),
        ({"task": "t" * 129}, "task"),
        ({"task": "a\nb"}, "task"),
        ({"author": "a" * 65}, "author"),
        ({"author": "a\x1bb"}, "author"),
        ({"source": "gossip"}, "source"),
        ({"ref": "r" * 1025}, "ref"),
        ({"ref_text": "r" * 2049}, "ref_text"),
        ({"valid_from_ms": 2_000, "valid_to_ms": 2_000}, "valid_to"),
        ({"valid_to_ms": 2_000}, "valid_to"),
        ({"valid_from_ms": -1}, "valid_from"),
        ({"valid_to_ms": 1 << 60}, "valid_to"),
    ],
)
async def test_what_breaks_a_rule_is_refused(tmp_path, said, member):
    """The error names the member and the rule; nothing is stored."""
    async with kept(tmp_path) as memory:
        with pytest.raises(ParameterRefused) as refused:
            await memory.decide(**{"text": "We use A.", "project": memory.shop, **said})
        assert refused.value.name == member
        assert memory.look("SELECT count(*) FROM decision") == [(0,)]


async def test_a_text_of_16_kib_fits_and_one_over_is_told_by_how_much(tmp_path):
    """The limit counts bytes, without the white space around the text."""
    async with kept(tmp_path) as memory:
        await memory.new("  " + "я" * (TEXT_BYTES // 2) + "\n")
        with pytest.raises(ParameterRefused, match="3 too many"):
            await memory.decide("я" * (TEXT_BYTES // 2) + "end")
        one = await memory.new("short")
        with pytest.raises(ParameterRefused, match="1 too many"):
            await memory.decisions.edit(one, "x" * (TEXT_BYTES + 1))


@pytest.mark.parametrize("field", ["text", "task", "author", "ref", "ref_text"])
async def test_every_text_of_a_decision_passes_the_gate(tmp_path, field):
    """What looks like a credential is refused, wherever it stands; the error says where."""
    async with kept(tmp_path) as memory:
        with pytest.raises(SecretRefused) as refused:
            await memory.decide(**{"text": "We use A.", "project": memory.shop, field: "hunter2 it is"})
        assert [suspect.field for suspect in refused.value.suspects] == [field]
        assert "hunter2" not in str(refused.value)
        assert memory.look("SELECT count(*) FROM decision") == [(0,)]


async def test_wordings_and_reasons_pass_the_gate(tmp_path):
    """A credential gets in neither by an edit nor as a reason."""
    async with kept(tmp_path) as memory:
        one = await memory.new("We use A.")
        with pytest.raises(SecretRefused):
            await memory.decisions.edit(one, "We use hunter2.")
        with pytest.raises(SecretRefused):
            await memory.decisions.forget(one, "it was hunter2")
        assert await memory.texts(current=True) == ["We use A."]


async def test_an_edit_keeps_everything_but_the_text(tmp_path):
    """The new wording holds for the same time, from the same source; the old one only shows in history."""
    async with kept(tmp_path) as memory:
        said = {"task": "t", "source": "codex", "ref": "s-1", "ref_text": "x", "valid_from_ms": 1_000}
        old = await memory.new("We use AA.", memory.shop, **said)
        done = await memory.decisions.edit(old, "We use A.", "bob")
        assert (done.created, done.superseded, done.decision.author) == (True, old, "bob")
        assert {name: getattr(done.decision, name) for name in said} == said
        (before,) = await memory.decisions.by_ids([old])
        assert (before.superseded_by, before.ended_ms) == (done.decision.id, 1_000)
        assert await memory.texts(memory.shop, current=True) == ["We use A."]
        same = await memory.decisions.edit(done.decision.id, " We use A. ")
        assert (same.created, same.decision.id) == (False, done.decision.id)


async def test_what_was_ended_is_not_ended_again(tmp_path):
    """Neither edited nor forgotten nor superseded; the error names what took its place."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.")
        new = await memory.new("We use B.", supersedes=old)
        for change in (memory.decisions.edit(old, "x"), memory.decisions.forget(old)):
            with pytest.raises(Superseded) as ended:
                await change
            assert ended.value.superseded_by == new
        await memory.decisions.forget(new, "a mistake", "bob")
        with pytest.raises(Superseded) as ended:
            await memory.decide("We use C.", supersedes=new)
        assert ended.value.superseded_by is None
        (gone,) = await memory.decisions.by_ids([new])
        assert (gone.reason, gone.superseded_by, gone.ended_ms) == ("a mistake", None, gone.superseded_at_ms)
        assert await memory.texts(current=True) == []


async def test_the_feed_tells_of_every_change_without_its_text(tmp_path):
    """An event has the identifier, the project, who did it and from where; no text of any kind."""
    async with kept(tmp_path) as memory:
        one = await memory.new("secret words", memory.shop, author="ana", source="codex", task="secret task")
        two = await memory.new("secret words two", memory.shop, author="ana", supersedes=one)
        three = (await memory.decisions.edit(two, "secret words three", "bob")).decision.id
        await memory.decisions.forget(three, "secret reason", "eve")
        rows = memory.look(
            "SELECT kind, ref, actor, project, project_id, data FROM event WHERE kind LIKE 'decision.%' ORDER BY id"
        )
        shop = ("shop", memory.shop.id)
        assert [row[:5] for row in rows] == [
            ("decision.captured", one, "ana", *shop),
            ("decision.captured", two, "ana", *shop),
            ("decision.superseded", one, "ana", *shop),
            ("decision.edited", three, "bob", *shop),
            ("decision.forgotten", three, "eve", *shop),
        ]
        assert json.loads(rows[0][5]) == {"scope": "project", "source": "codex"}
        assert json.loads(rows[2][5])["superseded_by"] == two
        assert "secret" not in "".join(row[5] for row in rows)


async def test_a_preference_is_no_decision(tmp_path):
    """Its identifier supersedes nothing, and cannot be edited or forgotten here."""
    async with kept(tmp_path) as memory:
        value, _ = await memory.store.preferences.set(Setting("k", "global"), "v", author="ana", reason=None)
        with pytest.raises(UnknownItem):
            await memory.decide("We use A.", supersedes=value.id)
        for change in (memory.decisions.edit(value.id, "x"), memory.decisions.forget(value.id)):
            with pytest.raises(ParameterRefused):
                await change


async def test_readers_are_told_of_changes_of_the_memory(tmp_path):
    """Whoever keeps what they read sees by a number that it is old."""
    async with kept(tmp_path) as memory:
        seen = memory.store.changes.memory
        one = await memory.new("We use A.")
        assert memory.store.changes.memory > seen
        seen = memory.store.changes.memory
        await memory.store.items.purge(one)
        assert memory.store.changes.memory > seen
