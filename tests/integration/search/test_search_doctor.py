from relayctl.checks.check import Subject
from relayctl.checks.storage import look_at_sqlite
from relayd.search.index import can_index


def subject(path):
    return Subject(str(path), {}, "1")


def test_doctor_says_that_sqlite_cannot_index(tmp_path):
    """Search goes on without, so it is a warning, with what to do."""
    (check,) = look_at_sqlite(subject(tmp_path), lambda: False)
    assert check.state == "warn"
    assert "lacks FTS5 or its trigrams" in check.detail


def test_doctor_and_daemon_find_the_same(tmp_path):
    """Both try, in a database in memory."""
    (check,) = look_at_sqlite(subject(tmp_path))
    assert (check.state == "ok") == can_index()
