"""The section of an instruction file: found, written, refused, taken out, without a byte outside of it changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayctl.repository.markers import BEGIN, END, Unclear, find_section
from relayctl.repository.owned_section import (
    MAX_BYTES,
    Record,
    digest,
    is_include,
    plan_file,
    plan_removal,
    plan_section,
    plan_unfile,
)
from relayctl.repository.section_text import TOOLS, section_text
from relayd.mcp.tools import TOOLS as SERVED

BODY = "This is the project `shop`.\nAsk `relay_recall`.\n"
NEWER = "This is the project `store`.\n"
OURS = f"{BEGIN}\n{BODY}{END}\n"
KNOWN = Record(digest(BODY))

FILES = {
    "plain": b"# Shop\n\nRun make.\n",
    "empty": b"",
    "newlines": b"\n\n\n",
    "CRLF": b"# Shop\r\n\r\nRun make.\r\n",
    "BOM": b"\xef\xbb\xbf# Shop\n",
    "BOM alone": b"\xef\xbb\xbf",
    "BOM and CRLF": b"\xef\xbb\xbf# Shop\r\n",
    "no final newline": b"# Shop",
    "no final newline, CRLF": b"# Shop\r\nRun make.",
    "ends in an empty line": b"# Shop\n\n",
    "ends in a carriage return": b"# Shop\r",
    "old Macintosh": b"# Shop\rRun make.\r",
    "mixed newlines": b"a\r\nb\nc\r\n",
    "line separators": "a\u2028b\u0085c\x0bd\x0ce".encode(),
    "other scripts": "# Магазин 店 🦀\n".encode(),
    "markers in code": f"```html\n{BEGIN}\n{END}\n```\n".encode(),
    "markers in tildes": f"~~~\n{BEGIN}\n```\n{END}\n~~~~\n".encode(),
    "markers in a long fence": f"````\n```\n{BEGIN}\n```\n{END}\n````\n".encode(),
    "markers in a list's code": f"- ```\n  {BEGIN}\n  {END}\n  ```\n".encode(),
    "list with code": b"- ```sh\n  make\n  ```\n\nEnd.\n",
    "numbered list with code": b"1.  One:\n\n    ```sh\n    make\n    ```\n",
    "quoted code that just ends": b"> ```\n> make\n\nEnd.\n",
    "markers indented as code": f"Code:\n\n    {BEGIN}\n    {END}\n".encode(),
    "markers within a line": f"Between `{BEGIN}` and {END} is ours.\n".encode(),
    "front matter": b"---\nname: shop\n---\n\nRun make.\n",
}
UNCLEAR = {
    "two begin markers": f"{BEGIN}\na\n{BEGIN}\nb\n{END}\n",
    "end before begin": f"{END}\na\n{BEGIN}\n",
    "nested": f"{BEGIN}\n{BEGIN}\na\n{END}\n{END}\n",
    "two sections": f"{OURS}\n{OURS}",
    "begin alone": f"a\n{BEGIN}\nb\n",
    "end alone": f"a\n{END}\n",
    "end in code": f"{BEGIN}\n```\n{END}\n```\n",
}
REFUSED = {
    "UTF-16": "# Shop\n".encode("utf-16"),
    "UTF-16 without a mark": "# Shop\n".encode("utf-16-le"),
    "Latin-1": b"# Caf\xe9\n",
    "half a character": b"# \xf0\x9f\xa6",
    "NUL": b"a\0b",
    "huge": b"a" * (MAX_BYTES + 1),
    "open fence": b"```sh\nmake\n",
    **{name: text.encode() for name, text in UNCLEAR.items()},
}


@pytest.mark.parametrize("name", FILES)
def test_a_section_comes_and_goes_without_a_trace(name: str) -> None:
    """What was there stays in front, the second time nothing is to be done, and taken out the bytes are the old ones."""
    old = FILES[name]
    added = plan_section(old, None, BODY, force=False)
    assert (added.state, added.reason) == ("written", "")
    assert added.content is not None
    assert added.content.startswith(old)
    assert added.record is not None
    again = plan_section(added.content, added.record, BODY, force=False)
    assert (again.state, again.content, again.record) == ("fresh", None, added.record)
    assert plan_removal(added.content, added.record).content == old


@pytest.mark.parametrize("name", FILES)
def test_only_what_is_between_the_markers_is_exchanged(name: str) -> None:
    """Another text of relay's takes the old one's place, with the file's newlines."""
    added = plan_section(FILES[name], None, BODY, force=False)
    assert added.content is not None
    newer = plan_section(added.content, added.record, NEWER, force=False)
    assert newer.content is not None
    newline = "\r\n" if "CRLF" in name or name == "mixed newlines" else "\n"
    theirs, ours = (text.replace("\n", newline).encode() for text in (BODY, NEWER))
    assert newer.content == added.content.replace(theirs, ours)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused_with_a_reason(name: str, force: bool) -> None:
    """Also by force, which cannot know what to write over; what was known of it is kept."""
    outcome = plan_section(REFUSED[name], KNOWN, BODY, force=force)
    if name == "open fence" and not force:
        assert outcome.state == "off"  # the fence may stand before markers that were there
        outcome = plan_section(REFUSED[name], None, BODY, force=force)
    assert (outcome.state, outcome.content) == ("refused", None)
    assert outcome.reason


@pytest.mark.parametrize("name", UNCLEAR)
def test_unclear_markers_are_told_with_their_line(name: str) -> None:
    """Nothing is taken out of such a file either."""
    with pytest.raises(Unclear, match=r"^line \d+: "):
        find_section(UNCLEAR[name])
    assert plan_removal(UNCLEAR[name].encode(), KNOWN).state == "refused"


def test_a_missing_file_is_made_and_goes_again() -> None:
    """A file that relay made goes with its section, unless something else is in it by then."""
    made = plan_section(None, None, BODY, force=False)
    assert (made.state, made.content) == ("created", OURS.encode())
    assert made.record is not None
    assert plan_removal(OURS.encode(), made.record).state == "removed"
    kept = plan_removal(b"Mine.\n" + OURS.encode(), made.record)
    assert (kept.state, kept.content) == ("written", b"Mine.\n")
    assert plan_removal(OURS.encode(), KNOWN).content == b""


def test_an_edited_section_is_its_editors() -> None:
    """It is neither written over nor taken out; force takes it over."""
    edited = OURS.replace("recall", "forget").encode()
    for body in (BODY, NEWER):
        assert plan_section(edited, KNOWN, body, force=False).state == "refused"
    assert plan_removal(edited, KNOWN).state == "refused"
    forced = plan_section(edited, KNOWN, BODY, force=True)
    assert (forced.state, forced.content, forced.record) == ("written", OURS.encode(), KNOWN)


def test_markers_that_relay_never_wrote_are_not_its_own() -> None:
    """Another text between them is refused; the same one needs no writing, and does not become relay's but by force."""
    foreign = f"{BEGIN}\nMine.\n{END}\n".encode()
    assert plan_section(foreign, None, BODY, force=False).state == "refused"
    assert plan_section(foreign, None, BODY, force=True).content == OURS.encode()
    same = plan_section(OURS.encode(), None, BODY, force=False)
    assert (same.state, same.record) == ("fresh", None)
    assert plan_section(OURS.encode(), None, BODY, force=True).record == KNOWN


def test_deleted_markers_stop_relay() -> None:
    """Force adds the section again."""
    outcome = plan_section(b"Mine.\n", KNOWN, BODY, force=False)
    assert (outcome.state, outcome.content, outcome.record) == ("off", None, KNOWN)
    assert "deleted" in outcome.reason
    assert plan_section(b"Mine.\n", KNOWN, BODY, force=True).content == b"Mine.\n\n" + OURS.encode()
    assert plan_removal(b"Mine.\n", KNOWN).state == "fresh"


def test_a_section_that_was_never_finished_is_none_that_was_deleted() -> None:
    """A run that was killed before it wrote is made up for; one that was killed after it wrote is recognized."""
    begun = Record(None, digest(BODY), before="\n")
    assert plan_section(b"Mine.\n", begun, BODY, force=False).state == "written"
    done = plan_section(b"Mine.\n\n" + OURS.encode(), begun, BODY, force=False)
    assert (done.state, done.record) == ("fresh", Record(digest(BODY), before="\n"))
    assert (
        plan_section(OURS.encode(), Record(digest("x"), digest(BODY)), NEWER, force=False).state == "written"
    )


def test_newlines_that_version_control_changed_are_no_edit() -> None:
    """The section stays relay's, in sections and in whole files."""
    theirs = OURS.replace("\n", "\r\n").encode()
    assert plan_section(theirs, KNOWN, BODY, force=False).state == "fresh"
    assert plan_section(theirs, KNOWN, NEWER, force=False).content == theirs.replace(
        BODY.replace("\n", "\r\n").encode(), NEWER.replace("\n", "\r\n").encode()
    )
    assert plan_file(BODY.replace("\n", "\r\n").encode(), KNOWN, BODY, force=False).state == "fresh"


def test_what_was_written_below_a_section_stays_apart_from_what_is_above() -> None:
    """The empty line that came with it is left in that case."""
    added = plan_section(b"Above", None, BODY, force=False)
    assert added.content is not None
    assert added.record is not None
    assert plan_removal(added.content + b"Below\n", added.record).content == b"Above\n\nBelow\n"


def test_a_whole_file_is_written_over_only_if_relay_wrote_it() -> None:
    """And removed only then; force takes it over."""
    made = plan_file(None, None, BODY, force=False)
    assert (made.state, made.content) == ("created", BODY.encode())
    assert plan_file(BODY.encode(), made.record, BODY, force=False).state == "fresh"
    assert plan_file(BODY.encode(), made.record, NEWER, force=False).content == NEWER.encode()
    for foreign in (b"Mine.", b"\xff\xfe"):
        for record in (None, made.record):
            assert plan_file(foreign, record, NEWER, force=False).state == "refused"
        assert plan_file(foreign, None, NEWER, force=True).content == NEWER.encode()
        assert plan_unfile(foreign, KNOWN).state == "refused"
    assert plan_unfile(BODY.encode(), KNOWN).state == "removed"
    assert plan_unfile(None, KNOWN).state == "fresh"


@pytest.mark.parametrize(
    "text",
    [
        "@AGENTS.md",
        "@AGENTS.md\n",
        "\ufeff\n  @AGENTS.md \r\n\n",
        "<!-- see\nthere -->\n@./AGENTS.md\n<!-- end -->",
    ],
)
def test_an_include_is_told_from_a_text(text: str) -> None:
    """White space and comments do not count; anything else does."""
    assert is_include(text.encode())
    for more in ("# Claude\n", "@docs/more.md\n", OURS):
        assert not is_include(f"{text}\n{more}".encode())


def test_what_is_no_include() -> None:
    """An empty file includes nothing, and one that cannot be read is not guessed at."""
    for content in (b"", b"AGENTS.md", b"`@AGENTS.md`", "@AGENTS.md".encode("utf-16"), b"@AGENTS.md \xff"):
        assert not is_include(content)


def test_the_tools_that_a_section_names_are_those_of_the_server() -> None:
    """All of them, and the project; its text is whole lines of at most 120 characters."""
    text = section_text("shop")
    assert set(re.findall(r"`(relay_\w+)`", text)) == set(TOOLS) == set(SERVED)
    assert "`shop`" in text
    assert text.endswith(".\n")
    assert max(map(len, text.splitlines())) <= 120


PIECES = st.sampled_from(
    [
        BEGIN,
        END,
        BEGIN.upper(),
        "```",
        "~~~",
        "````",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "é",
        "a",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join)


@given(TEXTS, st.booleans())
def test_whatever_a_file_holds_its_bytes_come_back(text: str, bom: bool) -> None:
    """Added, exchanged and taken out, a section leaves no trace; what is refused is not written."""
    old = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    added = plan_section(old, None, BODY, force=False)
    if added.content is None:
        assert added.state in ("refused", "fresh")
        return
    assert added.content.startswith(old)
    newer = plan_section(added.content, added.record, NEWER, force=False)
    assert newer.content is not None
    assert newer.content.startswith(old)
    assert newer.record is not None
    assert plan_section(newer.content, newer.record, NEWER, force=False).state == "fresh"
    assert plan_removal(newer.content, newer.record).content == old


@given(TEXTS, TEXTS)
def test_nothing_outside_the_markers_is_touched(above: str, below: str) -> None:
    """A section amid other text is exchanged in its place, or the file is refused."""
    text = f"{above}\n{OURS}{below}"
    newer = plan_section(text.encode(), KNOWN, NEWER, force=False)
    if newer.content is not None:
        assert newer.content == f"{above}\n{BEGIN}\n{NEWER}{END}\n{below}".encode()
