"""What keeps a daemon from starting."""

from relayd.errors.base import RelaydError

__all__ = (
    "AlreadyRunning",
    "ConfigRefused",
    "HomeRefused",
    "ListenerRefused",
    "MachineShort",
)


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


class MachineShort(RelaydError):
    """The system gives no more of something that a start needs.

    Args:
        reason: As the system says it.
    """

    code = "machine_short"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the system gives no more: {reason} (`ulimit -a` shows the limits)")
