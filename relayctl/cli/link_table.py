"""What `relayctl link` and `unlink` tell people."""

from __future__ import annotations

from typing import Any

from relayctl.cli.table import columns, pairs, plain

__all__ = ("checked", "linked", "links_table", "refreshed", "unlinked")

_NEXT = "Once for all repositories, if not done yet: `relayctl setup` gives agents the hooks and the tools."
_WRITES = ("created", "written", "removed")
_WORDS = {
    "fresh": "as it should be",
    "written": "would be written",
    "created": "would be made",
    "off": "left alone",
    "skipped": "no section",
    "refused": "refused",
}


def links_table(answer: dict[str, Any]) -> str:
    """Lay out what is linked."""
    return columns(
        ("project", "directory", "remote"),
        [(one["project"], one["root"], one["remote"] or "") for one in answer["links"]],
        empty="nothing is linked: `relayctl link` in a repository links it",
        first="remote",
        ends=("directory",),
    )


def linked(answer: dict[str, Any]) -> str:
    """Tell what linking did, and what comes next."""
    written = _names(answer, _WRITES)
    if answer["rules_written"]:
        written.insert(0, ".relay/rules.json")
    done = "linked" if answer["changed"] or written else "already linked; nothing was written"
    return f"{done}\n{pairs(_rows(answer, written))}\n\n{_NEXT}"


def refreshed(answer: dict[str, Any]) -> str:
    """Tell what was written anew."""
    written = _names(answer, _WRITES)
    return f"{'written anew' if written else 'nothing was written'}\n{pairs(_rows(answer, written))}"


def checked(answer: dict[str, Any]) -> str:
    """Tell of each file how it stands."""
    done = "all is fresh" if answer["fresh"] else "not all is fresh: `relayctl link --refresh` writes it anew"
    rows = [("project", answer["project"]), ("directory", answer["root"])]
    rows += [(one["file"], _standing(one)) for one in answer["files"]]
    return f"{done}\n{pairs(rows)}"


def unlinked(answer: dict[str, Any]) -> str:
    """Tell what unlinking did, and what it left."""
    root = plain(answer["root"])
    done = f"unlinked {root} from {answer['project']}" if answer["removed"] else f"{root} was not linked"
    left = [f"{one['file']}: {one['reason']}" for one in answer["files"] if one["reason"]]
    if answer["left"]:
        left.append(answer["left"])
    undone = _names(answer, _WRITES)
    told = [f"taken out of it: {', '.join(undone)}"] if undone else []
    return "\n".join([done, *told, *(f"left as it is: {plain(one)}" for one in left)])


def _rows(answer: dict[str, Any], written: list[str]) -> list[tuple[str, str]]:
    rows = [("project", answer["project"]), ("directory", answer["root"])]
    if answer.get("remote"):
        rows.append(("remote", answer["remote"]))
    if written:
        rows.append(("written", ", ".join(written)))
    rows += [("left", f"{one['file']}: {one['reason']}") for one in answer["files"] if one["state"] == "off"]
    return rows


def _names(answer: dict[str, Any], states: tuple[str, ...]) -> list[str]:
    return [one["file"] for one in answer["files"] if one["state"] in states]


def _standing(one: dict[str, Any]) -> str:
    word: str = _WORDS[one["state"]]
    return f"{word}: {one['reason']}" if one["reason"] else word
