"""`relayctl project`: what the memory is divided by."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import click

from relayctl._wire import quote
from relayctl.cli.consent import REWRITING_S, agree, ended, with_copies
from relayctl.cli.options import author_option, json_option, not_empty
from relayctl.cli.project_names import project_names
from relayctl.cli.scope import where
from relayctl.cli.show import show
from relayctl.cli.stdin import read_stdin
from relayctl.client import Client
from relayctl.errors import PathRefused, Refused
from relayctl.home import absolute

__all__ = ("project",)

_MAX_SUMMARY_BYTES = 8_000
_SUMMARY = "--summary-file"

Command = Callable[..., Any]


@click.group()
def project() -> None:
    """Name projects, say what they are, and show them.

    A project has a slug, which may change, and any number of other names: aliases. Whatever takes --project takes both.
    """


def _said(command: Command) -> Command:
    """Let all be said that can be said of a project; the command gets `said`, members of a request."""

    @click.option("--repo", metavar="OWNER/NAME", help="Where it is hosted, for people and agents to read.")
    @click.option("--root", "roots", metavar="DIR", multiple=True, help="Link a directory to it; repeatable.")
    @click.option("--stack", metavar="TEXT", help="What it is built with, on one line.")
    @click.option("--check", "check_command", metavar="COMMAND", help="What checks it, such as `make check`.")
    @click.option("--priority", type=click.IntRange(1, 5), metavar="1..5", help="1 is the highest.")
    @click.option(_SUMMARY, "summary", metavar="FILE", help="File with its summary; - is standard input.")
    @author_option()
    @functools.wraps(command)
    def saying(
        *words: object, roots: tuple[str, ...], summary: str | None, author: str | None, **options: object
    ) -> object:
        names = ("repo", "stack", "check_command", "priority")
        said = {name: options.pop(name) for name in names} | {"author": author}
        if summary is not None:
            said["summary"] = _summary(summary)
        said["roots"] = [os.path.realpath(absolute(root, "--root")) for root in roots] or None
        given = {name: value for name, value in said.items() if value is not None}
        return command(*words, said=given, **options)

    return saying


_slug = click.argument("slug", metavar="SLUG", callback=not_empty, shell_complete=project_names)
_alias = click.argument("alias", metavar="ALIAS", callback=not_empty)


@project.command(
    epilog="""\b
Examples:
  relayctl project add shop --root . --check "make check"
  relayctl project add shop --repo acme/shop --summary-file SUMMARY.md
"""
)
@click.argument("slug", metavar="SLUG", callback=not_empty)
@_said
@json_option
@click.pass_obj
def add(client: Client, *, slug: str, said: dict[str, Any], as_json: bool) -> None:
    """Make a project.

    A --root is registered on this machine as `relayctl link` does it, with its whole repository, but no file is
    written into it; so hooks capture there only once `relayctl link` was run.
    """
    try:
        answer = client.ask("POST", "/v1/projects", None, {"slug": slug, **said}, again=False)
    except Refused as refused:
        if refused.code == "project_taken" and refused.problem.get("project") == slug:
            refused.hint = (
                f"`relayctl project set {slug}` changes it, `relayctl project show {slug}` shows it"
            )
        raise
    show(answer, _table, as_json=as_json)


@project.command(
    "set",
    epilog="""\b
Examples:
  relayctl project set shop --priority 1 --stack "Python, SQLite"
  relayctl project set shop --repo ""           says no more where it is
  git log -5 --format=%s | relayctl project set shop --summary-file -
""",
)
@_slug
@_said
@json_option
@click.pass_obj
def change(client: Client, *, slug: str, said: dict[str, Any], as_json: bool) -> None:
    """Say something else of a project.

    What is not given stays; an empty text unsets a field, and wipes it from the disk. Further roots are added.
    """
    answer = client.ask("PATCH", _path(slug), None, said, again=True, timeout_s=REWRITING_S)
    show(answer, _table, as_json=as_json)


@project.command("show", epilog="\b\nExamples:\n  relayctl project show\n  relayctl project show shop --json")
@click.argument("slug", metavar="[SLUG]", required=False, callback=not_empty, shell_complete=project_names)
@json_option
@click.pass_obj
def show_one(client: Client, *, slug: str | None, as_json: bool) -> None:
    """Show a project.

    Without a name it is the one that commands in this directory are about.
    """
    show(client.ask("GET", _path(slug or _here(client)), again=True), _table, as_json=as_json)


@project.command("list", epilog="\b\nExample:\n  relayctl project list")
@json_option
@click.pass_obj
def list_all(client: Client, *, as_json: bool) -> None:
    """List projects: by priority, then by name."""
    show(client.ask("GET", "/v1/projects", again=True), _list, as_json=as_json)


@project.command(epilog="\b\nExample:\n  relayctl project rename shop store")
@click.argument("old", metavar="OLD", callback=not_empty, shell_complete=project_names)
@click.argument("new", metavar="NEW", callback=not_empty)
@author_option()
@json_option
@click.pass_obj
def rename(client: Client, *, old: str, new: str, author: str | None, as_json: bool) -> None:
    """Give a project another slug; the old one stays as an alias.

    Its memory and its links go with it. Sessions of hooks stay in the queue they began in; new ones go to a queue of the
    new name.
    """
    order = {"slug": new, "author": author}
    show(client.ask("POST", f"{_path(old)}/rename", None, order, again=True), _table, as_json=as_json)


@project.command(epilog="\b\nExample:\n  relayctl project alias shop webshop")
@_slug
@_alias
@author_option()
@json_option
@click.pass_obj
def alias(client: Client, *, slug: str, alias: str, author: str | None, as_json: bool) -> None:
    """Give a project a further name."""
    show(client.ask("PUT", _alias_path(slug, alias), {"author": author}, again=True), _table, as_json=as_json)


@project.command(epilog="\b\nExample:\n  relayctl project unalias shop webshop")
@_slug
@_alias
@author_option()
@json_option
@click.pass_obj
def unalias(client: Client, *, slug: str, alias: str, author: str | None, as_json: bool) -> None:
    """Take a further name away.

    It may be given to another project then.
    """
    answer = client.ask("DELETE", _alias_path(slug, alias), {"author": author}, again=True)
    show(answer, _table, as_json=as_json)


@project.command(epilog="\b\nExamples:\n  relayctl project remove shop\n  relayctl project remove shop --yes")
@_slug
@click.option("--yes", is_flag=True, help="Do not ask.")
@author_option()
@json_option
@click.pass_obj
def remove(client: Client, *, slug: str, yes: bool, author: str | None, as_json: bool) -> int:
    """Remove a project with its memory.

    Its decisions, preferences, aliases and links go, their history too, and free space in the database is overwritten.
    What hooks captured stays in the feed, where it belongs to no project any more. A project of the same name that is
    made later has nothing of it. Exit code 2 if overwriting had to be left for the next start of the daemon.
    """
    if not yes:
        agree(lambda: _question(client.ask("GET", _path(slug), again=True)))
    gone = client.ask("DELETE", _path(slug), {"author": author}, again=False, timeout_s=REWRITING_S)
    show(gone, _removed, as_json=as_json)
    return ended(gone)


def _path(name: str) -> str:
    return f"/v1/projects/{quote(name)}"


def _alias_path(name: str, alias: str) -> str:
    return f"{_path(name)}/aliases/{quote(alias)}"


def _here(client: Client) -> str:
    """Name the project that a command in this directory is about."""
    told = client.ask("GET", "/v1/projects", where(None), again=True)
    if told["project"] is None:
        none = "this directory belongs to no project; name one, or `relayctl link` makes it one"
        raise click.UsageError(none, click.get_current_context())
    return told["project"]


def _summary(path: str) -> str:
    """Read a summary; an empty path is an empty one.

    Raises:
        PathRefused: It is too long, or no text.
    """
    if not path:
        return ""
    if path == "-":
        raw = read_stdin(2 * _MAX_SUMMARY_BYTES, asking_for="lines of a summary")
    else:
        with open(path, "rb") as file:
            raw = file.read(2 * _MAX_SUMMARY_BYTES)
    if len(raw.strip()) > _MAX_SUMMARY_BYTES:
        raise PathRefused(_SUMMARY, f"a summary has at most {_MAX_SUMMARY_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PathRefused(_SUMMARY, "it is not UTF-8") from error


def _question(found: dict[str, Any]) -> str:
    from relayctl.cli.words import count

    whole = f"{count(found['history'], 'decision')} and {count(found['preferences'], 'preference')}"
    return f"Remove {found['slug']} for good, with {whole}?"


def _list(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import columns

    return columns(
        ("slug", "priority", "decisions", "aliases", "roots"),
        [
            (
                one["slug"],
                one["priority"],
                one["decisions"],
                ", ".join(one["aliases"]),
                ", ".join(one["roots"]),
            )
            for one in answer["projects"]
        ],
        empty="no project yet: `relayctl link` in a repository makes one, or `relayctl project add`",
        spare=("aliases",),
    )


def _table(one: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs
    from relayctl.cli.words import minute

    said = (
        ("aliases", ", ".join(one["aliases"])),
        ("repo", one["repo"]),
        ("stack", one["stack"]),
        ("check", one["check_command"]),
        ("priority", one["priority"]),
        ("decisions", f"{one['decisions']} current, {one['history']} in all"),
        ("preferences", one["preferences"]),
        *(("root", f"{link['root']}  {link['remote'] or ''}".rstrip()) for link in one["links"]),
        ("queue", one["queue"]),
        ("made", minute(one["created_at"])),
        ("changed", minute(one["changed_at"])),
        ("summary", one["summary"]),
    )
    return pairs(
        [("project", one["slug"]), *((name, value) for name, value in said if value not in (None, ""))]
    )


def _removed(done: dict[str, Any]) -> str:
    from relayctl.cli.words import count

    nouns = {"decisions": "decision", "preferences": "preference", "links": "link"}
    gone = ", ".join(count(done["removed"][name], noun) for name, noun in nouns.items())
    return with_copies(f"removed {done['project']}: {gone}", done)
