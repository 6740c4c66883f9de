"""What went wrong for users of other memories, tried from outside: projects that leak, texts that are not found, dates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage

GLOBAL = {"global": True}


@pytest.fixture(scope="module")
def running() -> Iterator[stage.Daemon]:
    """One daemon for all of them; each test keeps to projects of its own."""
    with stage.home() as home, stage.daemon(home) as started:
        yield started


class Project:
    """A project as its user sees it."""

    def __init__(self, running: stage.Daemon, slug: str) -> None:
        self.running = running
        self.slug = slug
        assert self.asked("POST", "/v1/projects", slug=slug)[0] == 201

    def asked(self, method: str, target: str, **body: Any) -> tuple[int, Any]:
        """Send JSON; status and answer."""
        return self.running.call(method, target, json.dumps(body).encode())

    def decide(self, text: str, **more: Any) -> dict[str, Any]:
        """Decide something new; its row."""
        status, answer = self.asked("POST", "/v1/decisions", **{"text": text, "project": self.slug, **more})
        assert status == 201, answer
        return answer

    def recall(self, text: str, **more: Any) -> list[str]:
        """Search; the texts, the best first."""
        status, answer = self.asked("POST", "/v1/recall", text=text, project=self.slug, **more)
        assert status == 200, answer
        return [item["text"] for item in answer["items"]]

    def brief(self, **more: Any) -> str:
        """Compile the brief; its text."""
        status, answer = self.asked("POST", "/v1/brief", project=self.slug, **more)
        assert status == 200, answer
        return answer["text"]

    def history(self, **more: str) -> list[str]:
        """Read decisions; their texts, the newest first."""
        asked = "&".join(f"{name}={value}" for name, value in more.items())
        status, answer = self.running.call("GET", f"/v1/decisions?project={self.slug}&{asked}")
        assert status == 200, answer
        return [one["text"] for one in answer["decisions"]]

    def feed(self) -> list[dict[str, Any]]:
        """Read its events."""
        return self.running.call("GET", f"/v1/feed?project={self.slug}&limit=1000")[1]["events"]

    def ctl(self, *words: str, env: dict[str, str] | None = None) -> tuple[int, bytes, bytes]:
        """Run a command on the home."""
        done = stage.relayctl(*words, at=self.running.home, env=env)
        return done.returncode, done.stdout, done.stderr


def test_a_name_that_begins_with_another_is_another_project(running: stage.Daemon) -> None:
    """Nothing of `api-gateway` shows in `api`, nor the other way round, on any surface."""
    api, gateway = Project(running, "api"), Project(running, "api-gateway")
    api.decide("shared word: api speaks JSON")
    gateway.decide("shared word: gateway terminates TLS")
    for mine, text, other in ((api, "api speaks", "gateway"), (gateway, "gateway term", "api speaks")):
        shown = [
            mine.brief(),
            *mine.recall("shared word"),
            *mine.recall("shared word", history=True),
            *mine.history(),
        ]
        assert any(text in one for one in shown)
        assert not any(other in one for one in shown)
        refs = {event["ref"] for event in mine.feed()}
        assert len([event for event in mine.feed() if event["kind"] == "decision.captured"]) == 1
        assert all(event["project"] == mine.slug for event in mine.feed()), refs


def test_a_name_in_other_letters_says_which_one_is_meant(running: stage.Daemon) -> None:
    """`--project Atlas` with 35 decisions in `atlas` is refused with its name, not answered with nothing."""
    atlas = Project(running, "atlas")
    for number in range(35):
        atlas.decide(f"rule {number} of atlas")
    code, told, complaint = atlas.ctl("recall", "rule", "--project", "Atlas")
    assert (code, told) == (2, b"")
    assert b"atlas" in complaint
    status, answer = atlas.asked("POST", "/v1/recall", text="rule", project="Atlas")
    assert (status, answer["code"], answer["did_you_mean"]) == (404, "unknown_project", ["atlas"])


def test_an_empty_project_names_the_one_that_is_like_it(running: stage.Daemon) -> None:
    """Nothing in `harbour`, while `harbor` has something: recall, brief and history say so, on standard error too."""
    Project(running, "harbor").decide("ships come at noon")
    empty = Project(running, "harbour")
    assert empty.asked("POST", "/v1/recall", text="ships", project="harbour")[1]["did_you_mean"] == ["harbor"]
    code, told, complaint = empty.ctl("recall", "ships", "--project", "harbour")
    assert code == 0
    assert json.loads(told)["items"] == []
    assert b"harbor" in complaint
    for words in (("brief", "--json"), ("memory", "history")):
        code, told, complaint = empty.ctl(*words, "--project", "harbour")
        assert (code, json.loads(told)["did_you_mean"]) == (0, ["harbor"])
        assert b"did you mean --project harbor?" in complaint
        assert "did_you_mean" not in json.loads(empty.ctl(*words, "--project", "harbor")[1])
    empty.decide("ships come at one")
    for words in (("brief", "--json"), ("memory", "history")):
        assert "did_you_mean" not in json.loads(empty.ctl(*words, "--project", "harbour")[1])


@pytest.mark.parametrize(
    "text", ['"()*', "***", "''", "NEAR(", "AND OR NOT", "a:b", "-x", "{}[]^~", "\\", "%_", " \t "]
)
def test_a_question_of_signs_alone_finds_nothing_or_what_holds(running: stage.Daemon, text: str) -> None:
    """It is answered, not refused."""
    status, answer = running.call("POST", "/v1/recall", json.dumps({"text": text, **GLOBAL}).encode())
    assert status == 200, answer
    assert answer["items"] == []


def test_words_are_found_in_every_script(running: stage.Daemon) -> None:
    """Two Chinese characters, one, a Russian word in another form, letters without their accents, a part of a name."""
    lantern = Project(running, "lantern")
    chinese = lantern.decide("审计发现50条悬空引用清零")["text"]
    russian = lantern.decide("мы выбрал миграции без простоя")["text"]
    accents = lantern.decide("the café prints receipts")["text"]
    glued = lantern.decide("retryCheckoutPayment stays idempotent")["text"]
    for question, text in (
        ("悬空", chinese), ("悬", chinese), ("引用清零", chinese), ("миграция", russian), ("выбрать миграцию", russian),
        ("cafe", accents), ("CAFÉ receipt", accents), ("checkout", glued), ("retryCheckoutPayment", glued),
        ("heckoutPay", glued),
    ):  # fmt: skip
        assert lantern.recall(question)[:1] == [text], question


def test_the_best_match_comes_first_however_old(running: stage.Daemon) -> None:
    """One old good match and thirty new weak ones, with `limit` 1; and a question full of stop words."""
    meadow = Project(running, "meadow")
    good = meadow.decide("the cache of rendered pages is dropped at every release")["text"]
    for number in range(30):
        meadow.decide(f"page {number} of what we did about the other things is here, the release is not")
    assert meadow.recall("cache of rendered pages dropped", limit=1) == [good]
    assert meadow.recall("what did we decide about the cache", limit=1) == [good]


def test_what_was_superseded_shows_nowhere_but_in_history(running: stage.Daemon) -> None:
    """Brief, recall and current history hold the new one alone, also a preference that was set anew."""
    orchard = Project(running, "orchard")
    old = orchard.decide("apples ship in boxes of ten")
    orchard.decide("apples ship in boxes of twelve", supersedes=old["id"])
    for value in ("crates", "sacks"):
        assert orchard.asked(
            "PUT", "/v1/preferences", key="packing", value=value, scope="project", project="orchard"
        )[0] in {200, 201}
    gone = orchard.decide("pears ship in crates of five")
    assert orchard.asked("POST", f"/v1/decisions/{gone['id']}/forget", reason="a mistake")[0] == 200
    for shown in (
        orchard.brief(),
        orchard.brief(intent="apples pears boxes"),
        *orchard.recall("apples pears boxes packing crates"),
    ):
        assert "boxes of ten" not in shown
        assert "crates" not in shown
    assert "sacks" in orchard.brief()
    assert orchard.history(current="true") == ["apples ship in boxes of twelve"]
    assert len(orchard.history()) == 3
    assert "apples ship in boxes of ten" in orchard.recall("apples ship in boxes of ten", history=True)


def test_nothing_is_cut_within_what_is_one_letter_to_a_reader(running: stage.Daemon) -> None:
    """Snippets and briefs of texts of emoji families hold whole families only."""
    quarry = Project(running, "quarry")
    family = "👩‍👩‍👧"
    quarry.decide("needle " + family * 300)
    for snippet in [
        item["snippet"]
        for item in quarry.asked("POST", "/v1/recall", text="needle", project="quarry")[1]["items"]
    ]:
        assert set(snippet.replace(family, "")) <= set("needle …. ")
    assert set(quarry.brief(max_chars=500).replace(family, "")).isdisjoint("👩‍👧")


def test_a_console_that_knows_few_letters_shows_a_brief(running: stage.Daemon) -> None:
    """Arrows and Japanese on a cp1252 output: nothing crashes."""
    ridge = Project(running, "ridge")
    ridge.decide("requests go → 日本 first")
    for words in (("brief",), ("recall", "requests"), ("memory", "history")):
        for env in ({"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}):
            code, told, complaint = ridge.ctl(*words, "--project", "ridge", env=env)
            assert (code, b"Traceback" in complaint) == (0, False), complaint
            assert b"requests go" in told


def test_a_key_beside_chinese_is_refused_and_told_nowhere(running: stage.Daemon) -> None:
    """No word border stands before it; the refusal names kind and place, and nothing holds the value."""
    signal = Project(running, "signal")
    secret = "sk_" + "test_" + "4eC39HqLyjWDarjtT1zdp7dc"
    code, told, complaint = signal.ctl("decide", f"凭证为{secret}。勿外传", "--project", "signal")
    assert (code != 0, told) == (True, b"")
    assert secret.encode() not in complaint
    assert signal.history() == []
    assert not any(
        secret.encode() in path.read_bytes() for path in signal.running.home.rglob("*") if path.is_file()
    )


def test_a_project_made_after_one_was_removed_inherits_nothing(running: stage.Daemon) -> None:
    """Neither rows nor what is found: identifiers are not used twice."""
    first = Project(running, "willow")
    first.decide("secret recipe of willow")
    code, _, complaint = first.ctl("project", "remove", "willow", "--yes")
    assert code == 0, complaint
    again = Project(running, "willow")
    other = Project(running, "willow-2")
    for one in (again, other):
        assert one.recall("secret recipe") == []
        assert one.recall("secret recipe", history=True) == []
        assert one.history() == []
        assert one.brief() == ""


def test_both_axes_reach_every_surface(running: stage.Daemon) -> None:
    """What was true then, and what was known then, is asked of history, recall and brief alike, by HTTP and by command."""
    signal = Project(running, "lighthouse")
    old = signal.decide("lamp is lit by hand", valid_from="2026-01-01T00:00:00Z")
    new = signal.decide("lamp is lit by a clock", valid_from="2026-02-01T00:00:00Z", supersedes=old["id"])
    before_new = {"known_at": old["recorded_at"], "as_of": "2026-03-01T00:00:00Z"}
    if (
        old["recorded_at"] == new["recorded_at"]
    ):  # both in one millisecond: nothing was known before the new one
        before_new = {"as_of": "2026-01-15T00:00:00Z"}
    for asked, shown, hidden in (
        ({}, "clock", "hand"),
        ({"as_of": "2026-01-15T00:00:00Z"}, "hand", "clock"),
        ({"as_of": "2026-02-15T00:00:00Z"}, "clock", "hand"),
        (before_new, "hand", "clock"),
        ({"as_of": "2025-12-31T00:00:00Z"}, "", "lamp"),
    ):
        flags = [word for name, text in asked.items() for word in ("--" + name.replace("_", "-"), text)]
        current = {} if asked else {"current": "true"}
        answers = [
            "\n".join(signal.history(**asked, **current)),
            "\n".join(signal.recall("lamp lit", **asked)),
            signal.brief(**asked),
            signal.brief(intent="lamp", **asked),
        ]
        for words in (
            ("memory", "history", *(["--current"] if current else [])),
            ("recall", "lamp lit"),
            ("brief",),
        ):
            code, told, complaint = signal.ctl(*words, "--project", "lighthouse", *flags)
            assert code == 0, complaint
            answers.append(told.decode())
        for answer in answers:
            assert shown in answer, (asked, answer)
            assert hidden not in answer, (asked, answer)


KATHMANDU = {"TZ": "Asia/Kathmandu"}


def test_a_day_is_the_users_day(running: stage.Daemon) -> None:
    """A decision of 23:50 in Kathmandu (18:05 UTC) is true at the end of that day there, and not at that of the day before."""
    tundra = Project(running, "tundra")
    code, told, complaint = tundra.ctl(
        "decide", "it snows late", "--project", "tundra", "--valid-from", "2026-03-03T23:50", env=KATHMANDU
    )
    assert code == 0, complaint
    assert json.loads(told)["valid_from"] == "2026-03-03T18:05:00.000Z"
    for day, zone, shown in (
        ("2026-03-02", KATHMANDU, 0), ("2026-03-03", KATHMANDU, 1), ("2026-03-03", {"TZ": "UTC"}, 1),
        ("2026-03-03", {"TZ": "Pacific/Kiritimati"}, 0), ("2026-03-03T23:49", KATHMANDU, 0),
    ):  # fmt: skip
        code, told, complaint = tundra.ctl(
            "memory", "history", "--project", "tundra", "--as-of", day, env=zone
        )
        assert code == 0, complaint
        assert len(json.loads(told)["decisions"]) == shown, (day, zone)
        code, told, complaint = tundra.ctl("brief", "--project", "tundra", "--as-of", day, env=zone)
        assert (code, "snows" in told.decode()) == (0, bool(shown)), complaint


def test_a_day_on_which_the_clock_changes_ends_with_its_last_hour(running: stage.Daemon) -> None:
    """The day has 25 hours; what became true in the last one is true at its end."""
    zephyr = Project(running, "zephyr")
    zephyr.decide("clocks went back", valid_from="2026-10-25T22:30:00Z")
    berlin = {"TZ": "Europe/Berlin"}
    _, told, _ = zephyr.ctl("memory", "history", "--project", "zephyr", "--as-of", "2026-10-25", env=berlin)
    assert len(json.loads(told)["decisions"]) == 1
    _, told, _ = zephyr.ctl("memory", "history", "--project", "zephyr", "--as-of", "2026-10-24", env=berlin)
    assert json.loads(told)["decisions"] == []


@pytest.mark.skipif(shutil.which("faketime") is None, reason="no faketime command here")
def test_what_is_decided_after_the_clock_was_set_back_holds(home: Path) -> None:
    """A daemon whose clock was a day ahead left a decision; the next one is true at once all the same."""
    with stage.daemon(home, env={"DONT_FAKE_MONOTONIC": "1"}, prefix=("faketime", "-f", "+1d")) as ahead:
        Project(ahead, "anchor").decide("written by a clock that was ahead")
        assert stage.relayctl("daemon", "stop", at=home).returncode == 0
    with stage.daemon(home) as running:
        answer = json.dumps({"text": "written after it was set back", "project": "anchor"}).encode()
        assert running.call("POST", "/v1/decisions", answer)[0] == 201
        current = running.call("GET", "/v1/decisions?project=anchor&current=true")[1]["decisions"]
        assert "written after it was set back" in {one["text"] for one in current}
        brief = running.call("POST", "/v1/brief", b'{"project": "anchor"}')[1]["text"]
        assert "written after it was set back" in brief
