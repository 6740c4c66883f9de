"""How what is added to a TOML text looks, and what is refused."""

from __future__ import annotations

import tomllib

import pytest
import tomlkit

from relayctl.edits import toml_text
from relayctl.edits.errors import EditRefused, Missing, Unsafe, WrongType

PATH = ("hooks", "Stop")
HERE = ("mcp_servers", "relay")
GROUP = {"hooks": [{"type": "command", "timeout": 3}]}
BLOCK = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ntimeout = 3'
LINE = '{hooks = [{type = "command", timeout = 3}]}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", f"{BLOCK}\n"),
        ("a = 1\n", f"a = 1\n\n{BLOCK}\n"),
        ("a = 1", f"a = 1\n\n{BLOCK}"),
        ("a = 1\r\n", "\r\n".join(f"a = 1\n\n{BLOCK}\n".split("\n"))),
        ("[hooks]\n\n[z]\n", f"[hooks]\n\n[z]\n\n{BLOCK}\n"),
        ("[[hooks.Stop]] # one\n# two\n[z]\n", f"[[hooks.Stop]] # one\n# two\n[z]\n\n{BLOCK}\n"),
        ("hooks.SessionEnd = [{}]\n", f"hooks.SessionEnd = [{{}}]\n\n{BLOCK}\n"),
        ("[hooks]\nStop = []\n", f"[hooks]\nStop = [{LINE}]\n"),
        ("hooks.Stop = [{}]\n", f"hooks.Stop = [{{}}, {LINE}]\n"),
        ("hooks.Stop = [ {}, {} ]\n", f"hooks.Stop = [ {{}}, {{}}, {LINE} ]\n"),
        ("[hooks]\nStop = [\n  {},\n]\n", f"[hooks]\nStop = [\n  {{}},\n  {LINE},\n]\n"),
        ("[hooks]\nStop = [\r\n  {}\r\n]\r\n", f"[hooks]\nStop = [\r\n  {{}},\r\n  {LINE}\r\n]\r\n"),
    ],
)
def test_what_is_added_goes_into_an_array_or_to_the_end(old, new):
    """With headers of its own unless an array is there; without it the text is the same again."""
    assert toml_text.append(old, PATH, GROUP) == new
    at = len(tomllib.loads(new)["hooks"]["Stop"]) - 1
    assert toml_text.drop_element(new, PATH, at) == old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[mcp_servers.relay]\na = 2 # c\n\n# d\n", "[mcp_servers.relay]\na = 1 # c\n\n# d\n"),
        ("[mcp_servers.relay]\nb = 'x' # c\n# d\n", "[mcp_servers.relay]\n# d\na = 1\n"),
        ("[mcp_servers.relay]\r\nb = 'x'\r\n[z]\r\n", "[mcp_servers.relay]\r\na = 1\r\n[z]\r\n"),
        ("[mcp_servers]\nrelay = { a = 2 } # c\n", "[mcp_servers]\nrelay = { a = 1 } # c\n"),
        ("mcp_servers.relay.a = 2 # c\nz = 1\n", "mcp_servers.relay.a = 1 # c\nz = 1\n"),
        ("mcp_servers = { relay = {}, z = {} }\n", "mcp_servers = { relay = {a = 1}, z = {} }\n"),
    ],
)
def test_a_table_is_replaced_in_the_way_it_is_written_in(old, new):
    """A header stays a header, a line a line, and comments stay."""
    assert toml_text.set_member(old, HERE, {"a": 1}) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[mcp_servers.relay] # a\nb = 'x' # c\n\n# d\n\n[z]\n", "# d\n\n[z]\n"),
        ("[a]\nb = 1\n\n[mcp_servers.relay]\n# c\nd = ''\n# e", "[a]\nb = 1\n\n# e"),
        ("[mcp_servers.relay]\nb = ''\n[mcp_servers.relay.env]\nc = 1\n# d\n[z]\n", "# d\n[z]\n"),
        ("[mcp_servers]\nrelay = { a = 2 } # c\n# d\n", "[mcp_servers]\n# d\n"),
        ("mcp_servers.relay.a = 2\nmcp_servers.relay.b = 2\nz = 1\n", "z = 1\n"),
    ],
)
def test_a_table_that_others_changed_can_be_removed(old, new):
    """Comments on lines behind it are not its own."""
    assert toml_text.drop_member(old, HERE) == new


def test_texts_are_quoted():
    """Whatever a path holds, the table says it."""
    value = {
        "command": "/a \"b\" 'c' \\d\u00e9\n\t\u007f\u0000🚀",
        "args": [],
        "env": {"A B": "c", "é": True},
    }
    for old in ("", "[mcp_servers]\nrelay = {}"):
        assert tomllib.loads(toml_text.set_member(old, HERE, value)) == {"mcp_servers": {"relay": value}}


def test_names_are_quoted():
    """A name with a dot is one name."""
    for old in ("", "[a]\n"):
        new = toml_text.set_member(old, ("a", "b.c", ""), {"d e": 1})
        assert tomllib.loads(new) == {"a": {"b.c": {"": {"d e": 1}}}}
        assert toml_text.drop_member(new, ("a", "b.c", "")) == old


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hooks = 'SECRET'\n", "hooks is no table"),
        ("hooks = ['SECRET']\n", "hooks is no table"),
        ("[[hooks]]\n", "hooks is no table"),
        ("[hooks.Stop]\n", "hooks.Stop is no array"),
        ("[hooks]\nStop = 'SECRET'\n", "hooks.Stop is no array"),
        ("hooks = { Stop = { SECRET = 1 } }\n", "hooks.Stop is no array"),
    ],
)
def test_hooks_of_a_wrong_type_are_refused(text, told):
    """The refusal names the place and not what is there."""
    with pytest.raises(WrongType) as caught:
        toml_text.append(text, PATH, GROUP)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    "text",
    [
        "[hooks]\na = 1\n[z]\nhooks.Stop = []\n",
        "mcp_servers = { relay.command = 'x', z.a = 1 }\n",
        "a = { b = { mcp_servers = 1 } }\n",
    ],
)
def test_what_only_looks_like_ours_is_left(text):
    """Names count with all that is above them."""
    new = toml_text.append(text, PATH, GROUP)
    assert toml_text.drop_element(new, PATH, 0) == text


@pytest.mark.parametrize(
    "text",
    [
        "hooks = {}\n",
        "hooks = { SessionEnd = [] }\n",
        "hooks.Stop = [{},]\n",
        "hooks.Stop = [\n  {} # one\n]\n",
        "hooks.Stop = [ {}, # one\n]\n",
        "hooks.Stop = [\n  {} # one\n  # two\n]\n",
    ],
)
def test_what_would_not_come_back_is_not_added(text):
    """Tables in a line have no end to add to, and commas move comments."""
    with pytest.raises(Unsafe, match=r"hooks\.Stop is written in a way"):
        toml_text.append(text, PATH, GROUP)


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.relay.env]\nx = 1\n[z]\n[mcp_servers.relay]\nb = 1\n",
        "mcp_servers = { relay.a = 1, relay.b = 2 }\n",
    ],
)
def test_what_is_written_in_several_places_is_not_removed(text):
    """One piece is, or nothing."""
    with pytest.raises(Unsafe, match=r"mcp_servers\.relay is written in a way"):
        toml_text.drop_member(text, HERE)


def test_what_tomlkit_would_put_in_another_order_is_edited_by_its_text_alone():
    """What we added is found as it was written; what somebody changed in it is not touched."""
    old = "[[hooks.Stop]]\na = 1 # a\n[[hooks.SessionEnd]]\n"
    new = toml_text.append(old, PATH, GROUP)
    assert tomlkit.dumps(tomlkit.parse(new)) != new
    newer = toml_text.replace_element(new, PATH, 1, {"b": 1})
    assert newer == f"{old}\n[[hooks.Stop]]\nb = 1\n"
    assert toml_text.drop_element(newer, PATH, 1) == old
    for changed in (newer.replace("b = 1", "b = 1 # b"), newer.replace("b = 1", "b =1")):
        with pytest.raises(Unsafe):
            toml_text.drop_element(changed, PATH, 1)
        with pytest.raises(Unsafe):
            toml_text.replace_element(changed, PATH, 1, GROUP)


def test_an_element_that_is_not_there_is_refused():
    """It was there when somebody looked."""
    for text in ("", "[hooks]\n", "[[hooks.Stop]]\n", "hooks.Stop = [{}]\n"):
        for index in (1, -1):
            with pytest.raises(Missing, match=r"hooks.* is not there"):
                toml_text.drop_element(text, PATH, index)
            with pytest.raises(Missing):
                toml_text.replace_element(text, PATH, index, {})


def test_a_table_that_is_not_there_need_not_be_removed():
    """The text stays as it is."""
    for text in ("", "[mcp_servers]\n", "mcp_servers = {}\n", "mcp_servers = 1\n"):
        assert toml_text.drop_member(text, HERE) == text


@pytest.mark.parametrize("text", ["[hooks]\nStop = [ # n\n]\n", "[hooks]\r\nStop = [ # n\r\n  # e\r\n]\r\n"])
@pytest.mark.parametrize("order", [(0, 0), (1, 0)])
def test_two_go_from_behind_a_comment_without_a_trace(text, order):
    """Whichever is dropped first, no line is left that the other one had for itself."""
    new = toml_text.append(toml_text.append(text, PATH, GROUP), PATH, {"hooks": []})
    for place in order:
        new = toml_text.drop_element(new, PATH, place)
    assert new == text


def test_paths_lead_through_arrays():
    """An index on the way names an element, with headers and without."""
    path = (*PATH, 0, "hooks")
    for text in (
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\na = 1\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\na = 2\n",
        "hooks.Stop = [{ hooks = [{a = 1}] }, { hooks = [{a = 2}] }]\n",
    ):
        new = toml_text.append(text, path, {"b": 1})
        assert [len(one["hooks"]) for one in tomllib.loads(new)["hooks"]["Stop"]] == [2, 1]
        assert toml_text.drop_element(new, path, 1) == text
        changed = toml_text.replace_element(text, path, 0, {"a": 3})
        assert changed == text.replace("a = 1", "a = 3", 1)


def test_refusals_have_a_place():
    """A line and a column, from 1."""
    with pytest.raises(EditRefused) as caught:
        toml_text.parse("a = 1\n\nb = ]\n")
    assert (caught.value.line, caught.value.column) == (3, 5)
