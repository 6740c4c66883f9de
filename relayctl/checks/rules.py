"""The files that relay writes into the repository at hand: do agents read there what is in force?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.errors import RulesRefused
from relayctl.repository.files import Done, stale, survey
from relayctl.repository.linked import Linked, linked_at

__all__ = ("look",)

_NAME = "rules"
_REFRESH = "`relayctl link --refresh`"


def look(subject: Subject) -> Iterator[Check]:
    """Compare `relay.md` and the sections of the repository around the working directory with the memory."""
    place = _here(subject)
    if place is None:
        return
    told = subject.ask_if_known(f"/v1/projects/{place.project}/rules")
    if told is None:
        return
    try:
        found = survey(place.root, place.project, told["text"])
    except RulesRefused as refused:
        yield Check(_NAME, "warn", str(refused), refused.hint)
        return
    yield _judge(place, [one for one in found if stale(one)])


def _here(subject: Subject) -> Linked | None:
    """Find the linked repository around the working directory; None if there is none, or no daemon tells."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return None
    told = subject.ask_if_known("/v1/links", directory=here)
    if told is None:
        return None
    return linked_at(here, told["links"], subject.environ.get("HOME", ""))


def _judge(place: Linked, old: list[Done]) -> Check:
    if not old:
        return Check(_NAME, "ok", f"relay.md and the sections in {place.root} are fresh")
    told = "; ".join(f"{one.file}: {one.reason}" if one.reason else f"{one.file} is old" for one in old)
    return Check(_NAME, "warn", f"in {place.root}: {told}", f"{_REFRESH} writes them anew")
