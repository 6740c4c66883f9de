"""What is wrong with a project, or with what should belong to one."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from relayd.errors.base import RelaydError

__all__ = (
    "LinkRefused",
    "ProjectNeeded",
    "ProjectTaken",
    "ScopeNeeded",
    "UnknownProject",
)


class LinkRefused(RelaydError):
    """A directory cannot be linked to a project.

    Args:
        why: Which rule it breaks.
    """

    code = "link_refused"

    _RULES: ClassVar = {
        "relative": "the path must be absolute",
        "no_directory": "this is no directory, or it cannot be looked into",
        "no_project": "`/`, the home and the directory for temporary files are no project themselves",
        "not_utf8": "the path is not UTF-8",
    }

    def __init__(self, why: Literal["relative", "no_directory", "no_project", "not_utf8"]) -> None:
        self.why = why
        super().__init__(f"not linked: {self._RULES[why]}")


class ProjectNeeded(RelaydError):
    """A directory is to be linked without the name of a project, and none that would be right can be told from it.

    Args:
        why: `no_name` if nothing of the directory's name can stand in a slug; `taken` if the project found belongs to
            another repository.
    """

    code = "project_needed"

    _REASONS: ClassVar = {
        "no_name": "no project can be named after this directory",
        "taken": "the project that this directory names, or would be named after, belongs to another repository",
    }

    def __init__(self, why: Literal["no_name", "taken"]) -> None:
        self.why = why
        super().__init__(f"not linked: {self._REASONS[why]}")


class UnknownProject(RelaydError):
    """No project has this name.

    Args:
        did_you_mean: Slugs that resemble it, the closest first.
    """

    code = "unknown_project"

    def __init__(self, did_you_mean: Sequence[str] = ()) -> None:
        self.did_you_mean = tuple(did_you_mean)
        super().__init__("no project has this name")


class ProjectTaken(RelaydError):
    """A project or an alias has this name already.

    Args:
        project: The slug of the one that has it.
    """

    code = "project_taken"

    def __init__(self, project: str) -> None:
        self.project = project
        super().__init__(f"the name belongs to the project {project} already")


class ScopeNeeded(RelaydError):
    """Neither a project was named nor all of them, and the directory is of none."""

    code = "scope_needed"

    def __init__(self) -> None:
        super().__init__("no project was named, and the directory belongs to none")
