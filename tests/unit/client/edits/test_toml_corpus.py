"""Edits of odd TOML files."""

from __future__ import annotations

import tomllib

import pytest

from relayctl.edits import toml_text
from relayctl.edits.document import decode
from relayctl.edits.errors import EditRefused, Unsafe
from tests.odd_settings import BROKEN_TOML, CLOSED_TOML, FOREIGN_GROUP, TOML
from tests.unit.client.edits.edited import EVENTS, SERVER, added_between, group

TEXTS = {name: decode(content).text for name, content in TOML.items()}
HERE = ("mcp_servers", "relay")


@pytest.fixture(params=sorted(TEXTS.keys() - CLOSED_TOML.keys()))
def text(request):
    """Give each text of the corpus."""
    return TEXTS[request.param]


def loaded(text):
    """Read a text; numbers with a point stay as they are spelt, so that what is no number equals itself."""
    return tomllib.loads(text, parse_float=str)


def with_all(text):
    """Add a group to each of our events, and the server."""
    for event in EVENTS:
        text = toml_text.append(text, ("hooks", event), group(event))
    return toml_text.set_member(text, HERE, SERVER)


def place_of(text, event):
    """Find our group."""
    return loaded(text)["hooks"][event].index(group(event))


def without_all(text, events=EVENTS):
    """Take out what `with_all` added."""
    text = toml_text.drop_member(text, HERE)
    for event in events:
        text = toml_text.drop_element(text, ("hooks", event), place_of(text, event))
    return text


def test_a_file_is_read_and_given_back():
    """Bytes that were read and not edited are the same bytes."""
    for content in TOML.values():
        found = decode(content)
        assert found.encode(found.text) == content


def test_a_group_is_added_and_nothing_else_is_touched(text):
    """A table makes one piece more, and the value says what the same edit says of the old one."""
    new = toml_text.append(text, ("hooks", "Stop"), group("Stop"))
    added_between(text, new)
    expected = loaded(text)
    expected.setdefault("hooks", {}).setdefault("Stop", []).append(group("Stop"))
    assert loaded(new) == expected


def test_a_server_is_added_and_nothing_else_is_touched(text):
    """A table under a name makes one piece more."""
    new = toml_text.set_member(text, HERE, SERVER)
    added_between(text, new)
    expected = loaded(text)
    expected.setdefault("mcp_servers", {})["relay"] = SERVER
    assert loaded(new) == expected


@pytest.mark.parametrize("order", [EVENTS, EVENTS[::-1], EVENTS[3:] + EVENTS[:3]])
def test_all_is_taken_out_again(text, order):
    """In whatever order: what is left is the same text."""
    assert without_all(with_all(text), order) == text


def test_setting_twice_changes_nothing(text):
    """A table that holds the same already keeps its spelling."""
    new = with_all(text)
    assert toml_text.set_member(new, HERE, dict(reversed(SERVER.items()))) == new
    assert toml_text.replace_element(new, ("hooks", "Stop"), place_of(new, "Stop"), group("Stop")) == new


def test_what_others_add_meanwhile_stays(text):
    """Edits of others behind ours, and their comments, are all that is left."""
    theirs = toml_text.append(with_all(text), ("hooks", "Stop"), FOREIGN_GROUP)
    theirs = toml_text.set_member(theirs, ("mcp_servers", "new"), {"command": "n"})
    theirs += ("" if theirs.endswith("\n") else "\n") + "# theirs\n\n[theirs] # theirs, too\nx = 1 # one\n"
    theirs = without_all(theirs)
    expected = loaded(text)
    expected.setdefault("hooks", {}).setdefault("Stop", []).append(FOREIGN_GROUP)
    expected.setdefault("mcp_servers", {})["new"] = {"command": "n"}
    assert loaded(theirs) == {**expected, "theirs": {"x": 1}}
    assert theirs.endswith("# theirs\n\n[theirs] # theirs, too\nx = 1 # one\n")
    assert "relay" not in theirs.replace('mcp_servers.relay]\n"""', "")


def test_ours_are_replaced(text):
    """Their place stays, and everything around it."""
    old = with_all(text)
    new = toml_text.replace_element(old, ("hooks", "Stop"), place_of(old, "Stop"), group("Newer"))
    new = toml_text.set_member(new, HERE, {"command": "x"})
    expected = loaded(old)
    groups = expected["hooks"]["Stop"]
    groups[groups.index(group("Stop"))] = group("Newer")
    expected["mcp_servers"]["relay"] = {"command": "x"}
    assert loaded(new) == expected
    at = loaded(new)["hooks"]["Stop"].index(group("Newer"))
    back = toml_text.replace_element(new, ("hooks", "Stop"), at, group("Stop"))
    assert toml_text.set_member(back, HERE, SERVER) == old


def test_each_group_of_others_can_be_dropped_and_replaced(text):
    """Whatever way it is written in, the value says what the same edit says; comments outside of it stay."""
    if text == TEXTS["hooks apart"]:
        return  # between the tables of one array there are others: only what we added can be found again
    for at in range(len(loaded(text).get("hooks", {}).get("Stop", []))):
        expected = loaded(text)
        del expected["hooks"]["Stop"][at]
        found = loaded(toml_text.drop_element(text, ("hooks", "Stop"), at))
        if not expected["hooks"]["Stop"]:  # a list of tables with headers is gone with its last
            expected["hooks"]["Stop"] = found.get("hooks", {}).get("Stop", [])
            found.setdefault("hooks", {}).setdefault("Stop", [])
        assert found == expected
        expected = loaded(text)
        expected["hooks"]["Stop"][at] = group("Newer")
        assert loaded(toml_text.replace_element(text, ("hooks", "Stop"), at, group("Newer"))) == expected


def test_each_server_can_be_dropped_and_replaced(text):
    """Whether it has a header, dots or a line."""
    for name in loaded(text).get("mcp_servers", {}):
        expected = loaded(text)
        expected["mcp_servers"][name] = SERVER
        assert loaded(toml_text.set_member(text, ("mcp_servers", name), SERVER)) == expected
        del expected["mcp_servers"][name]
        found = loaded(toml_text.drop_member(text, ("mcp_servers", name)))
        found.setdefault("mcp_servers", {})
        assert found == expected


def test_lines_end_as_those_around_them(text):
    """What is added to a file of CRLF lines has such lines."""
    new = with_all(text)
    if text.count("\r\n") == text.count("\n") > 0:
        assert new.count("\r\n") == new.count("\n")
    elif "\r" not in text:
        assert "\r" not in new
    if text and not text.endswith("\n"):
        assert not new.endswith("\n")


@pytest.mark.parametrize("name", sorted(CLOSED_TOML))
def test_what_cannot_be_added_to_is_refused(name):
    """Rather than written in a way from which the same bytes do not come back."""
    with pytest.raises(Unsafe, match="is written in a way that cannot be changed safely"):
        with_all(TEXTS[name])


@pytest.mark.parametrize("name", sorted(BROKEN_TOML))
def test_what_is_no_toml_is_refused(name):
    """The refusal says where, and nothing of what is there."""
    content, told = BROKEN_TOML[name]
    with pytest.raises(EditRefused) as caught:
        toml_text.append(decode(content).text, ("hooks", "Stop"), {})
    assert told in str(caught.value)
    assert "SECRET" not in repr(caught.value) + str(caught.value.__cause__)
