"""What to do next, for each code of a problem that somebody at a keyboard can do something about."""

from __future__ import annotations

import os
import shlex

from relayctl.errors import ClientError, Refused

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

__all__ = ("HINTS", "hint_for", "hint_of", "meant", "queue_option")

# Where a hint shows a command for one queue, this is where that queue is named.
_QUEUE = "{queue}"

HINTS = {
    "ambiguous_id": "`relayctl memory history --json` shows identifiers whole",
    "answer_lost": "look with `relayctl status{queue}`, and repeat the command",
    "bad_answer": "is it an ai-memory server, without a proxy that answers for it? The events stay queued",
    "being_sent": "it is on its way to the server just now; try again in a moment",
    "binding_mismatch": "a queue keeps its destination: repeat the first values, or name another --queue-dir",
    "binding_refused": "`relayctl init --help` shows what the values may be",
    "damaged": "`relayctl doctor` shows which file; keep it, and put a backup in its place",
    "directory_refused": "name a directory of yours alone (mode 700) whose parent is there, without `..`",
    "events_pending": (
        "deliver them first: `relayctl flush --all{queue}`; "
        "--even-if-pending forgets the queue and leaves them in its directory"
    ),
    "file_gone": "look where it went; the next command sees what is there now",
    "flush_in_progress": "wait until it ends; `relayctl status{queue}` shows how far it is",
    "identity_conflict": "an event that is another event needs another event_id",
    "input_refused": "correct the events named above; `relayctl enqueue --help` shows the form",
    "internal": "`relayctl daemon logs` has it",
    "link_refused": "name the directory of a project with --repo",
    "may_duplicate": "the server may have it already; --may-duplicate sends it all the same",
    "needs_auth": "`relayctl auth set --server-url URL` stores a token; AI_MEMORY_AUTH_TOKEN gives one to a single flush",
    "network_filesystem": "SQLite needs a local disk",
    "not_a_queue": (
        "was a queue here? Put it back, or mount it: it is never made anew; "
        "`relayctl init{queue}` is for a place that never held one"
    ),
    "not_held": "`relayctl queue held{queue}` lists the keys that are",
    "project_needed": "name the project: --project SLUG; an existing one is joined, and `relayctl link --list` shows them",
    "project_taken": "`relayctl project show SLUG` shows its aliases; `relayctl project unalias` frees one",
    "queue_busy": "another process is writing; try again in a moment",
    "queue_closed": "try again in a moment",
    "queue_full": "deliver first: `relayctl flush --all{queue}`; nothing was stored",
    "queue_owned": "another daemon has this queue open: use its RELAY_HOME, or stop it",
    "refused": (
        "is it this event, or the server? `relayctl queue held{queue}` shows it; "
        "`queue retry` sends it again, `queue discard` gives it up"
    ),
    "replay_protection_full": "receipts are kept for 30 days; use another --queue-dir until then",
    "schema_refused": "a newer version or another program wrote it: upgrade relayd, or name another --queue-dir",
    "scope_needed": "name one with --project, or say --global; `relayctl link` makes this repository one",
    "secret_refused": "write where the secret is kept, not the secret; secret-patterns.toml in the home lets known ones pass",
    "session_table_full": "sessions are forgotten after 30 days of rest; use another --queue-dir until then",
    "stopping": "try again in a moment",
    "storage_failed": "is the disk full or read-only? `relayctl doctor` looks",
    "superseded": "`relayctl memory show ID` tells what took its place",
    "unavailable": "the events stay queued; `relayctl status{queue}` shows the server's address and the next attempt",
    "unknown_event": "`relayctl queue held{queue}` lists the keys",
    "upgrade_pending": "try again in a minute; `relayctl daemon restart` changes to the installed version at once",
    "unknown_item": "`relayctl memory history` lists decisions, `relayctl prefer --list` preferences",
    "unknown_project": "`relayctl project list` shows them; `relayctl project add SLUG` makes one",
    "unreached": "is the server running, and its address right? `relayctl status{queue}` shows it; the events stay queued",
}


_NAME_IT = "name the queue with --queue or --queue-dir; `relayctl queue list` shows the queues"
_PUT_IT_BACK = "was a queue here? Put it back: it is never made anew; `relayctl queue list` shows the queues"
_FORGOTTEN = "`relayctl memory show ID` tells when; what holds again is decided anew"
_OF_A_SESSION = "a session stays with its agent: name the same agent, or another session_id"


def hint_for(code: str, queue_dir: str | None = None, home: str | None = None) -> str:
    """Tell what to do about a problem, or nothing.

    Args:
        code: The problem's.
        queue_dir: How the user named the directory of the queue it is about; None if they did not.
        home: Whose queues are known by their names; None if it is not known.
    """
    usual = HINTS.get(code, "").replace(_QUEUE, queue_option(queue_dir, home))
    return _of_no_queue(usual, queue_dir, home) if code == "not_a_queue" else usual


def hint_of(error: ClientError, queue_dir: str | None = None, home: str | None = None) -> str:
    """Tell what to do about a failure: its own hint, or else that of its code."""
    if error.hint:
        return error.hint
    usual = hint_for(error.code, queue_dir, home)
    if isinstance(error, Refused) and error.code == "identity_conflict":
        return _of_a_conflict(error.problem, usual)
    if isinstance(error, Refused) and error.code == "unknown_project":
        return meant(error.problem.get("did_you_mean")) or usual
    if isinstance(error, Refused) and error.code == "superseded" and not error.problem.get("superseded_by"):
        return _FORGOTTEN
    return usual


def queue_option(queue_dir: str | None, home: str | None = None) -> str:
    """Spell the option that names a queue, a blank before it; empty if it was not named.

    Args:
        queue_dir: Its directory; what is relative is shown as it is.
        home: A queue in it goes by its name.
    """
    if queue_dir is None:
        return ""
    name = _name(queue_dir, home)
    return f" --queue {name}" if name else f" --queue-dir {shlex.quote(queue_dir)}"


def _name(queue_dir: str, home: str | None) -> str | None:
    from relayctl.queue_names import name_in

    whole = os.path.expanduser(queue_dir).rstrip("/")
    return name_in(home, whole) if home is not None and whole.startswith("/") else None


def meant(names: Sequence[str] | None) -> str:
    """Ask whether another name was meant; nothing if none resembles what was written."""
    named = " or ".join(f"`{name}`" for name in names or ())
    return named and f"did you mean {named}?"


def _of_no_queue(usual: str, queue_dir: str | None, home: str | None) -> str:
    """Tell what to do about a directory that is no queue; in the home only the daemon makes them, mostly."""
    from relayctl.queue_names import names_in

    if queue_dir is None:
        return _NAME_IT
    if _name(queue_dir, home):
        return _PUT_IT_BACK
    if home is not None and queue_dir in names_in(home):
        return f"a queue of this home has that name: `--queue {queue_dir}`"
    return usual


def _of_a_conflict(problem: Mapping[str, Any], usual: str) -> str:
    """Tell what to do about the kinds of conflict that are among the problems."""
    problems: list[dict[str, Any]] = problem.get("problems") or []
    kinds = {one.get("code") for one in problems}
    if "session_identity_conflict" not in kinds:
        return usual
    return _OF_A_SESSION if len(kinds) == 1 else f"{usual}; {_OF_A_SESSION}"
