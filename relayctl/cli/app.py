"""The `relayctl` command itself: the list of verbs, and the one place where a failure becomes an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TypeGuard

import click

from relayctl import __version__
from relayctl.cli.section import SECTIONS, Lookup
from relayctl.client import Client
from relayctl.errors import ClientError

__all__ = ("COMPLETION_VARIABLE", "INTERRUPTED", "Verbs", "relayctl", "run")

COMPLETION_VARIABLE = "_RELAYCTL_COMPLETE"
"""Set by the script of `relayctl completion` when a shell wants a word completed."""

_FAILED = 2
INTERRUPTED = 130
"""What a shell reports for a process ended by SIGINT."""
# Options of the commands, which are looked for before them now and then, and the other way round.
_OF_COMMANDS = "--json", "--queue", "--queue-dir"
_OF_ALL = ("--no-daemon",)


class Verbs(click.Group):
    """A group whose commands are imported when one of them is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Name all verbs in the order of the help."""
        return [name for _, rows in SECTIONS for name in rows]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's
        """Import one verb."""
        found: Lookup | None = next((rows[cmd_name] for _, rows in SECTIONS if cmd_name in rows), None)
        return None if found is None else getattr(importlib.import_module(found.module), found.attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that comes next; a misspelt one is answered with what it resembles.

        Click would look for that among commands that were added, and these are only listed.
        """
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}.{_meant(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click's
        """Write the verbs by what one wants to do, importing none of them."""
        for title, rows in SECTIONS:
            with formatter.section(title):
                formatter.write_dl([(name, row.short_help) for name, row in rows.items()], col_max=12)


def _meant(word: str, verbs: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = " or ".join(map(repr, get_close_matches(word, verbs, cutoff=0.65)))
    return close and f" Did you mean {close}?"


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    click.echo(f"relayctl {__version__}")
    ctx.exit()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""Remember decisions, brief agents, and hand lifecycle events to relayd, which delivers them in order.

\b
Examples:
  relayctl link                          let hooks capture in this repository
  relayctl decide "We do X because Y."   remember it; starts the daemon
  relayctl brief                         what an agent should know here
  relayctl enqueue --file events.json    store events
  relayctl status                        what waits, what was delivered
  relayctl doctor                        is everything well?
""",
    epilog="""\b
Environment:
  RELAY_HOME            the daemon's own directory (~/.local/state/relayd)
  RELAY_AUTOSTART=0     never start a daemon, nor replace an older one
  RELAY_NO_DAEMON=1     the same as --no-daemon
  AI_MEMORY_AUTH_TOKEN  bearer token of `flush`, for that flush only

\b
Exit codes:
  0 done, 2 failed, 130 interrupted,
  3 `flush` left events pending, `daemon status` found no daemon, or
    `link --check` found a file that is not fresh

\b
Output is a table on a terminal, JSON in a pipe or with --json.
""",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version.",
)
@click.option(
    "--no-daemon",
    is_flag=True,
    help="Run relayd for this command only, unless a daemon has the home already.",
)
@click.pass_obj
def relayctl(client: Client, *, no_daemon: bool) -> None:
    """Name the verbs."""
    client.no_daemon = client.no_daemon or no_daemon
    client.say = _say


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure ends here, as a line on standard error."""
    _open_closed_streams()
    _speak_utf8()
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        try:
            return shell_complete(
                relayctl, {"obj": Client(os.environ)}, "relayctl", COMPLETION_VARIABLE, instruction
            )
        except (KeyError, ValueError):  # no script of ours asks without the words
            return _FAILED
    try:
        code = _invoke(list(arguments))
        sys.stdout.flush()
    except click.ClickException as error:
        _report_usage(error, arguments)
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except UnicodeEncodeError:  # bytes of an argument that the system's encoding made no text of
        _complain("an argument is not UTF-8, which the daemon's protocol needs")
    except OSError as error:
        _report_system(error)
    else:
        return code
    return _FAILED


def _invoke(arguments: list[str]) -> int:
    try:
        with (
            Client(os.environ) as client,
            relayctl.make_context("relayctl", arguments, obj=client) as context,
        ):
            try:
                answer = relayctl.invoke(context)
            except ClientError as error:
                _report(error, client)
                return _FAILED
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return answer if isinstance(answer, int) else 0


def _say(line: str, always: bool) -> None:
    """Tell on standard error what happens beside what was asked for; some of it is for people only."""
    if always or sys.stderr.isatty():
        click.echo(line, err=True)


def _open_closed_streams() -> None:
    """Put /dev/null where the caller closed a standard stream, or a socket of ours would get its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 -- as long as the process


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale says; what cannot be encoded is replaced, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _report(error: ClientError, client: Client) -> None:
    from relayctl.hints import hint_of

    _complain(str(error), details=error.details, hint=hint_of(error, client.named_queue, client.found_home))


def _report_usage(error: click.ClickException, arguments: Sequence[str]) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
    elif isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else _command_path(arguments)
        if isinstance(error, click.NoSuchOption) and error.option_name in _OF_ALL:
            _complain(
                error.message, hint=f"it goes before the command: `relayctl {error.option_name} COMMAND`"
            )
        elif _is_misplaced(error):
            _complain(error.message, hint=f"it goes after the command: `{path} COMMAND {error.option_name}`")
        else:
            _complain(error.format_message(), hint=f"`{path} --help` shows what it takes")
    else:
        _complain(error.format_message())


def _is_misplaced(error: click.UsageError) -> TypeGuard[click.NoSuchOption]:
    """Tell whether an option of the commands stands before the command."""
    return (
        isinstance(error, click.NoSuchOption)
        and error.option_name in _OF_COMMANDS
        and isinstance(error.cmd, click.Group)
    )


def _command_path(arguments: Sequence[str]) -> str:
    """Name the command that a line calls: the parser of options does not tell where it was."""
    path, command = "relayctl", relayctl
    for word in arguments:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        if found is None:
            break
        path, command = f"{path} {word}", found
    return path


def _report_system(error: OSError) -> None:
    if not isinstance(error, BrokenPipeError):  # whoever read the output has enough
        where = f"{error.filename}: " if error.filename else ""
        _complain(f"{where}{error.strerror or error}")
    _drop(1)


def _complain(message: str, *, details: Sequence[str] = (), hint: str = "") -> None:
    lines = [f"error: {' '.join(message.split())}", *(f"  {detail}" for detail in details)]
    try:
        click.echo("\n".join([*lines, *([f"hint: {hint}"] if hint else [])]), err=True)
    except OSError:  # a full disk or a closed pipe behind it: the exit code still tells
        _drop(2)


def _drop(descriptor: int) -> None:
    """Let the interpreter's last flush of a standard stream go nowhere, for it would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
