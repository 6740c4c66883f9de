"""What is put into a file of settings: the hooks, or the MCP server; each knows how to take itself out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from relayctl.setup.entries import EVENTS, SERVER, is_our_server, role, server
from relayctl.setup.errors import ForeignSettings
from relayctl.setup.form import Form
from relayctl.setup.hook_groups import Steps, installing, misshapen, removing
from relayctl.setup.shape import as_list, as_table, handlers_of

__all__ = ("Done", "Part", "hooks", "leftover_hooks", "mcp_server")


class Done(NamedTuple):
    """A text of settings after a change, and what is to be said of it."""

    text: str
    notes: tuple[str, ...] = ()


Change = Callable[[Form, str], Done]


class Part(NamedTuple):
    """One thing in a file.

    Args:
        install: Puts it in, or brings it up to date; the same text comes back if there is nothing to do.
        remove: Takes it out, and leaves the tables that it lay in.
        tables: Those, the inner ones first.
    """

    install: Change
    remove: Change
    tables: tuple[tuple[str, ...], ...]


def hooks(cli: str, home: str, *, own_file: bool = False) -> Part:
    """Make the hooks of a CLI.

    Args:
        cli: Its word.
        home: Whose launcher they call.
        own_file: The file is meant for us alone, so one that has only hooks of others is not ours to change.
    """

    def install(form: Form, text: str) -> Done:
        found = _hooks_in(form, text)
        if own_file and found and not _any_ours(found, cli):
            rule = "somebody else's hooks are in it"
            raise ForeignSettings(rule)
        return _apply(form, text, installing(found, cli, home))

    return Part(install, _remover(cli), _hook_tables())


def leftover_hooks(cli: str) -> Part:
    """Make what takes the hooks of a CLI out of a file even when it is set up, since they are in another one."""
    return Part(_remover(cli), _remover(cli), _hook_tables())


def mcp_server(cli: str, home: str, table: str, *, kind: str = "") -> Part:
    """Make the MCP server of a CLI.

    Args:
        cli: Its word.
        home: Whose launcher is started.
        table: The member that holds all servers.
        kind: The entry's `type`; empty if it has none.
    """

    def install(form: Form, text: str) -> Done:
        old = _servers(form, text, table).get(SERVER)
        if old is not None and not is_our_server(old):
            rule = f"{table}.{SERVER} is an MCP server of somebody else's; give it another name, or remove it"
            raise ForeignSettings(rule)
        new = _entry(old, {**({"type": kind} if kind else {}), **server(cli, home)})
        return Done(text if new == old else form.set_member(text, (table, SERVER), new))

    def remove(form: Form, text: str) -> Done:
        ours = is_our_server(as_table(form.parse(text).get(table)).get(SERVER))
        return Done(form.drop_member(text, (table, SERVER)) if ours else text)

    return Part(install, remove, ((table,),))


def _entry(old: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Bring an entry up to date; what the user added to it stays."""
    if old is None:
        return {**wanted, "env": {}} if "type" in wanted else {**wanted}
    return {**old, **wanted}


def _remover(cli: str) -> Change:
    def remove(form: Form, text: str) -> Done:
        return _apply(form, text, removing(as_table(form.parse(text).get("hooks")), cli))

    return remove


def _hook_tables() -> tuple[tuple[str, ...], ...]:
    return (*(("hooks", event) for event in EVENTS), ("hooks",))


def _hooks_in(form: Form, text: str) -> dict[str, Any]:
    found = form.parse(text).get("hooks", {})
    if rule := misshapen(found):
        raise ForeignSettings(rule)
    return found


def _servers(form: Form, text: str, table: str) -> dict[str, Any]:
    found = form.parse(text).get(table, {})
    if not isinstance(found, dict):
        rule = f"{table} is not a table of servers"
        raise ForeignSettings(rule)
    return found  # pyright: ignore[reportUnknownVariableType] -- keys of settings are str


def _any_ours(found: Mapping[str, Any], cli: str) -> bool:
    """Tell whether one of the handlers calls our hook; true if there is none at all."""
    groups = [group for of_event in found.values() for group in as_list(of_event)]
    handlers = [one for group in groups for one in handlers_of(group)]
    return not handlers or any(role(one, cli) for one in handlers)


def _apply(form: Form, text: str, told: Steps) -> Done:
    for step in told.steps:
        if step.action == "append":
            text = form.append(text, step.path, step.value)
        elif step.action == "replace":
            text = form.replace_element(text, step.path, step.place, step.value)
        else:
            text = form.drop_element(text, step.path, step.place)
    return Done(text, tuple(told.notes))
