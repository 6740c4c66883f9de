"""What the daemon refuses or cannot do, as one tree; what an outbox raises is in `relay_queue.errors`.

    RelaydError
    ├── HomeRefused             the home cannot be used
    ├── AlreadyRunning          another daemon holds the home
    ├── ConfigRefused           a setting is unknown or wrong
    ├── ListenerRefused         no socket to serve on
    ├── RequestUnreadable       a request is no HTTP
    ├── HeadTooLarge            a request line and headers are over their limit
    ├── NotFound                nothing is at this path
    ├── MethodRefused           not with this method
    ├── MediaTypeRefused        a request body is not said to be JSON
    ├── ParameterRefused        a parameter or a member of a request breaks a rule
    ├── PayloadTooLarge         a request body is over its limit
    ├── FlushInProgress         another flush of this queue is under way
    ├── HookRefused             the call of a hook breaks a rule
    ├── OtherHome               a hook's request is for another home or protocol
    ├── SpoolBehind             older hook events must be taken in first
    ├── EventsPending           a queue that is to be forgotten still holds events
    ├── UnknownQueue            no queue has this name
    ├── LinkRefused             a directory cannot be linked to a project
    ├── ProjectNeeded           a directory is to be linked, and no project can be told from it
    ├── UnknownProject          no project has this name
    ├── ProjectTaken            a project or an alias has this name already
    ├── ScopeNeeded             neither a project was named nor everything, and the directory is of none
    ├── UnknownItem             nothing in the memory has this identifier
    ├── AmbiguousId             the beginning of an identifier fits several
    ├── Superseded              what is to be changed was superseded or forgotten
    ├── SecretRefused           a text holds what looks like a credential
    ├── Stopping                the daemon is leaving
    ├── UpgradePending          another version was installed, and the daemon has not changed to it yet
    └── Internal                a fault of ours; the log has it

No message holds a value of a request: it may be a secret.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

__all__ = (
    "AlreadyRunning",
    "AmbiguousId",
    "ConfigRefused",
    "EventsPending",
    "FlushInProgress",
    "HeadTooLarge",
    "HomeRefused",
    "HookRefused",
    "Internal",
    "LinkRefused",
    "ListenerRefused",
    "MachineShort",
    "MediaTypeRefused",
    "MethodRefused",
    "NotFound",
    "OtherHome",
    "ParameterRefused",
    "PayloadTooLarge",
    "ProjectNeeded",
    "ProjectTaken",
    "RelaydError",
    "RequestUnreadable",
    "ScopeNeeded",
    "SecretRefused",
    "SpoolBehind",
    "Stopping",
    "Superseded",
    "Suspect",
    "UnknownItem",
    "UnknownProject",
    "UnknownQueue",
    "UpgradePending",
)


class RelaydError(Exception):
    """Base of everything the daemon raises on purpose."""

    code = "relayd_error"


class HomeRefused(RelaydError):
    """The home is not a private, local, writable directory of this user."""

    code = "home_refused"

    def __init__(self, path: str, rule: str) -> None:
        self.path = path
        self.rule = rule
        super().__init__(f"{path}: {rule}")


class AlreadyRunning(RelaydError):
    """Another daemon holds the home.

    Args:
        pid: That daemon, if it left its number.
    """

    code = "already_running"

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        super().__init__("already running" if pid is None else f"already running (pid {pid})")


class ConfigRefused(RelaydError):
    """A setting is unknown or has a wrong value.

    Args:
        source: The file or the environment variable.
        rule: What is wrong, without the value.
    """

    code = "config_refused"

    def __init__(self, source: str, rule: str) -> None:
        self.source = source
        self.rule = rule
        super().__init__(f"{source}: {rule}")


class ListenerRefused(RelaydError):
    """The daemon has no socket to serve on."""

    code = "listener_refused"

    def __init__(self, where: str, rule: str) -> None:
        self.where = where
        self.rule = rule
        super().__init__(f"{where}: {rule}")


class RequestUnreadable(RelaydError):
    """A request is no HTTP; its connection ends."""

    code = "request_unreadable"

    def __init__(self) -> None:
        super().__init__("the request is no HTTP/1.1")


class HeadTooLarge(RelaydError):
    """The request line and headers of a request are over their limit; its connection ends."""

    code = "head_too_large"

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        super().__init__(f"the request line and headers are over {limit_bytes} bytes")


class NotFound(RelaydError):
    """Nothing is at this path."""

    code = "not_found"

    def __init__(self) -> None:
        super().__init__("nothing is at this path")


class MethodRefused(RelaydError):
    """The path exists, but not with this method.

    Args:
        allowed: The methods it has, as in an Allow header.
    """

    code = "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        self.allowed = allowed
        super().__init__(f"only with {allowed}" if allowed else "not with this method")


class ParameterRefused(RelaydError):
    """A query parameter or a member of a request body breaks a rule.

    Args:
        name: The parameter's own name, never one that the client made up.
        rule: What must hold, without the value.
    """

    code = "parameter_refused"

    def __init__(self, name: str, rule: str) -> None:
        self.name = name
        self.rule = rule
        super().__init__(f"{name}: {rule}")


class MediaTypeRefused(RelaydError):
    """A request whose body must be JSON does not say that it is."""

    code = "media_type_refused"

    def __init__(self) -> None:
        super().__init__("the request must have a content type of JSON")


class PayloadTooLarge(RelaydError):
    """A request body is over the limit of its route; what came was dropped unread."""

    code = "payload_too_large"

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        super().__init__(f"the request body is over {limit_bytes} bytes")


class OtherHome(RelaydError):
    """A hook's request is for another home, or speaks another protocol; nothing was taken."""

    code = "other_home"

    def __init__(self) -> None:
        super().__init__("the request is for another home or another protocol")


class SpoolBehind(RelaydError):
    """Hook events that were spooled before could not be taken in yet; this one must wait behind them."""

    code = "spool_behind"

    def __init__(self) -> None:
        super().__init__("older hook events are still in the spool; this one must wait behind them")


class HookRefused(RelaydError):
    """The call of a hook breaks a rule; nothing was taken.

    Args:
        rule: What must hold, without the value.
    """

    code = "hook_refused"

    def __init__(self, rule: str) -> None:
        self.rule = rule
        super().__init__(rule)


class FlushInProgress(RelaydError):
    """Another flush of this queue is under way."""

    code = "flush_in_progress"

    def __init__(self, queue_dir: str) -> None:
        self.queue_dir = queue_dir
        super().__init__(f"another flush of {queue_dir} is under way")


class EventsPending(RelaydError):
    """A queue that is to be forgotten still holds events, which nobody would deliver."""

    code = "events_pending"

    def __init__(self, queue_dir: str, pending_items: int) -> None:
        self.queue_dir = queue_dir
        self.pending_items = pending_items
        super().__init__(f"{queue_dir}: not forgotten, events are pending: {pending_items}")


class UnknownQueue(RelaydError):
    """No queue has this name."""

    code = "unknown_queue"

    def __init__(self) -> None:
        super().__init__("no queue has this name")


class LinkRefused(RelaydError):
    """A directory cannot be linked to a project.

    Args:
        why: Which rule it breaks.
    """

    code = "link_refused"

    _RULES: ClassVar = {
        "relative": "the path must be absolute",
        "no_directory": "this is no directory, or it cannot be looked into",
        "no_project": "`/`, the home and the directory for temporary files are no project themselves",
        "not_utf8": "the path is not UTF-8",
    }

    def __init__(self, why: Literal["relative", "no_directory", "no_project", "not_utf8"]) -> None:
        self.why = why
        super().__init__(f"not linked: {self._RULES[why]}")


class ProjectNeeded(RelaydError):
    """A directory is to be linked without the name of a project, and none that would be right can be told from it.

    Args:
        why: `no_name` if nothing of the directory's name can stand in a slug; `taken` if the project found belongs to
            another repository.
    """

    code = "project_needed"

    _REASONS: ClassVar = {
        "no_name": "no project can be named after this directory",
        "taken": "the project that this directory names, or would be named after, belongs to another repository",
    }

    def __init__(self, why: Literal["no_name", "taken"]) -> None:
        self.why = why
        super().__init__(f"not linked: {self._REASONS[why]}")


class UnknownProject(RelaydError):
    """No project has this name.

    Args:
        did_you_mean: Slugs that resemble it, the closest first.
    """

    code = "unknown_project"

    def __init__(self, did_you_mean: Sequence[str] = ()) -> None:
        self.did_you_mean = tuple(did_you_mean)
        super().__init__("no project has this name")


class ProjectTaken(RelaydError):
    """A project or an alias has this name already.

    Args:
        project: The slug of the one that has it.
    """

    code = "project_taken"

    def __init__(self, project: str) -> None:
        self.project = project
        super().__init__(f"the name belongs to the project {project} already")


class ScopeNeeded(RelaydError):
    """Neither a project was named nor all of them, and the directory is of none."""

    code = "scope_needed"

    def __init__(self) -> None:
        super().__init__("no project was named, and the directory belongs to none")


class UnknownItem(RelaydError):
    """Nothing in the memory has this identifier."""

    code = "unknown_item"

    def __init__(self) -> None:
        super().__init__("nothing has this identifier")


class AmbiguousId(RelaydError):
    """The beginning of an identifier fits several.

    Args:
        matches: Some of them.
    """

    code = "ambiguous_id"

    def __init__(self, matches: Sequence[str]) -> None:
        self.matches = tuple(matches)
        super().__init__("several identifiers begin like this; give more of it")


class Superseded(RelaydError):
    """What is to be changed was superseded or forgotten.

    Args:
        superseded_by: What took its place; None if nothing did.
    """

    code = "superseded"

    def __init__(self, superseded_by: str | None) -> None:
        self.superseded_by = superseded_by
        super().__init__(
            "it was forgotten" if superseded_by is None else f"it was superseded by {superseded_by}"
        )


class Suspect(NamedTuple):
    """Where a text holds what looks like a credential, and of which kind.

    Args:
        start: Character offset of its first character.
        end: Character offset behind its last one.
    """

    field: str
    kind: str
    start: int
    end: int


class SecretRefused(RelaydError):
    """A text holds what looks like a credential; nothing was stored."""

    code = "secret_refused"

    def __init__(self, suspects: Sequence[Suspect]) -> None:
        self.suspects = tuple(suspects)
        told = "; ".join(
            f"{one.field}: {one.kind} at characters {one.start} to {one.end}" for one in suspects
        )
        super().__init__(f"refused, it looks like a credential: {told}")


class Stopping(RelaydError):
    """The daemon is leaving; the request was not carried out, or its end is not known."""

    code = "stopping"

    def __init__(self) -> None:
        super().__init__("the daemon is stopping")


class UpgradePending(RelaydError):
    """Another version was installed over this one, and what is needed was not imported before."""

    code = "upgrade_pending"

    def __init__(self) -> None:
        super().__init__("another version of relayd was installed, and the daemon has not changed to it yet")


class MachineShort(RelaydError):
    """The system gives no more of something that a start needs.

    Args:
        reason: As the system says it.
    """

    code = "machine_short"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the system gives no more: {reason} (`ulimit -a` shows the limits)")


class Internal(RelaydError):
    """A fault of ours; its text stays in the log."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("an internal error; the daemon's log has it")
