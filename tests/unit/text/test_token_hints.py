import re
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from relayd.text.scrub import MARK, scrub_text
from relayd.text.tokens import TOKENS, URL_PASSWORD, possible

PLAIN = (
    "We keep the cache in SQLite; see docs/cache_of_pages.md. "
    '{"tool_name": "Bash", "session_id": "5b1c0a52-7d1e-4c7e-9a55-0d3f1f6a2b10", "cwd": "/workspace/a-b/c_d"} '
)


def shortest(parsed) -> str:
    """The shortest text that a pattern matches, as far as its look-arounds allow."""
    made = ""
    for operation, value in parsed:
        match str(operation):
            case "LITERAL":
                made += chr(value)
            case "IN":
                kind, first = value[0]
                made += "x" if str(kind) == "NEGATE" else chr(first[0] if str(kind) == "RANGE" else first)
            case "ANY":
                made += "x"
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, _, repeated = value
                made += shortest(repeated) * least
            case "SUBPATTERN":
                made += shortest(value[-1])
            case "BRANCH":
                made += min((shortest(branch) for branch in value[1]), key=len)
            case "ASSERT" | "ASSERT_NOT":
                pass
            case _:
                raise AssertionError(operation)
    return made


@pytest.mark.parametrize("shape", TOKENS, ids=lambda shape: f"{shape.kind} {shape.hint}")
def test_the_shortest_of_each_shape_is_possible(shape):
    """What rules shapes out quickly never rules out what their patterns match, alone or in a text."""
    token = shortest(parser.parse(shape.pattern, re.DOTALL))
    if shape is URL_PASSWORD:
        token = f"://{token}@"
    for text in (token, f" {token} ", f"{PLAIN}\n{token}\n{PLAIN}"):
        assert re.search(shape.pattern, text, re.DOTALL)
        assert shape in possible(text)
        assert MARK in scrub_text(text)


def test_most_texts_have_none():
    """Names with dashes and underscores in them are no reason to look closer, but for shapes that a dot may be in."""
    assert {shape.hint for shape in possible(PLAIN * 10)} <= {"."}
