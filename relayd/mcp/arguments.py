"""Arguments of tools: what is asked for, and how leniently it is read.

Models write `"5"` for 5, `"true"` for true, one word for a list of one, and null or an empty text for what they leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast

import msgspec
from msgspec import inspect

from relayd.errors import ParameterRefused

__all__ = ("input_schema", "read_arguments")

_Form = Literal["string", "integer", "boolean", "array"]

_YES: Final = frozenset(("true", "yes", "1", "on"))
_NO: Final = frozenset(("false", "no", "0", "off"))
_DIGITS: Final = 18
"""Of a whole number; more do not fit into SQLite's."""

Shape = TypeVar("Shape", bound=msgspec.Struct)


class _Field(NamedTuple):
    """One argument.

    Args:
        choices: What it, or each of a list, may be; empty if it may be anything.
        least: Of a whole number; None has no bound, as for `most`.
    """

    name: str
    form: _Form
    about: str
    required: bool
    choices: Sequence[str]
    least: int | None
    most: int | None


def input_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Describe the arguments that a Struct stands for; its fields carry their meaning as `msgspec.Meta`."""
    fields = _fields(shape)
    return {
        "type": "object",
        "properties": {field.name: _schema(field) for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def read_arguments(given: Mapping[str, Any], shape: type[Shape]) -> Shape:
    """Make a Struct of what a client sent.

    Raises:
        ParameterRefused: An argument is missing, unknown, or not what it must be.
    """
    fields = {field.name: field for field in _fields(shape)}
    if not given.keys() <= fields.keys():
        raise ParameterRefused("arguments", f"must be among these: {', '.join(fields)}")
    read: dict[str, Any] = {}
    for field in fields.values():
        value = given.get(field.name)
        if value is None or (not field.required and isinstance(value, str) and not value.strip()):
            if field.required:
                raise ParameterRefused(field.name, "must be given")
            continue
        read[field.name] = _READERS[field.form](field, value)
    return msgspec.convert(read, shape)


def _text(field: _Field, value: object) -> str:
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, int | float):
        value = msgspec.json.encode(value).decode()
    if not isinstance(value, str):
        raise ParameterRefused(field.name, "must be a text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ParameterRefused(field.name, "must not hold half of a surrogate pair") from None
    return _chosen(field, value) if field.choices else value


def _whole_number(field: _Field, value: object) -> int:
    number = _as_number(value)
    least, most = field.least or 0, 10**_DIGITS if field.most is None else field.most
    if number is None or not least <= number <= most:
        bounds = f"of at least {least}" if field.most is None else f"from {least} to {most}"
        raise ParameterRefused(field.name, f"must be a whole number {bounds}")
    return number


def _as_number(value: object) -> int | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if value.strip().isdecimal() and len(value.strip()) <= _DIGITS:
            return int(value)
        case _:
            return None


def _flag(field: _Field, value: object) -> bool:
    if isinstance(value, bool):
        return value
    said = str(value).strip().lower() if isinstance(value, str | int) else ""
    if said in _YES or said in _NO:
        return said in _YES
    raise ParameterRefused(field.name, "must be true or false")


def _several(field: _Field, value: object) -> list[str]:
    """Read a list; a text is one, as JSON or with commas."""
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, list):
        raise ParameterRefused(field.name, "must be a list of texts")
    texts = [_text(field, one) for one in cast("list[object]", value)]
    return list(dict.fromkeys(texts))


def _listed(value: str) -> object:
    if value.lstrip().startswith("["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    return [part for part in map(str.strip, value.split(",")) if part]


def _chosen(field: _Field, value: str) -> str:
    said = value.strip().lower()
    if said not in field.choices:
        raise ParameterRefused(field.name, f"must be one of {', '.join(field.choices)}")
    return said


_READERS: Final[Mapping[_Form, Callable[[_Field, object], object]]] = {
    "string": _text,
    "integer": _whole_number,
    "boolean": _flag,
    "array": _several,
}


def _schema(field: _Field) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": field.form, "description": field.about}
    if field.form == "array":
        schema["items"] = {"type": "string", "enum": list(field.choices)}
    elif field.choices:
        schema["enum"] = list(field.choices)
    bounds = {"minimum": field.least, "maximum": field.most}
    return schema | {name: bound for name, bound in bounds.items() if bound is not None}


@cache
def _fields(shape: type[msgspec.Struct]) -> tuple[_Field, ...]:
    described = inspect.type_info(shape)
    return tuple(map(_field, cast("inspect.StructType", described).fields))


def _field(one: inspect.Field) -> _Field:
    kind, about = _unwrapped(one.type)
    form: _Form = "string"
    choices: Sequence[str] = ()
    least = most = None
    match kind:
        case inspect.BoolType():
            form = "boolean"
        case inspect.IntType():
            form, least, most = "integer", kind.ge, kind.le
        case inspect.VarTupleType():
            form, choices = "array", _literals(_unwrapped(kind.item_type)[0])
        case _:
            choices = _literals(kind)
    return _Field(one.encode_name, form, about, one.required, choices, least, most)


def _unwrapped(kind: inspect.Type) -> tuple[inspect.Type, str]:
    """Take off what stands around a type: its description, and that it may be None."""
    about = ""
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            extra = cast("dict[str, str]", kind.extra_json_schema or {})  # pyright: ignore[reportUnknownMemberType]
            about = about or extra.get("description", "")
            kind = kind.type
        else:
            kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
    return kind, about


def _literals(kind: inspect.Type) -> Sequence[str]:
    return tuple(map(str, kind.values)) if isinstance(kind, inspect.LiteralType) else ()
