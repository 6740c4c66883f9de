"""What a hook does with an event that no daemon took: spool it, note that in a log, start a daemon.

The second half of `hook.py`, kept beside it in the home's `bin/`. Like it, it stands alone and imports nothing but
built-in modules. A hook loads it late, so the hook may be of the version before while the daemon replaces both: what
the hook calls here, `Fallback` and its public methods, must stay.
"""

import _socket
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal  # the stubs know it by this name only
    from collections.abc import Callable
    from typing import TypeVar

    from relayctl.hook import Hook, Watch

    T = TypeVar("T")
else:
    import _signal

__all__ = ("Fallback",)

_leave = posix._exit  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the one public way to it is `os`

_CODES = {  # by what kept a daemon from taking the event; `failed` is any other status, and what is no HTTP
    "no_daemon": "no_daemon",
    "silent": "silent",
    "400": "refused",
    "404": "old",
    "405": "old",
    "413": "refused",
    "421": "foreign",
    "422": "refused",
}
_PASSED_ON = b"HOME", b"USER", b"PATH", b"LANG", b"TZ", b"TMPDIR"
_PASSED_ON_PREFIXES = b"LC_", b"XDG_", b"RELAY_"

_MAX_SPOOL_BYTES = 64 << 20
_MAX_SPOOL_FILES = 10_000
_TIME_DIGITS, _LONGEST_NUMBER = 20, 10  # in a file's name, as the daemon reads it
_LAST_NS = 10**_TIME_DIGITS - 1_000_000  # beyond it a name would get too long, and its event be lost
_MAX_LOG_BYTES = 256 << 10
_START_WAIT_S = 1.0
_START_AGAIN_S = 60.0
_EAGAIN = 35 if sys.platform == "darwin" else 11
# a pipe in the place of a file would be waited for until somebody reads it
_CREATE = posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK


class Fallback:
    """What becomes of one event; the working directory is the home."""

    def __init__(self, hook: "Hook") -> None:
        posix.umask(0o077)  # an agent's may take a file from the very user that is to read it
        self._hook = hook
        self._must_not_be_lost = not (hook.captured_elsewhere or hook.guarded)

    def drop_large(self) -> None:
        """Count an event that is too long for any daemon as lost."""
        if self._must_not_be_lost:
            _count("dropped-large")
        self._log("too_large")

    def keep(self, request: bytes, why: str) -> bytes:
        """Spool the event, or after all give it to a daemon, and see to it that there is one; what to print.

        Args:
            request: What the daemon did not take.
            why: `no_daemon`, `silent`, the status of its answer, or anything else.
        """
        starts = why == "no_daemon" and self._must_not_be_lost
        waits = starts and self._hook.event == "session-start"
        if waits and _start(self._hook):
            why, answer = self._post_to_new_daemon(request)
            if not why:
                return answer
        code = _CODES.get(why, "failed")
        if code != "refused" and self._must_not_be_lost:
            self._spool(request)
        self._log(code)
        if starts and not waits:
            _start(self._hook)
        return b""

    def _post_to_new_daemon(self, request: bytes) -> tuple[str, bytes]:
        """Post as soon as a daemon is there, if it comes in time."""
        until = min(time.monotonic() + _START_WAIT_S, self._hook.watch.give_up)
        while True:
            why, answer = self._hook.post(request)
            if why != "no_daemon" or time.monotonic() > until:
                return why, answer
            time.sleep(0.02)

    def _spool(self, request: bytes) -> None:
        """Keep the request for the next daemon, or count it as lost."""
        try:
            if not _spool(request, self._hook.at_ns, self._hook.watch):
                _count("dropped-full")
                self._log("spool_full")
        except OSError:
            self._log("spool_failed")

    def _log(self, code: str) -> None:
        """Note a failure for the doctor, in fixed words."""
        hook = self._hook
        took_ms = int((time.monotonic() - hook.watch.began) * 1000)
        line = (
            f'{{"time":{hook.at_ns // 1_000_000_000},"cli":"{hook.cli}","event":"{hook.event}",'
            f'"code":"{code}","ms":{took_ms}}}\n'
        )
        _quietly(_append, "logs", "logs/hooks.log", line.encode(), _MAX_LOG_BYTES)


def _spool(request: bytes, at_ns: int, watch: "Watch") -> bool:
    """Write a request into the spool, after all that is there; whether there was room.

    Raises:
        OSError: It could not be written; nothing is left of it.
    """
    _quietly(posix.mkdir, "spool", 0o700)
    files, size, last_ns = _spooled()
    if files >= _MAX_SPOOL_FILES or size + len(request) > _MAX_SPOOL_BYTES:
        return False
    at_ns, aside, descriptor = _open_aside(max(at_ns, last_ns + 1))
    name = f"spool/{at_ns:0{_TIME_DIGITS}}-{posix.getpid()}-{len(request)}.http"
    watch.at_the_end = (_give_up, aside)
    try:
        try:
            _write(descriptor, request)
            # with only the disk's word missing it is better kept than lost
            watch.at_the_end = (posix.rename, aside, name)
            posix.fsync(descriptor)
        finally:
            posix.close(descriptor)
        posix.rename(aside, name)
    except OSError:
        _quietly(posix.unlink, aside)
        raise
    finally:
        watch.at_the_end = None
    _quietly(_sync_directory, "spool")
    return True


def _give_up(aside: str) -> None:
    """Remove what was not written to its end, and count its event as lost."""
    _quietly(posix.unlink, aside)
    _count("dropped-late")


def _spooled() -> tuple[int, int, int]:
    """Look at what is spooled, by names alone: how many files, their bytes, the greatest time."""
    files, size, last_ns = 0, 0, 0
    for name in posix.listdir("spool"):
        if _is_spooled(parts := name.removesuffix(".http").split("-")) and name.endswith(".http"):
            files += 1
            size += int(parts[2])
            last_ns = max(last_ns, min(int(parts[0]), _LAST_NS))
    return files, size, last_ns


def _is_spooled(parts: list[str]) -> bool:
    """Tell a name that a daemon replays: files with any other stay for ever, and must not fill the spool."""
    digits = "".join(parts)
    return (
        len(parts) == 3  # noqa: PLR2004
        and len(parts[0]) == _TIME_DIGITS
        and 0 < len(parts[1]) <= _LONGEST_NUMBER
        and 0 < len(parts[2]) <= _LONGEST_NUMBER
        and digits.isdecimal()
        and digits.isascii()
    )


def _open_aside(at_ns: int) -> tuple[int, str, int]:
    while True:  # a process of this number may have left one, or live in another container
        path = f"spool/.{posix.getpid()}-{at_ns}.tmp"
        try:
            return at_ns, path, posix.open(path, _CREATE | posix.O_EXCL, 0o600)
        except FileExistsError:
            at_ns += 1


def _sync_directory(path: str) -> None:
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_DIRECTORY)
    try:
        posix.fsync(descriptor)
    finally:
        posix.close(descriptor)


def _count(name: str) -> None:
    """Count one lost event: the size of the file is how many there were."""
    _quietly(_append, "spool", f"spool/{name}", b".")


def _append(directory: str, path: str, text: bytes, max_bytes: int = 0) -> None:
    """Add to a file, after one that has grown too long is put aside."""
    _quietly(posix.mkdir, directory, 0o700)
    descriptor = posix.open(path, _CREATE | posix.O_APPEND, 0o600)
    try:
        if max_bytes and posix.fstat(descriptor).st_size + len(text) > max_bytes:
            posix.rename(path, f"{path}.1")
            posix.close(descriptor)
            descriptor = posix.open(path, _CREATE | posix.O_APPEND, 0o600)
        posix.write(descriptor, text)
    finally:
        posix.close(descriptor)


def _write(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[posix.write(descriptor, rest) :]


def _start(hook: "Hook") -> bool:
    """Start a daemon of the working directory; whether one can be waited for, be it another starter's."""
    if (
        hook.environ.get(b"RELAY_AUTOSTART", b"").strip() == b"0"
        or _quietly(posix.stat, "managed") is not None
    ):
        return False
    try:
        lock = _take_start_lock()
        if lock is None:
            return True
        try:
            return _listens() or (not _failed_just_now() and _spawn(hook.home, hook.environ, lock))
        finally:
            posix.close(lock)
    except OSError:
        return False


def _take_start_lock() -> int | None:
    """Take `start.lock`, held until this process or its daemon lets go of it; None if another starter has it."""
    import fcntl

    lock = posix.open("start.lock", posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return lock


def _failed_just_now() -> bool:
    """Tell whether a start has failed within the minute; a time far ahead is one of a clock that was wrong."""
    last = _quietly(posix.stat, "last-start.json")
    return last is not None and -_START_AGAIN_S <= time.time() - last.st_mtime < _START_AGAIN_S


def _listens() -> bool:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    error = connection.connect_ex("relayd.sock")
    connection.close()
    return error in (0, _EAGAIN)


def _spawn(home: bytes, environ: dict[bytes, bytes], lock: int) -> bool:
    _leave_mark()
    if posix.fork() == 0:
        _become_daemon(home, environ, lock)
    return True


def _leave_mark() -> None:
    """Leave the worst in the home for the case that the daemon never gets to say better.

    Raises:
        OSError: There is no room even for this, so a daemon would find none either.
    """
    text = (
        '{"code":"start_unfinished","detail":"a hook started the daemon, which did not become ready",'
        f'"time":{int(time.time())}}}\n'
    )
    aside = f".last-start-{posix.getpid()}.tmp"
    try:
        descriptor = posix.open(aside, _CREATE | posix.O_TRUNC, 0o600)
        try:
            _write(descriptor, text.encode())
        finally:
            posix.close(descriptor)
        posix.rename(aside, "last-start.json")
    except OSError:
        _quietly(posix.unlink, aside)
        raise


def _become_daemon(home: bytes, environ: dict[bytes, bytes], lock: int) -> None:
    """Turn this process, a child, into a daemon that has nothing of the agent's, and of ours the lock."""
    try:
        posix.setsid()
        _forget_signals()
        passed = _daemon_environment(environ)
        nothing = posix.open("/dev/null", posix.O_RDWR)
        _quietly(posix.mkdir, "logs", 0o700)
        last_words = _quietly(posix.open, "logs/start-stderr.log", _CREATE | posix.O_TRUNC, 0o600)
        for stream, source in enumerate((nothing, nothing, last_words or nothing)):
            posix.dup2(source, stream)
        posix.set_inheritable(lock, True)
        for name in posix.listdir("/dev/fd"):
            if int(name) not in (0, 1, 2, lock):
                _quietly(posix.close, int(name))
        posix.chdir("/")
        words = "-P", "-m", "relayd", "--home", home, "--on-demand", "--start-lock-fd", str(lock)
        posix.execve(sys.executable, (sys.executable, *words), passed)
    finally:
        _leave(1)


def _forget_signals() -> None:
    for number in range(1, _signal.NSIG):
        try:
            _signal.signal(number, _signal.SIG_DFL)
        except (OSError, ValueError):
            continue
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def _daemon_environment(environ: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Reduce an environment to what a daemon may see: it outlives the agent, whose tokens are none of its business."""
    listed = environ.get(b"RELAY_DAEMON_PASS_ENV", b"").strip()
    names = listed.split(b",") if listed else _names_of_home().split(b"\n")
    passed = {*_PASSED_ON, *(name.strip() for name in names)}
    return {
        name: value
        for name, value in environ.items()
        if name in passed or name.startswith(_PASSED_ON_PREFIXES)
    }


def _names_of_home() -> bytes:
    """Read what further variables the daemon wants, one a line; nothing if that cannot be read."""
    descriptor = _quietly(posix.open, "bin/pass-env", posix.O_RDONLY | posix.O_NONBLOCK)
    return b"" if descriptor is None else _quietly(posix.read, descriptor, 64 << 10) or b""


def _quietly(act: "Callable[..., T]", *arguments: object) -> "T | None":
    """Do what may fail; None if it does."""
    try:
        return act(*arguments)
    except (OSError, ValueError):  # the latter for a number that is none
        return None
