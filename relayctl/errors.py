"""What a command can fail with; each is one line for the user and, mostly, what to do next.

The tree is whole here; those marked with * are in `service_errors.py`, those with † in
`edits/errors.py`, those with ‡ in `setup/errors.py`.

ClientError
├── DaemonNeeded        none runs and RELAY_AUTOSTART=0 forbids to start one
├── ServiceDown         a service is installed, and its daemon does not answer
├── CommandFailed*      a command of the service manager is missing or failed
├── ChangeUnfinished*   a service was installed or removed in part only
├── StartFailed         a daemon was started and did not become ready
│   └── StartUnfinished     within the time a start may take
├── ForeignDaemon       the socket belongs to the daemon of another home
├── ForeignProtocol     the daemon speaks another protocol than this client
├── DaemonSilent        the daemon accepts connections and does not answer
├── SetupUnfinished‡    settings of an agent CLI could not be written
├── StillRunning        the daemon was asked to leave and did not
├── AnswerLost          the daemon left while it may have been doing what was asked
├── FollowEnded         the daemon that was followed left, and none came back
├── Refused             the daemon answered with a problem
└── BadInput            something of the caller's cannot be used
    ├── HomeRefused         the home cannot be made or written to
    ├── PathRefused         a path names nothing that could be used
    ├── NameRefused         no queue can have a name
    ├── FileTooLarge        an input file is over its limit
    ├── KeyNotSet           a preference that is to be dropped is not there
    ├── TextRefused         what was read from standard input is no text that could be stored
    ├── TokenRefused        a token that no header can carry
    ├── QueueRefused        a directory is no queue that could be read
    ├── ServiceRefused*     a service cannot be installed or removed as asked; nothing was changed
    │   ├── NoServiceManager*   its command is not there
    │   ├── ManagerSilent*      its command is there, and reaches nobody
    │   ├── ForeignFile*        a file of somebody else's is in the way
    │   ├── OtherHomesService*  the service that is installed is another home's
    │   ├── NoTemplate*         the package came without its templates
    │   └── PathUnfit*          a path that no unit can carry
    ├── BackupRefused       a copy of a queue cannot be written
    ├── CopyRefused         a copy of events cannot be written
    ├── RulesRefused        a repository's rules.json cannot be used
    ├── FilesRefused        files of a repository are not as relay would write them, and stay so
    ├── NotLinked           a directory is not linked on this machine
    ├── EditRefused†        another program's settings cannot be read or edited
    │   ├── Missing†            what was to be changed in them is not there
    │   ├── WrongType†          something in them cannot hold what it should
    │   ├── Unsafe†             the edit would have changed more than it means
    │   └── FileRefused†        their file cannot be read, replaced or removed
    │       └── FileChanged†        it was changed after it was read
    ├── SetupRefused‡       relay cannot be put into an agent CLI, or taken out; nothing was written
    │   ├── SettingsRefused‡    settings cannot be used as they are
    │   ├── SettingsMoved‡      they were changed between question and answer
    │   ├── LauncherMissing‡    what they would name is not in the home
    │   ├── BackupFailed‡       what they hold cannot be copied
    │   ├── RecordFailed‡       what is done cannot be recorded
    │   └── SetupBusy‡          another setup is writing
    └── NoLog               there is no log to print
"""

from __future__ import annotations

from relayctl import PROTOCOL

TYPE_CHECKING = False  # `typing` stays off the path of the hot verbs
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

__all__ = (
    "AnswerLost",
    "BackupRefused",
    "BadInput",
    "ClientError",
    "CopyRefused",
    "DaemonNeeded",
    "DaemonSilent",
    "FileTooLarge",
    "FilesRefused",
    "FollowEnded",
    "ForeignDaemon",
    "ForeignProtocol",
    "HomeRefused",
    "KeyNotSet",
    "NameRefused",
    "NoLog",
    "NotLinked",
    "OtherVersion",
    "PathRefused",
    "QueueRefused",
    "Refused",
    "RulesRefused",
    "ServiceDown",
    "StartFailed",
    "StartUnfinished",
    "StillRunning",
    "TextRefused",
    "TokenRefused",
)


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


class StartFailed(ClientError):
    """A daemon was started and did not become ready."""

    def __init__(self, cause: str, *, hint: str = "`relayctl doctor` shows more") -> None:
        super().__init__(f"the daemon did not start: {cause}", hint=hint)


class StartUnfinished(StartFailed):
    """Nothing answered within the time that a start may take; it may still come.

    Args:
        waited_s: That time.
        holder: The daemon that holds the home without listening, if one does.
        blocker: The process that kept every daemon from starting all the while, if it is known.
        lock: What it holds.
    """

    def __init__(
        self, waited_s: float, holder: object = None, *, blocker: int | None = None, lock: str = "start.lock"
    ) -> None:
        told = f"nothing answers after {waited_s:.0f} s"
        hint = (
            "`relayctl daemon logs` shows what it does; `relayctl daemon restart` ends it and starts another"
        )
        if holder:
            told += f", and process {holder} holds the home"
        if blocker:
            told += f"; process {blocker} holds {lock}, which keeps all others from starting a daemon"
            hint = f"if that process hangs, end it: `kill -9 {blocker}`"
        super().__init__(told, hint=hint)


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


class OtherVersion(ClientError):
    """The daemon does not know what it was asked for, and is of another version than this client."""

    def __init__(self, theirs: object, ours: str, *, is_older: bool) -> None:
        super().__init__(
            f"the daemon is relayd {theirs} and does not know what relayctl {ours} asks for",
            hint="`relayctl daemon restart` starts the installed version" if is_older else "upgrade relayctl",
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


class FollowEnded(ClientError):
    """The daemon that was followed left, and none came back.

    Args:
        since: The id of the last event that was seen.
    """

    def __init__(self, since: int) -> None:
        super().__init__(
            "the daemon left and did not come back",
            hint=f"go on with `relayctl feed --follow --since {since}`, which starts one",
        )


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


class NameRefused(BadInput):
    """No queue can have this name."""

    def __init__(self) -> None:
        super().__init__(
            "--queue: a name is 1 to 80 of a-z, 0-9, `.` and `-`, a letter or digit first",
            hint="`relayctl queue list` shows the names; --queue-dir takes a directory",
        )


class FileTooLarge(BadInput):
    """An input file is over its limit; it was not sent."""

    def __init__(self, path: str, limit_bytes: int) -> None:
        super().__init__(
            f"{path}: over {limit_bytes:,} bytes; nothing was stored", hint="split it into several arrays"
        )


class KeyNotSet(BadInput):
    """A preference that is to be dropped has no value in the scope that was named."""

    def __init__(self) -> None:
        super().__init__(
            "no such key is set in that scope",
            hint="`relayctl prefer --list` shows what counts here, --scope says where to drop it",
        )


class TextRefused(BadInput):
    """What was read from standard input is no text that could be stored.

    Args:
        limit_bytes: The limit that it is over; None if it is not UTF-8.
    """

    def __init__(self, limit_bytes: int | None = None) -> None:
        rule = "it is not UTF-8" if limit_bytes is None else f"it is over {limit_bytes:,} bytes"
        super().__init__(f"standard input: {rule}; nothing was stored")


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


class FilesRefused(BadInput):
    """Files of a repository were not written; others were, and the repository is linked.

    Args:
        root: The repository.
        reasons: Why, a line for each file that was not written.
        written: Those that were.
    """

    def __init__(self, root: str, reasons: Sequence[str], written: Sequence[str]) -> None:
        told = f"written: {', '.join(written)}" if written else "no other file had to be written"
        super().__init__(
            f"{root} is linked, but not all of its files could be written",
            hint="correct them, and repeat `relayctl link`; --force takes over what relay did not write",
            details=(*reasons, told),
        )


class NotLinked(BadInput):
    """A directory is not linked on this machine, or has no rules, so nothing is written for it."""

    def __init__(self, directory: str) -> None:
        super().__init__(f"{directory} is not linked on this machine", hint="`relayctl link` links it")


class NoLog(BadInput):
    """There is no log to print."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"no log is at {path}", hint="the daemon makes it when it starts: `relayctl daemon start`"
        )
