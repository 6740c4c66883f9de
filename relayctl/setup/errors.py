"""What putting relay into an agent CLI, and taking it out, can fail with; the tree is drawn in `relayctl/errors.py`."""

from __future__ import annotations

from collections.abc import Sequence

from relayctl.errors import BadInput, ClientError

__all__ = (
    "BackupFailed",
    "ForeignSettings",
    "LauncherMissing",
    "RecordFailed",
    "SettingsMoved",
    "SettingsRefused",
    "SetupBusy",
    "SetupRefused",
    "SetupUnfinished",
)


class SetupRefused(BadInput):
    """Relay cannot be put in or taken out as asked; nothing was written."""


class SettingsRefused(SetupRefused):
    """Files of settings cannot be used as they are.

    Args:
        flaws: Each file's path and what is wrong with it, never what it holds.
        others: Words of agent CLIs whose files can all be used.
    """

    def __init__(self, flaws: Sequence[tuple[str, str]], others: Sequence[str] = ()) -> None:
        hint = "correct that, and repeat the command"
        if others:
            only = " ".join(f"--only {other}" for other in others)
            hint += f"; `{only}` leaves it aside"
        told = [f"{path}: {rule}" for path, rule in flaws]
        super().__init__(
            "settings cannot be changed as they are; nothing was written", details=told, hint=hint
        )


class ForeignSettings(Exception):
    """Something of somebody else's has the place or the name that is ours.

    Args:
        rule: What is wrong, in words that hold no value.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class LauncherMissing(SetupRefused):
    """The programs that agent CLIs would run are not in the home."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is not there, so nothing was written",
            hint="`relayctl daemon restart` writes it; `relayctl doctor` shows what is wrong",
        )


class BackupFailed(SetupRefused):
    """What a file holds cannot be copied, so it was not touched."""

    def __init__(self, path: str, directory: str, reason: str) -> None:
        super().__init__(
            f"no copy of {path} can be kept in {directory}: {reason}; nothing was written",
            hint="is the disk full, or that directory not yours to write to?",
        )


class RecordFailed(SetupRefused):
    """What setup does cannot be recorded, so it was not done."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be written: {reason}; no settings were touched")


class SetupBusy(SetupRefused):
    """Another setup of this home is writing."""

    def __init__(self) -> None:
        super().__init__("another setup of this home is under way", hint="try again when it has ended")


class SettingsMoved(SetupRefused):
    """Settings were changed between the question and its answer."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was changed meanwhile, so that something else would be written than was shown; "
            "nothing was written",
            hint="repeat the command",
        )


class SetupUnfinished(ClientError):
    """A file could not be written; those that were written before are as they were again, if that was possible.

    Args:
        path: The file.
        reason: Why.
        left: Files that are changed all the same.
        backups: The directory of the copies.
    """

    def __init__(self, path: str, reason: str, *, left: Sequence[str], backups: str) -> None:
        told = [f"changed all the same: {one}" for one in left]
        hint = "correct the cause, and repeat the command"
        if left:
            hint = f"copies of what they held are in {backups}; or {hint}"
        done = "" if left else "; all files are as they were"
        super().__init__(f"{path}: {reason}{done}", details=told, hint=hint)
