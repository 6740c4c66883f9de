import anyio
import anyio.lowlevel
import msgspec
import pytest

from relayd.memory.moment import Moment
from relayd.store.index import Entry
from relayd.turns import Turns
from tests.integration.search.memory import AT_MS, BLOG, SHOP, entry

CACHE = "We decided to keep the session cache in Redis."


@pytest.mark.parametrize("question", ["()*", "***", "", " \n", "-- ; '\"", "🔥", "\x00", "\ud800", "→"])
async def test_a_question_of_symbols_finds_nothing(either, question):
    """It is no error either."""
    await either.keep(entry(1, CACHE))
    assert await either.texts(question) == []


@pytest.mark.parametrize("question", ["悬空", "空", "引用清零", "50条", "将50条悬空"])
async def test_chinese_is_found_down_to_one_character(either, question):
    """Also inside a run, and beside digits."""
    await either.keep(entry(1, "迁移脚本已将50条悬空引用清零"), entry(2, "空的"), entry(3, "no Chinese, 50"))
    assert (await either.texts(question, limit=1))[0] in ("迁移脚本已将50条悬空引用清零", "空的")
    assert "迁移脚本已将50条悬空引用清零" in await either.texts(question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("выбрал миграции", "миграция"),
        ("Ёлку снимаем", "елка"),
        ("The café opens", "cafe"),
        ("A cafe opens", "café"),
        ("Deploys are cached", "caching deploy"),
        ("getUserById fails", "user by id"),
        ("see ERR_CONN_RESET", "errConnReset"),
        ("in src/api/users.py", "api/users"),
    ],
)
async def test_forms_and_spellings_are_found(memory, text, question):
    """Word forms in both languages, accents, and identifiers however they are joined."""
    await memory.keep(entry(1, text), entry(2, "something else"))
    assert await memory.texts(question) == [text]


@pytest.mark.parametrize(
    ("text", "question", "meant"),
    [
        ("write the migration by hand", "migartion", "migration"),
        ("a connection pool of twenty", "conection pool", "connection"),
        ("keep the cache", "cahce", "cache"),
        ("выбрал миграцию", "мирграция", "миграцию"),
        ("see ERR_CONN_RESET", "ERR_CON_RESET", "errconnreset"),
    ],
)
async def test_typing_errors_are_corrected(memory, text, question, meant):
    """And whoever asks is told what was taken for what."""
    await memory.keep(entry(1, text), entry(2, "nothing of the kind"))
    (hit,) = await memory.search.find(question, project_id=SHOP, explain=True)
    assert hit.text == text
    assert meant in [word for words in hit.why["meant"].values() for word in words]


@pytest.mark.parametrize("part", ["serbyi", "getuserb", "yid", "UserBy"])
async def test_parts_of_identifiers_are_found(memory, part):
    """From three characters on, wherever they stand."""
    await memory.keep(entry(1, "getUserById fails"), entry(2, "nothing of the kind"))
    assert await memory.texts(part) == ["getUserById fails"]


async def test_the_best_match_comes_before_thirty_newer_ones(either):
    """The limit cuts what was ranked, and being new does not help what matches less."""
    best = "the invoice cache is purged on publish"
    await either.keep(
        entry(1, best), *(entry(10 + n, f"note {n} about the cache of week {n}") for n in range(30))
    )
    assert await either.texts("purged invoice cache", limit=1) == [best]


async def test_stop_words_do_not_decide(either):
    """A question full of them is about the word that is left."""
    noise = [
        "what did we do about the weather",
        "did what we about the",
        "we did decide what the plan is about",
    ]
    await either.keep(*(entry(n, text) for n, text in enumerate([*noise, CACHE])))
    assert (await either.texts("what did we decide about the cache"))[0] == CACHE


async def test_stop_words_alone_are_looked_for(either):
    """Where nothing else is asked for."""
    await either.keep(entry(1, "to be or not to be"), entry(2, "redis"))
    assert await either.texts("to be or not") == ["to be or not to be"]


async def test_nothing_of_another_project_is_found(either):
    """Neither by its words, nor by parts, nor as a correction; what is of all projects is."""
    await either.keep(
        entry(1, "printer secretword", project_id=BLOG),
        entry(2, "printer for everybody", project_id=None),
        entry(3, "printer of the shop"),
    )
    assert set(await either.texts("printer")) == {"printer for everybody", "printer of the shop"}
    assert await either.texts("printer", project_id=None) == ["printer for everybody"]
    for question in ("secretword", "secretwrod", "cretwo"):
        assert await either.texts(question) == []
        assert await either.texts(question, project_id=None) == []
    assert await either.texts("secretword", project_id=BLOG) == ["printer secretword"]


async def test_only_what_holds_now_is_found(either):
    """Unless history is asked for; what is not true yet, or no longer, waits for its time."""
    later = 4_000_000_000_000
    await either.keep(
        entry(1, "printer now"),
        entry(2, "printer replaced", ended_ms=AT_MS + 5, superseded_at_ms=AT_MS + 5),
        entry(3, "printer expired", valid_to_ms=AT_MS + 9),
        entry(4, "printer to come", valid_from_ms=later),
        entry(5, "printer until then", ended_ms=later, superseded_at_ms=AT_MS + 8),
    )
    assert set(await either.texts("printer")) == {"printer now", "printer until then"}
    hits = await either.search.find("printer", project_id=SHOP, history=True)
    assert {hit.text for hit in hits if not hit.current} == {
        "printer replaced",
        "printer expired",
        "printer to come",
    }
    assert {hit.text for hit in hits if hit.current} == {"printer now", "printer until then"}
    then = Moment(later + 1, later + 1)
    assert set(await either.texts("printer", moment=then)) == {"printer now", "printer to come"}


async def test_both_axes_are_asked(either):
    """What was true then as far as it is known now, and what was known then."""
    await either.keep(
        entry(1, "printer old", ended_ms=AT_MS + 50, superseded_at_ms=AT_MS + 100),
        entry(100, "printer new", valid_from_ms=AT_MS + 50),
    )

    async def seen(as_of, known_at):
        return await either.texts("printer", moment=Moment(AT_MS + as_of, AT_MS + known_at))

    assert await seen(40, 200) == ["printer old"]
    assert await seen(60, 200) == ["printer new"]
    assert await seen(60, 60) == ["printer old"]
    assert await seen(0, 0) == []


async def test_what_is_of_another_task_is_left_out(either):
    """Where a task is named, its own and what is of the whole project is found, its own first."""
    await either.keep(
        entry(1, "printer of one", task="one"),
        entry(2, "printer of two", task="two"),
        entry(3, "printer of all"),
    )
    assert await either.texts("printer", task="one") == ["printer of one", "printer of all"]
    assert len(await either.texts("printer")) == 3


async def test_kinds_are_asked_for(either):
    """Only they are found."""
    await either.keep(entry(1, "printer"))
    assert await either.texts("printer", kinds=["decision"]) == ["printer"]
    assert await either.texts("printer", kinds=["preference", "summary"]) == []


async def test_a_snippet_shows_what_was_found(either):
    """On one line, however long the text is."""
    fill = "Nothing of this matters to anybody who asks.\n" * 40
    await either.keep(entry(1, f"{fill}The printer is empty.\n{fill}"))
    (hit,) = await either.search.find("printers", project_id=SHOP)
    assert "The printer is empty." in hit.snippet
    assert "\n" not in hit.snippet
    assert len(hit.snippet) <= 160


async def test_reasons_are_given_to_who_asks(memory):
    """Which words were found where, and what they were weighed with; nobody else pays for them."""
    await memory.keep(entry(1, CACHE, task="t"))
    (hit,) = await memory.search.find("redis caches printer", project_id=SHOP, explain=True)
    assert hit.why["index"] == "words"
    assert hit.why["matched"] == ["redis", "caches"]
    assert set(hit.why["factors"]) == {"recency", "scope", "task"}
    assert (await memory.search.find("redis", project_id=SHOP))[0].why is None


async def test_frequent_words_still_take_part(memory, monkeypatch):
    """Where ranking them costs too much they are looked for beside the rare ones, and where nothing is rare too."""
    monkeypatch.setattr("relayd.search.finder._AFFORDED", 30)
    await memory.keep(
        *(entry(n, f"deploy number {n}") for n in range(100)),
        entry(100, "redis"),
        entry(101, "deploy redis"),
        *(entry(102 + n, f"redis {n}") for n in range(10)),
    )
    assert (await memory.texts("deploy redis"))[0] == "deploy redis"
    assert len(await memory.texts("deploy", limit=5)) == 5


async def test_a_very_long_question_is_answered(either):
    """Only its beginning counts."""
    await either.keep(entry(1, CACHE))
    assert (await either.texts("cache " + "word" * 100_000)) == [CACHE]


async def test_no_limit_below_one_finds_anything(either):
    """Nothing was asked for."""
    await either.keep(entry(1, CACHE))
    assert await either.texts("cache", limit=0) == []


async def test_preferences_and_summaries_are_found(either):
    """By their words, with the text that a reader knows; with an index and without."""
    preference = Entry("preference", "01HF7YATPREF", None, None, "", AT_MS, None, AT_MS, None, None)
    summary = Entry("summary", "shop", SHOP, None, "A shop that sells tea", AT_MS, None, AT_MS, None, None)

    def job(connection):
        connection.execute(
            "INSERT INTO preference (id, key, value, scope, author, reason, recorded_at_ms) "
            "VALUES (?, 'commit.style', 'imperative', 'global', 'ana', 'git does so', ?)",
            (preference.id, AT_MS),
        )
        connection.execute(
            "UPDATE project SET summary = ?, changed_at_ms = ? WHERE slug = 'shop'", (summary.text, AT_MS)
        )
        text = "commit.style = imperative (git does so)"
        either.index.put(connection, [msgspec.structs.replace(preference, text=text), summary])

    await either.store.access.change(job)
    for question in ("commit style", "commit.style", "imperative", "git"):
        assert await either.texts(question) == ["commit.style = imperative (git does so)"]
    (hit,) = await either.search.find("sell teas", project_id=SHOP)
    assert (hit.kind, hit.id, hit.text) == ("summary", "shop", summary.text)
    assert await either.texts("tea", kinds=["preference"]) == []
    assert await either.texts("tea", project_id=BLOG) == []


async def test_a_summary_that_is_no_longer_there_is_left_out(memory):
    """Should the index ever be ahead of the memory, a question is answered all the same."""
    gone = Entry("summary", "gone", SHOP, None, "A shop that sells tea", AT_MS, None, AT_MS, None, None)
    await memory.store.access.change(lambda connection: memory.index.put(connection, [gone]))
    assert await memory.texts("tea") == []


async def test_words_of_other_projects_hide_no_guess(memory):
    """However many of them are nearer to what was asked for."""
    await memory.keep(
        *(entry(n, f"xreconcil{n} migratiom", project_id=BLOG) for n in range(20)),
        entry(50, "the paymentreconciler"),
        entry(51, "write migrations"),
    )
    assert await memory.texts("reconcil") == ["the paymentreconciler"]
    assert await memory.texts("migratiomn") == ["write migrations"]


async def test_others_have_their_turn_while_long_texts_are_looked_at(either, monkeypatch):
    """Ranking and cutting are never one long step: a hook waits for one text at most."""
    await either.keep(*(entry(n, f"cache {n} " + "filler words " * 50) for n in range(40)))
    await either.texts("cache")  # the stemmers are there, and what is not known is asked for
    pieces = 0

    class Counting(Turns):
        async def map(self, work, items):
            async def others():
                nonlocal pieces
                while True:
                    await anyio.lowlevel.checkpoint()
                    pieces += 1

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(others)
                done = await super().map(work, items)
                tasks.cancel_scope.cancel()
            return done

    monkeypatch.setattr(either.search, "turns", Counting(0.0))
    assert len(await either.texts("cache", limit=40)) == 40
    assert pieces >= 2 * (40 - 1)
