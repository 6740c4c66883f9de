"""How what is added to a TOML text looks, and what is refused."""

from __future__ import annotations

import tomllib

import pytest

from relayctl.edits import toml_text
from relayctl.edits.errors import EditRefused, Missing, Unsafe, WrongType
from tests.unit.client.edits.edited import SERVER

PATH = ("hooks", "Stop")
HERE = ("mcp_servers", "relay")
GROUP = {"hooks": [{"type": "command", "timeout": 3}]}
BLOCK = '[[hooks.Stop]]\n\n[[hooks.Stop.hooks]]\ntype = "command"\ntimeout = 3'
LINE = '{ hooks = [{ type = "command", timeout = 3 }] }'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", f"{BLOCK}\n"),
        ("a = 1\n", f"a = 1\n\n{BLOCK}\n"),
        ("a = 1", f"a = 1\n\n{BLOCK}"),
        ("[hooks]\n\n[z]\n", f"[hooks]\n\n{BLOCK}\n\n[z]\n"),
        ("[[hooks.Stop]] # one\n# two\n[z]\n", f"[[hooks.Stop]] # one\n\n{BLOCK}\n# two\n[z]\n"),
        ("hooks = {}\n", f"hooks = {{Stop = [{LINE}]}}\n"),
        ("[hooks]\nStop = []\n", f"[hooks]\nStop = [{LINE}]\n"),
        ("hooks.Stop = [{}]\n", f"hooks.Stop = [{{}}, {LINE}]\n"),
        ("[hooks]\nStop = [\n  {},\n]\n", f"[hooks]\nStop = [\n  {{}},\n  {LINE},\n]\n"),
        ("[hooks]\nStop = [\n  {} # one\n]\n", f"[hooks]\nStop = [\n  {{}}, # one\n  {LINE}\n]\n"),
        ("[hooks]\nStop = [ {}, # one\n]\n", f"[hooks]\nStop = [ {{}}, # one\n{LINE},\n]\n"),
    ],
)
def test_what_is_added_goes_where_its_kin_is(old, new):
    """Behind tables of the same array or parent, into arrays and inline tables, or to the end."""
    assert toml_text.append_table(old, PATH, GROUP) == new
    at = len(tomllib.loads(new)["hooks"]["Stop"]) - 1
    assert toml_text.drop_element(new, PATH, at, prune=True, keep=toml_text.present(old, PATH)) == old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[mcp_servers.relay]\ncommand = 'x' # c\n# d\n", "[mcp_servers.relay]\na = 1\n# d\n"),
        ("[mcp_servers]\nrelay = { command = 'x' } # c\n", "[mcp_servers]\nrelay = { a = 1 } # c\n"),
        ("mcp_servers.relay.command = 'x' # c\nz = 1\n", "mcp_servers.relay = { a = 1 } # c\nz = 1\n"),
        ("[mcp_servers]\nrelay.b = 1\nrelay.c = 2\nz.d = 3", "[mcp_servers]\nrelay = { a = 1 }\nz.d = 3"),
        ("mcp_servers = { relay = {}, z = {} }\n", "mcp_servers = { relay = { a = 1 }, z = {} }\n"),
        (
            "[mcp_servers.relay.env]\nx = 1\n[z]\n[mcp_servers.relay]\nb = 1\n",
            "[mcp_servers.relay]\na = 1\n[z]\n",
        ),
    ],
)
def test_a_table_is_replaced_in_the_way_it_is_written_in(old, new):
    """A header stays a header, a line a line; several dotted keys become one."""
    assert toml_text.set_table(old, HERE, {"a": 1}) == new


def test_texts_are_quoted():
    """Whatever a path holds, the table says it."""
    value = {
        "command": "/a \"b\" 'c' \\d\u00e9\n\t\u007f\u0000🚀",
        "args": [],
        "env": {"A B": "c", "é": True},
    }
    for old in ("", "mcp_servers = {}"):
        assert tomllib.loads(toml_text.set_table(old, HERE, value)) == {"mcp_servers": {"relay": value}}


def test_names_are_quoted():
    """A name with a dot is one name."""
    for old in ("", "a = {}\n"):
        new = toml_text.set_table(old, ("a", "b.c", ""), {"d e": 1})
        assert tomllib.loads(new) == {"a": {"b.c": {"": {"d e": 1}}}}
        assert (
            toml_text.drop_table(new, ("a", "b.c", ""), prune=True, keep=toml_text.present(old, ("a",)))
            == old
        )


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
        toml_text.append_table(text, PATH, GROUP)
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
    new = toml_text.append_table(text, PATH, GROUP)
    assert toml_text.drop_element(new, PATH, 0, prune=True) == text


def test_what_cannot_be_edited_safely_is_refused():
    """A table with dots inside of an inline table is told from one that can be replaced."""
    with pytest.raises(Unsafe, match=r"mcp_servers\.relay is written in a way"):
        toml_text.set_table("mcp_servers = { relay.a = 1, relay.b = 2 }\n", HERE, SERVER)
    new = toml_text.set_table("a = { b.c = 1 }\n", ("a", "b", "d"), {"x": 1})
    assert new == "a = { b.c = 1, b.d = { x = 1 } }\n"


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
        assert toml_text.drop_table(text, HERE, prune=True) == text


def test_paths_lead_through_arrays():
    """An index on the way names an element, with headers and without."""
    path = (*PATH, 0, "hooks")
    for text in (
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\na = 1\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\na = 2\n",
        "hooks.Stop = [{ hooks = [{a = 1}] }, { hooks = [{a = 2}] }]\n",
    ):
        new = toml_text.append_table(text, path, {"b": 1})
        assert [len(one["hooks"]) for one in tomllib.loads(new)["hooks"]["Stop"]] == [2, 1]
        assert toml_text.drop_element(new, path, 1, prune=True) == text
        changed = toml_text.replace_element(text, path, 0, {"a": 3})
        assert changed == text.replace("a = 1", "a = 3", 1).replace("{a = 3}", "{ a = 3 }")


@pytest.mark.parametrize(
    ("keep", "left"), [(0, "z = 1\n"), (1, "hooks = {}\nz = 1\n"), (2, "hooks = {Stop = []}\nz = 1\n")]
)
def test_containers_that_were_there_before_can_be_kept(keep, left):
    """Only those that were made for what is removed go with it."""
    text = "hooks = {Stop = [{}]}\nz = 1\n"
    assert toml_text.drop_element(text, PATH, 0, prune=True, keep=keep) == left


def test_refusals_have_a_place():
    """A line and a column, from 1."""
    with pytest.raises(EditRefused) as caught:
        toml_text.parse("a = 1\n\nb = ]\n")
    assert (caught.value.line, caught.value.column) == (3, 5)
