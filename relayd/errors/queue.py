"""What queues refuse, and the way of hooks into them."""

from relayd.errors.base import RelaydError

__all__ = (
    "EventsPending",
    "FlushInProgress",
    "HookRefused",
    "OtherHome",
    "SpoolBehind",
    "UnknownQueue",
)


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


class HookRefused(RelaydError):
    """The call of a hook breaks a rule; nothing was taken.

    Args:
        rule: What must hold, without the value.
    """

    code = "hook_refused"

    def __init__(self, rule: str) -> None:
        self.rule = rule
        super().__init__(rule)


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
