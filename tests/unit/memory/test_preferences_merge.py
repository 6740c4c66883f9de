"""Which preference counts where several are set."""

from hypothesis import given
from hypothesis import strategies as st

from relayd.memory.preferences import merge
from relayd.store.preferences import Preference, entry

RANKS = ("global", "project", "lane", "model")


def preference(seq, key, scope, value="v"):
    return Preference(
        seq=seq,
        id=f"id-{seq}",
        key=key,
        value=value,
        scope=scope,
        project_id=1 if scope == "project" else None,
        scope_id="x" if scope in ("lane", "model") else None,
        author="ana",
        reason=None,
        recorded_at_ms=seq,
        superseded_at_ms=None,
        superseded_by=None,
        drop_reason=None,
    )


def test_nothing_makes_nothing():
    """Without preferences none counts."""
    assert merge([]) == []


def test_the_narrowest_scope_wins_by_key():
    """Whatever was set last: the scope decides, and keys do not mix."""
    rows = [
        preference(4, "runner", "global"),
        preference(1, "runner", "model"),
        preference(3, "runner", "project"),
        preference(2, "runner", "lane"),
        preference(5, "style", "global"),
        preference(6, "Runner", "project"),
    ]
    assert [(one.key, one.scope) for one in merge(rows)] == [
        ("Runner", "project"),
        ("runner", "model"),
        ("style", "global"),
    ]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(RANKS)), unique=True, max_size=12).flatmap(
        st.permutations
    )
)
def test_the_order_of_what_is_read_does_not_matter(pairs):
    """For every key that is set there is one row, of the narrowest scope it is set in, and keys are in order."""
    merged = merge([preference(seq, key, scope) for seq, (key, scope) in enumerate(pairs)])
    assert [one.key for one in merged] == sorted({key for key, _ in pairs})
    for one in merged:
        scopes = [scope for key, scope in pairs if key == one.key]
        assert one.scope == max(scopes, key=RANKS.index)


def test_search_sees_one_line():
    """Key, value and reason, whatever white space is in them."""
    row = preference(1, "runner", "lane", "a\n  b\tc")
    assert entry(row).text == "runner = a b c"
    assert entry(row).project_id is None
