"""The log on a real disk."""

import json
import logging
import os
import stat
from pathlib import Path

import pytest

from relayd.config import LogConfig
from relayd.events import DeliveryFailed, EventsStored, StoreDamaged
from relayd.home import Home
from relayd.log import open_log, take_over_logging, tell
from relayd.log_file import CappedFile

CAP = 64 * 1024


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    home.logs.mkdir()
    return home


@pytest.fixture
def root_logger():
    """The root of the standard library's logging, put back afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    yield root
    root.handlers, root.level, logging.raiseExceptions = before[0], before[1], before[2]


def lines(home):
    return [json.loads(line) for line in (home.logs / "relayd.log").read_bytes().splitlines()]


def kept(home):
    return sum(file.stat().st_size for file in home.logs.iterdir())


def test_a_happening_is_one_line_of_json(home):
    """What happens is logged with its time, level, name and fields, in a file that only we can read."""
    log = open_log(LogConfig(), home, {})
    tell(log)(DeliveryFailed("/q", "http 503", 1000))
    (line,) = lines(home)
    assert line.pop("at").endswith("Z")
    assert line == {
        "level": "warning",
        "event": "delivery_failed",
        "queue_dir": "/q",
        "label": "http 503",
        "retry_in_ms": 1000,
    }
    assert stat.S_IMODE((home.logs / "relayd.log").stat().st_mode) == 0o600


def test_debug_is_asked_for(home):
    """What happens for every event is logged only if `log.debug` is set."""
    tell(open_log(LogConfig(), home, {}))(EventsStored("/q", 1, 0))
    assert not (home.logs / "relayd.log").exists()
    tell(open_log(LogConfig(debug=True), home, {}))(EventsStored("/q", 1, 0))
    assert [line["event"] for line in lines(home)] == ["events_stored"]


def test_ten_thousand_failures_stay_below_the_cap(home):
    """A destination that fails all night does not fill the disk, and the newest line is kept."""
    say = tell(open_log(LogConfig(max_bytes=CAP), home, {}))
    for turn in range(10_000):
        say(DeliveryFailed("/some/queue", "transport", turn))
    assert kept(home) <= CAP
    assert sorted(file.name for file in home.logs.iterdir()) == ["relayd.log", "relayd.log.1"]
    assert lines(home)[-1]["retry_in_ms"] == 9_999


def test_a_line_longer_than_the_cap_is_cut(home):
    """One endless line cannot break the cap."""
    file = CappedFile(home.logs / "relayd.log", 1000)
    file.write(b"x" * 5000 + b"\n")
    file.write(b"short\n")
    assert kept(home) <= 1000
    assert (home.logs / "relayd.log").read_bytes() == b"short\n"


def test_a_deleted_log_comes_back(home):
    """Someone who deletes the log to make room finds the next lines in a new one."""
    say = tell(open_log(LogConfig(), home, {}))
    say(StoreDamaged("first"))
    (home.logs / "relayd.log").unlink()
    say(StoreDamaged("second"))
    assert [line["path"] for line in lines(home)] == ["second"]


def test_a_log_that_cannot_be_written_stays_silent(home):
    """No directory, a directory in the file's place, a symbolic link: nothing is raised, and it recovers."""
    say = tell(open_log(LogConfig(), home, {}))
    home.logs.rmdir()
    say(StoreDamaged("no directory"))
    home.logs.mkdir()
    (home.logs / "relayd.log").mkdir()
    say(StoreDamaged("in the way"))
    (home.logs / "relayd.log").rmdir()
    (home.logs / "relayd.log").symlink_to(home.path / "elsewhere")
    say(StoreDamaged("a link"))
    assert not (home.path / "elsewhere").exists()
    (home.logs / "relayd.log").unlink()
    say(StoreDamaged("again"))
    assert [line["path"] for line in lines(home)] == ["again"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_loses_lines_only(home):
    """A write that the disk refuses is dropped, ten thousand times over."""
    log = CappedFile(home.logs / "relayd.log", CAP)
    log._fd = os.open("/dev/full", os.O_WRONLY)
    for _ in range(10_000):
        log.write(b"lost\n")
    log.close()


def test_paths_that_are_no_unicode_are_logged(home):
    """A path with bytes that are no UTF-8 does not break its line."""
    tell(open_log(LogConfig(), home, {}))(StoreDamaged(os.fsdecode(b"/home/\xff")))
    (line,) = lines(home)
    assert line["path"] == "/home/\\udcff"


@pytest.mark.usefixtures("root_logger")
def test_libraries_speak_into_the_same_log(home):
    """A library's warning is logged without the values it was formatted with, its exception without its text."""
    take_over_logging(open_log(LogConfig(), home, {}))
    logging.getLogger("uvicorn.error").info("not this")
    logging.getLogger("uvicorn.error").warning("refused %s", "hunter2")
    try:
        raise ValueError("hunter2")
    except ValueError:
        logging.getLogger("asyncio").exception("Task exception was never retrieved\nfuture: hunter2")
    first, second = lines(home)
    assert (first["level"], first["logger"], first["message"]) == ("warning", "uvicorn.error", "refused %s")
    assert (second["level"], second["message"]) == ("error", "Task exception was never retrieved")
    assert "ValueError" in second["fault"]
    assert "hunter2" not in (home.logs / "relayd.log").read_text()


def test_foreground_is_for_reading(home, capfd):
    """In the foreground a line is plain words on standard error, and no file is made."""
    log = open_log(LogConfig(foreground=True), home, {})
    tell(log)(StoreDamaged("/h/relay.db"))
    log.error("request_failed", exc_info=ValueError("hunter2"))
    said = capfd.readouterr().err.splitlines()
    assert said[0].endswith("error   store_damaged path=/h/relay.db")
    assert said[2:] == ["builtins.ValueError"]
    assert list(home.logs.iterdir()) == []


def test_under_systemd_lines_go_to_the_journal(home, capfd):
    """With a notify socket, JSON goes to standard output, which the service manager keeps."""
    tell(open_log(LogConfig(), home, {"NOTIFY_SOCKET": "/run/notify"}))(StoreDamaged("x"))
    assert json.loads(capfd.readouterr().out)["event"] == "store_damaged"
    assert list(home.logs.iterdir()) == []


def test_an_inherited_journal_is_not_ours(home, capfd):
    """JOURNAL_STREAM counts only if it names our own output: a desktop session hands it to everyone."""
    tell(open_log(LogConfig(), home, {"JOURNAL_STREAM": "8:12345"}))(StoreDamaged("x"))
    assert capfd.readouterr().out == ""
    ours = os.fstat(1)
    tell(open_log(LogConfig(), home, {"JOURNAL_STREAM": f"{ours.st_dev}:{ours.st_ino}"}))(StoreDamaged("y"))
    assert json.loads(capfd.readouterr().out)["path"] == "y"
