"""What relay writes into the files of a repository on disk, without a daemon."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relayctl.errors import RulesRefused
from relayctl.repository.files import Done, stale, survey, undo, write
from relayctl.repository.markers import BEGIN, END
from relayctl.repository.rules_file import remove_rules, write_rules
from relayctl.repository.rules_lock import holding
from tests.mounting import tmpfs
from tests.waiting import eventually

TEXT = "# relay\n\nUse make.\n"
NEWER = "# relay\n\nUse just.\n"
MINE = b"# Shop\n\nRun make.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with rules, a space and another script in its name."""
    path = tmp_path.resolve() / "Мой shop"
    path.mkdir()
    write_rules(str(path), "shop", renames=False, force=False)
    return path


def link(root: Path, text: str = TEXT, *, project: str = "shop", force: bool = False) -> dict[str, str]:
    """Write the files: the state of each."""
    with holding(str(root)):
        return states(write(str(root), project, text, force=force))


def unlink(root: Path) -> dict[str, str]:
    """Undo it: the state of each file that was written."""
    with holding(str(root)):
        done = states(undo(str(root)))
        remove_rules(str(root), "shop")
    return done


def states(done: list[Done]) -> dict[str, str]:
    """The state of each file."""
    return {one.file: one.state for one in done}


def check(root: Path, text: str = TEXT) -> set[str]:
    """The files that are not as they should be."""
    return {one.file for one in survey(str(root), "shop", text) if stale(one)}


def stamps(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """All files, so that a file that was written shows, even with the same bytes."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def names(root: Path) -> set[str]:
    """What lies in a directory."""
    return {path.name for path in root.iterdir()}


def test_files_come_once_and_go_without_a_trace(root: Path) -> None:
    """The second run writes nothing, and what is left after unlinking is what was there, byte for byte."""
    (root / "CLAUDE.md").write_bytes(b"# Claude\r\nBe brief.")
    assert check(root) == {"AGENTS.md", "CLAUDE.md", "relay.md"}
    assert names(root) == {".relay", "CLAUDE.md"}
    assert link(root) == {"AGENTS.md": "created", "CLAUDE.md": "written", "relay.md": "created"}
    before = stamps(root)
    assert set(link(root).values()) == {"fresh"}
    assert (stamps(root), check(root)) == (before, set())
    assert unlink(root) == {"AGENTS.md": "removed", "CLAUDE.md": "written", "relay.md": "removed"}
    assert names(root) == {"CLAUDE.md"}
    assert (root / "CLAUDE.md").read_bytes() == b"# Claude\r\nBe brief."


def test_rights_are_kept_and_new_files_are_like_others(root: Path) -> None:
    """Also those that the umask would take away."""
    (root / "CLAUDE.md").write_bytes(MINE)
    (root / "CLAUDE.md").chmod(0o662)
    (root / "other").touch()
    link(root)
    assert (root / "CLAUDE.md").stat().st_mode & 0o777 == 0o662
    assert (
        (root / "AGENTS.md").stat().st_mode
        == (root / "other").stat().st_mode
        == (root / "relay.md").stat().st_mode
    )


def test_a_changed_memory_is_written_and_an_unchanged_section_is_not(root: Path) -> None:
    """Only relay.md is old then."""
    link(root)
    before = stamps(root)[str(root / "AGENTS.md")]
    assert check(root, NEWER) == {"relay.md"}
    assert link(root, NEWER) == {"AGENTS.md": "fresh", "CLAUDE.md": "skipped", "relay.md": "written"}
    assert (root / "relay.md").read_text() == NEWER
    assert stamps(root)[str(root / "AGENTS.md")] == before
    (root / "relay.md").unlink()
    assert link(root, NEWER)["relay.md"] == "created"


def test_a_renamed_project_is_named_anew(root: Path) -> None:
    """Its section was relay's, whatever name it had."""
    link(root)
    assert link(root, project="store")["AGENTS.md"] == "written"
    assert "`store`" in (root / "AGENTS.md").read_text()


@pytest.mark.parametrize("include", ["@AGENTS.md\n", "<!-- see there -->\n\n@./AGENTS.md"])
def test_a_claude_file_that_only_includes_gets_no_section(root: Path, include: str) -> None:
    """It is left as it is; one with more in it gets one."""
    (root / "CLAUDE.md").write_text(include)
    assert link(root)["CLAUDE.md"] == "skipped"
    assert (root / "CLAUDE.md").read_text() == include
    (root / "CLAUDE.md").write_text(f"{include}\nBe brief.\n")
    assert link(root)["CLAUDE.md"] == "written"


def test_what_was_edited_is_refused_and_all_else_is_written(root: Path) -> None:
    """By force it is taken over; unlinking leaves what was edited, and keeps what it knows of it."""
    link(root)
    edited = (root / "AGENTS.md").read_text().replace("relay_recall", "nothing")
    (root / "AGENTS.md").write_text(edited)
    assert check(root) == {"AGENTS.md"}
    assert link(root, NEWER) == {"AGENTS.md": "refused", "CLAUDE.md": "skipped", "relay.md": "written"}
    assert (root / "AGENTS.md").read_text() == edited
    assert link(root, NEWER, force=True)["AGENTS.md"] == "written"
    (root / "AGENTS.md").write_text(edited)
    (root / "relay.md").write_text("Mine.")
    assert unlink(root) == {"AGENTS.md": "refused", "relay.md": "refused"}
    assert names(root) == {".relay", "AGENTS.md", "relay.md"}


def test_what_relay_never_wrote_is_refused(root: Path) -> None:
    """Markers and a relay.md of somebody's; unlinking leaves both."""
    foreign = f"{BEGIN}\nMine.\n{END}\n"
    (root / "AGENTS.md").write_text(foreign)
    (root / "relay.md").write_text("Mine.\n")
    assert link(root) == {"AGENTS.md": "refused", "CLAUDE.md": "skipped", "relay.md": "refused"}
    assert unlink(root) == {}
    assert ((root / "AGENTS.md").read_text(), (root / "relay.md").read_text()) == (foreign, "Mine.\n")


def test_deleted_markers_are_respected(root: Path) -> None:
    """The file is left alone, and that is no fault; force adds the section again."""
    (root / "AGENTS.md").write_bytes(MINE)
    link(root)
    (root / "AGENTS.md").write_bytes(MINE)
    assert (link(root)["AGENTS.md"], check(root)) == ("off", set())
    assert (root / "AGENTS.md").read_bytes() == MINE
    assert link(root, force=True)["AGENTS.md"] == "written"


@pytest.mark.parametrize("content", [MINE.decode().encode("utf-16"), b"caf\xe9\n", b"a" * 1_100_000, b"a\0"])
def test_what_is_no_text_is_refused(root: Path, content: bytes) -> None:
    """Its bytes stay; the other files are written."""
    (root / "AGENTS.md").write_bytes(content)
    (root / "CLAUDE.md").write_bytes(MINE)
    assert link(root) == {"AGENTS.md": "refused", "CLAUDE.md": "written", "relay.md": "created"}
    assert (root / "AGENTS.md").read_bytes() == content


@pytest.mark.parametrize("kind", ["read-only", "hard link", "directory", "pipe"])
def test_what_cannot_be_replaced_is_refused(root: Path, kind: str) -> None:
    """It is as it was, and none of it is noted as relay's; once that is mended, the section comes."""
    path = root / "AGENTS.md"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(MINE)
    if kind == "read-only":
        path.chmod(0o444)
    if kind == "hard link":
        os.link(path, root / "second")
    assert link(root) == {"AGENTS.md": "refused", "CLAUDE.md": "skipped", "relay.md": "created"}
    if path.is_file():
        assert path.read_bytes() == MINE
        path.chmod(0o644)
        (root / "second").unlink(missing_ok=True)
        assert link(root)["AGENTS.md"] == "written"


def test_a_read_only_repository_is_refused_as_a_whole(tmp_path: Path) -> None:
    """Nothing is written, and the error says why."""
    disk = tmp_path.resolve() / "disk"
    disk.mkdir()
    with tmpfs(disk, "size=1m"):
        write_rules(str(disk), "shop", renames=False, force=False)
        subprocess.run([shutil.which("mount") or "", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(RulesRefused, match="read-only"):
            link(disk)
        assert names(disk) == {".relay"}


def test_a_symbolic_link_within_is_followed(root: Path) -> None:
    """It stays one; two names of one file are one file, whichever is the link."""
    (root / "docs").mkdir()
    (root / "docs/agents.md").write_bytes(MINE)
    (root / "AGENTS.md").symlink_to("docs/agents.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert link(root) == {"AGENTS.md": "written", "CLAUDE.md": "skipped", "relay.md": "created"}
    assert (root / "docs/agents.md").read_text().count(BEGIN) == 1
    assert unlink(root)["AGENTS.md"] == "written"
    assert (root / "docs/agents.md").read_bytes() == MINE
    assert (root / "AGENTS.md").is_symlink()


def test_a_claude_file_that_leads_to_a_file_to_be_made_is_that_file(root: Path) -> None:
    """It gets no section of its own, not in the second run either."""
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert link(root) == {"AGENTS.md": "created", "CLAUDE.md": "skipped", "relay.md": "created"}
    assert set(link(root).values()) == {"fresh", "skipped"}
    assert unlink(root)["AGENTS.md"] == "removed"


@pytest.mark.parametrize("aim", ["../outside.md", ".git/config", "gone.md"])
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "relay.md"])
def test_a_symbolic_link_elsewhere_is_refused(root: Path, aim: str, name: str) -> None:
    """Out of the repository, among git's files, or to nothing; what it leads to is not touched."""
    (root / ".git").mkdir()
    place = root / aim
    if aim != "gone.md":
        place.write_bytes(MINE)
    (root / name).symlink_to(aim)
    refused = "skipped" if (name, aim) == ("CLAUDE.md", "gone.md") else "refused"
    assert link(root)[name] == refused
    assert unlink(root).get(name) is None
    assert (place.read_bytes() if place.exists() else MINE) == MINE


DYING = """
import os, sys
from relayctl.edits import file
from relayctl.repository.files import undo, write
left = int(sys.argv[3])
def dying(real):
    def call(*words):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return real(*words)
    return call
file.write, file.remove = dying(file.write), dying(file.remove)
undo(sys.argv[2]) if sys.argv[1] == "undo" else write(sys.argv[2], "shop", sys.argv[4], force=False)
"""


def die(what: str, root: Path, after: int, text: str = TEXT) -> int:
    """Write or undo in a process that is gone before it changes a further file; its exit code."""
    done = subprocess.run([sys.executable, "-c", DYING, what, str(root), str(after), text], check=False)
    return done.returncode


@pytest.mark.parametrize("after", range(5))
def test_a_run_that_was_killed_is_made_up_for(root: Path, after: int) -> None:
    """Whichever file it came to, the next run ends what it began, and unlinking leaves no trace."""
    (root / "CLAUDE.md").write_bytes(MINE)
    assert die("write", root, after) == 9
    assert "refused" not in link(root).values()
    assert check(root) == set()
    assert die("write", root, min(after, 2), NEWER) == 9
    assert "refused" not in link(root, "# other\n").values()
    assert check(root, "# other\n") == set()
    assert die("undo", root, after) == 9
    if after % 2:  # whoever links again wants what the run had taken out already
        assert "off" not in link(root).values()
        assert check(root) == set()
    unlink(root)
    assert names(root) == {"CLAUDE.md"}
    assert (root / "CLAUDE.md").read_bytes() == MINE


@pytest.mark.parametrize(
    ("link_name", "target"),
    [("AGENTS.md", "relay.md"), ("CLAUDE.md", "relay.md"), ("relay.md", "AGENTS.md")],
)
def test_one_file_is_not_written_as_two(root: Path, link_name: str, target: str) -> None:
    """Of a file that has two of the names by a link, neither is written, whether it is there or not."""
    (root / link_name).symlink_to(target)
    assert link(root)[link_name] == "refused"
    (root / target).write_bytes(MINE)
    assert link(root)[link_name] == "refused"
    unlink(root)
    assert (root / target).read_bytes() == MINE


def test_no_section_is_written_into_the_rules(root: Path) -> None:
    """A link from AGENTS.md to them."""
    (root / "AGENTS.md").symlink_to(".relay/rules.json")
    assert link(root)["AGENTS.md"] == "refused"
    assert json.loads((root / ".relay/rules.json").read_bytes())["project"] == "shop"


@pytest.mark.parametrize(("mine", "theirs"), [(b"\n", b"\r\n"), (b"\r\n", b"\n")])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_newlines_that_version_control_changed_leave_no_trace(
    root: Path, mine: bytes, theirs: bytes, end: bytes
) -> None:
    """Linked on one machine, unlinked on another one where git spells newlines otherwise."""
    (root / "AGENTS.md").write_bytes((b"# Shop\n\nRun make." + end).replace(b"\n", mine))
    link(root)
    text = (root / "AGENTS.md").read_bytes().replace(mine, b"\n").replace(b"\n", theirs)
    (root / "AGENTS.md").write_bytes(text)
    unlink(root)
    assert (root / "AGENTS.md").read_bytes() == (b"# Shop\n\nRun make." + end).replace(b"\n", theirs)


@pytest.mark.parametrize("noted", ["", "sha256:", "mine"])
def test_a_note_without_a_hash_makes_no_file_relays(root: Path, noted: str) -> None:
    """Rules come with a clone: bytes that are no text, and have no hash, fit to none."""
    files = {"relay.md": {"hash": noted, "next": "sha256:" + "0" * 64, "created": True}}
    rules = {"version": 1, "project": "shop", "files": files}
    (root / ".relay/rules.json").write_text(json.dumps(rules))
    (root / "relay.md").write_bytes(b"\xff mine")
    assert link(root)["relay.md"] == "refused"
    assert unlink(root)["relay.md"] == "refused"
    assert (root / "relay.md").read_bytes() == b"\xff mine"


def test_whoever_leaves_removes_no_directory_of_another_run(root: Path) -> None:
    """Another one made `.relay/` again after it was removed, and is at work in it."""
    (root / ".relay/rules.json").unlink()
    with holding(str(root)):
        (root / ".relay").rmdir()
        (root / ".relay").mkdir()
    assert (root / ".relay").is_dir()


def test_runs_at_once_take_turns(root: Path) -> None:
    """Several linking the same repository leave one section in each file, and what they noted fits."""
    (root / "AGENTS.md").write_bytes(MINE)
    script = (
        "import sys; from relayctl.repository.rules_lock import holding; from relayctl.repository.files import write\n"
        "with holding(sys.argv[1]): print(any(d.state == 'refused' for d in write(sys.argv[1], 'shop', '#\\n', force=False)))"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE) for _ in range(4)
    ]
    assert [run.communicate()[0] for run in runs] == [b"False\n"] * 4
    assert (root / "AGENTS.md").read_text().count(BEGIN) == 1
    assert check(root, "#\n") == set()
    unlink(root)
    assert (root / "AGENTS.md").read_bytes() == MINE


def test_a_lock_leaves_nothing(tmp_path: Path) -> None:
    """The directory that is locked goes if nothing came into it; a link that leads out is not followed."""
    with holding(str(tmp_path)):
        assert names(tmp_path) == {".relay"}
    assert names(tmp_path) == set()
    (tmp_path / ".relay").symlink_to("/")
    with pytest.raises(RulesRefused, match="symbolic link"), holding(str(tmp_path)):
        pass


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing tells what is open")
def test_who_waited_for_a_directory_that_went_makes_it_anew(tmp_path: Path) -> None:
    """A lock on what has no name any more would keep nobody out."""
    place = tmp_path.resolve()

    def waiters() -> int:
        links = [os.path.realpath(descriptor) for descriptor in Path("/proc/self/fd").iterdir()]
        return links.count(str(place / ".relay"))

    def wait() -> set[str]:
        with holding(str(place)):
            return names(place)

    with ThreadPoolExecutor(1) as pool:
        with holding(str(place)):
            waiting = pool.submit(wait)
            eventually(lambda: waiters() == 2)
        assert waiting.result() == {".relay"}
    assert names(place) == set()


@pytest.mark.parametrize(
    "files",
    [
        None,
        5,
        [],
        {"AGENTS.md": 5, "relay.md": {"hash": 5}},
        {"AGENTS.md": {"hash": "x", "before": "Mine.\n"}, "../x": {"hash": "x"}},
    ],
)
def test_notes_that_are_none_are_as_if_not_there(root: Path, files: object) -> None:
    """A hash that nobody wrote, or a name that is none of ours, makes nothing relay's."""
    (root / "AGENTS.md").write_bytes(MINE)
    text = json.dumps({"version": 1, "project": "shop", "files": files, "more": [1]}, indent=4)
    (root / ".relay/rules.json").write_text(text)
    assert "refused" not in link(root).values()
    members = json.loads((root / ".relay/rules.json").read_text())
    assert (members["more"], set(members["files"])) == ([1], {"AGENTS.md", "relay.md"})
    unlink(root)
    assert (root / "AGENTS.md").read_bytes() == MINE


def test_the_layout_of_rules_is_their_owners(root: Path) -> None:
    """Notes are put into the text and taken out of it again."""
    text = '{\n    "project": "shop",\n    "check": "make",\n    "version": 1\n}\n'
    (root / ".relay/rules.json").write_text(text)
    link(root)
    assert (root / ".relay/rules.json").read_text().startswith(text[:-4])
    unlink(root)
    assert (root / ".relay/rules.json").read_text() == text
