"""What is wrong with a request, or with the daemon that it comes to."""

from relayd.errors.base import RelaydError

__all__ = (
    "HeadTooLarge",
    "Internal",
    "MediaTypeRefused",
    "MethodRefused",
    "NotFound",
    "ParameterRefused",
    "PayloadTooLarge",
    "RequestUnreadable",
    "Stopping",
    "UpgradePending",
)


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


class MediaTypeRefused(RelaydError):
    """A request whose body must be JSON does not say that it is."""

    code = "media_type_refused"

    def __init__(self) -> None:
        super().__init__("the request must have a content type of JSON")


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


class PayloadTooLarge(RelaydError):
    """A request body is over the limit of its route; what came was dropped unread."""

    code = "payload_too_large"

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        super().__init__(f"the request body is over {limit_bytes} bytes")


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


class Internal(RelaydError):
    """A fault of ours; its text stays in the log."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("an internal error; the daemon's log has it")
