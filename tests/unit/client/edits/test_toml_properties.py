"""Properties of edits of TOML texts that are put together from odd pieces."""

from __future__ import annotations

import re
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from relayctl.edits import toml_text
from relayctl.edits.errors import Unsafe
from tests.unit.client.edits.edited import SERVER, added_between, group

_FEW = settings(max_examples=50)
_TEXT_VALUES = [
    '"a"', "'c:\\'", '"\\"#"', '"""\n[[hooks.Stop]]\n"""', "'''[x]\n# no'''", '""""a" """', "''''a''''", '""', "''",
    '"""\\\n  a"""', '"é🚀"',
]  # fmt: skip
_VALUES = st.sampled_from(
    [
        *_TEXT_VALUES,
        "1",
        "0x1F",
        "1_000",
        "1e400",
        "nan",
        "true",
        "1979-05-27 07:32:00",
        "07:32:00",
        "[]",
        "[ ]",
        "[1, 2,]",
        "[\n  1, # one ]\n  # two\n  [2],\n]",
        "{}",
        "{ a = 1, b.c = '}' }",
        "[{a = 1}, {}]",
        "{ a = [\n  1,\n] }",
    ]
)
_GROUPS = st.lists(st.sampled_from(["{}", "{a = 1}", '{ hooks = [{ command = "x" }] }']), max_size=3)
_JOINTS = st.sampled_from(["", "\n", "# comment\n", "\n\n# [x]\n\n", "  \n", "  # = [\n"])
_COMMENT = st.sampled_from(["", " ", " # c", "\t#[[c]]"])
_EVENTS = st.sampled_from(["Stop", "SessionEnd"])


@st.composite
def statements(draw, most=3):
    """Draw lines of keys and values."""
    keys = ["a", "b.c", "b.d", '"e f"', "'g.h'"]
    names = draw(st.lists(st.sampled_from(keys), max_size=most, unique=True))
    return [
        f"{draw(st.sampled_from(['', '  ']))}{name}{draw(st.sampled_from([' = ', '=']))}{draw(_VALUES)}{draw(_COMMENT)}\n"
        for name in names
    ]


@st.composite
def arrays(draw, comma=True):
    """Draw an array of tables within a value."""
    groups = draw(_GROUPS)
    form = draw(st.sampled_from(["line", "lines", "commented"]))
    last = "," if groups and comma and draw(st.booleans()) else ""
    if form == "line":
        return f"[{', '.join(groups)}{last}]"
    note = " # [n]" if form == "commented" else ""
    inner = "".join(
        f"  {one}{',' if at < len(groups) - 1 else last}{note}\n" for at, one in enumerate(groups)
    )
    return f"[{note}\n{inner}{'  # e' if note else ''}\n]"


@st.composite
def texts(draw):
    """Draw a text: keys, tables, hooks in one of their forms, servers in one of theirs."""
    above = list(draw(statements()))
    hooks, servers = draw(st.sampled_from(_HOOKS)), draw(st.sampled_from(_SERVERS))
    pieces = draw(st.permutations(["hooks", "servers", "t1", "t2"]))
    sections = []
    for piece in pieces:
        if piece == "hooks":
            _put_hooks(draw, hooks, above, sections)
        elif piece == "servers":
            _put_servers(servers, above, sections)
        else:
            sections.append([f"[{piece}.'x.y']{draw(_COMMENT)}\n", *draw(statements())])
    lines = above + [line for section in sections for line in section]
    text = "".join(draw(_JOINTS) + line for line in lines) + draw(_JOINTS)
    if draw(st.booleans()):
        text = text.rstrip(" \n")
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


_HOOKS = ["none", "header", "tables", "arrays", "dotted", "inline", "apart", "empty"]
_SERVERS = ["none", "header", "tables", "dotted", "inline", "empty"]


def _put_hooks(draw, form, above, sections):
    events = draw(st.lists(_EVENTS, unique=True, max_size=2))
    if form == "header":
        sections.append(["[hooks]\n", "state.'a:b'.hash = 1\n"])
    elif form == "tables":
        for event in events:
            sections.extend(
                [f"[[hooks.{event}]]\n", *draw(statements(2))] for _ in range(draw(st.integers(1, 3)))
            )
    elif form == "apart":
        sections.append(["[[hooks.Stop]]\n", "  [[hooks.Stop.hooks]]\n", "  command = 'a'\n"])
        sections.append(["[u]\n", "a = 1\n"])
        sections.append(["[[ hooks . 'Stop' ]]\n", "[hooks.state.'a:b']\n", "hash = 1\n"])
    elif form == "arrays":
        sections.append(["[hooks]\n", *(f"{event} = {draw(arrays())}\n" for event in events)])
    elif form == "dotted":
        above.extend(f"hooks.{event} = {draw(arrays())}\n" for event in events)
    elif form == "inline":
        inner = ", ".join(f"{event} = [{', '.join(draw(_GROUPS))}]" for event in events)
        above.append(f"hooks = {{ {inner} }}\n")
    elif form == "empty":
        above.append("hooks = {}\n")


def _put_servers(form, above, sections):
    if form == "header":
        sections.append(["[mcp_servers]\n", "o.command = 'o'\n", "p = { command = 'p' }\n"])
    elif form == "tables":
        sections.append(["[mcp_servers.o]\n", "command = 'o'\n", "[mcp_servers.o.env]\n", "A = 'b'\n"])
    elif form == "dotted":
        above.append("mcp_servers.o.command = 'o'\n")
    elif form == "inline":
        above.append("mcp_servers = { o.command = 'o', p = {} }\n")
    elif form == "empty":
        above.append("mcp_servers={ }\n")


def loaded(text):
    """Read a text; numbers with a point stay as they are spelt."""
    return tomllib.loads(text, parse_float=str)


def tried(edit, text, path, value):
    """Edit a text; None if that is refused for a table in a line, or an array with comments or a comma at its end."""
    try:
        return edit(text, path, value)
    except Unsafe:
        assert re.search(rf"^{path[0]} ?= ?\{{", text, re.MULTILINE) or "# [n]" in text or ",]" in text
        return None


@_FEW
@given(texts(), _EVENTS)
def test_a_group_that_is_appended_can_be_dropped(text, event):
    """The value says so, and without it the text is the same again."""
    path = ("hooks", event)
    new = tried(toml_text.append, text, path, group(event))
    if new is None:
        return
    expected = loaded(text)
    expected.setdefault("hooks", {}).setdefault(event, []).append(group(event))
    assert loaded(new) == expected
    assert toml_text.drop_element(new, path, len(expected["hooks"][event]) - 1) == text


@_FEW
@given(texts())
def test_a_server_that_is_set_can_be_dropped(text):
    """One piece is added, the value says so, and without it the text is the same again."""
    path = ("mcp_servers", "relay")
    new = tried(toml_text.set_member, text, path, SERVER)
    if new is None:
        return
    added_between(text, new)
    expected = loaded(text)
    expected.setdefault("mcp_servers", {})["relay"] = SERVER
    assert loaded(new) == expected
    assert toml_text.drop_member(new, path) == text


@_FEW
@given(
    texts(),
    st.lists(st.tuples(_EVENTS, st.integers(0, 9)), min_size=1, max_size=4, unique=True),
    st.randoms(),
)
def test_several_can_be_dropped_in_any_order(text, added, random):
    """What is appended meanwhile does not keep others from being taken out."""
    new = text
    for event, number in added:
        new = tried(toml_text.append, new, ("hooks", event), group(f"{event}{number}"))
        if new is None:
            return
    random.shuffle(added)
    for event, number in added:
        at = loaded(new)["hooks"][event].index(group(f"{event}{number}"))
        new = toml_text.drop_element(new, ("hooks", event), at)
    assert new == text


@_FEW
@given(texts(), st.data())
def test_any_group_can_be_dropped(text, data):
    """Whatever form it has, its neighbours stay."""
    hooks = loaded(text).get("hooks", {})
    places = [(event, at) for event in hooks if event != "state" for at in range(len(hooks[event]))]
    if not places:
        return
    event, at = data.draw(st.sampled_from(places))
    try:
        left = loaded(toml_text.drop_element(text, ("hooks", event), at))
    except Unsafe:
        assert "[u]" in text or ",]" in text  # the array is in two places, or has a comma at its end
        return
    del hooks[event][at]
    assert left.get("hooks", {}).get(event, []) == hooks[event]
    left.setdefault("hooks", {}).setdefault(event, [])
    assert left == {**loaded(text), "hooks": hooks}
