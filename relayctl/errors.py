"""What a command can fail with; each is one line for the user and, mostly, what to do next.

ClientError
├── DaemonNeeded        none runs and RELAY_AUTOSTART=0 forbids to start one
├── ServiceDown         a service is installed, and its daemon does not answer
├── CommandFailed       a command of the service manager is missing or failed
├── ChangeUnfinished    a service was installed or removed in part only
├── StartFailed         a daemon was started and did not become ready
│   └── StartUnfinished     within the time a start may take
├── ForeignDaemon       the socket belongs to the daemon of another home
├── ForeignProtocol     the daemon speaks another protocol than this client
├── DaemonSilent        the daemon accepts connections and does not answer
├── StillRunning        the daemon was asked to leave and did not
├── AnswerLost          the daemon left while it may have been doing what was asked
├── Refused             the daemon answered with a problem
└── BadInput            something of the caller's cannot be used
    ├── HomeRefused         the home cannot be made or written to
    ├── PathRefused         a path names nothing that could be used
    ├── FileTooLarge        an input file is over its limit
    ├── TokenRefused        a token that no header can carry
    ├── QueueRefused        a directory is no queue that could be read
    ├── ServiceRefused      a service cannot be installed or removed as asked; nothing was changed
    │   ├── NoServiceManager    its command is not there
    │   ├── ManagerSilent       its command is there, and reaches nobody
    │   ├── ForeignFile         a file of somebody else's is in the way
    │   ├── OtherHomesService   the service that is installed is another home's
    │   ├── NoTemplate          the package came without its templates
    │   └── PathUnfit           a path that no unit can carry
    ├── BackupRefused       a copy of a queue cannot be written
    ├── CopyRefused         a copy of events cannot be written
    ├── RulesRefused        a repository's rules.json cannot be used
    └── NoLog               there is no log to print
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` stays off the path of the hot verbs
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

__all__ = (
    "PROTOCOL",
    "AnswerLost",
    "BackupRefused",
    "BadInput",
    "ChangeUnfinished",
    "ClientError",
    "CommandFailed",
    "CopyRefused",
    "DaemonNeeded",
    "DaemonSilent",
    "FileTooLarge",
    "ForeignDaemon",
    "ForeignFile",
    "ForeignProtocol",
    "HomeRefused",
    "ManagerSilent",
    "NoLog",
    "NoServiceManager",
    "NoTemplate",
    "OtherHomesService",
    "PathRefused",
    "PathUnfit",
    "QueueRefused",
    "Refused",
    "RulesRefused",
    "ServiceDown",
    "ServiceRefused",
    "StartFailed",
    "StartUnfinished",
    "StillRunning",
    "TokenRefused",
)

PROTOCOL = 1
"""What this client speaks; a daemon that speaks another one is left alone."""


class ClientError(Exception):
    """A command failed.

    Attributes:
        code: What `hints` knows it by, if it has no hint of its own.
        hint: What to do next, or empty.
        details: Further lines, one a problem.
    """

    code = ""

    def __init__(self, message: str, *, hint: str = "", details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.hint = hint
        self.details = tuple(details)


class DaemonNeeded(ClientError):
    """No daemon runs and the caller forbade to start one."""

    def __init__(self, home: str) -> None:
        super().__init__(
            f"no daemon runs for {home}, and RELAY_AUTOSTART=0 forbids to start one",
            hint="start it with `relayctl daemon start`, or unset RELAY_AUTOSTART",
        )


class ServiceDown(ClientError):
    """A service is installed for the home, so no command starts a daemon, and none answers."""

    def __init__(self, home: str, manager: str) -> None:
        super().__init__(
            f"no daemon answers for {home}, which {manager} looks after",
            hint="start the service with `relayctl daemon start`; `relayctl service status` shows how it is",
        )


class CommandFailed(ClientError):
    """A command of the service manager is missing or failed.

    Args:
        command: With its arguments.
        reason: What it said, or why it did not run.

    Attributes:
        spelt: The command as one types it.
    """

    def __init__(self, command: Sequence[str], reason: str) -> None:
        import shlex

        self.spelt = shlex.join(command)
        more = "`relayctl service status` shows what is installed"
        if command[0] == "systemctl":
            more = "`journalctl --user -u relayd.service -n 50` may say more"
        super().__init__(f"`{self.spelt}` failed: {reason}", hint=more)


class ChangeUnfinished(ClientError):
    """A service was installed or removed in part only.

    Args:
        cause: What went wrong.
        done: The steps that were made.
        left: Those that were not, the one that failed first.
        by_hand: Commands that make up for them; what no command does is left out.
    """

    def __init__(
        self, cause: str, *, done: Sequence[str], left: Sequence[str], by_hand: Sequence[str]
    ) -> None:
        told = [f"done:     {step}" for step in done] + [f"not done: {step}" for step in left]
        by_hand = [*by_hand, "or correct the cause and repeat the command"]
        super().__init__(cause, details=told, hint="by hand: " + "; ".join(by_hand))


class StartFailed(ClientError):
    """A daemon was started and did not become ready."""

    def __init__(self, cause: str, *, hint: str = "`relayctl doctor` shows more") -> None:
        super().__init__(f"the daemon did not start: {cause}", hint=hint)


class StartUnfinished(StartFailed):
    """Nothing answered within the time that a start may take; it may still come.

    Args:
        waited_s: That time.
        holder: The process that holds the home without listening, if one does.
    """

    def __init__(self, waited_s: float, holder: object = None) -> None:
        held = f", and process {holder} holds the home" if holder else ""
        super().__init__(
            f"nothing answers after {waited_s:.0f} s{held}",
            hint="`relayctl daemon logs` shows what it does; `relayctl daemon restart` ends it and starts another",
        )


class ForeignDaemon(ClientError):
    """The daemon that answered belongs to another home; nothing was asked of it."""

    def __init__(self, home: str) -> None:
        super().__init__(
            f"the daemon that answers at {home} belongs to another home; nothing was touched",
            hint="was the home copied or moved? Stop that daemon, or set RELAY_HOME to its own home",
        )


class ForeignProtocol(ClientError):
    """The daemon that answered speaks another protocol; nothing was asked of it."""

    def __init__(self, protocol: object, version: object) -> None:
        super().__init__(
            f"the daemon (version {version}) speaks protocol {protocol}, this client {PROTOCOL}; nothing was touched",
            hint="`relayctl daemon restart` starts the installed version",
        )


class DaemonSilent(ClientError):
    """The daemon accepts connections and does not answer, or not as a daemon does."""

    def __init__(self, home: str) -> None:
        super().__init__(
            f"the daemon at {home} does not answer",
            hint="`relayctl daemon logs` may say why; `relayctl daemon restart` replaces it",
        )


class StillRunning(ClientError):
    """The daemon was asked to leave and has not ended in time."""

    def __init__(self, pid: int, waited_s: float) -> None:
        super().__init__(
            f"the daemon (pid {pid}) is still running after {waited_s:.0f} s",
            hint="`relayctl daemon logs` shows what it waits for",
        )


class AnswerLost(ClientError):
    """The daemon left before it answered; what was asked may or may not have been done."""

    code = "answer_lost"

    def __init__(self) -> None:
        super().__init__("the daemon left before it answered; what was asked may or may not have been done")


class Refused(ClientError):
    """The daemon answered with a problem.

    Args:
        status: The HTTP status.
        problem: The problem object; `detail` is shown, `code` decides the hint.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], *, details: Sequence[str] = ()) -> None:
        told = problem.get("detail") or problem.get("title") or f"the daemon answered {status}"
        super().__init__(str(told), details=details)
        self.status = status
        self.code = str(problem.get("code", ""))
        self.problem = problem


class BadInput(ClientError):
    """Something that the caller gave cannot be used."""


class HomeRefused(BadInput):
    """The home cannot be made or written to."""

    def __init__(self, home: str, reason: str, *, hint: str) -> None:
        super().__init__(f"the home {home} cannot be used: {reason}", hint=hint)


class PathRefused(BadInput):
    """A path names nothing that could be used.

    Args:
        named_by: The option or variable it came from.
        rule: What is wrong with it.
    """

    def __init__(self, named_by: str, rule: str) -> None:
        super().__init__(f"{named_by}: {rule}")


class FileTooLarge(BadInput):
    """An input file is over its limit; it was not sent."""

    def __init__(self, path: str, limit_bytes: int) -> None:
        super().__init__(
            f"{path}: over {limit_bytes:,} bytes; nothing was stored", hint="split it into several arrays"
        )


class TokenRefused(BadInput):
    """A token that no header can carry; the message does not hold it.

    Args:
        named_by: Where it came from.
        rule: What is wrong with it.
    """

    def __init__(self, named_by: str, rule: str) -> None:
        super().__init__(f"{named_by}: {rule}; nothing was sent")


class QueueRefused(BadInput):
    """A directory is no queue that could be read.

    Args:
        told: What the process that tried to read it said.
        code: What is wrong with it, as a daemon would call it; empty if that is not known.
    """

    def __init__(self, told: str, code: str = "") -> None:
        super().__init__(told)
        self.code = code


class ServiceRefused(BadInput):
    """A service cannot be installed or removed as asked; nothing was changed."""

    def __init__(self, reason: str, *, hint: str) -> None:
        super().__init__(f"{reason}; nothing was changed", hint=hint)


class NoServiceManager(ServiceRefused):
    """The command of the service manager is not there."""

    def __init__(self, command: str) -> None:
        super().__init__(
            f"there is no {command} here",
            hint="clients start the daemon by themselves; "
            "`relayctl service install --print` shows the files for a manager elsewhere",
        )


class ManagerSilent(ServiceRefused):
    """The service manager's command is there and reaches no manager, as in a container or under `su`."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"systemd does not answer: {reason}",
            hint="log in as this user, not through su or sudo; until then clients start the daemon by themselves",
        )


class ForeignFile(ServiceRefused):
    """A file that relayctl did not write is where one of its own belongs."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is there and was not written by relayctl",
            hint="move it away, or write over it with --force",
        )


class OtherHomesService(ServiceRefused):
    """A user has one service, and it is another home's.

    Args:
        home: That home; empty if its files do not name it.
    """

    def __init__(self, home: str) -> None:
        super().__init__(
            f"the service that is installed is for {f'the home {home}' if home else 'a home that it does not name'}",
            hint="`relayctl service uninstall` with its RELAY_HOME removes it; --force does it from here",
        )


class NoTemplate(ServiceRefused):
    """The package came without a template of its service."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the template {name} is not installed with this package",
            hint="install relayd anew: the templates belong into share/relayd of its environment",
        )


class PathUnfit(ServiceRefused):
    """A path with control characters: no unit can carry it."""

    def __init__(self, named_by: str) -> None:
        super().__init__(
            f"the path of {named_by} holds control characters, which a unit cannot carry",
            hint="choose another one",
        )


class BackupRefused(BadInput):
    """A copy of a queue cannot be written.

    Args:
        told: What the process that tried to write it said.
        hint: What to do about it.
    """

    def __init__(self, told: str, *, hint: str) -> None:
        super().__init__(told, hint=hint)


class CopyRefused(BadInput):
    """A copy of events cannot be written, so the events stay where they are."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"cannot write the copy {path}: {reason}; nothing was discarded",
            hint="name another place with --export",
        )


class RulesRefused(BadInput):
    """The rules of a repository cannot be read, changed or written.

    Args:
        path: Their file.
        rule: What is wrong.
    """

    def __init__(
        self, path: str, rule: str, *, hint: str = "it must be a file in a directory that you can write to"
    ) -> None:
        super().__init__(f"{path}: {rule}", hint=hint)


class NoLog(BadInput):
    """There is no log to print."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"no log is at {path}", hint="the daemon makes it when it starts: `relayctl daemon start`"
        )
