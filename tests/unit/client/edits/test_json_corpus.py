"""Edits of odd JSON files."""

from __future__ import annotations

import json

import pytest

from relayctl.edits import json_text
from relayctl.edits.document import decode
from relayctl.edits.errors import EditRefused
from tests.odd_settings import BROKEN_JSON, FOREIGN_GROUP, JSON
from tests.unit.client.edits.edited import EVENTS, SERVER, added_between, group, present, pruned

TEXTS = {name: decode(content).text for name, content in JSON.items()}
HERE = ("mcpServers", "relay")


@pytest.fixture(params=sorted(TEXTS))
def text(request):
    """Give each text of the corpus."""
    return TEXTS[request.param]


def loaded(text):
    """Read a text as the standard library does; numbers stay as they are spelt."""
    return json.loads(text, parse_int=str, parse_float=str)


def spelt(value):
    """Give a value as `loaded` reads it."""
    return loaded(json.dumps(value))


def with_all(text):
    """Add a group to each of our events, and the server."""
    for event in EVENTS:
        text = json_text.append(text, ("hooks", event), group(event))
    return json_text.set_member(text, HERE, SERVER)


def place_of(text, event):
    """Find our group."""
    return json_text.parse(text)["hooks"][event].index(group(event))


def without_all(text, old, events=EVENTS):
    """Take out what `with_all` added to an old text."""
    for event in events:
        path = ("hooks", event)
        text = pruned(json_text.drop_element(text, path, place_of(text, event)), path, present(old, path))
    return pruned(json_text.drop_member(text, HERE), HERE[:-1], present(old, HERE))


def test_a_file_is_read_and_given_back():
    """Bytes that were read and not edited are the same bytes."""
    for content in JSON.values():
        found = decode(content)
        assert found.encode(found.text) == content


def test_a_group_is_added_and_nothing_else_is_touched(text):
    """An element makes one piece more, and the value says what the same edit says of the old one."""
    new = json_text.append(text, ("hooks", "Stop"), group("Stop"))
    added_between(text, new)
    expected = loaded(text)
    expected.setdefault("hooks", {}).setdefault("Stop", []).append(spelt(group("Stop")))
    assert loaded(new) == expected


def test_a_member_is_added_and_nothing_else_is_touched(text):
    """A member makes one piece more, at the end of its object."""
    new = json_text.set_member(text, HERE, SERVER)
    added_between(text, new)
    expected = loaded(text)
    expected.setdefault("mcpServers", {})["relay"] = spelt(SERVER)
    assert loaded(new) == expected
    assert list(loaded(new)["mcpServers"])[-1] == "relay"


@pytest.mark.parametrize("order", [EVENTS, EVENTS[::-1], EVENTS[3:] + EVENTS[:3]])
def test_all_is_taken_out_again(text, order):
    """In whatever order: what is left is the same text."""
    assert without_all(with_all(text), text, order) == text


def test_setting_twice_changes_nothing(text):
    """A member that has the value already keeps its spelling."""
    new = with_all(text)
    assert json_text.set_member(new, HERE, dict(reversed(SERVER.items()))) == new
    at = place_of(new, "Stop")
    assert json_text.replace_element(new, ("hooks", "Stop"), at, group("Stop")) == new


def test_what_others_add_meanwhile_stays(text):
    """Edits of others behind and before ours are all that is left."""
    theirs = json_text.append(with_all(text), ("hooks", "Stop"), FOREIGN_GROUP)
    theirs = json_text.append(theirs, ("hooks", "Notification"), FOREIGN_GROUP)
    theirs = json_text.set_member(theirs, ("zz",), [1])
    theirs = without_all(theirs, text)
    expected = loaded(text)
    expected.setdefault("hooks", {}).setdefault("Stop", []).append(spelt(FOREIGN_GROUP))
    expected["hooks"]["Notification"] = [spelt(FOREIGN_GROUP)]
    assert loaded(theirs) == {**expected, "zz": ["1"]}
    assert "relay" not in theirs


def test_an_element_of_ours_is_replaced(text):
    """Its place stays, and everything around it."""
    old = with_all(text)
    new = json_text.replace_element(old, ("hooks", "Stop"), place_of(old, "Stop"), group("Newer"))
    expected = loaded(old)
    groups = expected["hooks"]["Stop"]
    groups[groups.index(spelt(group("Stop")))] = spelt(group("Newer"))
    assert loaded(new) == expected
    at = json_text.parse(new)["hooks"]["Stop"].index(group("Newer"))
    assert json_text.replace_element(new, ("hooks", "Stop"), at, group("Stop")) == old


def test_lines_end_as_those_around_them(text):
    """What is added has the ends of line of the file, and a file of one line stays one."""
    new = with_all(text)
    ends = {line[-1:] for line in text.split("\n")[:-1]}
    if text.count("\n") and all(end == "\r" for end in ends):
        assert new.count("\r\n") == new.count("\n")
    elif "\r" not in text:
        assert "\r" not in new
    if "\n" not in text.strip() and loaded(text):
        assert "\n" not in new.strip()


@pytest.mark.parametrize("name", sorted(BROKEN_JSON))
def test_what_is_no_json_is_refused(name):
    """The refusal says where and why, and nothing of what is there."""
    content, told = BROKEN_JSON[name]
    with pytest.raises(EditRefused) as caught:
        json_text.append(decode(content).text, ("hooks", "Stop"), {})
    assert str(caught.value) == told
    assert "SECRET" not in repr(caught.value) + str(caught.value.__cause__)


@pytest.mark.parametrize("blank", ["", "\n", " \r\n", "\t \n\n"])
def test_a_blank_text_becomes_an_object(blank):
    """A CLI takes an empty file for no settings."""
    assert json_text.parse(blank) == {}
    new = json_text.append(blank, ("hooks", "Stop"), 1)
    newline = "\r\n" if "\r" in blank else "\n"
    assert new == newline.join(["{", '  "hooks": {', '    "Stop": [', "      1", "    ]", "  }", "}", ""])
    path = ("hooks", "Stop")
    assert pruned(json_text.drop_element(new, path, 0), path, 0) == "{}" + newline
    assert json_text.drop_member(blank, ("a",)) == blank
