"""`relayd`: arguments, then the lock, then everything that takes time to import."""

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
from relayd import exits
from relayd.errors import AlreadyRunning, ConfigRefused, HomeRefused, ListenerRefused, RelaydError
from relayd.home import Home, furnish, home_path, prepare
from relayd.lock import hold
from relayd.options import Options, parse
from relayd.reexec import reexecute, reexecuted_ago_s
from relayd.report import StartReport
from relayd.service.activation import Inherited, inherited_socket

__all__ = ("main",)

_REFUSALS = (HomeRefused, DirectoryRefused, NetworkFilesystem, ConfigRefused, ListenerRefused, SchemaRefused)
_STDERR = 2
_NEEDLESS = ("rich", "python_multipart", "multipart")
"""What others load where they find it: to draw tracebacks that we do not log (4 MiB and a tenth of a start), and to read
forms that nobody sends us."""
_PATIENCE_S = 5.0
"""For a daemon that is leaving: its starter, or the process that began anew, would only come back."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the daemon until it is asked to leave; the exit status."""
    _fill_standard_streams()
    origin = _working_directory()
    options = parse(arguments)
    _obey_signals()
    os.umask(0o077)
    try:
        status = _start(options, origin)
    except KeyboardInterrupt:  # before it was ready: there is nothing to finish
        return exits.LEFT
    return exits.LEFT if options.launchd and status in exits.FINAL else status


def _obey_signals() -> None:
    """Let signals end what is outside the loop, which takes them over while it runs and leaves them at their defaults."""
    for wish in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(wish) is not signal.SIG_IGN:  # as `nohup` leaves SIGHUP
            signal.signal(wish, signal.default_int_handler)


def _fill_standard_streams() -> None:
    """Give closed descriptors below 3 to nothing, before a file of ours gets one and the log goes into it."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        continue
    os.close(fd)


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - no pathlib for one name
    except OSError:
        return "/"


def _start(options: Options, origin: str) -> int:
    """Run, and then do what is to be done without the lock."""
    report = StartReport(options.ready_fd, options.start_lock_fd)
    try:
        inherited = inherited_socket(options.listen_fd, os.environ)
        home = Home(home_path(options.home, os.environ))
    except RelaydError as refusal:
        report.refused(refusal)
        return _say(refusal)
    status = _hold_and_run(home, options, inherited, report)
    if status == exits.AGAIN:
        return _reexecute(origin, home, options, inherited)
    if inherited is not None and status in exits.FINAL:
        _turn_away(home, inherited, is_damaged=status == exits.DAMAGED)
    return status


def _hold_and_run(home: Home, options: Options, inherited: Inherited | None, report: StartReport) -> int:
    try:
        prepare(home)
        lock = hold(home, patience_s=_patience_s(report))
    except AlreadyRunning as refusal:
        report.held(refusal, home)
        return _say(refusal)
    except (RelaydError, OutboxError) as refusal:
        report.refused(refusal)
        return _say(refusal)
    with lock:
        return _run(home, options, inherited, report)


def _patience_s(report: StartReport) -> float:
    return _PATIENCE_S if report.has_starter or reexecuted_ago_s(os.environ) < _PATIENCE_S else 0.0


def _run(home: Home, options: Options, inherited: Inherited | None, report: StartReport) -> int:
    """Run with the lock held; what goes wrong before the daemon is ready is left in the home."""
    try:
        furnish(home)
        os.chdir(home.path)
        from relayd.config import load

        config = load(home.config, os.environ, foreground=options.foreground)
        _do_without(_NEEDLESS)
        from relayd.harness.launcher import try_to_keep

        # first: the compiler's memory, up to a MiB, is used again for what is imported then
        launcher_failed = try_to_keep(home, config.daemon.pass_env)
        from relayd.daemon import run

        return run(
            home,
            config,
            report,
            os.environ,
            options=options,
            inherited=inherited,
            launcher_failed=launcher_failed,
        )
    except (RelaydError, OutboxError) as failure:
        report.failed(failure, home)
        return _say(failure)
    except Exception as fault:  # noqa: BLE001 - the last boundary
        return _fail(fault, home, report)


def _fail(fault: Exception, home: Home, report: StartReport) -> int:
    """End for a fault of ours, or for one of the machine's, which has a name."""
    from relayd.fault import account, shortage

    short = shortage(fault)
    report.failed(short, home)
    if short is not None:
        return _say(short)
    _write(f"relayd: internal error\n{account(fault)}\n")
    return exits.FAILED


def _do_without(packages: Sequence[str]) -> None:
    """Make packages count as not installed, unless they are there already."""
    for package in packages:
        if package not in sys.modules:
            sys.modules[package] = None  # pyright: ignore[reportArgumentType] - which import takes for absent


def _reexecute(origin: str, home: Home, options: Options, inherited: Inherited | None) -> int:
    _obey_signals()
    try:
        reexecute(origin, home, options, inherited)
    except OSError as error:
        _write(f"relayd: cannot begin anew: {error.strerror}\n")
        return exits.FAILED


def _turn_away(home: Home, inherited: Inherited, *, is_damaged: bool) -> None:
    """Let nobody wait at a socket that no start will serve."""
    from relayd.api.raw import raw_problem
    from relayd.turned_away import AT_ONCE_S, LINGER_S, turn_away

    answer = raw_problem(QueueDamaged(str(home.database))) if is_damaged else b""
    turn_away(inherited.fd, answer, for_s=LINGER_S if inherited.activated else AT_ONCE_S)


def _say(failure: RelaydError | OutboxError) -> int:
    _write(f"relayd: {failure}\n")
    if os.environ.get("NOTIFY_SOCKET"):
        from relayd.service.notify import notify

        notify(os.environ, f"STATUS={failure}")
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


if __name__ == "__main__":
    sys.exit(main())
