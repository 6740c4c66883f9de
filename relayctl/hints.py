"""What to do next, for each code of a problem that somebody at a keyboard can do something about."""

__all__ = ("HINTS", "hint_for")

HINTS = {
    "bad_answer": "is it an ai-memory server, without a proxy that answers for it? The events stay queued",
    "being_sent": "it is on its way to the server just now; try again in a moment",
    "binding_mismatch": "a queue keeps its destination: repeat the first values, or name another --queue-dir",
    "binding_refused": "`relayctl init --help` shows what the values may be",
    "damaged": "`relayctl doctor` shows which file; keep it, and put a backup in its place",
    "directory_refused": "name a directory of yours alone (chmod 700) whose parent is there, without `..`",
    "flush_in_progress": "wait until it ends; `relayctl status` shows how far it is",
    "identity_conflict": "an event that is another event needs another event_id",
    "input_refused": "correct the events named above; `relayctl enqueue --help` shows the form",
    "internal": "`relayctl daemon logs` has it",
    "may_duplicate": "the server may have it already; --may-duplicate sends it all the same",
    "needs_auth": "`relayctl auth set` stores a token; AI_MEMORY_AUTH_TOKEN gives one to a single flush",
    "network_filesystem": "SQLite needs a local disk",
    "not_a_queue": "`relayctl init --queue-dir DIR` makes a queue",
    "not_held": "`relayctl queue held` lists the keys that are",
    "queue_busy": "another process is writing; try again in a moment",
    "queue_closed": "try again in a moment",
    "queue_full": "deliver first: `relayctl flush --all`; nothing was stored",
    "queue_owned": "another daemon has this queue open: use its RELAY_HOME, or stop it",
    "refused": "`relayctl queue held` shows it; `queue retry` sends it again, `queue discard` gives it up",
    "replay_protection_full": "receipts are kept for 30 days; use another --queue-dir until then",
    "schema_refused": "a newer version or another program wrote it: upgrade relayd, or name another --queue-dir",
    "session_table_full": "sessions are forgotten after 30 days of rest; use another --queue-dir until then",
    "stopping": "try again in a moment",
    "storage_failed": "is the disk full or read-only? `relayctl doctor` looks",
    "unavailable": "the events stay queued; `relayctl status` shows when they are tried again",
    "unknown_event": "`relayctl queue held` lists the keys",
    "unreached": "is the server running, and its address right? `relayctl status` shows it; the events stay queued",
}


def hint_for(code: str) -> str:
    """Tell what to do about a problem, or nothing."""
    return HINTS.get(code, "")
