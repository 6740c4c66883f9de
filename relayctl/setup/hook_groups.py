"""Which groups of hooks have to be added, changed or dropped; groups of others keep their place and their form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from relayctl.setup.entries import EVENTS, handler, merged, role
from relayctl.setup.shape import as_list, as_table, handlers_of

__all__ = ("Places", "Step", "Steps", "find", "installing", "misshapen", "removing")

Groups = list[Any]

_CHANGED = "Codex runs a hook that was changed only once it is approved again in /hooks"


class Step(NamedTuple):
    """One change of a list in the settings.

    Args:
        action: What is done.
        path: Of the list, names and places from the top.
        place: Of its element; of no meaning for `append`.
        value: The new element; None for `drop`.
    """

    action: Literal["append", "replace", "drop"]
    path: tuple[str | int, ...]
    place: int
    value: Any


class Steps(NamedTuple):
    """All changes in the order in which they keep each other's places right, and what else is to be said."""

    steps: list[Step]
    notes: list[str]


class Places(NamedTuple):
    """Where a handler is: which group of an event, which handler of the group."""

    group: int
    handler: int


def misshapen(hooks: object) -> str:
    """Say what is wrong with the member `hooks` of settings; nothing if it can be added to."""
    if not isinstance(hooks, dict):
        return "hooks is not a table of events"
    table = as_table(hooks)  # pyright: ignore[reportUnknownArgumentType] -- keys of settings are str
    wrong = [event for event in EVENTS if not isinstance(table.get(event, []), list)]
    return f"hooks.{wrong[0]} is not a list" if wrong else ""


def find(groups: object, cli: str, event: str | None, kind: str = "ours") -> list[Places]:
    """Find the handlers among the groups of one event that call the hook.

    Args:
        groups: Of the event.
        cli: Whose settings they are.
        event: What the hook must be called for; None for anything.
        kind: `ours`, or `wrapped` for those that do more than call it.
    """
    found: list[Places] = []
    for place, group in enumerate(as_list(groups)):
        handlers = handlers_of(group)
        found += [Places(place, at) for at, one in enumerate(handlers) if role(one, cli, event) == kind]
    return found


def installing(hooks: Mapping[str, Any], cli: str, home: str) -> Steps:
    """Tell what makes the hooks be as they should: one handler for each event, each in its place if it has one."""
    told = Steps([], [])
    for event in EVENTS:
        groups = as_list(hooks.get(event))
        if places := find(groups, cli, event):
            _renew(told, groups, places, handler(cli, home, event), (cli, event))
        elif find(groups, cli, event, "wrapped"):
            told.notes.append(
                f"hooks.{event}: a command of yours calls the hook already; it was left as it is"
            )
        else:
            group = {"hooks": [handler(cli, home, event)]}
            told.steps.append(Step("append", ("hooks", event), -1, group))
    if cli == "codex" and any(step.action == "replace" for step in told.steps):
        told.notes.append(_CHANGED)
    return told


def removing(hooks: Mapping[str, Any], cli: str) -> Steps:
    """Tell what takes all handlers of ours out of the hooks."""
    told = Steps([], [])
    for event, groups in hooks.items():
        places = find(groups, cli, None)
        told.steps.extend(_drops(event, groups, places))
        if places and cli == "codex" and _foreign_after(groups, places[0]):
            told.notes.append(_renumbered(event))
        if find(groups, cli, None, "wrapped"):
            told.notes.append(
                f"hooks.{event}: a command of yours that calls the hook was left; change it by hand"
            )
    return told


def _renew(
    told: Steps, groups: Groups, places: list[Places], wanted: dict[str, Any], of: tuple[str, str]
) -> None:
    """Bring the first of our handlers up to date, and drop further ones where nobody else's are renumbered by that."""
    cli, event = of
    kept = next((at for at in places if _at(groups, at) == wanted), places[0])
    if cli != "codex" and _is_confined(groups[kept.group]):
        group = {"hooks": [merged(_at(groups, kept), wanted)]}
        told.steps.extend(_drops(event, groups, places))
        told.steps.append(Step("append", ("hooks", event), -1, group))
        return
    told.steps.extend(_update(groups, kept, wanted, cli, event))
    further = [at for at in places if at != kept]
    if further and cli == "codex" and _foreign_after(groups, further[0]):
        told.notes.append(
            f"hooks.{event}: calls the hook more than once; what is too much must be removed by hand"
        )
    else:
        told.steps.extend(_drops(event, groups, further))


def _update(groups: Groups, at: Places, wanted: dict[str, Any], cli: str, event: str) -> Iterator[Step]:
    """Change a handler where it is; the matcher of a group of ours alone goes, for it may leave something out.

    Codex numbers and digests what was approved: its matchers stay.
    """
    group, old = groups[at.group], _at(groups, at)
    new = merged(old, wanted)
    if len(group["hooks"]) == 1 and cli != "codex" and group.get("matcher"):
        whole = {key: value for key, value in group.items() if key != "matcher"} | {"hooks": [new]}
        yield Step("replace", ("hooks", event), at.group, whole)
    elif new != old:
        yield Step("replace", ("hooks", event, at.group, "hooks"), at.handler, new)


def _is_confined(group: dict[str, Any]) -> bool:
    """Tell whether others' matcher, beside whose hooks ours is, may keep ours from running."""
    return len(group["hooks"]) > 1 and group.get("matcher", "") not in ("", "*")


def _drops(event: str, groups: Groups, places: list[Places]) -> Iterator[Step]:
    """Drop handlers, the last first, and groups that have no other."""
    ours: dict[int, list[int]] = {}
    for at in places:
        ours.setdefault(at.group, []).append(at.handler)
    for place, handlers in sorted(ours.items(), reverse=True):
        if len(handlers) == len(groups[place]["hooks"]):
            yield Step("drop", ("hooks", event), place, None)
        else:
            path = ("hooks", event, place, "hooks")
            yield from (Step("drop", path, one, None) for one in sorted(handlers, reverse=True))


def _foreign_after(groups: Groups, at: Places) -> bool:
    """Tell whether a handler of others stands behind a place, so that dropping there would renumber it."""
    for place, group in enumerate(groups[at.group :], at.group):
        handlers = handlers_of(group)
        first = at.handler if place == at.group else 0
        if any(role(one, "codex") != "ours" for one in handlers[first:]):
            return True
    return False


def _renumbered(event: str) -> str:
    return f"hooks.{event}: Codex numbers its hooks, so those behind ours must be approved again in /hooks"


def _at(groups: Groups, at: Places) -> dict[str, Any]:
    return groups[at.group]["hooks"][at.handler]
