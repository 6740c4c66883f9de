"""The hook that agent CLIs run at their events: standard input goes to the daemon, its answer to standard output.

A module that stands alone. The daemon copies it into the `bin/` of its home, where `bin/relay-hook CLI EVENT` runs
it: a person waits for each run, so it imports nothing but built-in modules, and parses nothing. Whatever happens it
says nothing of its own and ends with status 0 within its time. What no daemon took is left to `hook_fallback.py`.
"""

import _socket
import posix
import sys
import time

TYPE_CHECKING = False  # `typing` costs more than all of this
if TYPE_CHECKING:
    import signal as _signal  # the stubs know it by this name only
    from collections.abc import Callable
    from typing import TypeVar

    from relayctl import hook_fallback

    T = TypeVar("T")
else:
    import _signal

__all__ = ("Hook", "Watch", "main", "root_of")

_leave = posix._exit  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the one public way to it is `os`

_CLIS = "claude", "codex", "grok"
_TIMES_S = {
    "session-start": 2.5,
    "user-prompt-submit": 0.45,
    "stop": 0.45,
    "pre-compact": 0.45,
    "post-compact": 0.45,
    "session-end": 0.6,
}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

_MAX_INPUT_BYTES = 8 << 20
_MAX_HEAD_BYTES = 64 << 10
_MAX_PRINTED_BYTES = 1 << 20
_MAX_SMALL_FILE_BYTES = 64 << 10
_MAX_PATH_BYTES = 4096
_QUIET_S = 0.05  # after a closing brace: some agents keep standard input open
_RING_AGAIN_S = 0.01  # a signal that comes just before a system call does not interrupt it
_BEHIND_S = 5.0  # for what is left to do when the agent waits no longer
_BEHIND_INPUT_S = 1.0  # of that, for an input that is still to come
_LAST_ACT_S = 0.5  # for an act that is begun at the very end
_AGENT_OFF_S = 0.005  # from the agent's fork to the first processor time that is counted as ours


def main() -> None:
    """Run the hook that the command line names and end the process with status 0, whatever happens."""
    try:
        began = time.monotonic() - time.process_time() - _AGENT_OFF_S
        cli, event = sys.argv[1:3]
        if cli in _CLIS and event in _TIMES_S:
            Hook(cli, event, began).run()
    finally:
        _leave(0)  # nothing is to be cleaned up or said


class Hook:
    """One run of the hook."""

    def __init__(self, cli: str, event: str, began: float) -> None:
        self.at_ns = time.time_ns()
        self.cli, self.event = cli, event
        self.environ = posix.environ
        self.home = _home()
        self.captured_elsewhere = self.is_set(b"AI_MEMORY_CAPTURE_OWNER")
        self.under_grok = self.is_set(b"GROK_HOOK_EVENT")
        self.guarded = self.is_set(b"RELAY_GUARD")
        self.watch = Watch(began, _TIMES_S[event])
        self.early: _socket.socket | None = None

    def is_set(self, name: bytes) -> bool:
        """Tell whether a variable is there and not blank."""
        return bool(self.environ.get(name, b"").strip())

    def run(self) -> None:
        """Take what the agent says to where it belongs."""
        if self.cli == "claude" and self.under_grok:
            return  # Grok runs the hooks of Claude Code too, beside its own
        self.watch.begin(_fill_standard_streams())
        place = _place(self.environ)
        root = root_of(place, self.environ.get(b"HOME", b""))
        if root is None:
            return
        if not (self.captured_elsewhere or self.guarded):
            self.watch.at_the_end = (_count_late, self.home)
        posix.chdir(self.home)  # the path of a socket may have about 100 bytes
        self.early = _early_connection()
        payload = self.watch.read_input()
        if payload is None:
            self.watch.at_the_end = None
            self.fallback().drop_large()
            return
        request = self.request(payload, place, root)
        why, answer = self.post(request)
        if why:
            answer = self.fallback().keep(request, why)
        self.watch.at_the_end = None
        _quietly(_write, 1, answer)

    def request(self, payload: bytes, place: bytes, root: bytes) -> bytes:
        """Put the request together, as it is sent and as it is spooled."""
        home = posix.stat(".")
        said = (
            f"POST /v1/hooks/{self.cli}/{self.event} HTTP/1.1\r\n"
            "Host: relayd\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(payload)}\r\n"
            "Connection: close\r\n"
            "Relay-Protocol: 1\r\n"
            f"Relay-Home: {home.st_dev:x}-{home.st_ino:x}\r\n"
            f"Relay-Id: {posix.urandom(16).hex()}\r\n"
            f"Relay-Time: {self.at_ns}\r\n"
            f"Relay-Directory: {_escaped(place)}\r\n"
            f"Relay-Root: {_escaped(root)}\r\n"
        )
        said += "Relay-Capture-Owner: 1\r\n" if self.captured_elsewhere else ""
        said += "Relay-Grok: 1\r\n" if self.under_grok else ""
        said += "Relay-Guard: 1\r\n\r\n" if self.guarded else "\r\n"
        return said.encode() + payload

    def post(self, request: bytes) -> tuple[str, bytes]:
        """Send the request to the daemon; why it did not take it, or else nothing, and what to print."""
        early, self.early = self.early, None
        return _post(request, self.watch.give_up, early)

    def fallback(self) -> "hook_fallback.Fallback":
        """Load what is seldom needed, by its name in `bin/`."""
        if TYPE_CHECKING:
            from relayctl import hook_fallback as relay_hook_fallback
        else:
            import relay_hook_fallback
        return relay_hook_fallback.Fallback(self)


class Watch:
    """The time a hook has: it waits for no more than its share, and ends for the agent when all of it is over."""

    def __init__(self, began: float, time_s: float) -> None:
        self.began = began
        self.end = began + time_s
        self.input_ends = began + time_s / 2
        self.give_up = self.end - min(time_s / 4, 0.3)  # the rest is the spool's
        self.at_the_end: tuple[Callable[..., None], *tuple[str | bytes, ...]] | None = None
        self.nothing = self.reading = -1
        self.waits_until = 0.0
        self.interrupted = self.is_behind = False

    def begin(self, nothing: int) -> None:
        """Start to watch; from now on nobody but the watch ends the hook, for agents kill theirs when they leave.

        Args:
            nothing: A descriptor of /dev/null.
        """
        self.nothing = nothing
        for wish in (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT):
            _signal.signal(wish, _signal.SIG_IGN)
        _signal.signal(_signal.SIGALRM, self.ring)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGALRM})
        self.ring_at(self.end)

    def ring_at(self, when: float) -> None:
        """Set the alarm, again and again from then on."""
        wait_s = max(when - time.monotonic(), 0.001)
        _signal.setitimer(_signal.ITIMER_REAL, wait_s, _RING_AGAIN_S)

    def ring(self, *_: object) -> None:
        """End the process, or else the read that is under way: it is repeated and finds nothing.

        To raise here would lose what the read just took.
        """
        now = time.monotonic()
        if now < self.end:
            if self.reading >= 0 and now >= self.waits_until:
                self.interrupted = True
                posix.dup2(self.nothing, self.reading)
        elif self.at_the_end is None or self.is_behind:
            self.leave()
        else:
            self.go_on_behind()

    def go_on_behind(self) -> None:
        """End for the agent; a child that nobody waits for goes on from here, so that the event is not lost."""
        self.end = time.monotonic() + _BEHIND_S  # first of all: the alarm rings on, also during a slow fork
        self.is_behind = True
        try:
            if posix.fork():
                _leave(0)
            posix.setsid()
            for stream in (1, 2):  # those an agent waits for; the input may not be read yet
                posix.dup2(self.nothing, stream)
        except OSError:
            self.leave()
        self.end = time.monotonic() + _BEHIND_S
        self.input_ends = time.monotonic() + _BEHIND_INPUT_S
        self.ring_at(self.waits_until if self.reading >= 0 else self.end)

    def leave(self) -> None:
        """End, after a last act if there is one: it has a moment for that, and does not begin it twice."""
        self.end = time.monotonic() + _LAST_ACT_S
        self.ring_at(self.end)
        act, self.at_the_end = self.at_the_end, None
        try:
            if act is not None:
                _quietly(*act)
        finally:
            _leave(0)

    def read_input(self) -> bytes | None:
        """Read standard input until its end, or a closing brace and then silence, or the end of the time for it.

        It is not made non-blocking, because the agent would share that.

        Returns:
            None if it is too long.
        """
        pieces: list[bytes] = []
        size, brace = 0, False
        self.reading = posix.dup(0)
        while piece := self.read_piece(brace):
            size += len(piece)
            if size <= _MAX_INPUT_BYTES:  # the rest is read too, so that the agent does not fail over it
                pieces.append(piece)
            if stripped := piece.rstrip():
                brace = stripped.endswith(b"}")
        reading, self.reading = self.reading, -1
        posix.close(reading)
        self.ring_at(self.end)
        return b"".join(pieces) if size <= _MAX_INPUT_BYTES else None

    def read_piece(self, brace: bool) -> bytes:
        """Read what is there, or wait for it; nothing at the end."""
        quiet_ends = time.monotonic() + _QUIET_S
        self.waits_until = min(self.input_ends, quiet_ends) if brace else self.input_ends
        self.ring_at(self.waits_until)
        if self.interrupted:  # too late: there was something
            posix.dup2(0, self.reading)
            self.interrupted = False
        while time.monotonic() < self.waits_until:
            try:
                return posix.read(self.reading, 1 << 16)
            except BlockingIOError:  # somebody else has made it non-blocking
                time.sleep(0.002)
            except OSError:
                break
        return b""


def _quietly(act: "Callable[..., T]", *arguments: object) -> "T | None":
    """Do what may fail; None if it does."""
    try:
        return act(*arguments)
    except (OSError, ValueError):  # the latter for a path with a null byte
        return None


def _count_late(home: bytes) -> None:
    """Count one event that nobody kept in time: the size of the file is how many there were."""
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_NONBLOCK
    posix.write(posix.open(home + b"/spool/dropped-late", flags, 0o600), b".")


def _fill_standard_streams() -> int:
    """Give closed standard streams to nothing, before a file of ours becomes one; a descriptor of nothing."""
    while (descriptor := posix.open("/dev/null", posix.O_RDWR)) <= 2:  # noqa: PLR2004 - the last of the three
        continue
    return descriptor


def _home() -> bytes:
    """Name the home: this file lies in its `bin/`."""
    home = __file__.rpartition("/")[0].rpartition("/")[0]
    return home.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()) or b"/"


def _place(environ: dict[bytes, bytes]) -> bytes:
    """Find where the agent works; of a path that is too long to be opened, what is above it."""
    for name in (b"CLAUDE_PROJECT_DIR", b"GROK_WORKSPACE_ROOT"):
        path = environ.get(name, b"")
        if path.startswith(b"/"):
            return _short(_plain(path))
    return _short(posix.getcwdb())


def _short(path: bytes) -> bytes:
    return path if len(path) <= _MAX_PATH_BYTES else path[:_MAX_PATH_BYTES].rpartition(b"/")[0]


def root_of(place: bytes, user_home: bytes) -> bytes | None:
    """Find the directory with `.relay/rules.json` at or above a place, or beside the repository of a worktree."""
    closed = (b"/", _plain(user_home) if user_home.startswith(b"/") else b"/")
    identities = {_identity(directory) for directory in closed} - {None}

    def is_open(directory: bytes) -> bool:
        return directory not in closed and _identity(directory) not in identities

    directory = place
    while directory.startswith(b"/") and is_open(directory):
        if _is_file(directory + b"/.relay/rules.json"):
            return directory
        beside = _beside_repository(directory)
        if beside and is_open(beside) and _is_file(beside + b"/.relay/rules.json"):
            return beside
        directory = directory.rpartition(b"/")[0] or b"/"
    return None


def _beside_repository(worktree: bytes) -> bytes | None:
    """Name the directory that holds the common git directory; None for what is no worktree."""
    if not _is_file(worktree + b"/.git"):
        return None
    mark, _, git = _read_small(worktree + b"/.git").strip().partition(b" ")
    if mark != b"gitdir:" or not git:
        return None
    git = _plain(_joined(worktree, git.strip()))
    common = _read_small(git + b"/commondir").strip()
    return _plain(_joined(git, common) + b"/..") if common else None


def _joined(directory: bytes, path: bytes) -> bytes:
    return path if path.startswith(b"/") else directory + b"/" + path


def _plain(path: bytes) -> bytes:
    """Take the dots and doubled slashes out of an absolute path."""
    parts: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            del parts[-1:]
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/" + b"/".join(parts)


def _identity(path: bytes) -> tuple[int, int] | None:
    status = _quietly(posix.stat, path)
    return status and (status.st_dev, status.st_ino)


def _is_file(path: bytes) -> bool:
    status = _quietly(posix.stat, path)
    return status is not None and status.st_mode & 0o170000 == 0o100000  # noqa: PLR2004 - S_ISREG


def _read_small(path: bytes | str) -> bytes:
    """Read a small file; nothing if there is none to read."""
    descriptor = _quietly(posix.open, path, posix.O_RDONLY | posix.O_NONBLOCK)
    if descriptor is None:
        return b""
    text = _quietly(posix.read, descriptor, _MAX_SMALL_FILE_BYTES)
    posix.close(descriptor)
    return text or b""


def _escaped(path: bytes) -> str:
    return "".join([chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in path])


def _early_connection() -> "_socket.socket | None":
    """Connect without waiting: the daemon wakes and accepts while the agent speaks."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        connection.connect("relayd.sock")
    except OSError:
        connection.close()
        return None
    return connection


def _post(request: bytes, until: float, early: "_socket.socket | None" = None) -> tuple[str, bytes]:
    """Send a request to the daemon of the working directory, on a connection of before if there is one.

    Returns:
        What went wrong, in one word or as the status, and what to print. No word: the daemon has taken the event.
    """
    connection = early or _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        if early is None:
            _connect(connection, until)
        _send(connection, request, until)
        return _answer(connection, until)
    except TimeoutError:
        return "silent", b""
    except (FileNotFoundError, ConnectionError):
        return "no_daemon", b""
    except (OSError, ValueError):
        return "failed", b""
    finally:
        connection.close()


def _connect(connection: _socket.socket, until: float) -> None:
    while True:
        _set_timeout(connection, until)
        try:
            connection.connect("relayd.sock")
        except BlockingIOError:  # more wait to be accepted than the system lets wait
            time.sleep(0.02)
        else:
            return


def _send(connection: _socket.socket, request: bytes, until: float) -> None:
    try:
        _set_timeout(connection, until)
        connection.sendall(request)
    except ConnectionError:
        return  # it may have refused a request that it did not read to its end: its answer is there to be read


def _answer(connection: _socket.socket, until: float) -> tuple[str, bytes]:
    buffer = b""
    while (head_ends := buffer.find(b"\r\n\r\n")) < 0:
        buffer += _receive(connection, until)
        if len(buffer) > _MAX_HEAD_BYTES or not buffer.startswith(b"HTTP/1."[: len(buffer)]):
            return "failed", b""
    head, body = buffer[:head_ends], buffer[head_ends + 4 :]
    if (status := head[9:12].decode("latin-1")) != "200":
        return status or "failed", b""
    length = _content_length(head)
    while len(body) < length:
        body += _receive(connection, until)
    return "", body[:length]


def _content_length(head: bytes) -> int:
    """Read how long a body is; a `ValueError` if it does not say so, or is too long."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and 0 <= (length := int(value)) <= _MAX_PRINTED_BYTES:
            return length
    raise ValueError


def _receive(connection: _socket.socket, until: float) -> bytes:
    _set_timeout(connection, until)
    if not (piece := connection.recv(1 << 16)):
        raise ConnectionError
    return piece


def _set_timeout(connection: _socket.socket, until: float) -> None:
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    connection.settimeout(left_s)


def _write(descriptor: int, text: bytes) -> None:
    """Write all of a text, as long as somebody takes it."""
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[posix.write(descriptor, rest) :]
        except BlockingIOError:
            time.sleep(0.002)
