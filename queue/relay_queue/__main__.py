"""`python -m relay_queue`: look at a queue, or copy it, without the daemon.

    python -m relay_queue status DIR             its status as JSON; --or-empty gives zeros if it is not bound yet
    python -m relay_queue backup DIR FILE        a consistent copy; --force replaces FILE

Exit codes: 0 done, 2 not done, with one sentence on standard error.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from relay_queue.binding import Binding, bind
from relay_queue.directory import check_directory, queue_file
from relay_queue.errors import NotAQueue, OutboxError
from relay_queue.sqlite.backup import copy_database
from relay_queue.status import Status, empty_status, read_status

__all__ = ("main",)

DONE, FAILED = 0, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command == "status":
            _show(_status(chosen.directory.absolute(), chosen.or_empty))
        else:
            _copy(chosen.directory.absolute(), chosen.file.absolute(), replace=chosen.force)
    except OutboxError as error:
        return _complain(str(error))
    except msgspec.DecodeError:
        return _complain("--or-empty: must be a binding as JSON")
    except OSError as error:  # of the copy: what is read is translated
        return _complain(f"{chosen.file}: {error.strerror}")
    return DONE


def _complain(sentence: str) -> int:
    sys.stderr.write(f"error: {sentence}\n")
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m relay_queue", description="Look at a queue, or copy it.")
    commands = parser.add_subparsers(dest="command", required=True)
    status = commands.add_parser("status", help="print the status of a queue as JSON")
    status.add_argument("directory", type=Path)
    status.add_argument(
        "--or-empty",
        metavar="BINDING",
        help="if no queue is there yet, zeros as of a new one; its five fields as a JSON object",
    )
    backup = commands.add_parser("backup", help="copy a queue's database, also while it is in use")
    backup.add_argument("directory", type=Path)
    backup.add_argument("file", type=Path)
    backup.add_argument("--force", action="store_true", help="replace the file")
    return parser


def _status(directory: Path, binding: str | None) -> Status:
    """Read a status, creating nothing; without a queue there, an empty one if that was asked for."""
    try:
        return read_status(directory)
    except NotAQueue:
        if binding is None:
            raise
        asked = msgspec.json.decode(binding, type=Binding)
        return empty_status(directory, bind(*msgspec.structs.astuple(asked)))


def _show(status: Status) -> None:
    text = msgspec.json.format(msgspec.json.encode(status), indent=2)
    sys.stdout.write(text.decode() + "\n")


def _copy(directory: Path, file: Path, *, replace: bool) -> None:
    check_directory(directory)
    copy_database(queue_file(directory), file, replace=replace)
    sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    sys.exit(main())
