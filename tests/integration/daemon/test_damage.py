"""What a damaged `relay.db` does to a daemon."""

import hashlib
import json

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
