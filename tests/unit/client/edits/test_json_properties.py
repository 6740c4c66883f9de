"""Properties of edits of JSON texts, whatever is in them and however they are laid out."""

from __future__ import annotations

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from relayctl.edits import json_text
from relayctl.edits.errors import EditRefused
from tests.unit.client.edits.edited import added_between, present, pruned

_FEW = settings(max_examples=40)
_SPACE = st.text(" \t", max_size=3)
_NAMES = st.one_of(st.sampled_from(["hooks", "Stop", "a", "", "}", ",", '"']), st.text(max_size=4))
_PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=12),
    st.text(st.characters(codec=None), max_size=4),  # half characters, too
)  # fmt: skip
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=4)),
    max_leaves=6,
)
_EVENTS = st.sampled_from(["Stop", "SessionEnd", "é"])


@st.composite
def texts(draw):
    """Draw an object that can have hooks, spelt with white space anywhere."""
    value = draw(st.dictionaries(_NAMES, _VALUES, max_size=5))
    value.pop("hooks", None)
    value.pop("z", None)
    if draw(st.booleans()):
        value["hooks"] = draw(st.dictionaries(_EVENTS, st.lists(_VALUES, max_size=3), max_size=3))
        value = dict(draw(st.permutations(list(value.items()))))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    if draw(st.booleans()):
        indent = draw(st.one_of(st.none(), st.integers(0, 5), st.just("\t")))
        colon = draw(st.sampled_from([": ", ":", " : "]))
        comma = draw(st.sampled_from([",", ", "])) if indent is None else ","
        spelt = json.dumps(value, indent=indent, separators=(comma, colon), ensure_ascii=True)
        spelt = spelt.replace("\n", newline)
    else:
        gaps = st.one_of(_SPACE, st.just(newline), st.tuples(_SPACE, _SPACE).map(newline.join))
        spelt = _loose(value, lambda: draw(gaps))
    return draw(_SPACE) + spelt + draw(st.sampled_from(["", newline, newline * 2, " "]))


def _loose(value, gap):
    """Spell a value with any white space in each place where there may be some."""
    if isinstance(value, dict):
        inner = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{_loose(one, gap)}{gap()}" for key, one in value.items()
        ]
        return f"{{{','.join(inner) or gap()}}}"
    if isinstance(value, list):
        return f"[{','.join(f'{gap()}{_loose(one, gap)}{gap()}' for one in value) or gap()}]"
    return json.dumps(value)


def spelling(value):
    """Spell a value so that 1, 1.0 and true differ; the order of members counts."""
    return json.dumps(value)


@_FEW
@given(texts(), _EVENTS, _VALUES)
def test_what_is_appended_can_be_dropped(text, event, value):
    """One piece is added, the value says so, and without it the text is the same again."""
    path = ("hooks", event)
    new = json_text.append(text, path, value)
    added_between(text, new)
    expected = json.loads(text)
    expected.setdefault("hooks", {}).setdefault(event, []).append(value)
    assert spelling(json.loads(new)) == spelling(expected)
    last = len(expected["hooks"][event]) - 1
    assert pruned(json_text.drop_element(new, path, last), path, present(text, path)) == text


@_FEW
@given(texts(), st.sampled_from([("z",), ("z", "y"), ("hooks", "z"), ("hooks", "Z", "y", "x")]), _VALUES)
def test_a_member_that_is_set_can_be_dropped(text, path, value):
    """The same for members at any depth."""
    new = json_text.set_member(text, path, value)
    added_between(text, new)
    assert present(new, path) == len(path)
    assert json_text.set_member(new, path, value) == new
    assert pruned(json_text.drop_member(new, path), path[:-1], present(text, path)) == text


@_FEW
@given(
    texts(), st.lists(st.tuples(_EVENTS, st.integers()), min_size=1, max_size=5, unique=True), st.randoms()
)
def test_several_can_be_dropped_in_any_order(text, added, random):
    """What is appended meanwhile does not keep others from being taken out."""
    new = text
    for one in added:
        new = json_text.append(new, ("hooks", one[0]), {"ours": list(one)})
    order = copy.copy(added)
    random.shuffle(order)
    for one in order:
        path = ("hooks", one[0])
        at = json_text.parse(new)["hooks"][one[0]].index({"ours": list(one)})
        new = pruned(json_text.drop_element(new, path, at), path, present(text, path))
    assert new == text


@_FEW
@given(texts(), _VALUES, st.data())
def test_any_member_can_be_replaced_and_dropped(text, value, data):
    """The value says what the same edit of the value says; the rest of the text is as it was."""
    whole = json.loads(text)
    if not whole:
        return
    name = data.draw(st.sampled_from(sorted(whole)))
    new = json_text.set_member(text, (name,), value)
    expected = {**whole, name: value}
    assert json.dumps(json.loads(new), sort_keys=True) == json.dumps(expected, sort_keys=True)
    left = json_text.drop_member(text, (name,))
    del whole[name]
    assert spelling(json.loads(left)) == spelling(whole)


@_FEW
@given(texts(), st.data())
def test_any_element_can_be_dropped(text, data):
    """Wherever it is in its array, its neighbours stay as they are spelt."""
    hooks = json.loads(text).get("hooks", {})
    places = [(event, at) for event, groups in hooks.items() for at in range(len(groups))]
    if not places:
        return
    event, at = data.draw(st.sampled_from(places))
    expected = json.loads(text)
    del expected["hooks"][event][at]
    left = json_text.drop_element(text, ("hooks", event), at)
    assert spelling(json.loads(left)) == spelling(expected)


@_FEW
@given(st.text('{}[]",:\\ \n\r\tntfae0123./#*\ud800', max_size=30))
def test_any_text_is_read_or_refused(text):
    """Nothing but a refusal comes out of a text that is no JSON, and it agrees with the standard library."""
    try:
        found = json_text.parse(text)
    except EditRefused as refused:
        if "twice" not in refused.rule:
            _not_json(text)
    else:
        assert found == (json.loads(text) if text.strip() else {})


def _not_json(text):
    try:
        json.loads(text)
    except ValueError:
        return
    raise AssertionError(text)
