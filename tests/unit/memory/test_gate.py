"""What the gate refuses, what it lets pass, and what it says."""

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.errors import ConfigRefused, SecretRefused
from relayd.memory import gate as gate_module
from relayd.memory.gate import Gate
from relayd.memory.secret_patterns import SecretPatterns
from relayd.text import assigned, likeness
from relayd.text.tokens import PEM, TOKENS
from tests.unit.memory.fake_credentials import FAKES, FALSE_ALARMS, NAMED, SURROUNDINGS, TOKEN_CASES, pem

P, T = "pass" + "word", "tok" + "en"


@cache
def gate():
    return Gate(Path("/nonexistent/secret-patterns.toml"))


def suspects(text):
    try:
        gate().check([("text", text)])
    except SecretRefused as refused:
        return list(refused.suspects)
    return []


def test_the_tables_are_large():
    """Enough fakes, and enough of what is none."""
    assert len(TOKEN_CASES) + len(NAMED) >= 60
    assert len(FALSE_ALARMS) >= 40


@pytest.mark.parametrize(("kind", "fake"), TOKEN_CASES)
def test_every_kind_is_refused_wherever_it_stands(kind, fake):
    """Alone, in a sentence, behind a CJK letter, in quotes and brackets, behind an escape: kind and place are told."""
    for before, after in SURROUNDINGS:
        found = suspects(before + fake + after)
        assert [one.kind for one in found] == [kind], (before, after)
        (one,) = found
        shown = (before + fake + after)[one.start : one.end]
        assert fake.endswith(shown) or shown.startswith(fake) or shown in fake, (before, after)


@pytest.mark.parametrize(("before", "value", "after"), NAMED)
def test_named_values_are_refused_by_their_shape(before, value, after):
    """Behind a name, an option or a header; the place is that of the value."""
    for start, end in (("", ""), ("我们的", ""), ("We agreed: ", "\nand more"), ("(", ")"), ("\\n", "")):
        text = start + before + value + after + end
        found = suspects(text)
        assert found, text
        assert len(found) == 1
        assert text[found[0].start : found[0].end] in (value, value.partition("&")[0])


@pytest.mark.parametrize("text", FALSE_ALARMS)
def test_known_false_alarms_pass(text):
    """Words about secrets, placeholders, variables, digests, identifiers and paths are let through."""
    for before, after in (
        ("", ""),
        ("We decided: ", "."),
        ("决定\uff1a", "。"),
        ("- ", "\n"),
        ("(", ")"),
        ('"', '"'),
    ):
        assert suspects(before + text + after) == []


@pytest.mark.parametrize(("kind", "fake"), TOKEN_CASES)
def test_no_message_holds_a_value(kind, fake):
    """What is told names the field, the kind and the place, and nothing of the text."""
    with pytest.raises(SecretRefused) as refused:
        gate().check([("ref", None), ("text", f"key {fake}")])
    told = str(refused.value)
    assert kind in told
    assert "text" in told
    values = [run for run in re.findall("[A-Za-z0-9]{6,}", fake) if run.lower() not in kind.lower()]
    assert not [value for value in values if value in told.replace("characters", "")]


def test_every_field_is_named():
    """All suspects of all fields are told, in their order, up to eight."""
    fake = TOKEN_CASES[0][1]
    with pytest.raises(SecretRefused) as refused:
        gate().check([("text", f"{fake} {fake}"), ("reason", None), ("ref", ""), ("ref_text", fake)])
    assert [(one.field, one.start, one.end) for one in refused.value.suspects] == [
        ("text", 0, len(fake)),
        ("text", len(fake) + 1, 2 * len(fake) + 1),
        ("ref_text", 0, len(fake)),
    ]
    with pytest.raises(SecretRefused) as many:
        gate().check([("text", f"{fake} " * 50)])
    assert len(many.value.suspects) == 8


@pytest.mark.parametrize(
    "unseen",
    [
        "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u034f", "\u061c", "\u202e", "\u2066", "\u3164", "\ufe0f",
        "\U000e0041", "\b", "\x01", "\x1b[0m", "\x1b[38;5;1m\u202c", "\x9b",
    ],
)  # fmt: skip
def test_unseen_characters_hide_nothing(unseen):
    """A token with characters in it that nobody sees is one; its place is that in the text as it was given."""
    fake = TOKEN_CASES[0][1]
    text = f"see {unseen.join(fake)} there"
    (one,) = suspects(text)
    assert text[one.start : one.end] == unseen.join(fake)


def test_escapes_of_urls_hide_nothing():
    """A password in a URL that is itself in a query is found; so is an assignment."""
    url = quote(FAKES["password in a URL"][0], safe="")
    text = f"https://example.com/?next={url}"
    (one,) = suspects(text)
    assert one.kind == "password in a URL"
    assert 0 < one.start < one.end <= len(text)
    assert [one.kind for one in suspects(f"a%26{P}%3Dhunter2abc%26b")] == ["password"]


def test_json_of_json_hides_nothing():
    """Credentials in JSON, and in JSON that is a string of JSON."""
    inner = {P: "hunter2abc", "key": TOKEN_CASES[0][1], "pem": pem("PRIVATE KEY")}
    for _ in range(3):
        assert {one.kind for one in suspects(json.dumps(inner))} == {
            "password",
            "GitHub token",
            "private key",
        }
        inner = {"nested": json.dumps(inner)}


def test_a_value_is_looked_at_under_its_name():
    """`db_password` makes a value suspicious that is not by itself; the place is that in the value."""
    assert suspects("hunter2abc") == []
    with pytest.raises(SecretRefused) as refused:
        gate().check_value(f"db_{P}", "value", "hunter2abc")
    assert refused.value.suspects == (("value", "password", 0, 10),)
    gate().check_value("test_runner", "value", "hunter2abc")
    gate().check_value(f"{P}_policy", "value", "at least 12 characters")


def test_patterns_know_no_boundaries_of_words():
    r"""`\b` and `\w` count letters of all scripts, and possessive quantifiers are wrong in older versions of `re`."""
    texts = [shape.pattern for shape in TOKENS]
    for module in (assigned, likeness):
        texts += [value.pattern for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert len(texts) > 90
    for text in texts:
        assert not re.search(r"\\[bBwWdD]", text), text
        assert not re.search(r"(?<!\\)[*+?}]\+", re.sub(r"\[\^?\]?(?:\\.|[^\]])*\]", "x", text)), text


def test_every_shape_has_its_hint_in_what_it_matches():
    """A hint that is not in each match would hide it."""
    for kind, fake in TOKEN_CASES:
        assert [shape for shape in TOKENS if shape.kind == kind and shape.hint in fake], kind


ENDLESS = 1_000
"""A repetition with a higher limit counts as one without."""


def endless(parsed):
    """Where a sequence repeats without a limit: the classes that repeat, and what must follow each."""
    parts = list(parsed)
    for place, (operator, argument) in enumerate(parts):
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > ENDLESS:
            yield argument[2], [part for part in parts[place + 1 :] if may_fail(part)]
        for inner in within(argument):
            yield from endless(inner)


def within(argument):
    if type(argument).__name__ == "SubPattern":
        return [argument]
    return [one for part in argument for one in within(part)] if isinstance(argument, (tuple, list)) else []


def takes(repeated, sign):
    """Whether one sign, of any case, is in the class that repeats."""
    (first, members), *_ = repeated
    members = [(first, members)] if str(first) == "LITERAL" else list(members)
    found = any(
        (str(operator) == "LITERAL" and chr(told).lower() == chr(sign).lower())
        or (str(operator) == "RANGE" and {*range(told[0], told[1] + 1)} & {sign, ord(chr(sign).swapcase())})
        for operator, told in members
    )  # fmt: skip
    return found is not (str(members[0][0]) == "NEGATE")


def may_fail(part):
    operator, argument = part
    return not (str(operator) in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] == 0)


def test_what_repeats_without_a_limit_ends_at_once():
    """No such repetition holds another one, and what must follow it is one sign that it cannot take itself.

    So a match that fails goes back no further than the text it began with, and the work grows with the text alone.
    """
    parse = import_module("re._parser").parse
    texts = [shape.pattern for shape in TOKENS if shape is not PEM]
    for module in (assigned, likeness, gate_module):
        texts += [value.pattern for value in vars(module).values() if isinstance(value, re.Pattern)]
    found = [(text, *one) for text in texts for one in endless(parse(text))]
    assert len(found) > 40
    for text, repeated, behind in found:
        assert not list(endless(repeated)), text
        if behind and str(behind[0][0]) != "ASSERT_NOT":
            assert str(behind[0][0]) == "LITERAL", text
            assert not takes(repeated, behind[0][1]), text


ADVERSARIAL = [
    f"{P}=", f"{T}: a1 ", "://a:b", "SG.aaaaaaaaaaaaaaaa", "ey" + "J", "MNO.", "1", "a", "A0", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "%41", "a\u200b",
    f'{P}\\\\\\\\"":        ', "-u a:", "--a-b-c-pass ", "bearer ", "basic aaaaaaaa", "gha_", "atlasv1.", "密码", "密码:", " ", "\n", "sk-a-", "sk_", "x-y_z.", f"{P} is ",
    "AZDO", "a8Q~", "hooks.slack.com/", "sig=", "pat", "is to was ", "key_", "[", "\\", '"',
]  # fmt: skip


@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_no_text_is_slow(piece):
    """The largest text made of anything is done: an expression that backtracks without bound would never end here."""
    text = (piece * 65_536)[:65_536]
    suspects(text)
    suspects(text + TOKEN_CASES[0][1])


@given(st.text(max_size=60), st.sampled_from(TOKEN_CASES), st.text(max_size=20))
def test_no_surrounding_hides_a_token(before, case, after):
    """Whatever stands around a token, unless it is a letter or digit of the same word, it is refused."""
    kind, fake = case
    assert kind in {one.kind for one in suspects(f"{before} {fake} {after}")} or "://" in before


@given(st.text(max_size=200))
def test_any_text_is_judged(text):
    """No text raises anything but the refusal, and every place is within it."""
    for one in suspects(text):
        assert 0 <= one.start < one.end <= len(text)


def own(tmp_path, text):
    file = tmp_path / "secret-patterns.toml"
    file.write_text(text, "utf-8")
    return file


def test_the_user_adds_patterns(tmp_path):
    """A pattern of the file refuses what it matches, by the name it has there."""
    file = own(tmp_path, "[[pattern]]\nname = 'shop badge'\nregex = 'shop-[0-9]{6}'\n")
    with pytest.raises(SecretRefused) as refused:
        Gate(file).check([("text", "徽章shop-123456。")])
    assert refused.value.suspects == (("text", "shop badge", 2, 13),)


def test_the_user_lets_pass(tmp_path):
    """What an allowed pattern matches as a whole passes, and nothing else does."""
    fake, other = FAKES["Stripe key"][:2]
    file = own(tmp_path, f"[[allow]]\nregex = '{fake}'\n")
    Gate(file).check([("text", f"the key of the docs: {fake}.")])
    with pytest.raises(SecretRefused):
        Gate(file).check([("text", f"{fake} {other}")])
    file.write_text(f"[[allow]]\nregex = '{fake[:8]}'\n", "utf-8")
    with pytest.raises(SecretRefused):
        Gate(file).check([("text", fake)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[pattern]]\nname = 'x'\nregex = '('\n", ["[[pattern]] number 1", "regular expression"]),
        ("[[pattern]]\nname = 'x'\nregex = 'a'\n[[pattern]]\nname = 'y'\nregex = '\\bkey'\n", ["[[pattern]] number 2", "\\b"]),
        ("[[allow]]\nregex = '\\w+'\n", ["[[allow]] number 1", "\\w"]),
        ("[[pattern]]\nname = 'x'\nregex = 'a*'\n", ["[[pattern]] number 1", "empty"]),
        ("[[pattern]]\nname = 'x'\nregex = '(a+)+b'\n", ["[[pattern]] number 1", "repeat"]),
        ("[[pattern]]\nname = 'x'\nregex = '(?:a|b*c)*d'\n", ["[[pattern]] number 1", "repeat"]),
        ("[[pattern]]\nname = 'x'\nregex = 'a++b'\n", ["[[pattern]] number 1", "possessive"]),
        ("[[pattern]]\nname = ''\nregex = 'a'\n", ["[[pattern]] number 1", "name"]),
        ("[[pattern]]\nname = 'x'\n", ["regex", "pattern[0]"]),
        ("[[patterns]]\nname = 'x'\nregex = 'a'\n", ["unknown field"]),
        ("[[pattern]]\nname = 'x'\nregex = 'a'\nflags = 'i'\n", ["unknown field", "pattern[0]"]),
        ("[[allow]]\nregex = 1\n", ["allow[0].regex"]),
        ("[[pattern", []),
        ("[[pattern]]\nname = 'x'\nregex = '" + "a" * 1001 + "'\n", ["1,000 characters"]),
        ("[[allow]]\nregex = 'a'\n" * 201, ["more than 200"]),
    ],
)  # fmt: skip
def test_a_flaw_in_the_file_is_refused(tmp_path, text, told):
    """The file, the entry and the rule are named; the expression is not."""
    file = own(tmp_path, text)
    with pytest.raises(ConfigRefused) as refused:
        Gate(file)
    assert refused.value.source == str(file)
    assert [part for part in told if part not in str(refused.value)] == []


def test_a_file_that_is_none_is_refused(tmp_path):
    """A directory in its place does not pass for a missing file."""
    (tmp_path / "secret-patterns.toml").mkdir()
    with pytest.raises(ConfigRefused):
        SecretPatterns.read(tmp_path / "secret-patterns.toml")
