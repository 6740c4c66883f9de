"""`relayctl link` and `unlink`: which directories hooks may capture in."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.project_names import project_names
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import RulesRefused
from relayctl.home import absolute
from relayctl.hook_settings import claude_hooks
from relayctl.rules_file import remove_rules, rules_path, write_rules
from relayctl.slug import is_slug

__all__ = ("link", "unlink")

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
  relayctl link --list

\b
The project, if --project names none:
  what .relay/rules.json there says, else what the repository is linked to,
  else the name of its directory, in the letters a slug may have
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
@click.option("--force", is_flag=True, help="Also over a rules.json that cannot be understood.")
@click.option("--list", "listed", is_flag=True, help="List what is linked, and change nothing.")
@json_option
@click.pass_obj
def link(
    client: Client, *, repo: str | None, project: str | None, force: bool, listed: bool, as_json: bool
) -> None:
    """Let hooks capture in a repository.

    It is registered with the daemon, for this machine, and .relay/rules.json in it says which project it is, for
    everybody who clones it. All its worktrees are one project; a directory that is no repository can be linked too.
    Doing it again changes nothing. The hooks that it prints go into ~/.claude/settings.json, once for all repositories.
    """
    if listed:
        if repo or project or force:
            alone = "--list goes alone"
            raise click.UsageError(alone)
        show(client.ask("GET", "/v1/links", again=True), _links_table, as_json=as_json)
        return
    order = {"directory": _directory(repo), "project": project}
    linked = client.ask("POST", "/v1/links", None, order, again=True)
    written = _write(client, linked, renames=project is not None, force=force)
    answer = {
        **linked,
        "rules_file": rules_path(linked["root"]),
        "rules_written": written,
        "claude_hooks": claude_hooks(client.home),
    }
    show(answer, _linked, as_json=as_json)


@click.command(epilog="\b\nExamples:\n  relayctl unlink\n  relayctl unlink --repo ~/dev/shop")
@_repo
@json_option
@click.pass_obj
def unlink(client: Client, *, repo: str | None, as_json: bool) -> None:
    """Stop hooks from capturing in a repository.

    The daemon forgets it, and .relay/rules.json goes if it says nothing but the project. What was captured stays.
    """
    query = {"directory": _directory(repo)}
    answer = client.ask("DELETE", "/v1/links", query, again=True)
    aliases = partial(_aliases, client, answer["project"])
    left = remove_rules(answer["root"], answer["project"], aliases=aliases)
    show({**answer, "left": left or None}, _unlinked, as_json=as_json)


def _directory(repo: str | None) -> str:
    """Name the directory as the daemon can find it: links are resolved here, where `..` is known to mean that."""
    return os.path.realpath(absolute("." if repo is None else repo, "--repo"))


def _write(client: Client, linked: dict[str, Any], *, renames: bool, force: bool) -> bool:
    """Write the rules; if they cannot be, the registration is taken back."""
    try:
        aliases = partial(_aliases, client, linked["project"])
        return write_rules(linked["root"], linked["project"], renames=renames, force=force, aliases=aliases)
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


def _links_table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import columns

    return columns(
        ("project", "directory", "remote"),
        [(one["project"], one["root"], one["remote"] or "") for one in answer["links"]],
        empty="nothing is linked: `relayctl link` in a repository links it",
        first="remote",
        ends=("directory",),
    )


def _linked(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs, plain

    done = "linked" if answer["changed"] or answer["rules_written"] else "already linked; nothing was written"
    rows = [("project", answer["project"]), ("directory", answer["root"])]
    if answer["remote"]:
        rows.append(("remote", answer["remote"]))
    if answer["rules_written"]:
        rows.append(("written", answer["rules_file"]))
    hooks = ",\n".join(
        f"  {json.dumps(event)}: {plain(json.dumps(entry, ensure_ascii=False))}"
        for event, entry in answer["claude_hooks"].items()
    )
    return (
        f"{done}\n{pairs(rows)}\n\n"
        "Next, unless they are there: put the hooks into the object in ~/.claude/settings.json\n\n"
        f'"hooks": {{\n{hooks}\n}}'
    )


def _unlinked(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import plain

    root = plain(answer["root"])
    done = f"unlinked {root} from {answer['project']}" if answer["removed"] else f"{root} was not linked"
    return f"{done}\nleft as it is: {plain(answer['left'])}" if answer["left"] else done
