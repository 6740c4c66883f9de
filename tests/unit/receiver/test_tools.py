import pytest

from relayd.receiver.tools import NO_TOOL, is_call_id, tool_of


@pytest.mark.parametrize(
    "body",
    [
        {"tool_name": "Edit", "tool_input": {"file_path": "a"}},
        {"toolName": "Edit", "toolInput": {"filePath": "a"}},
        {"toolName": "edit", "input": {"path": "a"}},
        {"tool": "EDIT", "args": {"absolute_path": "a"}},
        {"toolCall": {"name": "edit", "args": {"TargetFile": "a"}}},
    ],
)
def test_every_shape_of_a_file_call_is_read(body):
    """Agents name the tool and its arguments differently, and the family does not depend on case."""
    tool = tool_of(body)
    assert (tool.family, tool.path_count, tool.extraction, tool.shell) == ("file", 1, "extracted", False)


@pytest.mark.parametrize(
    "body", [{}, {"tool_name": 1}, {"toolCall": []}, {"toolCall": {"name": None}}, {"toolName": "Edit"}]
)
def test_what_is_no_call_is_none(body):
    """A body without a tool's name in a known shape is about no tool."""
    assert tool_of(body) == NO_TOOL


def test_several_files_are_counted():
    """Each edit and each operation names its own files."""
    assert (
        tool_of(
            {"tool_name": "MultiEdit", "tool_input": {"edits": [{"path": "a"}, {"path": "b"}]}}
        ).path_count
        == 2
    )
    assert tool_of({"tool_name": "read", "tool_input": {"operations": [{"path": "a"}]}}).path_count == 1


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        [],
        {},
        {"file_path": " "},
        {"file_path": 1},
        {"file_path": "x" * 4_097},
        {"nested": {"path": "a"}},
        {"edits": []},
        {"edits": [{"path": "a"}, {}]},
        {"edits": [{"path": "a"}, "b"]},
        {"edits": [{"path": "a"}] * 33},
    ],
)
def test_files_that_cannot_be_told(arguments):
    """Missing, malformed or too many paths count as none."""
    tool = tool_of({"tool_name": "Edit", "tool_input": arguments})
    assert (tool.path_count, tool.extraction) == (0, "missing-or-malformed")


def test_searches_and_commands_are_told_apart():
    """A command runs in a shell, a search on the web does not, and an unknown tool is unknown."""
    families = {name: tool_of({"tool_name": name}) for name in ("Grep", "Bash", "web_search", "FutureTool")}
    assert [tool.family for tool in families.values()] == ["search-list", "non-file", "non-file", "unknown"]
    assert [tool.shell for tool in families.values()] == [False, True, False, False]


@pytest.mark.parametrize("value", ["a", "call_1-2.3", "x" * 128])
def test_plain_call_ids(value):
    """A call id is a short token."""
    assert is_call_id(value)


@pytest.mark.parametrize("value", ["", "a/b", "x" * 129, "é", None, 1])
def test_other_call_ids_are_not_kept(value):
    """Anything else could say something about the call."""
    assert not is_call_id(value)
