"""What `relayd` is told on its command line."""

from __future__ import annotations

import argparse
import errno
import os
import stat
from collections.abc import Sequence

from relayd import __version__

__all__ = ("Options", "parse")

_MAX_DIGITS = 9


class Options(argparse.Namespace):
    """The flags of one start; descriptors are open, and ours from now on."""

    home: str | None
    foreground: bool
    on_demand: bool
    """Leave when idle."""
    launchd: bool
    """Exit with 0 where starting again does not help."""
    ready_fd: int | None
    """A pipe that is told how the start went."""
    start_lock_fd: int | None
    """The starter's lock, kept until it is known how the start went."""
    listen_fd: int | None
    """A socket to serve on."""
    while_fd: int | None
    """A pipe at whose end the daemon leaves."""

    def lasting(self, home: str, listen_fd: int | None) -> list[str]:
        """Give the arguments for a successor in the same process: all but what was for one start only.

        Args:
            home: Its absolute path.
            listen_fd: The inherited socket, wherever its number came from.
        """
        flags = {"--foreground": self.foreground, "--on-demand": self.on_demand, "--launchd": self.launchd}
        descriptors = {"--listen-fd": listen_fd, "--while-fd": self.while_fd}
        return [
            *("--home", home),
            *(flag for flag, given in flags.items() if given),
            *(word for flag, fd in descriptors.items() if fd is not None for word in (flag, str(fd))),
        ]


def parse(arguments: Sequence[str] | None) -> Options:
    """Read the command line; what is wrong with it ends the process with 2 and the usage.

    Args:
        arguments: None for those of this process.
    """
    options = _parser().parse_args(arguments, namespace=Options())
    for fd in (options.ready_fd, options.start_lock_fd, options.listen_fd, options.while_fd):
        if fd is not None:
            os.set_inheritable(fd, False)
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relayd",
        description="Run the relay daemon for one home until SIGTERM or Ctrl-C.",
        epilog="Usually `relayctl` or the service manager starts it. "
        "Exit status: 0 left when asked, or when idle; 1 failed; 2 the home, a setting or a flag is refused; "
        "3 another daemon holds the home; 78 relay.db is damaged. With --launchd 0 instead of 2, 3 and 78.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--home",
        metavar="DIR",
        help="its directory, made if missing (default: $RELAY_HOME, else the place for state of this system)",
    )
    parser.add_argument("--foreground", action="store_true", help="log to standard error, for reading")
    parser.add_argument(
        "--on-demand",
        action="store_true",
        help="leave after daemon.idle_s seconds without a request and without anything to deliver",
    )
    parser.add_argument(
        "--launchd",
        action="store_true",
        help="exit with 0 where starting again does not help, since launchd tells no other statuses apart",
    )
    _add_descriptors(parser)
    parser.add_argument("--version", action="version", version=f"relayd {__version__}")
    return parser


def _add_descriptors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ready-fd",
        metavar="N",
        type=_descriptor,
        help="write one line of JSON to this descriptor once ready, or why not, and close it",
    )
    parser.add_argument(
        "--start-lock-fd",
        metavar="N",
        type=_descriptor,
        help="keep this descriptor, the starter's lock, open until ready or failed; wait a moment for a daemon "
        "that is leaving",
    )
    parser.add_argument(
        "--listen-fd",
        metavar="N",
        type=_descriptor,
        help="serve on this inherited, listening Unix socket (from systemd, LISTEN_FDS says so)",
    )
    parser.add_argument(
        "--while-fd", metavar="N", type=_pipe, help="leave when this descriptor, a pipe, comes to its end"
    )


def _descriptor(text: str) -> int:
    fd = _number(text)
    _mode(fd)
    return fd


def _pipe(text: str) -> int:
    fd = _number(text)
    if not any(is_kind(_mode(fd)) for is_kind in (stat.S_ISFIFO, stat.S_ISSOCK)):
        raise argparse.ArgumentTypeError(os.strerror(errno.EINVAL))
    return fd


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        message = "must be the number of a descriptor"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _mode(fd: int) -> int:
    try:
        return os.fstat(fd).st_mode
    except OSError:
        raise argparse.ArgumentTypeError(os.strerror(errno.EBADF)) from None
