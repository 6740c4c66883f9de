"""What installing, running and removing a service can fail with; the tree is drawn in `errors.py`."""

from __future__ import annotations

import shlex

from relayctl.errors import BadInput, ClientError

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = (
    "ChangeUnfinished",
    "CommandFailed",
    "ForeignFile",
    "ManagerSilent",
    "NoServiceManager",
    "NoTemplate",
    "OtherHomesService",
    "PathUnfit",
    "ServiceRefused",
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
            hint="log in as this user, not through su or sudo; a container has no systemd: there, clients start the daemon",
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
