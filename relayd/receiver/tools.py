"""What tool an event is about, as its body says: enough to check a capture claim, and no more."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

__all__ = ("Extraction", "Family", "Tool", "is_call_id", "tool_of")

Family = Literal["file", "search-list", "non-file", "unknown"]
Extraction = Literal["not-applicable", "extracted", "missing-or-malformed", "unsupported-schema"]

Json = dict[str, Any]

MAX_PATHS: Final = 32
MAX_PATH_CHARS: Final = 4_096
MAX_CALL_ID: Final = 128

_FAMILIES: Final[Mapping[str, Family]] = {
    **dict.fromkeys(
        (
            "read", "write", "edit", "apply_patch", "notebookedit", "notebook_edit", "create_file", "delete_file",
            "remove", "rename_file", "move_file", "multi_edit", "multiedit", "replace", "replace_all", "view_file",
            "replace_file_content", "multi_replace_file_content", "write_to_file", "fs_read", "fs_write", "read_file",
            "write_file", "edit_file", "patch",
        ),
        "file",
    ),
    **dict.fromkeys(
        (
            "search", "grep", "glob", "find", "list", "ls", "list_files", "read_dir", "list_dir", "grep_search",
            "search_files", "find_by_name",
        ),
        "search-list",
    ),
    **dict.fromkeys(
        (
            "bash", "shell", "shell_command", "exec", "execute", "run_command", "web_search", "search_web", "manage_task",
            "manage_subagents", "terminal", "execute_bash", "execute_cmd",
        ),
        "non-file",
    ),
}  # fmt: skip

_NAMES: Final = (
    ("tool_name", "tool_input"),
    ("toolName", "toolInput"),
    ("toolName", "input"),
    ("tool", "args"),
)
"""Where the agents put a tool's name, and where its arguments."""

_PATH_KEYS: Final = (
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "AbsolutePath",
    "notebook_path",
    "TargetFile",
)
_LIST_KEYS: Final = ("edits", "replacements", "operations")
_CALL_IDS: Final = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "callId", "callID")

_CALL_ID_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")


class Tool(NamedTuple):
    """A tool call as far as it can be told from outside.

    Args:
        shell: It runs commands, whose arguments may name any file.
        path_count: Files that a file tool names directly; 0 if they cannot be told.
        call_id: The agent's own id of the call, if it is a plain token.
    """

    family: Family
    shell: bool
    path_count: int
    extraction: Extraction
    call_id: str | None


NO_TOOL: Final = Tool("unknown", False, 0, "unsupported-schema", None)


def tool_of(body: Json) -> Tool:
    """Find the tool call in a body, in any of the shapes that agents use; `unknown` if there is none."""
    found = _call(body)
    if found is None:
        return NO_TOOL
    name, arguments = found
    family = _FAMILIES.get(name.lower(), "unknown")
    paths = _path_count(arguments) if family == "file" else 0
    extraction: Extraction = "extracted" if family != "file" or paths else "missing-or-malformed"
    call_id = next((body[key] for key in _CALL_IDS if is_call_id(body.get(key))), None)
    return Tool(family, family == "non-file" and name.lower() != "web_search", paths, extraction, call_id)


def is_call_id(value: object) -> bool:
    """Whether a value is a plain token that says nothing about the call."""
    return isinstance(value, str) and 0 < len(value) <= MAX_CALL_ID and _CALL_ID_CHARACTERS.issuperset(value)


def _call(body: Json) -> tuple[str, object] | None:
    for name_key, arguments_key in _NAMES:
        if isinstance(name := body.get(name_key), str) and (arguments_key in body or name_key != "toolName"):
            return name, body.get(arguments_key)
    call = body.get("toolCall")
    if isinstance(call, dict):
        call = cast("Json", call)
        if isinstance(name := call.get("name"), str):
            return name, call.get("args")
    return None


def _path_count(arguments: object) -> int:
    """Count the files that the arguments name; 0 if one of them is unusable, or there are too many to tell."""
    if not isinstance(arguments, dict):
        return 0
    paths = list(_paths(cast("Json", arguments)))
    usable = 0 < len(paths) <= MAX_PATHS and all(
        isinstance(path, str) and path.strip() and len(path) <= MAX_PATH_CHARS for path in paths
    )
    return len(paths) if usable else 0


def _paths(arguments: Json) -> Iterator[object]:
    yield from (arguments[key] for key in _PATH_KEYS if key in arguments)
    for key in _LIST_KEYS:
        entries = arguments.get(key)
        if not isinstance(entries, list):
            continue
        for entry in cast("list[object]", entries):
            named = cast("Json", entry) if isinstance(entry, dict) else {}
            # An entry that names no file of its own cannot be told from one that hides it.
            yield from [named[path] for path in _PATH_KEYS if path in named] or [None]
