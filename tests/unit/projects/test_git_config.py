"""The lines of a git configuration that are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.projects.git_config import parse_config


@pytest.mark.parametrize(
    "text",
    [
        '[remote "origin"]\n\turl = u\n',
        '[REMOTE "origin"]\n\tURL = u\n',
        '[remote "origin"] url = u',
        '[remote "origin"]\nurl=u',
        '[remote "origin"]\r\n\turl = u\r\n',
        '\ufeff[remote "origin"]\nurl = u',
        "[remote.origin]\nurl = u",
        '[remote "origin"]\nurl = u ; a comment\n',
        '[remote "origin"]\nurl = u   # a comment\n',
        '[remote "origin"]\nurl = "u"\n',
        '[remote "ori\\gin"]\nurl = u\n',
        '[remote "origin"]\nurl = \\\nu\n',
        '# url = x\n; [remote "x"]\n[core]\n\tbare\n[remote "origin"]\nfetch = +a:b\nurl = u\n[branch "x"]\nurl = y',
        '[remote "origin"]\nurl = u\nurl = second\n',
        '[remote "origin"]\nurl = x\nurl =\nurl = u\n',
        '[remote "a"]\nurl = x\n[remote "origin"]\nurl = u\n[remote "b"]\nurl = y\n',
        '[remote "origin"]\n???\nurl = u\n',
        '[broken\n[remote "origin"]\nurl = u\n',
    ],
)
def test_the_url_of_origin_is_found(text: str) -> None:
    """Case, quotes, comments, continued lines and lines that are none are read as git reads them."""
    assert parse_config(text.encode()).origin == "u"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "url = u",
        '[remote "Origin"]\nurl = u\n',
        '[remote "origin"]\npushurl = u\n',
        '[remote "origin"]\n[x]\nurl = u\n',
        '[remotes "origin"]\nurl = u\n',
        '[remote "origin"]\nurl\n',
        '[url "u"]\ninsteadOf = v\n',
    ],
)
def test_what_is_no_url_of_origin_is_none(text: str) -> None:
    """Other sections, other names and a missing value give nothing."""
    assert parse_config(text.encode()).origin is None


def test_a_value_keeps_what_quotes_and_backslashes_protect() -> None:
    """Outer blanks go unless they are quoted; comment signs in quotes are text."""
    text = '[remote "origin"]\nurl =  a" b # "\\"c\\\\d\\te  ; x\n'
    assert parse_config(text.encode()).origin == 'a b # "c\\d\te'


def test_the_last_work_tree_counts() -> None:
    """As in git, a later value takes the place of an earlier one."""
    assert parse_config(b"[core]\nworktree = a\n[core]\nworkTree = ../b\n").work_tree == "../b"


@given(st.binary(max_size=200))
def test_any_bytes_are_read(raw: bytes) -> None:
    """Nothing in a file raises, and a file of nothing but noise ends."""
    parse_config(raw)
    parse_config(b'[remote "origin"]\nurl = ' + raw)
