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
    ├── EventsPending           a queue that is to be forgotten still holds events
    ├── UnknownQueue            no queue has this name
    ├── Stopping                the daemon is leaving
    └── Internal                a fault of ours; the log has it

No message holds a value of a request: it may be a secret.
"""

__all__ = (
    "AlreadyRunning",
    "ConfigRefused",
    "EventsPending",
    "FlushInProgress",
    "HeadTooLarge",
    "HomeRefused",
    "Internal",
    "ListenerRefused",
    "MediaTypeRefused",
    "MethodRefused",
    "NotFound",
    "ParameterRefused",
    "PayloadTooLarge",
    "RelaydError",
    "RequestUnreadable",
    "Stopping",
    "UnknownQueue",
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


class Stopping(RelaydError):
    """The daemon is leaving; the request was not carried out, or its end is not known."""

    code = "stopping"

    def __init__(self) -> None:
        super().__init__("the daemon is stopping")


class Internal(RelaydError):
    """A fault of ours; its text stays in the log."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("an internal error; the daemon's log has it")
