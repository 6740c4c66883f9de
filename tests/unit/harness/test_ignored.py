"""Paths of which nothing is captured."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.errors import ConfigRefused
from relayd.harness.ignored import IGNORED, Patterns, names_paths

HOME = "/home/mika"
BASE = "/home/mika/garden"


def patterns(*given_ones):
    return Patterns.parse(given_ones, HOME)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/a/.env"),
        (".env", "/.env"),
        (".env", ".env"),
        (".env", "sub/.env"),
        (".env", "/a/.env/below/it"),
        ("*.pem", "/a/b/key.pem"),
        ("*.pem", "/a/.pem"),
        ("id_?sa", "/a/id_rsa"),
        ("secret*", "/a/secrets/x"),
        ("node_modules/", "/a/node_modules/x/y"),
        ("node_modules/", "/a/node_modules"),
        ("~/tax", "/home/mika/tax/2025.pdf"),
        ("~/tax", "~/tax"),
        ("~/tax", "../tax/x"),
        ("~", "/home/mika/anything"),
        ("~", "~"),
        ("/srv/data", "/srv/data"),
        ("/srv/data/", "/srv/data/x"),
        ("/srv/data", "//srv//./data/x"),
        ("/srv/data", "/srv/other/../data/x"),
        ("/srv/*/keys", "/srv/a/keys/k"),
        ("/srv/**/keys", "/srv/keys"),
        ("/srv/**/keys", "/srv/a/b/c/keys/k"),
        ("/srv/**", "/srv/a"),
        ("/srv/**", "/srv"),
        ("**/private/**", "/a/private/x"),
        ("/**/private", "/a/b/private"),
        ("a/**/b/**/c", "/x/a/1/b/b/2/3/c/y"),
        ("docs/internal", "/a/docs/internal/x"),
        ("docs/internal", "docs/internal"),
        ("a*b*c", "/aXbXbXc"),
        ("a*bc*bc", "/abcbc"),
        ("**", "/anything"),
        ("*", "x"),
        ("my notes", "/a/my notes/x"),
        ("my notes", "/a/my\\ notes/x"),
        ("\\*star", "/a/*star"),
        ("a\\[1]", "/x/a[1]"),
        ("café", "/a/cafe\u0301/x"),
        ("资料", "/a/资料/x"),
    ],
)
def test_a_path_is_covered(pattern, path):
    """By name at any depth, from the root, from home, through stars, and everything below what matches."""
    assert patterns(pattern).cover(path, BASE)
    assert patterns("never", pattern, "nowhere").cover(path, BASE)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/a/.envrc"),
        (".env", "/a/x.env"),
        ("*.pem", "/a/key.pem.txt"),
        ("*.pem", "/a/key.pemx/y"),
        ("id_?sa", "/a/id_sa"),
        ("id_?sa", "/a/id_/sa"),
        ("~/tax", "/home/mika/taxes"),
        ("~/tax", "/srv/home/mika/tax"),
        ("/srv/data", "/x/srv/data"),
        ("/srv/data", "/srv/data/../other"),
        ("/srv/*/keys", "/srv/a/b/keys"),
        ("/srv/*/keys", "/srv/keys"),
        ("docs/internal", "/a/docs/x/internal"),
        ("a/**/b", "/x/b/a"),
        ("a*b*c", "/ac"),
        ("a*bc*bc", "/abc"),
        ("\\*star", "/a/xstar"),
        ("a.c", "/abc"),
        ("~name", "/home/mika/name"),
        ("x", ""),
    ],
)
def test_another_path_is_not(pattern, path):
    """A part of a name, a place elsewhere and a star that would have to reach over a slash do not count."""
    assert not patterns(pattern).cover(path, BASE)


def test_without_patterns_nothing_is_covered():
    """And the patterns are false, so that callers can save the work."""
    none = patterns()
    assert not none
    assert not none.cover("/a", None)
    assert none.hide("/a", None) == "/a"


@pytest.mark.parametrize(
    ("pattern", "rule"),
    [
        ("", "names no path"),
        ("  ", "names no path"),
        ("/", "names no path"),
        ("!keep", "must not begin with !"),
        ("a\nb", "control characters"),
        ("*.py[co]", "a set in"),
        ("\\\\[x]", "a set in"),
        ("a\\", "backslash"),
        ("../x", ". or .."),
        ("/a/./b", ". or .."),
    ],
)
def test_a_flaw_is_told_by_its_number(pattern, rule):
    """The error names the setting and which pattern, and does not quote it."""
    with pytest.raises(ConfigRefused) as caught:
        patterns("fine", pattern)
    assert caught.value.source == "capture.ignore_paths"
    assert caught.value.rule.startswith("pattern 2 ")
    assert rule in caught.value.rule


def test_home_must_be_known():
    """A pattern from `~` needs one."""
    with pytest.raises(ConfigRefused, match="home directory is not known"):
        Patterns.parse(["~/x"], "")
    assert Patterns.parse(["x"], "").cover("/x", None)


def test_what_stands_for_home_means_itself():
    """Stars in the name of the home directory are no stars."""
    odd = Patterns.parse(["~/x"], "/home/a*[b]")
    assert odd.cover("/home/a*[b]/x", None)
    assert not odd.cover("/home/aa[b]/x", None)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("read .env", f"read {IGNORED}"),
        ("read .env.", f"read {IGNORED}."),
        ("read .env, then (src/.env)!", f"read {IGNORED}, then ({IGNORED})!"),
        ("see @.env?", f"see {IGNORED}?"),
        ("see @~/tax/2025.pdf", f"see {IGNORED}"),
        ("'~/tax/my file' and \"@/home/mika/tax/a b\"", f"'{IGNORED}' and \"{IGNORED}\""),
        ("`src/.env`", f"`{IGNORED}`"),
        ("don't open '/home/mika/tax/a b', it's mine", f"don't open '{IGNORED}', it's mine"),
        ("/home/mika/tax/a\\ b.pdf here", f"{IGNORED} here"),
        ("KEY=/home/mika/tax:12", f"KEY={IGNORED}:12"),
        ("请看/home/mika/tax/a。好", f"请看{IGNORED}。好"),
        ("请看/home/mika/tax!", f"请看{IGNORED}!"),
        ("请看「~/tax/报告」", f"请看「{IGNORED}」"),
        ("file:///home/mika/tax/a", IGNORED),
        ("in ~/Docs/My Papers/a.pdf, say", f"in ~/Docs/{IGNORED}, say"),
        ("../tax is one", f"{IGNORED} is one"),
        ("a\n.env\nb", f"a\n{IGNORED}\nb"),
        ("a\\n/home/mika/tax/b\\nc", f"a\\n{IGNORED}\\nc"),
        ("\\u001b[1m\\t.env\\u001b", f"\\u001b[1m\\t{IGNORED}\\u001b"),
        ('{\\"x\\":\\"/home/mika/tax/a b\\"}', f'{{\\"x\\":\\"{IGNORED}\\"}}'),
        ("\\n'/home/mika/tax/a b'", f"\\n'{IGNORED}'"),
        ("a\\\\.env", f"a\\\\{IGNORED}"),
    ],
)
def test_paths_in_text_are_hidden(text, kept):
    """Whatever stands around them, and whichever way they are written."""
    assert patterns(".env", "~/tax", "My Papers").hide(text, BASE) == kept


@pytest.mark.parametrize(
    "text",
    [
        "the environment and taxes",
        "a tax of 3.5",
        "My Papers are in order",
        "https://example.org/.env",
        "mika@example.org",
        "~/taxes .envrc",
        "and so on...",
        "cafe\u0301",
    ],
)
def test_other_words_stay(text):
    """Plain words, addresses and other paths are left as they are written."""
    assert patterns(".env", "~/tax", "My Papers", "tax").hide(text, BASE) == text


def test_absolute_patterns_with_spaces_are_found_in_text():
    """A path that words would cut at its spaces is found where nothing quotes it, up to the end of its last word."""
    hidden = patterns("~/My Disk/in box").hide("cp /home/mika/My Disk/in box/a.txt /tmp", BASE)
    assert hidden == f"cp {IGNORED} /tmp"
    assert patterns("~/My Disk").hide("see ~/My Disk/a, please", BASE) == f"see {IGNORED}, please"
    assert (
        Patterns.parse(["~/x"], "/Users/A B").hide("see /Users/A B/x/y here", BASE) == f"see {IGNORED} here"
    )
    assert patterns("~/My Disk").hide("see ~/My Disk/a, please", BASE) == f"see {IGNORED}, please"
    assert (
        Patterns.parse(["~/x"], "/Users/A B").hide("see /Users/A B/x/y here", BASE) == f"see {IGNORED} here"
    )


def test_names_of_members_with_paths():
    """Spelled in either way."""
    assert all(
        map(
            names_paths, ("path", "file_path", "filePath", "cwd", "transcript_path", "files", "workspaceRoot")
        )
    )
    assert not any(map(names_paths, ("prompt", "pathology", "reason", "")))


@pytest.mark.skipif(sys.platform == "darwin", reason="its disks usually do not tell the cases apart")
def test_case_counts():
    """As on the disk."""
    assert not patterns("Secret").cover("/secret", None)


@given(
    st.lists(st.text(alphabet="ab*?/~.[]!\\ é密", max_size=12), max_size=4),
    st.text(alphabet="ab/~.@'\"`\\ é密\uff0c:", max_size=40),
)
def test_any_pattern_is_refused_or_works(given_ones, text):
    """Nothing else is ever raised."""
    try:
        made = patterns(*given_ones)
    except ConfigRefused:
        return
    made.cover(text, BASE)
    made.hide(text, None)


@given(
    st.text(alphabet="abc", min_size=1, max_size=4),
    st.lists(st.sampled_from(["x", "y.z", "é", "密"]), max_size=3),
)
def test_below_is_ignored_as_well(name, below):
    """For any name at any depth."""
    path = "/".join(["/w", name, *below])
    assert patterns(name).cover(path, None)
    assert patterns(f"/w/{name}").cover(path, None)


@pytest.mark.parametrize(
    "pattern", ["**/a*a*a*a*a*b/**/c*c*c*d/**/e", "*a*a*a*a*a*a*b", "a/**/a/**/a/**/a/**/b"]
)
def test_stars_cost_no_more_than_the_path_is_long(pattern):
    """No path makes a pattern try all ways; a reader that did would not come back."""
    assert not patterns(pattern).cover("/" + "a" * 3_000 + "/" + "a/" * 3_000, None)
