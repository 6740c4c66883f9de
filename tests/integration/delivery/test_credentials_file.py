"""Tokens on disk: private, replaced in one step, read again when others changed them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from relay_queue.errors import StorageFailed
from relayd.credentials import Credentials
from relayd.errors import ConfigRefused

URL = "https://memory.example"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the tokens go."""
    tmp_path.chmod(0o700)
    return tmp_path / "credentials.json"


async def test_keeps_tokens_in_a_private_file(path: Path) -> None:
    """The file is 0600 whatever the umask, nothing lies beside it, and another reader finds the token."""
    old = os.umask(0)
    try:
        await Credentials(path).put(URL, "t-1")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    other = Credentials(path)
    assert await other.reread() == {URL}
    assert (other.token(URL), other.servers()) == ("t-1", [URL])


async def test_forgets_one_and_keeps_the_others(path: Path) -> None:
    """Removing tells whether there was a token; what another program added meanwhile stays."""
    mine, other = Credentials(path), Credentials(path)
    await mine.put(URL, "t-1")
    await other.put("http://b", "t-2")
    assert await mine.remove(URL)
    assert not await mine.remove(URL)
    assert (mine.servers(), mine.token("http://b")) == (["http://b"], "t-2")


async def test_tells_which_servers_changed(path: Path) -> None:
    """Subscribers hear of servers whose token is another one, and of nothing else."""
    credentials, heard = Credentials(path), list[frozenset[str]]()
    credentials.subscribe(heard.append)
    await credentials.put(URL, "t-1")
    await credentials.put(URL, "t-1")
    await Credentials(path).put("http://b", "t-2")
    assert await credentials.reread() == {"http://b"}
    assert await credentials.reread() == set()
    await credentials.remove(URL)
    assert heard == [{URL}, {"http://b"}, {URL}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"servers":{"http://a":1}}',
        '{"servers":{}, "more":1}',
        '{"servers":{"http://a":"s3\\u0000cret"}}',
    ],
)
async def test_a_broken_file_is_named_and_never_quoted_or_replaced(path: Path, text: str) -> None:
    """Reading and writing refuse it in one sentence without its content; what was read before stays in use."""
    credentials = Credentials(path)
    await credentials.put(URL, "t-1")
    path.write_text(text)
    with pytest.raises(ConfigRefused) as refused:
        await credentials.reread()
    with pytest.raises(ConfigRefused):
        await credentials.put("http://b", "t-2")
    assert "s3" not in str(refused.value)
    assert str(path) in str(refused.value)
    assert path.read_text() == text
    assert credentials.token(URL) == "t-1"


async def test_a_file_open_to_others_is_refused(path: Path) -> None:
    """A token that others may have read is not used."""
    path.write_bytes(msgspec.json.encode({"servers": {URL: "t"}}))
    path.chmod(0o644)
    with pytest.raises(ConfigRefused, match="is open to other users"):
        await Credentials(path).reread()


async def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """What the system says of the file is told as a refusal, for reading and for writing."""
    credentials = Credentials(tmp_path / ("n" * 256))
    with pytest.raises(ConfigRefused, match="File name too long"):
        await credentials.reread()
    with pytest.raises(ConfigRefused, match="File name too long"):
        await credentials.put(URL, "t")


async def test_a_token_that_the_disk_does_not_take_is_not_used(path: Path) -> None:
    """The file and what is in use stay as they were, and nothing is left beside the file."""
    credentials = Credentials(path)
    await credentials.put(URL, "t-1")
    text = path.read_bytes()
    in_the_way = path.with_name(f".{path.name}.tmp")
    in_the_way.mkdir()
    with pytest.raises(StorageFailed, match=path.name):
        await credentials.put(URL, "t-2")
    with pytest.raises(StorageFailed, match=path.name):
        await credentials.remove(URL)
    assert (path.read_bytes(), credentials.token(URL)) == (text, "t-1")
    in_the_way.rmdir()
    await credentials.put(URL, "t-3")
    assert list(path.parent.iterdir()) == [path]


async def test_blank_tokens_are_none(path: Path) -> None:
    """A blank token in the file is as good as no token."""
    path.touch(0o600)
    path.write_bytes(msgspec.json.encode({"servers": {URL: "  "}}))
    credentials = Credentials(path)
    await credentials.reread()
    assert credentials.servers() == []
