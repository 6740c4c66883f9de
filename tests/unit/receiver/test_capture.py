import pytest

from relayd.receiver.capture import MEMBER, apply_capture

FILE = {
    "session_id": "s",
    "cwd": "/w",
    "tool_name": "Edit",
    "tool_use_id": "c-1",
    "tool_input": {"file_path": "a/secret"},
}
SHELL = {"session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": "cat a/secret"}}
SEARCH = {"session_id": "s", "cwd": "/w", "tool_name": "Grep", "tool_input": {"pattern": "x"}}
PROMPT = {"session_id": "s", "cwd": "/w", "prompt": "hello"}

KEEP = {
    "version": 1,
    "disposition": "keep",
    "policy_state": "active",
    "tool_family": "file",
    "path_count": 1,
    "extraction_state": "extracted",
}

FILE_METADATA = {
    "session_id": "s",
    "cwd": "/w",
    "tool_family": "file",
    "tool_name": "file",
    "tool_call_id": "c-1",
}
SHELL_METADATA = {"session_id": "s", "cwd": "/w", "tool_family": "non-file", "tool_name": "non-file"}


def claimed(body, **changes):
    return {**body, MEMBER: KEEP | changes}


MALFORMED = [
    None,
    [],
    "keep",
    1,
    {},
    [1, "keep", "active", "file", 1, "extracted"],
    KEEP | {"paths": ["a/secret"]},
    KEEP | {"version": 2},
    KEEP | {"version": 0},
    KEEP | {"version": "1"},
    KEEP | {"version": 1.0},
    KEEP | {"version": True},
    KEEP | {"version": None},
    KEEP | {"disposition": "Keep"},
    KEEP | {"disposition": "discard"},
    KEEP | {"disposition": None},
    KEEP | {"policy_state": "on"},
    KEEP | {"policy_state": 1},
    KEEP | {"tool_family": "files"},
    KEEP | {"tool_family": ["file"]},
    KEEP | {"path_count": -1},
    KEEP | {"path_count": 65_536},
    KEEP | {"path_count": 1.0},
    KEEP | {"path_count": "1"},
    KEEP | {"path_count": True},
    KEEP | {"path_count": None},
    KEEP | {"extraction_state": "done"},
    KEEP | {"extraction_state": {}},
    *[{key: value for key, value in KEEP.items() if key != missing} for missing in KEEP],
]


@pytest.mark.parametrize("claim", MALFORMED)
def test_a_malformed_claim_reduces_what_touches_files(claim):
    """A claim that cannot be read keeps nothing of a file's call or a shell command."""
    assert apply_capture(FILE | {MEMBER: claim}) == FILE_METADATA
    assert apply_capture(SHELL | {MEMBER: claim}) == SHELL_METADATA


@pytest.mark.parametrize("claim", MALFORMED)
def test_a_malformed_claim_leaves_other_events(claim):
    """A claim that cannot be read changes nothing about a prompt or a search."""
    for body in (PROMPT, SEARCH):
        assert apply_capture(body | {MEMBER: claim}) == body | {MEMBER: claim}


@pytest.mark.parametrize("path_count", [0, 1, 65_535])
def test_every_count_of_paths_in_range_is_well_formed(path_count):
    """The bounds themselves are allowed: the claim is read, and its wish to drop obeyed."""
    assert apply_capture(claimed(FILE, disposition="drop", path_count=path_count)) is None


def test_no_claim_keeps_everything():
    """A body without the member is not looked at."""
    assert apply_capture(FILE) is FILE


@pytest.mark.parametrize("body", [FILE, SHELL, SEARCH, PROMPT, {}])
@pytest.mark.parametrize("state", ["inactive", "active", "invalid"])
def test_drop_is_final(body, state):
    """A well formed claim to drop is obeyed, even if the rest of it makes no sense."""
    assert apply_capture(claimed(body, disposition="drop", policy_state=state, tool_family="unknown")) is None


def test_a_true_claim_to_keep_is_kept():
    """A claim that tells of the call that is there keeps the body as it is."""
    for body in (
        claimed(FILE),
        claimed(FILE, policy_state="inactive"),
        claimed(SHELL, tool_family="non-file", path_count=0),
        claimed(PROMPT, tool_family="unknown", path_count=0, extraction_state="unsupported-schema"),
    ):
        assert apply_capture(body) is body


@pytest.mark.parametrize(
    "changes",
    [
        {"path_count": 2},
        {"extraction_state": "not-applicable"},
        {"tool_family": "non-file"},
        {"policy_state": "invalid"},
    ],
)
def test_a_claim_that_contradicts_a_file_call_reduces_it(changes):
    """What the claim gets wrong about a file's call costs everything but its metadata."""
    assert apply_capture(claimed(FILE, **changes)) == FILE_METADATA


def test_a_claim_of_a_file_reduces_what_is_none():
    """A call that calls itself a file's is treated as one."""
    assert apply_capture(claimed(SHELL)) == SHELL_METADATA


def test_a_broken_policy_keeps_no_command():
    """Without a usable policy a shell command may name any file."""
    body = claimed(SHELL, policy_state="invalid", tool_family="non-file", path_count=0)
    assert apply_capture(body) == SHELL_METADATA


def test_an_active_policy_keeps_no_search():
    """A search shows what lies in ignored files, so that no claim keeps it."""
    for extraction in ("not-applicable", "extracted"):
        body = claimed(SEARCH, tool_family="search-list", path_count=0, extraction_state=extraction)
        assert apply_capture(body) is None


def test_a_contradiction_about_other_tools_keeps_them():
    """A wrong claim about a prompt costs nothing."""
    body = claimed(PROMPT, tool_family="search-list", path_count=3)
    assert apply_capture(body) is body


def test_a_file_call_without_usable_paths_is_reduced():
    """An active policy cannot have been applied to paths that are not there."""
    body = claimed(FILE | {"tool_input": {}}, path_count=0, extraction_state="missing-or-malformed")
    assert apply_capture(body) == FILE_METADATA


STRIPPED = {
    "session_id": "s",
    "cwd": "/w",
    "tool_call_id": "c-1",
    "tool_family": "file",
    "tool_name": "file",
}


def stripped(body=STRIPPED, **changes):
    return {**body, MEMBER: KEEP | {"disposition": "metadata-only"} | changes}


@pytest.mark.parametrize("state", ["active", "invalid"])
def test_metadata_is_rebuilt_from_what_is_allowed(state):
    """Members beyond the allowed ones do not survive."""
    assert apply_capture(stripped(STRIPPED | {"tool_input": {"path": "x"}}, policy_state=state)) == STRIPPED


def test_metadata_of_a_command_needs_a_broken_policy():
    """Metadata of what is no file is legal only where the policy could not be read."""
    body = STRIPPED | {"tool_family": "non-file", "tool_name": "non-file"}
    assert apply_capture(stripped(body, tool_family="non-file", policy_state="invalid")) == body
    assert apply_capture(stripped(body, tool_family="non-file", policy_state="active")) is None


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        (STRIPPED, {"policy_state": "inactive"}),
        (STRIPPED, {"tool_family": "unknown"}),
        (STRIPPED, {"tool_family": "search-list"}),
        (STRIPPED | {"tool_family": "non-file"}, {}),
        (STRIPPED | {"tool_name": "Edit"}, {}),
        (STRIPPED | {"session_id": 1}, {}),
        (STRIPPED | {"session_id": ""}, {}),
        (STRIPPED | {"session_id": "é" * 257}, {}),
        (STRIPPED | {"cwd": "x" * 4_097}, {}),
        (STRIPPED | {"cwd": None}, {}),
        (STRIPPED | {"tool_call_id": "a b"}, {}),
        (STRIPPED | {"tool_call_id": ""}, {}),
        (STRIPPED | {"tool_call_id": "x" * 129}, {}),
        (STRIPPED | {"tool_call_id": 7}, {}),
        ({key: value for key, value in STRIPPED.items() if key != "tool_family"}, {}),
        ({key: value for key, value in STRIPPED.items() if key != "tool_name"}, {}),
    ],
)
def test_metadata_of_any_other_form_is_dropped(body, changes):
    """What calls itself metadata and is not is dropped whole."""
    assert apply_capture(stripped(body, **changes)) is None


def test_metadata_at_its_bounds_is_kept():
    """The longest session, directory and call id that are allowed are kept."""
    body = STRIPPED | {"session_id": "é" * 256, "cwd": "x" * 4_096, "tool_call_id": "x" * 128}
    assert apply_capture(stripped(body)) == body
    bare = {"tool_family": "file", "tool_name": "file"}
    assert apply_capture(stripped(bare)) == bare
