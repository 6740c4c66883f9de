"""Arguments of tools: read leniently, described strictly."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from relayd.errors import ParameterRefused
from relayd.mcp.arguments import input_schema, read_arguments
from relayd.mcp.tools import TOOLS


class Asked(msgspec.Struct, frozen=True):
    """One argument of each form."""

    text: Annotated[str, Meta(description="A text.")]
    count: Annotated[Annotated[int, Meta(ge=1, le=9)] | None, Meta(description="A number.")] = None
    is_so: Annotated[bool, Meta(description="A flag.")] = msgspec.field(default=False, name="so")
    kinds: Annotated[tuple[Literal["a", "b"], ...], Meta(description="Some.")] = ()
    word: Annotated[Literal["a", "b"] | None, Meta(description="One.")] = None


def read(**arguments: Any) -> Asked:
    """Read arguments beside the one that is needed."""
    return read_arguments({"text": "t", **arguments}, Asked)


def test_the_schema_says_what_is_asked_for():
    """Forms, bounds, choices, and what must be given."""
    schema = input_schema(Asked)
    assert schema["required"] == ["text"]
    assert schema["additionalProperties"] is False
    assert schema["properties"] == {
        "text": {"type": "string", "description": "A text."},
        "count": {"type": "integer", "description": "A number.", "minimum": 1, "maximum": 9},
        "so": {"type": "boolean", "description": "A flag."},
        "kinds": {"type": "array", "description": "Some.", "items": {"type": "string", "enum": ["a", "b"]}},
        "word": {"type": "string", "description": "One.", "enum": ["a", "b"]},
    }


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("count", "5", 5),
        ("count", " 5 ", 5),
        ("count", 5.0, 5),
        ("count", None, None),
        ("count", "", None),
        ("so", "true", True),
        ("so", "True", True),
        ("so", "no", False),
        ("so", 1, True),
        ("so", "0", False),
        ("so", None, False),
        ("kinds", "a", ("a",)),
        ("kinds", "a, B", ("a", "b")),
        ("kinds", '["a"]', ("a",)),
        ("kinds", ["a", "a"], ("a",)),
        ("kinds", [], ()),
        ("word", " A ", "a"),
        ("word", "", None),
        ("text", 7, "7"),
        ("text", 7.5, "7.5"),
        ("text", False, "false"),
        ("text", "", ""),
    ],
)
def test_what_models_write_is_understood(name, value, expected):
    """Numbers, flags and lists as texts, one for several, and nothing for what is left out."""
    read_name = {"so": "is_so"}.get(name, name)
    assert getattr(read(**{name: value}), read_name) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 0),
        ("count", 10),
        ("count", True),
        ("count", 5.5),
        ("count", float("nan")),
        ("count", float("inf")),
        ("count", "5.5"),
        ("count", "9" * 5_000),
        ("count", "٣" * 30),
        ("count", [5]),
        ("so", "maybe"),
        ("so", 2),
        ("so", [True]),
        ("kinds", "c"),
        ("kinds", ["a", 1]),
        ("kinds", '["a"'),
        ("kinds", "[" * 5_000),
        ("kinds", 3),
        ("word", "c"),
        ("word", ["a"]),
        ("text", None),
        ("text", ["t"]),
        ("text", {"t": 1}),
        ("text", "\udc80"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(name, value):
    """The error has the argument and its rule, not the value."""
    with pytest.raises(ParameterRefused) as refused:
        read(**{name: value})
    assert refused.value.name == name


def test_an_unknown_argument_is_refused_with_the_known_ones():
    """Its own name is not repeated: a model may have put anything there."""
    with pytest.raises(ParameterRefused) as refused:
        read(hunter2="x")
    assert "hunter2" not in str(refused.value)
    assert "text, count, so, kinds, word" in str(refused.value)


atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
json_values = atoms | st.lists(atoms, max_size=3) | st.dictionaries(st.text(max_size=5), atoms, max_size=2)


@pytest.mark.parametrize("tool", TOOLS)
def test_whatever_is_sent_is_read_or_refused(tool):
    """No other error comes out of any tool's arguments."""
    shape = TOOLS[tool].arguments
    names = [*input_schema(shape)["properties"], "other"]

    @settings(deadline=None, max_examples=50)
    @given(st.dictionaries(st.sampled_from(names), json_values, max_size=len(names)))
    def reads(sent: dict[str, Any]) -> None:
        with suppress(ParameterRefused):
            assert isinstance(read_arguments(sent, shape), shape)

    reads()
