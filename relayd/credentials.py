"""Bearer tokens by server, in one private file of the home."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from relay_queue.errors import DirectoryRefused, StorageFailed
from relay_queue.private import open_private
from relayd.errors import ConfigRefused, ParameterRefused
from relayd.whole_file import write_whole

__all__ = ("Credentials", "clean_token")

_MAX_FILE_BYTES = 1024 * 1024


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The shape of `credentials.json`."""

    servers: dict[str, str] = msgspec.field(default_factory=dict[str, str])


def clean_token(raw: str) -> str | None:
    """Trim a token to what may go into a header; None if nothing is left.

    Raises:
        ParameterRefused: It holds a control character or one outside ASCII. The message does not repeat it.

    Source: docs/outbox.md, "Requests".
    """
    token = raw.strip()
    if any(unicodedata.category(char) == "Cc" for char in token):
        raise ParameterRefused("token", "must not contain control characters")
    if not token.isascii():
        raise ParameterRefused("token", "must be ASCII")
    return token or None


class Credentials:
    """The tokens of one home. They go to their server and nowhere else.

    Args:
        path: `credentials.json`; need not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens: Mapping[str, str] = {}
        self._lock = anyio.Lock()
        self._subscribers: list[Callable[[frozenset[str]], None]] = []

    def subscribe(self, subscriber: Callable[[frozenset[str]], None]) -> None:
        """Call this with the servers whose token became another one, each time some did."""
        self._subscribers.append(subscriber)

    def token(self, server_url: str) -> str | None:
        """Give the token for a server, as last read."""
        return self._tokens.get(server_url)

    def servers(self) -> list[str]:
        """List the normalised URLs that have a token, sorted."""
        return sorted(self._tokens)

    async def reread(self) -> frozenset[str]:
        """Read the file again, since another program may have changed it.

        Returns:
            The servers whose token is another one now.

        Raises:
            ConfigRefused: The file cannot be read, is not private or has another shape; what was read before stays in
                use.
        """
        async with self._lock:
            return self._adopt(await anyio.to_thread.run_sync(_read, self._path))

    async def put(self, server_url: str, token: str) -> None:
        """Keep a token for a server.

        Args:
            server_url: Normalised, as queues are bound to it.
            token: As `clean_token` gave it.

        Raises:
            ConfigRefused: The file that is there cannot be read.
            StorageFailed: The disk did not take it; the file is as it was.
        """
        async with self._lock:
            tokens = await anyio.to_thread.run_sync(_read, self._path)
            await self._replace({**tokens, server_url: token})

    async def remove(self, server_url: str) -> bool:
        """Forget the token of a server; whether there was one. Raises as `put` does."""
        async with self._lock:
            tokens = await anyio.to_thread.run_sync(_read, self._path)
            if server_url not in tokens:
                self._adopt(tokens)
                return False
            await self._replace({url: token for url, token in tokens.items() if url != server_url})
            return True

    async def _replace(self, tokens: Mapping[str, str]) -> None:
        await anyio.to_thread.run_sync(_write, self._path, tokens)
        self._adopt(tokens)

    def _adopt(self, tokens: Mapping[str, str]) -> frozenset[str]:
        servers = tokens.keys() | self._tokens.keys()
        changed = frozenset(url for url in servers if tokens.get(url) != self._tokens.get(url))
        self._tokens = tokens
        for subscriber in self._subscribers if changed else ():
            subscriber(changed)
        return changed


def _read(path: Path) -> Mapping[str, str]:
    raw = _content(path)
    if raw is None:
        return {}
    try:
        found = msgspec.json.decode(raw, type=_File).servers
        tokens = {url: clean_token(token) for url, token in found.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, ParameterRefused):
        # `from None`: the foreign message may show a part of the file.
        raise ConfigRefused(str(path), 'must be {"servers": {URL: token}}') from None
    return {url: token for url, token in tokens.items() if token is not None}


def _content(path: Path) -> bytes | None:
    """Read the file, or None if there is none."""
    try:
        with os.fdopen(open_private(path, os.O_RDONLY), "rb") as file:
            return file.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except DirectoryRefused as refusal:
        raise ConfigRefused(str(path), refusal.rule) from None
    except OSError as error:
        raise ConfigRefused(str(path), f"cannot be read: {error.strerror}") from error


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    text = msgspec.json.format(msgspec.json.encode(_File(dict(tokens)), order="sorted")) + b"\n"
    try:
        write_whole(path, text)
    except OSError as error:
        raise StorageFailed(str(path), error.strerror or "the system refused") from error
