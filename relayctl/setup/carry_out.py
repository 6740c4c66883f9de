"""Writing what was planned: copies first, then the record, then the files, and all back if one of them fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress

from relayctl.edits import file
from relayctl.edits.errors import EditRefused, FileChanged
from relayctl.file_lock import locked
from relayctl.setup import backup
from relayctl.setup.errors import RecordFailed, SettingsMoved, SetupBusy, SetupUnfinished
from relayctl.setup.plan import FileChange, Plan
from relayctl.setup.record import Kept, Record, read, write
from relayctl.start_lock import make_home

__all__ = ("carry_out",)

_PATIENCE_S = 20.0
# Settings that programs write now and then: what was planned goes by their bytes, so it is planned anew.
_ATTEMPTS = 5


def carry_out(
    home: str, agreed: Plan, plan_anew: Callable[[], Plan], clis: Sequence[str], *, forget: bool
) -> Plan:
    """Write what was agreed to, as it has to be by now; gives what was written.

    Args:
        home: It keeps the copies and the record.
        agreed: What was shown.
        plan_anew: Makes the plan from the files as they are.
        clis: Words of the agent CLIs it is about.
        forget: Relay is taken out: nothing stays recorded of these CLIs.

    Raises:
        SettingsRefused, SettingsMoved, BackupFailed, RecordFailed, SetupBusy: Nothing was written.
        SetupUnfinished: A file could not be written.
        HomeRefused: The home cannot be made or used.
    """
    make_home(home)
    with _alone(home):
        for attempt in range(_ATTEMPTS):
            plan = plan_anew()
            _check(agreed, plan)
            try:
                _write(home, plan, clis, forget=forget)
            except FileChanged as changed:
                if attempt == _ATTEMPTS - 1:
                    raise SettingsMoved(changed.file) from changed
            else:
                return plan
    raise SetupBusy


@contextmanager
def _alone(home: str) -> Generator[None]:
    """Let setups of one home come one after another; the lock goes with the process."""
    with suppress(FileExistsError):
        os.mkdir(f"{home}/setup", 0o700)
    lock = os.open(f"{home}/setup/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not locked(lock, time.monotonic() + _PATIENCE_S):
            raise SetupBusy
        yield
    finally:
        os.close(lock)


def _check(agreed: Plan, plan: Plan) -> None:
    """See that nothing will be written that was not shown; less is fine, as when another setup was faster."""
    shown = {change.path: change for change in agreed.changes}
    for change in plan.changes:
        told = shown.get(change.path)
        if told is None or (
            (told.old, told.new) != (change.old, change.new) and _lines(told) != _lines(change)
        ):
            raise SettingsMoved(change.path)


def _lines(change: FileChange) -> list[str]:
    return [line for line in change.diff.split("\n") if line.startswith(("+", "-"))]


def _write(home: str, plan: Plan, clis: Sequence[str], *, forget: bool) -> None:
    """Write the files of a plan.

    Raises:
        FileChanged: One of them was changed since it was planned; all files are as they were.
    """
    records = {cli: read(home, cli) for cli in clis}
    names = {change.path: _copy(home, change) for change in plan.changes}
    if not forget:
        _record(home, plan, names, records)
    try:
        _write_files(home, plan.changes)
    except (SetupUnfinished, FileChanged):
        if not forget:
            with suppress(RecordFailed):
                _restore(home, records)
        raise
    if forget:
        with suppress(RecordFailed):  # it fits no file any more, which is how it counts
            _restore(home, {cli: {} for cli in clis})
    for change in plan.changes:
        kept = change.kept or records[change.cli].get(change.path)
        backup.forget_old(home, change.cli, change.path, None if kept is None or forget else kept.backup)


def _copy(home: str, change: FileChange) -> str | None:
    return None if change.old is None else backup.keep(home, change.cli, change.path, change.old)


def _record(
    home: str, plan: Plan, names: dict[str, str | None], records: Mapping[str, Mapping[str, Kept]]
) -> None:
    """Say what is about to be written, before it is: a setup that is ended midway can be undone then."""
    news: dict[str, dict[str, Kept]] = {}
    for change in plan.changes:
        if (kept := change.kept) is None:
            continue
        if kept.whole and change.old is not None and kept.before == backup.digest(change.old):
            kept = kept._replace(backup=names[change.path])
        news.setdefault(change.cli, {**records[change.cli]})[change.path] = kept
    _restore(home, news)


def _restore(home: str, records: Mapping[str, Record]) -> None:
    for cli, record in records.items():
        write(home, cli, record)


def _write_files(home: str, changes: Sequence[FileChange]) -> None:
    written: list[tuple[FileChange, tuple[str, ...]]] = []
    for change in changes:
        try:
            written.append((change, _put(change)))
        except EditRefused as refused:
            left = [one.path for one, made in reversed(written) if not _put_back(one, made)]
            if isinstance(refused, FileChanged) and not left:
                raise
            raise SetupUnfinished(
                change.path, refused.rule, left=left, backups=backup.directory(home)
            ) from refused


def _put(change: FileChange) -> tuple[str, ...]:
    if change.new is not None:
        return file.write(change.read, change.new)
    file.remove(change.read, change.directories)
    return ()


def _put_back(change: FileChange, made: tuple[str, ...]) -> bool:
    """Undo what was written, unless somebody else wrote since."""
    try:
        now = file.read(change.path)
        if now.content != change.new:
            return False
        if change.old is None:
            file.remove(now, made)
        else:
            file.write(now._replace(mode=change.read.mode, owner=change.read.owner), change.old)
    except EditRefused:
        return False
    return True
