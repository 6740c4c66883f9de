"""Every verb of `relayctl`, by what one wants to do: where it is, and its line in the help."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ("SECTIONS", "Lookup")


class Lookup(NamedTuple):
    """One verb, before it is imported."""

    module: str
    attribute: str
    short_help: str


SECTIONS: tuple[tuple[str, dict[str, Lookup]], ...] = (
    (
        "Remember and recall",
        {
            "decide": Lookup("relayctl.cli.decide", "decide", "Record a decision, or what takes its place."),
            "recall": Lookup("relayctl.cli.recall", "recall", "Search what is remembered."),
            "brief": Lookup(
                "relayctl.cli.brief", "brief", "Print what an agent should know, within a budget."
            ),
            "prefer": Lookup("relayctl.cli.prefer", "prefer", "Set a preference; list those that count."),
            "unprefer": Lookup("relayctl.cli.prefer", "unprefer", "Drop a preference."),
            "memory": Lookup("relayctl.cli.memory", "memory", "History of decisions; show, edit, reindex."),
            "forget": Lookup("relayctl.cli.forget", "forget", "Close a decision that holds no more."),
            "purge": Lookup("relayctl.cli.purge", "purge", "Remove a leaked text from the disk."),
            "project": Lookup(
                "relayctl.cli.project", "project", "Add, change, show, list, rename, remove projects."
            ),
        },
    ),
    (
        "Deliver events",
        {
            "init": Lookup("relayctl.cli.init", "init", "Bind a queue to its server, workspace and project."),
            "enqueue": Lookup("relayctl.cli.enqueue", "enqueue", "Store the events of a file, all or none."),
            "flush": Lookup("relayctl.cli.flush", "flush", "Deliver now and wait for the outcome."),
            "status": Lookup("relayctl.cli.status", "status", "Show what waits and what was delivered."),
        },
    ),
    (
        "Look after queues",
        {
            "queue": Lookup(
                "relayctl.cli.queues",
                "queue",
                "List queues; see, retry, discard held events; back up, forget.",
            ),
            "auth": Lookup("relayctl.cli.auth", "auth", "Store, list or remove the tokens for servers."),
        },
    ),
    (
        "See what happened",
        {
            "feed": Lookup("relayctl.cli.feed", "feed", "Show what happened; follow it; add to it."),
            "sessions": Lookup(
                "relayctl.cli.sessions", "sessions", "List sessions of agents in linked repositories."
            ),
            "usage": Lookup("relayctl.cli.usage", "usage", "Sum up tokens and cost by who used them."),
        },
    ),
    (
        "Capture from hooks",
        {
            "setup": Lookup("relayctl.cli.setup", "setup", "Put relay into the agent CLIs; take it out."),
            "link": Lookup("relayctl.cli.link", "link", "Let hooks capture in a repository; list those."),
            "unlink": Lookup("relayctl.cli.link", "unlink", "Stop hooks from capturing in a repository."),
            "mcp": Lookup("relayctl.cli.mcp", "mcp", "Give an agent CLI the tools of the memory (MCP)."),
            "upstream": Lookup(
                "relayctl.cli.upstream", "upstream", "Choose the server that hooks deliver to."
            ),
        },
    ),
    (
        "Look after the daemon",
        {
            "daemon": Lookup(
                "relayctl.cli.daemon", "daemon", "Start, stop, restart it; its state and its log."
            ),
            "service": Lookup(
                "relayctl.cli.service", "service", "Install it with systemd or launchd; remove that again."
            ),
            "doctor": Lookup(
                "relayctl.cli.doctor", "doctor", "Check the whole installation and say what to do."
            ),
            "completion": Lookup(
                "relayctl.cli.completion", "completion", "Print the script that completes words in a shell."
            ),
        },
    ),
)
