"""`config.toml`, `secret-patterns.toml`, `credentials.json`: can they be read, and did the running daemon read them?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.objects import read_object

__all__ = ("look",)

_CONFIG, _PATTERNS, _CREDENTIALS = "config.toml", "secret-patterns.toml", "credentials.json"


def look(subject: Subject) -> Iterator[Check]:
    """Judge what can be told without the daemon; whether each setting is known, only the daemon says."""
    yield _toml("settings", subject.home, _CONFIG, "all settings are the usual ones")
    yield _toml("secret patterns", subject.home, _PATTERNS, "what relayd knows by itself is refused")
    yield _credentials(subject.home)


def _toml(name: str, home: str, file: str, without: str) -> Check:
    """Judge a file that the daemon reads as it starts; `without` says what holds if there is none."""
    path = f"{home}/{file}"
    try:
        text = _read(path)
    except OSError as error:
        return _unreadable(name, path, error)
    if text is None:
        return Check(name, "ok", f"no {file}; {without}")
    import tomllib

    try:
        tomllib.loads(text.decode())
    except UnicodeDecodeError:
        return Check(name, "fail", f"{path} is not UTF-8", "write it anew as UTF-8; no daemon starts with it")
    except tomllib.TOMLDecodeError as error:
        # the rest of the message may hold what is in the file
        where = str(error).rpartition(" (")[2].rstrip(")")
        return Check(name, "fail", f"{path} is no TOML ({where})", "correct it; no daemon starts with it")
    if _changed_since_start(home, path):
        return Check(
            name, "warn", f"{path} was changed after the daemon started", "`relayctl daemon restart` reads it"
        )
    return Check(name, "ok", path)


def _credentials(home: str) -> Check:
    name, path = "tokens", f"{home}/{_CREDENTIALS}"
    again = "`relayctl auth set --server-url URL` writes it anew, once it is moved away"
    try:
        text = _read(path)
        mode = 0 if text is None else os.lstat(path).st_mode
    except OSError as error:
        return _unreadable(name, path, error)
    if text is None:
        return Check(name, "ok", "none stored")
    if mode & 0o077:
        return Check(name, "fail", f"{path} is open to others", f"chmod 600 {_quoted(path)}")
    if not isinstance(read_object(text).get("servers"), dict):
        return Check(name, "fail", f"{path} is not of the form {{'servers': {{…}}}}", again)
    return Check(name, "ok", path)


def _changed_since_start(home: str, path: str) -> bool:
    """Tell whether a file is younger than the running daemon, which wrote its number as it started."""
    from relayctl.leave import holder

    try:
        return os.stat(path).st_mtime > os.stat(f"{home}/relayd.lock").st_mtime and holder(home) is not None
    except OSError:
        return False


def _read(path: str) -> bytes | None:
    """Read a file; None if there is none.

    Raises:
        OSError: It cannot be read, or is none.
    """
    try:
        # a pipe in its place would keep us waiting for a writer
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no file")
        return file.read()


def _unreadable(name: str, path: str, error: OSError) -> Check:
    told = f"{path} cannot be read: {error.strerror or error}"
    return Check(name, "fail", told, f"is it yours? chmod 600 {_quoted(path)}")


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)
