"""All looks in their order, the nearest cause first; each fails alone, and none can hang the others."""

from __future__ import annotations

import shlex
import threading

from relayctl import _wire
from relayctl.checks import (
    agents,
    clock,
    daemon,
    generations,
    home,
    hook_log,
    hooks,
    launcher,
    limits,
    lock,
    project,
    queues,
    rules,
    service,
    settings,
    spool,
    start,
    storage,
    upstream,
    versions,
)
from relayctl.checks.check import Check, Look, Subject
from relayctl.errors import ClientError
from relayctl.hints import hint_of
from relayctl.home import in_the_way

__all__ = ("LOOKS", "examine")

LOOKS = (
    Look("home", home.look),
    Look("settings", settings.look),
    Look("daemon", daemon.look, 30.0),
    Look("lock", lock.look),
    Look("versions", versions.look),
    Look("socket", daemon.look_at_socket),
    Look("service", service.look, 30.0),
    Look("last start", start.look),
    Look("launcher", launcher.look),
    Look("hook failures", hook_log.look),
    Look("agent CLIs", agents.look),
    Look("hooks", hooks.look),
    Look("project", project.look),
    Look("rules", rules.look),
    Look("queues", queues.look, 120.0),
    Look("older queues", generations.look),
    Look("upstream", upstream.look),
    Look("spool", spool.look),
    Look("clock", clock.look),
    Look("SQLite", storage.look_at_sqlite),
    Look("files", storage.look_into_files, 3600.0),
    Look("disk", storage.look_at_disk),
    Look("limits", limits.look),
)
"""What is looked at, in this order; the daemon before everything that asks it."""


def examine(look: Look, subject: Subject) -> list[Check]:
    """Look at one thing; whatever goes wrong meanwhile is a failed check of its name.

    It is done in a thread, for a call into a file system that does not answer cannot be given a time limit. One
    that is stuck there is left behind, and so is the daemon's connection, which it may be using.
    """
    found: list[Check] = []
    thread = threading.Thread(target=_collect, args=(look, subject, found), daemon=True)
    thread.start()
    thread.join(look.limit_s)
    if not thread.is_alive():
        return found
    if subject.daemon is not None:
        subject.daemon = None
        examine(Look("daemon", daemon.look, 30.0), subject)
    told = f"looking at it did not end within {look.limit_s:.0f} s"
    todo = "does a disk, or what is mounted there, not answer?"
    return [*found, Check(f"{look.name}, the rest" if found else look.name, "fail", told, todo)]


def _collect(look: Look, subject: Subject, found: list[Check]) -> None:
    try:
        for check in look.at(subject):
            found.append(check)  # noqa: PERF402 -- what was found before a failure is kept
    except _wire.Gone:
        told, todo = "the daemon left while it was asked", "look again: `relayctl doctor`"
    except ClientError as error:
        told, todo = str(error), hint_of(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        told = f"{where}{error.strerror or error}"
        todo = _mending(error)
    except Exception as error:  # noqa: BLE001 -- an answer or a file of another shape; the other looks go on
        told = f"it could not be understood ({type(error).__name__})"
        todo = "are client and daemon of one version?"
    else:
        return
    found.append(Check(f"{look.name}, the rest" if found else look.name, "fail", told, todo))


def _mending(error: OSError) -> str:
    """Tell what to do about a file that could not be opened; nothing if that cannot be known."""
    if in_the_way(error):
        return f"move {error.filename} away"
    if isinstance(error, PermissionError) and error.filename:
        return f"is it yours? `ls -ld {shlex.quote(error.filename)}` shows who may use it"
    return ""
