"""How what is added to a JSON text looks, and what is refused."""

from __future__ import annotations

import pytest

from relayctl.edits import json_text
from relayctl.edits.errors import EditRefused, Missing, WrongType

PATH = ("hooks", "Stop")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{}", '{\n  "hooks": {\n    "Stop": [\n      7\n    ]\n  }\n}'),
        ('{"a":1}', '{"a":1,"hooks":{"Stop":[7]}}'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Stop": [7]}}'),
        ('{ "a": 1 }', '{ "a": 1, "hooks": {"Stop": [7]} }'),
        ('{"a" :1 , "b":[]}', '{"a" :1 , "b":[], "hooks" :{"Stop" :[7]}}'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t7\n\t\t]\n\t}\n}'),
        ('{\n"a":1\n}', '{\n"a":1,\n"hooks":{\n"Stop":[\n7\n]\n}\n}'),
        ('{\n    "hooks": {}\n}', '{\n    "hooks": {\n        "Stop": [\n            7\n        ]\n    }\n}'),
        ('{\n  "hooks": {"Stop": [1, 2]}\n}', '{\n  "hooks": {"Stop": [1, 2, 7]}\n}'),
        ('{\n  "hooks": {"Stop": []}\n}', '{\n  "hooks": {"Stop": [\n    7\n  ]}\n}'),
        ('{"hooks": {"Stop": [\n  1\n]}}', '{"hooks": {"Stop": [\n  1,\n  7\n]}}'),
        (
            '{\r\n  "a": 1\r\n}',
            '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": [\r\n      7\r\n    ]\r\n  }\r\n}',
        ),
    ],
)
def test_what_is_added_looks_like_the_rest(old, new):
    """Indent, ends of line, colons and commas are those of the text."""
    assert json_text.append(old, PATH, 7) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"a": {"b": 1}}', '{"a": {"x": [1, 2]}}'),
        ('{\n  "a": {\n    "b": 1\n  }\n}', '{\n  "a": {\n    "x": [\n      1,\n      2\n    ]\n  }\n}'),
        ('{\n  "a": null\n}', '{\n  "a": {\n    "x": [\n      1,\n      2\n    ]\n  }\n}'),
        ('{\n  "a": {"b": 1}\n}', '{\n  "a": {"x": [1, 2]}\n}'),
    ],
)
def test_another_value_is_laid_out_as_the_old_one(old, new):
    """One line stays one line, several stay several."""
    assert json_text.set_member(old, ("a",), {"x": [1, 2]}) == new


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, False), ([], {})]
)
def test_values_of_other_types_differ(one, other):
    """What Python thinks equal is not the same JSON."""
    old = json_text.set_member('{"a": 0}', ("b",), one)
    assert json_text.set_member(old, ("b",), other) != old


def test_half_a_character_is_written_as_an_escape():
    """A text that UTF-8 has no bytes for can still be stored."""
    new = json_text.set_member('{"a": 0}', ("b",), "\ud800é")
    assert new.encode() == rb'{"a": 0, "b": "\ud800\u00e9"}'


def test_a_number_that_no_json_can_spell_is_refused():
    """What was read as infinite cannot be written again; where it stands already it stays."""
    text = '{"a": {"b": 1e400}}'
    with pytest.raises(EditRefused, match="a number in it is out of range"):
        json_text.set_member(text, ("a",), {**json_text.parse(text)["a"], "c": 1})
    assert json_text.set_member(text, ("a",), json_text.parse(text)["a"]) == text


@pytest.mark.parametrize("text", ["3", "[]", '"hooks"', "null", '[{"hooks": {}}]'])
def test_settings_that_are_no_object_are_refused(text):
    """There is no place in them for a member."""
    with pytest.raises(WrongType, match="line 1, column 1: the whole is no object"):
        json_text.append(text, PATH, 7)


@pytest.mark.parametrize("value", ['"SECRET"', "[]", "null", "0", "false", '["SECRET"]'])
def test_hooks_of_a_wrong_type_are_refused(value):
    """The refusal names the place and not what is there."""
    for edit in (
        lambda text: json_text.append(text, PATH, 7),
        lambda text: json_text.set_member(text, PATH, 7),
    ):
        with pytest.raises(WrongType) as caught:
            edit(f'{{\n  "hooks": {value}\n}}')
        assert str(caught.value) == "line 2, column 12: hooks is no object"


@pytest.mark.parametrize("value", ['"SECRET"', "{}", "null", '{"SECRET": []}'])
def test_an_event_of_a_wrong_type_is_refused(value):
    """An object is no array."""
    with pytest.raises(WrongType) as caught:
        json_text.append(f'{{"hooks": {{"Stop": {value}}}}}', PATH, 7)
    assert str(caught.value) == "line 1, column 20: hooks.Stop is no array"


def test_an_element_that_is_not_there_is_refused():
    """It was there when somebody looked."""
    text = '{"hooks": {"Stop": [1]}}'
    for index in (1, -1, 9):
        with pytest.raises(Missing, match=rf"hooks\.Stop\[{index}\] is not there"):
            json_text.drop_element(text, PATH, index)
        with pytest.raises(Missing):
            json_text.replace_element(text, PATH, index, 2)
    for text in ("", "{}", '{"hooks": {}}'):
        with pytest.raises(Missing):
            json_text.drop_element(text, PATH, 0)


def test_paths_lead_through_arrays():
    """An index on the way names an element."""
    text = '{"hooks": {"Stop": [{"x": 1}, {"hooks": [1]}]}}'
    path = ("hooks", "Stop", 1, "hooks")
    new = json_text.append(text, path, 2)
    assert new == '{"hooks": {"Stop": [{"x": 1}, {"hooks": [1, 2]}]}}'
    assert json_text.drop_element(new, path, 1) == text
    assert json_text.drop_element(text, path, 0) == '{"hooks": {"Stop": [{"x": 1}, {"hooks": []}]}}'
    with pytest.raises(Missing, match=r"hooks\.Stop\[2\]\.hooks is not there"):
        json_text.append(text, ("hooks", "Stop", 2, "hooks"), 1)
    with pytest.raises(WrongType, match="hooks is no array"):
        json_text.append(text, ("hooks", 0), 1)


def test_a_container_that_became_empty_stays():
    """Whoever made it drops it, as a member of its own."""
    assert json_text.drop_element('{"hooks": {"Stop": [1]}}', PATH, 0) == '{"hooks": {"Stop": []}}'
    assert json_text.drop_member('{"a": {"b": 1}}', ("a", "b")) == '{"a": {}}'


@pytest.mark.parametrize("path", [("b",), ("a", "c"), ("b", "c")])
def test_a_member_that_is_not_there_need_not_be_removed(path):
    """The text stays as it is."""
    assert json_text.drop_member('{"a": {"b": 1}}', path) == '{"a": {"b": 1}}'


def test_a_refusal_can_name_the_file():
    """Whoever knows the file adds it."""
    with pytest.raises(EditRefused) as caught:
        json_text.parse("{")
    told = caught.value.of("/home/me/settings.json")
    assert str(told).startswith("/home/me/settings.json: line 1, column 2: it ends before")
    assert (told.file, told.line, told.column) == ("/home/me/settings.json", 1, 2)
