"""`relayctl enqueue`: hand over the events of a file."""

from __future__ import annotations

import os
from typing import Any

import click

from relayctl.cli.options import json_option, queue_options
from relayctl.cli.show import Progress, show
from relayctl.cli.stdin import read_stdin
from relayctl.client import Client
from relayctl.errors import FileTooLarge, Refused

__all__ = ("enqueue",)

_MAX_FILE_BYTES = 33_554_432
# What takes long enough to be worth a word.
_LARGE_BYTES = 1 << 20
# A file at its limits on a slow disk that other processes are writing to.
_TIMEOUT_S = 300.0
_STDIN = "-"


@click.command(
    epilog="""\b
Examples:
  relayctl enqueue --file events.json
  my-orchestrator --events | relayctl enqueue --file -
  relayctl enqueue --queue-dir ~/outbox --file events.json

\b
The file is a JSON array:
  [{"event_id": "event-001", "agent": "claude-code", "event": "session-start",
    "body": {"session_id": "session-123", "cwd": "/workspace/example"}}]
"""
)
@queue_options()
@click.option(
    "--file",
    "path",
    metavar="FILE",
    type=click.Path(),
    required=True,
    help="The events; `-` is standard input.",
)
@json_option
@click.pass_obj
def enqueue(client: Client, *, queue_dir: str | None, path: str, as_json: bool) -> None:
    """Store the events of a file, all or none.

    When it returns they are on disk. An event that is known already is recognized, not stored again, so a command
    that was cut off can be repeated as it is.
    """
    events = _read(path)
    directory = client.queue_dir(queue_dir)
    with Progress() as progress:
        if len(events) > _LARGE_BYTES:
            progress.say(f"storing {len(events) / _LARGE_BYTES:.0f} MiB ...")
        try:
            answer = client.ask(
                "POST",
                "/v1/queues/enqueue",
                {"queue_dir": directory},
                events,
                again=True,
                timeout_s=_TIMEOUT_S,
            )
        except Refused as refused:
            raise _with_problems(path, refused) from refused
    show(answer, _table, as_json=as_json)


def _read(path: str) -> bytes:
    """Read a file, never more of it than one byte over what a queue takes."""
    if path == _STDIN:
        events = read_stdin(_MAX_FILE_BYTES, asking_for="events")
    else:
        with open(os.path.expanduser(path), "rb") as file:
            events = file.read(_MAX_FILE_BYTES + 1)
    if len(events) > _MAX_FILE_BYTES:
        raise FileTooLarge(_shown(path), _MAX_FILE_BYTES)
    return events


def _shown(path: str) -> str:
    return "standard input" if path == _STDIN else path


def _with_problems(path: str, refused: Refused) -> Refused:
    """Put the file's name before what is wrong with it, and each problem on a line of its own."""
    problems: list[dict[str, Any]] = refused.problem.get("problems") or []
    if not problems:
        return refused
    total = int(refused.problem.get("total") or len(problems))
    lines = [_line(problem) for problem in problems]
    if total > len(problems):
        lines.append(f"... and {total - len(problems)} more")
    found = f"{_shown(path)}: {total} problem{'' if total == 1 else 's'}; nothing was stored"
    return Refused(refused.status, {**refused.problem, "detail": found}, details=tuple(lines))


def _line(problem: dict[str, Any]) -> str:
    where = "" if problem.get("index") is None else f"event {problem['index']}: "
    return f"{where}{problem.get('field')}: {problem.get('rule')}"


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.words import count, size

    return (
        f"stored {count(answer['stored'], 'event')}, recognized {count(answer['recognized'], 'duplicate')}\n"
        f"{count(answer['pending_items'], 'event')} pending in {count(answer['pending_sessions'], 'session')}, "
        f"{size(answer['pending_bytes'])}"
    )
