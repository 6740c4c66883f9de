"""The routes of the memory: projects, decisions, preferences, what is found and what is briefed."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from relayd.api.brief import BriefOrder, BriefTold
from relayd.api.decisions import DecisionOrder, DecisionShown, ForgetOrder, WordingOrder
from relayd.api.preferences import PreferenceOrder, PreferenceShown
from relayd.api.projects import ChangedProject, NewName, NewProject, ProjectListed, ProjectShown
from relayd.api.recall import RecallOrder, RecallTold
from relayd.api.rules import FileDropped, FileOrder, FileShown, RulesTold
from relayd.store.index import Kind
from relayd.store.preferences import PreferenceScope
from tests.contract.openapi.answers import extended
from tests.contract.openapi.operation import BODY, MEMORY, Operation, Parameter, json

__all__ = ("OPERATIONS",)

PROJECT = Parameter("project", "A project, by slug or alias.")
DIRECTORY = Parameter("directory", "An absolute path: its project is meant.")
_FLAG = Literal["true", "false", "1", "0", ""]
GLOBAL = Parameter("global", "Only what belongs to all projects.", _FLAG)
MOMENT = (
    Parameter("as_of", "What was true then, as an instant with a zone."),
    Parameter("known_at", "What had been recorded by then, as an instant with a zone."),
)
_NAMED = ("unknown_item", "ambiguous_id")
_AUTHOR = Parameter("author", "Who says so; without it the user of the daemon.")
_REASON = Parameter("reason", "Why.")


class Projects(msgspec.Struct):
    """Every project, by priority, then slug.

    Args:
        project: That of the directory that was asked about; None if it is of none.
    """

    projects: list[ProjectListed]
    project: str | UnsetType | None = UNSET


AliasDropped = extended("AliasDropped", ProjectShown, removed=bool)

PreferenceSet = extended(
    "PreferenceSet",
    PreferenceShown,
    "A preference that counts now.",
    project=str | None,
    created=bool,
    replaced=str | None,
)
PreferenceDropped = extended(
    "PreferenceDropped", PreferenceShown, "A preference that counts no more.", project=str | None
)


class Preferences(msgspec.Struct):
    """Preferences that count for a project, by key; or all that ever did."""

    project: str | None
    preferences: list[PreferenceShown]


DecisionTold = extended(
    "DecisionTold",
    DecisionShown,
    """A decision that was recorded, or was there already.

    Args:
        created: False if it was there already.
        superseded: What it took the place of.
    """,
    created=bool,
    superseded=str | None,
)
_DecisionItem = extended("DecisionItem", DecisionShown, tag="decision", supersedes=list[str])
_PreferenceItem = extended("PreferenceItem", PreferenceShown, tag="preference", supersedes=list[str])


class RemovedRows(msgspec.Struct):
    """How much of a project was removed."""

    decisions: int
    preferences: int
    aliases: int
    links: int


class ProjectRemoved(msgspec.Struct):
    """A project that is gone.

    Args:
        project: What its slug was.
        finished: False if free pages may still hold its texts; they are overwritten later.
        copies: Files beside `relay.db` that may still hold them.
    """

    project: str
    removed: RemovedRows
    finished: bool
    copies: list[str]


class Decisions(msgspec.Struct):
    """Decisions, the newest first.

    Args:
        next: The `before` of the next page; None if there is none.
        did_you_mean: As with recall; not there if there are none.
    """

    project: str | None
    decisions: list[DecisionShown]
    next: str | None
    did_you_mean: list[str] | UnsetType = UNSET


class Purged(msgspec.Struct):
    """What was removed from the disk.

    Args:
        removed: Rows: all wordings of a decision, or values of a preference.
        finished: False if free pages may still hold the text; they are overwritten later.
        copies: Files beside `relay.db` that may still hold it.
    """

    kind: Kind
    id: str
    removed: int
    finished: bool
    copies: list[str]


class Reindexed(msgspec.Struct):
    """How many items the search index holds."""

    items: int


_PREFERRED = (
    Parameter("scope", "Where it counts.", PreferenceScope),
    Parameter("id", "The lane, the model or the project."),
    PROJECT,
    DIRECTORY,
)

OPERATIONS = (
    Operation(
        "GET",
        "/v1/projects",
        {200: json(Projects)},
        ("parameter_refused", *MEMORY),
        query=(DIRECTORY,),
    ),
    Operation(
        "POST",
        "/v1/projects",
        {201: json(ProjectShown)},
        ("project_taken", "secret_refused", "link_refused", *BODY, *MEMORY),
        body=json(NewProject),
    ),
    Operation("GET", "/v1/projects/{name}", {200: json(ProjectShown)}, ("unknown_project", *MEMORY)),
    Operation(
        "PATCH",
        "/v1/projects/{name}",
        {200: json(ProjectShown)},
        ("unknown_project", "secret_refused", "link_refused", *BODY, *MEMORY),
        body=json(ChangedProject),
    ),
    Operation(
        "DELETE",
        "/v1/projects/{name}",
        {200: json(ProjectRemoved)},
        ("unknown_project", "secret_refused", "parameter_refused", *MEMORY),
        query=(_AUTHOR,),
    ),
    Operation(
        "POST",
        "/v1/projects/{name}/rename",
        {200: json(ProjectShown)},
        ("unknown_project", "project_taken", "secret_refused", *BODY, *MEMORY),
        body=json(NewName),
    ),
    Operation(
        "PUT",
        "/v1/projects/{name}/aliases/{alias}",
        {200: json(ProjectShown), 201: json(ProjectShown)},
        ("unknown_project", "project_taken", "secret_refused", "parameter_refused", *MEMORY),
        query=(_AUTHOR,),
    ),
    Operation(
        "DELETE",
        "/v1/projects/{name}/aliases/{alias}",
        {200: json(AliasDropped)},
        ("unknown_project", "secret_refused", "parameter_refused", *MEMORY),
        query=(_AUTHOR,),
    ),
    Operation("GET", "/v1/projects/{name}/rules", {200: json(RulesTold)}, ("unknown_project", *MEMORY)),
    Operation(
        "PUT",
        "/v1/rules/grok",
        {200: json(FileShown)},
        ("secret_refused", *BODY, *MEMORY),
        body=json(FileOrder),
    ),
    Operation("GET", "/v1/rules/grok", {200: json(FileShown)}, MEMORY),
    Operation("DELETE", "/v1/rules/grok", {200: json(FileDropped)}, MEMORY),
    Operation(
        "PUT",
        "/v1/preferences",
        {200: json(PreferenceSet), 201: json(PreferenceSet)},
        ("unknown_project", "scope_needed", "secret_refused", *BODY, *MEMORY),
        body=json(PreferenceOrder),
    ),
    Operation(
        "GET",
        "/v1/preferences",
        {200: json(Preferences)},
        ("unknown_project", "parameter_refused", *MEMORY),
        query=(
            PROJECT,
            DIRECTORY,
            GLOBAL,
            Parameter("lane", "Also what counts in this lane only."),
            Parameter("model", "Also what counts for this model only."),
            Parameter("history", "All that ever counted.", _FLAG),
            *MOMENT,
        ),
    ),
    Operation(
        "DELETE",
        "/v1/preferences",
        {200: json(PreferenceDropped)},
        ("unknown_project", "scope_needed", "unknown_item", "secret_refused", "parameter_refused", *MEMORY),
        query=(Parameter("key", "Which.", required=True), *_PREFERRED, _REASON, _AUTHOR),
    ),
    Operation(
        "POST",
        "/v1/decisions",
        {200: json(DecisionTold), 201: json(DecisionTold)},
        ("unknown_project", "scope_needed", "secret_refused", *_NAMED, "superseded", *BODY, *MEMORY),
        body=json(DecisionOrder),
    ),
    Operation(
        "GET",
        "/v1/decisions",
        {200: json(Decisions)},
        ("unknown_project", "parameter_refused", *MEMORY),
        query=(
            PROJECT,
            DIRECTORY,
            GLOBAL,
            Parameter("current", "Only those that hold at the moment asked for.", _FLAG),
            *MOMENT,
            Parameter("task", "Only those of this task."),
            Parameter("limit", "Decisions at most; 100 if not given.", Annotated[int, Meta(ge=1, le=1000)]),
            Parameter("before", "The `next` of the page before."),
        ),
    ),
    Operation(
        "PATCH",
        "/v1/decisions/{id}",
        {200: json(DecisionTold), 201: json(DecisionTold)},
        (*_NAMED, "superseded", "secret_refused", *BODY, *MEMORY),
        body=json(WordingOrder),
    ),
    Operation(
        "POST",
        "/v1/decisions/{id}/forget",
        {200: json(DecisionShown)},
        (*_NAMED, "superseded", "secret_refused", *BODY, *MEMORY),
        body=json(ForgetOrder),
    ),
    Operation("GET", "/v1/items/{id}", {200: json(_DecisionItem | _PreferenceItem)}, (*_NAMED, *MEMORY)),
    Operation(
        "DELETE",
        "/v1/items/{id}",
        {200: json(Purged)},
        (*_NAMED, "secret_refused", "parameter_refused", *MEMORY),
        query=(_AUTHOR,),
    ),
    Operation("POST", "/v1/reindex", {200: json(Reindexed)}, MEMORY),
    Operation(
        "POST",
        "/v1/recall",
        {200: json(RecallTold)},
        ("unknown_project", *BODY, *MEMORY),
        body=json(RecallOrder),
    ),
    Operation(
        "POST",
        "/v1/brief",
        {200: json(BriefTold)},
        ("unknown_project", *BODY, *MEMORY),
        body=json(BriefOrder),
    ),
)
"""Every route of these resources."""
