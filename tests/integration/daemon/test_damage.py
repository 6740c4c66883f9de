"""What a damaged `relay.db` does to a daemon."""

import hashlib
import json
import shutil
import signal
import sqlite3
import sys
from contextlib import closing

from tests.waiting import eventually

JSON = {"content-type": "application/json"}


def batch(prefix):
    """A request of 256 events whose keys lie all over the index."""
    keys = [hashlib.sha256(f"{prefix}{number}".encode()).hexdigest() for number in range(256)]
    url = "local/hook?event=user-prompt-submit&agent=codex&ingest_key="
    return json.dumps(
        [{"url": url + key, "body": {"session_id": "s", "prompt": "word " * 400}} for key in keys]
    ).encode()


def filled(start, home, batches=1):
    """Run a daemon once, so that there is a database with something in it."""
    daemon = start(home)
    with daemon.client() as client:
        for number in range(batches):
            assert client.ask("POST", "/hook/batch", batch(number), **JSON).status == 200
    daemon.signal()
    assert daemon.ended() == (0, "")


def ruin(home):
    """Overwrite every page behind the first one."""
    with (home / "relay.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * ((home / "relay.db").stat().st_size - 4096))


def left(home):
    return json.loads((home / "last-start.json").read_text())


def events(home):
    return [json.loads(line)["event"] for line in (home / "logs" / "relayd.log").read_bytes().splitlines()]


def test_a_damaged_database_ends_the_start_with_78(start, home):
    """The start fails with 78 and one sentence, and the file is left as it is."""
    filled(start, home)
    ruin(home)
    before = (home / "relay.db").read_bytes()
    daemon = start(home, ready=False)
    told = daemon.told()
    assert told["code"] == "damaged"
    assert daemon.ended() == (78, f"relayd: {told['detail']}\n")
    assert left(home)["code"] == "damaged"
    assert (home / "relay.db").read_bytes() == before
    assert not (home / "relayd.sock").exists()


def test_damage_that_a_reader_finds_ends_the_daemon_with_78(start, home):
    """Who reads is answered 503 `damaged`, the cause is left behind, and the daemon leaves in good order."""
    filled(start, home)
    daemon = start(home)
    with daemon.client() as client:
        assert client.ask("GET", "/v1/queues").status == 200  # the start has read what it reads
        ruin(home)
        answer = client.ask("GET", "/v1/feed")
        assert (answer.status, answer.json().get("code")) == (503, "damaged")
        assert client.at_end()
    assert daemon.ended() == (78, "")
    assert left(home)["code"] == "damaged"
    assert not (home / "relayd.sock").exists()
    assert "store_damaged" in events(home)
    assert "daemon_failed" not in events(home)


def test_damage_that_the_writer_finds_ends_the_daemon_with_78(start, home):
    """What waits for the writer is answered 503 `damaged`, and so is nobody after it: the daemon leaves."""
    filled(start, home, batches=24)  # more than the writer keeps in memory
    daemon = start(home)
    with daemon.client() as client:
        assert client.ask("GET", "/v1/queues").status == 200  # the start has read what it reads
        ruin(home)
        answer = client.ask("POST", "/hook/batch", batch("new"), **JSON)
        assert (answer.status, answer.json().get("code")) == (503, "damaged")
        assert client.at_end()
    assert daemon.ended() == (78, "")
    assert left(home)["code"] == "damaged"
    assert "store_damaged" in events(home)


QUICK = "import sys, relayd.loss as loss; loss._WATCH_EVERY_S = 0.01; from relayd.__main__ import main; sys.exit(main())"
"""Looks after its home without waiting for a minute."""


def test_a_store_that_is_moved_away_ends_the_daemon(start, home):
    """The write that finds `relay.db` gone is refused; the daemon leaves with 1, and says why where it can."""
    daemon = start(home)
    with daemon.client() as client:
        assert client.ask("POST", "/hook/batch", batch("old"), **JSON).status == 200
        (home / "relay.db").rename(home / "moved.db")
        answer = client.ask("POST", "/hook/batch", batch("new"), **JSON)
        assert (answer.status, answer.json()["code"]) == (507, "file_gone")
        assert client.at_end()
    assert daemon.ended() == (1, "")
    assert left(home)["code"] == "file_gone"
    assert "store_gone" in events(home)
    assert not (home / "relayd.sock").exists()


def test_an_idle_daemon_notices_that_its_store_is_gone(start, home):
    """Without any request the daemon finds out and leaves."""
    daemon = start(home, command=(sys.executable, "-P", "-c", QUICK))
    (home / "relay.db").unlink()
    assert daemon.ended() == (1, "")
    assert left(home)["code"] == "file_gone"


def test_a_daemon_leaves_with_its_home(start, home):
    """A home that is deleted under its daemon takes it along, and nothing of it is made again."""
    daemon = start(home, command=(sys.executable, "-P", "-c", QUICK))
    daemon.signal(signal.SIGSTOP)  # what it removes itself would be missing here
    shutil.rmtree(home)
    daemon.signal(signal.SIGCONT)
    assert daemon.ended() == (1, "")
    assert not home.exists()


def test_damage_of_the_search_index_is_mended(start, home):
    """Nothing is lost, nobody is refused, one line says so, and the daemon stays."""
    order = json.dumps({"text": "we print on paper", "global": True}).encode()
    question = json.dumps({"text": "printing", "global": True, "explain": True}).encode()
    daemon = start(home)
    with daemon.client() as client:
        assert client.ask("POST", "/v1/decisions", order, **JSON).status == 201
    daemon.signal()
    assert daemon.ended() == (0, "")
    with closing(sqlite3.connect(home / "relay.db")) as connection:
        connection.execute("UPDATE search_word_data SET block = x'ffffffffffffffff' WHERE id = 10")
        connection.commit()
    daemon = start(home)
    with daemon.client() as client:

        def asked_of():
            answer = client.ask("POST", "/v1/recall", question, **JSON)
            assert answer.status == 200
            (item,) = answer.json()["items"]
            return item["why"]["index"]

        assert asked_of() == "texts"
        assert client.ask("POST", "/v1/decisions", order.replace(b"print", b"write"), **JSON).status == 201
        assert eventually(lambda: asked_of() == "words")
    daemon.signal()
    assert daemon.ended() == (0, "")
    assert events(home).count("search_index_damaged") == 1
    assert "store_damaged" not in events(home)
