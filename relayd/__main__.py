"""`relayd`: arguments, then the lock, then everything that takes time to import."""

import argparse
import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from relay_queue.errors import (
    DirectoryRefused,
    NetworkFilesystem,
    OutboxError,
    QueueDamaged,
    SchemaRefused,
)
from relayd import __version__, exits
from relayd.errors import AlreadyRunning, ConfigRefused, HomeRefused, ListenerRefused, RelaydError
from relayd.home import Home, furnish, home_path, prepare
from relayd.lock import hold
from relayd.report import StartReport

__all__ = ("main",)

_REFUSALS = (HomeRefused, DirectoryRefused, NetworkFilesystem, ConfigRefused, ListenerRefused, SchemaRefused)
_STDERR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the daemon until it is asked to leave; the exit status."""
    _fill_standard_streams()
    options = _parser().parse_args(arguments)
    for wish in (signal.SIGTERM, signal.SIGHUP):  # until the loop takes them over
        if signal.getsignal(wish) is not signal.SIG_IGN:  # as `nohup` leaves SIGHUP
            signal.signal(wish, signal.default_int_handler)
    os.umask(0o077)
    try:
        return _hold_and_run(options, StartReport(options.ready_fd))
    except KeyboardInterrupt:  # before it was ready: there is nothing to finish
        return exits.LEFT


def _fill_standard_streams() -> None:
    """Give closed descriptors below 3 to nothing, before a file of ours gets one and the log goes into it."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        continue
    os.close(fd)


def _hold_and_run(options: argparse.Namespace, report: StartReport) -> int:
    try:
        home = Home(home_path(options.home, os.environ))
        prepare(home)
        lock = hold(home)
    except (RelaydError, OutboxError) as refusal:
        report.refused(refusal)
        return _say(refusal)
    with lock:
        return _run(home, options, report)


def _run(home: Home, options: argparse.Namespace, report: StartReport) -> int:
    """Run with the lock held; what goes wrong before the daemon is ready is left in the home."""
    try:
        furnish(home)
        os.chdir(home.path)
        from relayd.config import load

        config = load(home.config, os.environ, foreground=options.foreground)
        from relayd.daemon import run

        return run(home, config, report, os.environ, listen_fd=options.listen_fd)
    except (RelaydError, OutboxError) as failure:
        report.failed(failure, home)
        return _say(failure)
    except Exception as fault:  # noqa: BLE001 - the last boundary
        from relayd.fault import account

        report.failed(None, home)
        _write(f"relayd: internal error\n{account(fault)}\n")
        return exits.FAILED


def _say(failure: RelaydError | OutboxError) -> int:
    _write(f"relayd: {failure}\n")
    match failure:
        case AlreadyRunning():
            return exits.HELD
        case QueueDamaged():
            return exits.DAMAGED
        case _:
            return exits.REFUSED if isinstance(failure, _REFUSALS) else exits.FAILED


def _write(text: str) -> None:
    """Write to standard error; that nobody can read it must not change the exit status."""
    with suppress(OSError):
        os.write(_STDERR, text.encode("utf-8", "backslashreplace"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relayd",
        description="Run the relay daemon for one home until SIGTERM or Ctrl-C.",
        epilog="Usually `relayctl` or the service manager starts it. "
        "Exit status: 0 left when asked; 1 failed; 2 the home or a setting is refused; "
        "3 another daemon holds the home; 78 relay.db is damaged.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--home",
        metavar="DIR",
        help="its directory, made if missing (default: $RELAY_HOME, else the place for state of this system)",
    )
    parser.add_argument("--foreground", action="store_true", help="log to standard error, for reading")
    parser.add_argument(
        "--ready-fd",
        metavar="N",
        type=_descriptor,
        help="write one line of JSON to this descriptor once ready, or why not, and close it",
    )
    parser.add_argument(
        "--listen-fd", metavar="N", type=_descriptor, help="serve on this inherited, listening Unix socket"
    )
    parser.add_argument("--version", action="version", version=f"relayd {__version__}")
    return parser


def _descriptor(text: str) -> int:
    fd = int(text)
    try:
        os.fstat(fd)
    except (OSError, OverflowError):
        raise argparse.ArgumentTypeError(os.strerror(errno.EBADF)) from None
    return fd


if __name__ == "__main__":
    sys.exit(main())
