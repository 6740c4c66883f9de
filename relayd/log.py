"""The daemon's log: JSON lines to the journal or a file, readable lines to a terminal.

Bodies and tokens are never logged. That holds by construction: what is logged are the events of `relayd.events`, and
faults without the text of exceptions that may quote what they choked on.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import msgspec
import structlog

from relayd.config import LogConfig
from relayd.events import Happening
from relayd.fault import account
from relayd.home import Home
from relayd.log_file import CappedFile

__all__ = ("Log", "open_log", "take_over_logging", "tell")

Log = structlog.typing.FilteringBoundLogger

_Fields = MutableMapping[str, Any]

_MAX_MESSAGE_CHARS = 200

_LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def open_log(config: LogConfig, home: Home, environ: Mapping[str, str]) -> Log:
    """Open the log of one daemon.

    It goes to standard error if `foreground` is set, to standard output under systemd, else to `logs/relayd.log`.
    """
    if config.foreground:
        return _log(config, _readable, _to_fd(2))
    if _under_systemd(environ):
        return _log(config, _json, _to_fd(1))
    return _log(config, _json, CappedFile(home.logs / "relayd.log", config.max_bytes).write)


def tell(log: Log) -> Callable[[Happening], None]:
    """Make the subscriber that logs what happens; below the level of the log it does nothing."""
    least = log.get_effective_level()

    def subscriber(happening: Happening) -> None:
        if _LEVELS[happening.level] < least:
            return
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(happening).__name__).lstrip("_")
        getattr(log, happening.level)(name, **msgspec.structs.asdict(happening))

    return subscriber


def take_over_logging(log: Log) -> None:
    """Send warnings and errors of libraries to this log, without the values they were formatted with."""
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.handlers = [_Bridge(log)]
    root.setLevel(logging.WARNING)


def _log(config: LogConfig, render: structlog.typing.Processor, write: Callable[[bytes], None]) -> Log:
    level = logging.DEBUG if config.debug else logging.INFO
    return structlog.wrap_logger(
        _Sink(write),
        processors=[_stamp, _explain, render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )


class _Sink:
    """Where structlog leaves a finished line."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def line(self, line: bytes) -> None:
        self._write(line)

    debug = info = warning = error = critical = line


class _Bridge(logging.Handler):
    """Turns a record of the standard library's logging into a line of ours."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        # The template only: asyncio formats futures, and with them exceptions and what they quote.
        message = str(record.msg).partition("\n")[0][:_MAX_MESSAGE_CHARS]
        error = record.exc_info[1] if record.exc_info else None
        say = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        say("library_message", logger=record.name, message=message, exc_info=error)


def _stamp(_logger: object, level: str, fields: _Fields) -> _Fields:
    now = time.time()
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return {
        "at": f"{at}.{int(now * 1000) % 1000:03d}Z",
        "level": level,
        "event": fields.pop("event"),
        **fields,
    }


def _explain(_logger: object, _level: str, fields: _Fields) -> _Fields:
    error = fields.pop("exc_info", None)
    if isinstance(error, BaseException):
        fields["fault"] = account(error)
    return fields


def _json(_logger: object, _level: str, fields: _Fields) -> tuple[tuple[bytes], dict[str, Any]]:
    try:
        line = msgspec.json.encode(fields, enc_hook=_name)
    except UnicodeEncodeError:  # a path with bytes that are no UTF-8
        line = msgspec.json.encode({key: _printable(value) for key, value in fields.items()}, enc_hook=_name)
    return (line + b"\n",), {}


def _readable(_logger: object, _level: str, fields: _Fields) -> tuple[tuple[bytes], dict[str, Any]]:
    clock = fields.pop("at")[11:19]
    fault = fields.pop("fault", None)
    head = f"{clock} {fields.pop('level'):<7} {fields.pop('event')}"
    rest = "".join(f" {key}={_printable(value)}" for key, value in fields.items())
    line = f"{head}{rest}\n" if fault is None else f"{head}{rest}\n{fault}\n"
    return (line.encode("utf-8", "backslashreplace"),), {}


def _name(value: object) -> str:
    return type(value).__qualname__


def _printable(value: object) -> object:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _to_fd(fd: int) -> Callable[[bytes], None]:
    def write(line: bytes) -> None:
        try:
            os.write(fd, line)
        except OSError:
            return  # a closed terminal or pipe: nobody reads, and there is no one to tell

    return write


def _under_systemd(environ: Mapping[str, str]) -> bool:
    """Tell whether standard output reaches a service manager that keeps it.

    JOURNAL_STREAM is inherited by whole desktop sessions, so it must name our own output.

    Source: systemd.exec(5).
    """
    if environ.get("NOTIFY_SOCKET"):
        return True
    try:
        found = os.fstat(1)
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"
