import pytest

from relayd.receiver.parameters import aliases_hold, flag, read_query, read_url


def test_form_decoding_is_that_of_browsers():
    """Plus is a space, escapes are UTF-8, and what is no escape stays."""
    found = read_url("http://h/hook?event=a+b%20c&project=%C3%A9%7E*-._&workspace=100%&agent=%zz&cwd=%FF")
    assert found == {
        "event": "a b c",
        "project": "é~*-._",
        "workspace": "100%",
        "agent": "%zz",
        "cwd": "\ufffd",
    }


def test_host_and_path_do_not_matter():
    """Whatever stands before the first question mark is ignored, even if it is no URL."""
    assert read_url("local/hook?event=stop") == read_url("::not a url::?event=stop") == {"event": "stop"}


def test_a_second_question_mark_and_a_fragment_belong_to_the_last_value():
    """Only the first question mark divides, and nothing is cut off at a hash."""
    assert read_url("x?event=a?b#c")["event"] == "a?b#c"


def test_no_query_means_no_parameters():
    """A URL without a query, or with an empty one, says nothing."""
    assert read_url("local/hook") == {}
    assert read_query("") == {}


@pytest.mark.parametrize(
    "query", ["agent=codex&project=p", "event=stop&event=stop", "event=stop&project=a&project=b"]
)
def test_one_mistake_loses_all_parameters(query):
    """A missing event or a known parameter given twice leaves nothing of the query."""
    assert read_query(query) == {}


def test_a_known_name_given_twice_in_another_spelling_counts_as_twice():
    """Names are decoded before they are compared."""
    assert read_query("event=stop&%65vent=stop") == {}


def test_unknown_parameters_are_ignored_even_twice():
    """What the contract does not know spoils nothing."""
    assert read_query("event=stop&x=1&x=2&&y") == {"event": "stop"}


def test_an_empty_event_is_an_event():
    """`event=` is present, so the rest of the query counts."""
    assert read_query("event=&project=p") == {"event": "", "project": "p"}


@pytest.mark.parametrize("value", ["1", "true", "YES", " On "])
def test_flags_say_yes(value):
    """Four words in any case mean yes."""
    assert flag(value)


@pytest.mark.parametrize("value", [None, "", "0", "false", "y", "2"])
def test_everything_else_says_no(value):
    """An absent or unknown word means no."""
    assert not flag(value)


GOOD = {
    "project": "p",
    "project_src": "marker",
    "identity": "h/o/r",
    "identity_src": "git_remote",
    "aliases": '["old"]',
}


def test_aliases_hold_with_their_identity():
    """Former names count with a marker's project and a remote's identity, and absent ones always hold."""
    assert aliases_hold(GOOD)
    assert aliases_hold({"event": "stop"})


@pytest.mark.parametrize(
    "change",
    [
        {"aliases": "old"},
        {"aliases": '{"a":1}'},
        {"aliases": "[1]"},
        {"aliases": '[" "]'},
        {"aliases": ""},
        {"aliases": "[" * 3000},
        {"project": " "},
        {"project_src": "repo-root"},
        {"identity": ""},
        {"identity_src": "explicit"},
    ],
)
def test_aliases_do_not_hold_otherwise(change):
    """Malformed names, or names without the identity they need, make the item invalid."""
    assert not aliases_hold(GOOD | change)
