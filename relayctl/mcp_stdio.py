"""`relayctl mcp`: MCP over standard input and output, for an agent CLI that starts its servers itself.

Each line of the input is a message; it goes to the daemon's `/mcp` as it is, and the answer's bytes come back as one
line. Nothing is parsed, and nothing is imported but built-in modules, so that this starts as fast as the interpreter
does; only where no daemon answers, the message is read to say so in its own form. Standard output carries messages and
nothing else.
"""

from __future__ import annotations

import posix

from relayctl import PROTOCOL, _wire

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import NoReturn

__all__ = ("LANES", "Forwarder", "is_plain", "lane_of", "main", "serve")

LANES = ("claude", "codex", "grok")
"""Agent CLIs that can be named."""

_PLACES = b"CLAUDE_PROJECT_DIR", b"GROK_WORKSPACE_ROOT"
_FOR_PEOPLE = (
    b"This speaks MCP with an agent CLI, which starts it by itself (`relayctl setup`); Ctrl-D ends it.\n"
)
_READ_BYTES = 65_536
_MAX_MESSAGE_BYTES = 1 << 20
# The daemon imports what it needs for this with the first message, and may have to make its index then.
_ANSWER_TIMEOUT_S = 120.0
_SUCCESS = range(200, 300)


def main(arguments: Sequence[str]) -> NoReturn:
    """Forward as the launcher's command line says; one that is not known is passed over, as there is nobody to tell."""
    serve(lane_of(arguments))


def serve(lane: str | None) -> NoReturn:
    """Forward for an agent CLI until the input ends, and end the process with status 0."""
    if posix.isatty(0):
        posix.write(2, _FOR_PEOPLE)
    try:
        Forwarder(posix.environ, lane).run()
    except (KeyboardInterrupt, BrokenPipeError):
        posix._exit(0)  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 -- that is how agents end their servers
    posix._exit(0)  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 -- nothing is left to clean up


def is_plain(arguments: Sequence[str]) -> bool:
    """Tell whether a command line asks for nothing but to forward; the others are for click to read, or to refuse."""
    return not arguments or lane_of(arguments) is not None


def lane_of(arguments: Sequence[str]) -> str | None:
    """Read `--lane NAME`; None for any other command line."""
    if len(arguments) != 2 or arguments[0] != "--lane":  # noqa: PLR2004 -- the option and its value
        return None
    return arguments[1] if arguments[1] in LANES else None


class Forwarder:
    """One conversation.

    Args:
        environ: Of the process, in bytes.
        lane: The agent CLI that talks; None if it was not said.
    """

    def __init__(self, environ: Mapping[bytes, bytes], lane: str | None) -> None:
        self._environ = environ
        self._home = ""
        self._lane = _talker(environ, lane)
        self._version = ""
        self._connection: _wire.Connection | None = None

    def run(self) -> None:
        """Answer every message of standard input."""
        for message in _lines():
            answer = self.answer(message)
            if answer:
                _write(answer.replace(b"\n", b" ") + b"\n")

    def answer(self, message: bytes) -> bytes:
        """Have one message answered; nothing for one that wants no answer.

        A daemon that left is looked for, or started, and asked once more: what the tools do may be done twice.
        """
        if len(message) > _MAX_MESSAGE_BYTES:
            from relayctl import mcp_trouble

            return mcp_trouble.too_large(message)
        try:
            reply = self._post(message)
        except (_wire.WireError, OSError):
            from relayctl import mcp_trouble

            return mcp_trouble.ask_again(message, self._post)
        if reply.status in _SUCCESS:
            return reply.body
        from relayctl import mcp_trouble

        return mcp_trouble.refused(message, reply, self._post)

    def _post(self, message: bytes) -> _wire.Reply:
        if self._connection is None:
            self._home = self._home or _home(self._environ)
            self._connection = _wire.connect(self._home)
        try:
            reply = self._connection.request(
                "POST", "/mcp", message, headers=self._headers(), timeout_s=_ANSWER_TIMEOUT_S
            )
        except (_wire.WireError, OSError):
            self._connection.close()  # its next answer would be one to this
            self._connection = None
            raise
        self._version = reply.headers.get("relay-mcp-version", self._version)
        return reply

    def _headers(self) -> list[tuple[str, str]]:
        home = posix.stat(self._home)
        headers = [("Relay-Protocol", str(PROTOCOL)), ("Relay-Home", f"{home.st_dev:x}-{home.st_ino:x}")]
        if place := _place(self._environ):
            headers.append(("Relay-Directory", _wire.quote_bytes(place)))
        if self._lane:
            headers.append(("Relay-Lane", self._lane))
        if self._version:
            headers.append(("MCP-Protocol-Version", self._version))
        return headers


def _home(environ: Mapping[bytes, bytes]) -> str:
    """Find the home; the launcher names it, and what finds it otherwise costs as much as all of this.

    Raises:
        NoDaemon: It cannot be told; who tries to start one says why.
    """
    named = environ.get(b"RELAY_HOME", b"").decode("utf-8", "surrogateescape")
    if named.startswith("/") and named == named.strip():
        return named
    import os

    from relayctl.errors import PathRefused
    from relayctl.home import home_path

    try:
        return home_path(os.environ)
    except PathRefused as error:
        raise _wire.NoDaemon from error


def _talker(environ: Mapping[bytes, bytes], lane: str | None) -> str | None:
    """Name the agent CLI that talks: Grok Build also starts the servers that Claude Code's settings name.

    A Claude Code that runs within Grok Build has what both of them set.
    """
    is_groks = (
        environ.get(b"GROK_SESSION_ID", b"").strip() and not environ.get(b"CLAUDE_PROJECT_DIR", b"").strip()
    )
    return "grok" if lane == "claude" and is_groks else lane


def _place(environ: Mapping[bytes, bytes]) -> bytes:
    """Find where the agent works; nothing if that is gone."""
    for name in _PLACES:
        path = environ.get(name, b"")
        if path.startswith(b"/"):
            return path
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def _lines() -> Iterator[bytes]:
    """Yield the lines of standard input that hold something, the last one also without an end."""
    pieces: list[bytes] = []
    while piece := posix.read(0, _READ_BYTES):
        first, *whole = piece.split(b"\n")
        pieces.append(first)
        if whole:
            whole.insert(0, b"".join(pieces))
            pieces = [whole.pop()]
            yield from filter(None, map(bytes.strip, whole))
    if last := b"".join(pieces).strip():
        yield last


def _write(answer: bytes) -> None:
    rest = memoryview(answer)
    while rest:
        rest = rest[posix.write(1, rest) :]
