"""`relayctl link` and `unlink`: which directories hooks may capture in, and what agents read there."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from relayctl.cli import link_table
from relayctl.cli.options import json_option
from relayctl.cli.project_names import project_names
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import ClientError, FilesRefused, NotLinked, RulesRefused
from relayctl.home import absolute
from relayctl.repository.files import stale, survey, undo, write
from relayctl.repository.linked import Linked, linked_at
from relayctl.repository.rules_file import remove_rules, rules_path, write_rules
from relayctl.repository.rules_lock import holding
from relayctl.slug import is_slug

if TYPE_CHECKING:
    from relayctl.repository.files import Done

__all__ = ("link", "unlink")

_STALE = 3

_repo = click.option("--repo", metavar="DIR", help="The repository, or any directory in it.  [default: here]")


def _slug(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    if text is not None and not is_slug(text):
        rule = "1 to 64 of the letters a to z, digits and -, and no - at the beginning"
        raise click.BadParameter(rule)
    return text


@click.command(
    epilog="""\b
Examples:
  relayctl link
      this repository; the project is named after its directory
  relayctl link --repo ~/dev/shop --project shop
  relayctl link --refresh
      writes relay.md and the sections anew, after the memory changed
  relayctl link --check --json
      for scripts
  relayctl link --list

\b
The project, if --project names none:
  what .relay/rules.json there says, else what the repository is linked to,
  else the name of its directory, in the letters a slug may have

\b
Exit codes: 0 done, 2 not all could be written, 3 --check found a file stale.
"""
)
@_repo
@click.option(
    "--project",
    metavar="SLUG",
    callback=_slug,
    shell_complete=project_names,
    help="The project; one that is there is joined.",
)
@click.option("--force", is_flag=True, help="Also over what relay did not write, or that was changed.")
@click.option("--refresh", is_flag=True, help="Only write the files of what is linked anew.")
@click.option("--check", is_flag=True, help="Only tell whether the files are fresh; write nothing.")
@click.option("--list", "listed", is_flag=True, help="List what is linked, and change nothing.")
@json_option
@click.pass_obj
def link(client: Client, *, repo: str | None, as_json: bool, **asked: Any) -> int:  # noqa: ANN401 -- what was asked for goes on as it is
    """Let hooks capture in a repository, and tell agents there of relay.

    It is registered with the daemon, for this machine, and .relay/rules.json in it says which project it is, for
    everybody who clones it. All its worktrees are one project; a directory that is no repository can be linked too.
    AGENTS.md gets a section between two markers that points to relay.md, and so does CLAUDE.md if it is there; relay.md
    holds what is decided. Doing it again writes what has become old, and nothing else.
    """
    _check_options(repo, **asked)
    if asked["listed"]:
        show(client.ask("GET", "/v1/links", again=True), link_table.links_table, as_json=as_json)
        return 0
    if asked["check"]:
        return _check(client, _directory(repo), as_json=as_json)
    if asked["refresh"]:
        _refresh(client, _directory(repo), force=asked["force"], as_json=as_json)
    else:
        _link(client, _directory(repo), asked["project"], force=asked["force"], as_json=as_json)
    return 0


@click.command(epilog="\b\nExamples:\n  relayctl unlink\n  relayctl unlink --repo ~/dev/shop")
@_repo
@json_option
@click.pass_obj
def unlink(client: Client, *, repo: str | None, as_json: bool) -> None:
    """Stop hooks from capturing in a repository, and take relay out of its files.

    The daemon forgets it. relay.md and the sections in AGENTS.md and CLAUDE.md go, unless somebody changed them, and so
    does .relay/rules.json if it says nothing but the project. What was captured stays.
    """
    query = {"directory": _directory(repo)}
    answer = client.ask("DELETE", "/v1/links", query, again=True)
    done, left = _leave(client, answer)
    show({**answer, "files": _shown(done), "left": left or None}, link_table.unlinked, as_json=as_json)


def _check_options(repo: str | None, *, project: str | None, force: bool, **modes: bool) -> None:
    """Refuse options that contradict each other."""
    alone = [name for name, is_set in modes.items() if is_set]
    if not alone:
        return
    told = ""
    if len(alone) > 1:
        told = "--refresh, --check and --list exclude each other"
    elif modes["listed"] and (repo or project or force):
        told = "--list goes alone"
    elif project:
        told = "--project goes with neither --refresh nor --check"
    elif modes["check"] and force:
        told = "--check forces nothing"
    if told:
        raise click.UsageError(told)


def _link(client: Client, directory: str, project: str | None, *, force: bool, as_json: bool) -> None:
    order = {"directory": directory, "project": project}
    linked = client.ask("POST", "/v1/links", None, order, again=True)
    root = linked["root"]
    with _taken_back(client, linked), holding(root):
        aliases = partial(_aliases, client, linked["project"])
        renames = project is not None
        written = write_rules(root, linked["project"], renames=renames, force=force, aliases=aliases)
    done = _write(client, Linked(root, linked["project"]), force=force)
    answer = {
        **linked,
        "rules_file": rules_path(root),
        "rules_written": written,
        "files": _shown(done),
    }
    show(answer, link_table.linked, as_json=as_json)
    _complain(root, done)


def _refresh(client: Client, directory: str, *, force: bool, as_json: bool) -> None:
    place = _linked(client, directory)
    done = _write(client, place, force=force)
    show({**place._asdict(), "files": _shown(done)}, link_table.refreshed, as_json=as_json)
    _complain(place.root, done)


def _check(client: Client, directory: str, *, as_json: bool) -> int:
    place = _linked(client, directory)
    found = survey(place.root, place.project, _text(client, place))
    fresh = not any(map(stale, found))
    answer = {**place._asdict(), "fresh": fresh, "files": _shown(found)}
    show(answer, link_table.checked, as_json=as_json)
    return 0 if fresh else _STALE


def _linked(client: Client, directory: str) -> Linked:
    """Find the linked repository that a directory is in; nothing is linked for it."""
    links = client.ask("GET", "/v1/links", again=True)["links"]
    place = linked_at(directory, links, client.environ.get("HOME", ""))
    if place is None:
        raise NotLinked(directory)
    return place


def _write(client: Client, place: Linked, *, force: bool) -> list[Done]:
    """Write the files of a linked repository."""
    try:
        text = _text(client, place)
        with holding(place.root):
            return write(place.root, place.project, text, force=force)
    except ClientError as error:
        error.details = (
            *error.details,
            f"{place.root} is linked; relay.md and the sections were not written",
        )
        raise


def _text(client: Client, place: Linked) -> str:
    """Ask what belongs into `relay.md`."""
    return client.ask("GET", f"/v1/projects/{place.project}/rules", again=True)["text"]


def _leave(client: Client, answer: dict[str, Any]) -> tuple[list[Done], str]:
    """Undo what linking wrote: what became of the files, and why the rules were left; empty if they were not."""
    root, project = answer["root"], answer["project"]
    done: list[Done] = []
    aliases = partial(_aliases, client, project)
    if not os.path.exists(rules_path(root)) or project is None:
        return done, remove_rules(root, project, aliases=aliases)
    try:
        with holding(root):
            done = undo(root)
            return done, remove_rules(root, project, aliases=aliases)
    except RulesRefused as refused:
        return done, str(refused)


def _complain(root: str, done: list[Done]) -> None:
    """Fail for the files that were refused, once it was shown what became of all."""
    refused = [f"{one.file}: {one.reason}" for one in done if one.state == "refused"]
    if refused:
        raise FilesRefused(root, refused, [one.file for one in done if one.state in ("created", "written")])


def _shown(done: list[Done]) -> list[dict[str, str | None]]:
    return [{"file": one.file, "state": one.state, "reason": one.reason or None} for one in done]


def _directory(repo: str | None) -> str:
    """Name the directory as the daemon can find it: links are resolved here, where `..` is known to mean that."""
    return os.path.realpath(absolute("." if repo is None else repo, "--repo"))


@contextmanager
def _taken_back(client: Client, linked: dict[str, Any]) -> Generator[None]:
    """Take the registration back if the rules cannot be written."""
    try:
        yield
    except RulesRefused as refused:
        if linked["created"]:
            client.ask("DELETE", "/v1/links", {"directory": linked["root"]}, again=True)
            refused.details = ("nothing was linked",)
        elif linked["former"] != linked["project"]:
            order = {"directory": linked["root"], "project": linked["former"]}
            client.ask("POST", "/v1/links", None, order, again=True)
            refused.details = (f"it stays linked to {linked['former']}",)
        raise


def _aliases(client: Client, project: str) -> list[str]:
    return client.ask("GET", f"/v1/projects/{project}", again=True)["aliases"]
