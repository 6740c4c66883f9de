"""Where a hook looks for a project, and where it finds its own home."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.hook import shim
from tests.integration.hook.shim import Ran, Shim, add_rules, fields, http, listening

Rooted = Callable[..., tuple[str, str] | None]


@pytest.fixture
def rooted(hook: Shim) -> Rooted:
    """Run a hook and tell the directory and the root it names; None if it leaves without a word to the daemon."""

    def run(cwd: Path, **env: str) -> tuple[str, str] | None:
        with listening(hook.home, lambda _: http(200)) as requests:
            hook.run(cwd=cwd, env=env).in_silence()
        assert hook.untouched()
        if not requests:
            return None
        (said,) = map(fields, requests)
        return said["relay-directory"], said["relay-root"]

    return run


def test_rules_are_looked_for_upwards(hook: Shim, rooted: Rooted) -> None:
    """From below the root the directory is where the agent works."""
    below = hook.project / "a" / "b"
    below.mkdir(parents=True)
    assert rooted(below) == (str(below), str(hook.project))


def test_without_rules_nothing_happens(hook: Shim, rooted: Rooted) -> None:
    """No contact, no spool, no log; a directory called so is no file of rules."""
    bare = hook.user_home / "bare"
    (bare / ".relay" / "rules.json").mkdir(parents=True)
    assert rooted(bare) is None
    hook.run(cwd=bare).in_silence()
    assert hook.untouched()


def test_rules_of_the_users_home_count_for_nothing(hook: Shim, rooted: Rooted, at: Path) -> None:
    """Neither for the home nor below, however the home is spelled; nor do those above it."""
    add_rules(hook.user_home)
    add_rules(at)
    below = hook.user_home / "elsewhere"
    below.mkdir()
    link = at / "same-home"
    link.symlink_to(hook.user_home)
    for spelled in (str(hook.user_home), f"{hook.user_home}/", f"{at}/./x/../user", str(link)):
        assert rooted(below, HOME=spelled) is None
        assert rooted(hook.user_home, HOME=spelled) is None
        assert rooted(below, HOME=spelled, CLAUDE_PROJECT_DIR=str(link / "elsewhere")) is None
    assert rooted(hook.project) == (str(hook.project), str(hook.project))


def test_rules_of_the_root_directory_count_for_nothing(hook: Shim, rooted: Rooted) -> None:
    """Whoever works in `/` has no project, whether or not HOME says where the user's home is."""
    if os.geteuid() != 0 or Path("/.relay").exists():
        pytest.skip("/.relay cannot be made here")
    add_rules(Path("/"))
    try:
        outside = hook.home.parent / "outside"
        outside.mkdir()
        for home in (str(hook.user_home), "", "relative", "/"):
            assert rooted(Path("/"), HOME=home) is None
            assert rooted(outside, HOME=home) is None
    finally:
        shutil.rmtree("/.relay")


def test_the_agent_says_where_it_works(hook: Shim, rooted: Rooted, at: Path) -> None:
    """CLAUDE_PROJECT_DIR, else GROK_WORKSPACE_ROOT, else the working directory; blank or relative ones are not set."""
    first, second = (add_rules(hook.user_home / name) for name in ("first", "second"))
    both = {"CLAUDE_PROJECT_DIR": f"{first}/", "GROK_WORKSPACE_ROOT": f"{second}/x/.."}
    assert rooted(at, **both) == (str(first), str(first))
    assert rooted(at, **{**both, "CLAUDE_PROJECT_DIR": "  "}) == (str(second), str(second))
    assert rooted(hook.project, CLAUDE_PROJECT_DIR="first", GROK_WORKSPACE_ROOT="") == (
        str(hook.project),
        str(hook.project),
    )


def test_a_place_with_odd_characters_arrives_escaped(hook: Shim, rooted: Rooted) -> None:
    """Spaces, percent signs, line ends and bytes that are no UTF-8 cannot break a request."""
    odd = add_rules(Path(os.fsdecode(os.fsencode(hook.user_home) + "/a %41\r\nX: ж~".encode() + b"\xff")))
    escaped = f"{hook.user_home}/a%20%2541%0D%0AX%3A%20%D0%B6~%FF"
    assert rooted(odd) == (escaped, escaped)


def test_a_deleted_working_directory_ends_the_hook(hook: Shim) -> None:
    """There is no place to name; an agent that names one is served. Only the shell itself may remark on it."""
    gone = hook.project / "gone"
    command = ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$0" "$@"', str(hook.launcher)]
    for env, spooled in (({}, 0), ({"CLAUDE_PROJECT_DIR": str(hook.project)}, 1)):
        gone.mkdir()
        ran = hook.run(cwd=gone, command=command, env=env)
        assert (ran.status, ran.stdout) == (0, b"")
        assert all(b"getcwd" in line or b"current directory" in line for line in ran.stderr.splitlines())
        assert len(hook.spooled()) == spooled


@pytest.mark.parametrize("below", ["/a" * 50_000, "/" + "\u00e9" * 50_000, "/x/" + "y" * 5_000])
def test_of_a_path_that_no_system_opens_the_start_counts(hook: Shim, rooted: Rooted, below: str) -> None:
    """It takes neither the time of the hook nor the room of its headers."""
    found = rooted(hook.user_home, CLAUDE_PROJECT_DIR=f"{hook.project}{below}")
    assert found is not None
    directory, root = found
    assert root == str(hook.project)
    assert directory.startswith(root)
    assert len(directory) <= 4096


def _git(*words: str, cwd: Path) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    author = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    subprocess.run([git, *author, *words], cwd=cwd, env=env, check=True, capture_output=True)


@pytest.mark.parametrize("relative", [False, True])
def test_a_worktree_belongs_to_its_repository(hook: Shim, rooted: Rooted, *, relative: bool) -> None:
    """Rules beside the common git directory count for a worktree elsewhere, whichever way its `.git` points there."""
    tree = hook.user_home / "trees" / "fix"
    _git("init", cwd=hook.project)
    _git("commit", "--allow-empty", "-m", "x", cwd=hook.project)
    _git("worktree", "add", str(tree), cwd=hook.project)
    if relative:
        (tree / ".git").write_text("gitdir: ../../code/shop/.git/worktrees/fix\n")
    (tree / "src").mkdir()
    assert rooted(tree / "src") == (str(tree / "src"), str(hook.project))
    own = add_rules(tree)
    assert rooted(own / "src") == (str(tree / "src"), str(own))


def test_a_worktree_of_a_repository_in_the_home_has_no_project(hook: Shim, rooted: Rooted) -> None:
    """Rules in the user's home do not count by way of a worktree either."""
    add_rules(hook.user_home)
    _git("init", cwd=hook.user_home)
    _git("commit", "--allow-empty", "-m", "x", cwd=hook.user_home)
    tree = hook.home.parent / "tree"
    _git("worktree", "add", str(tree), cwd=hook.user_home)
    assert rooted(tree) is None


@pytest.mark.parametrize(
    "text",
    [b"", b"gitdir:", b"gitdir: ", b"gitdir: nowhere", b"gitdir: a\0b", b"\xff" * 100_000, b"gitdir: /dev\n"],
)
def test_a_git_file_that_leads_nowhere_is_passed_by(hook: Shim, rooted: Rooted, text: bytes) -> None:
    """Also one of a submodule, which has no common directory; the search goes on upwards."""
    below = hook.project / "below"
    below.mkdir()
    (below / ".git").write_bytes(text)
    assert rooted(below) == (str(below), str(hook.project))


def test_files_that_would_hold_a_hook_up_are_not_waited_for(hook: Shim, rooted: Rooted) -> None:
    """Pipes in the place of files are no files."""
    below = hook.project / "below"
    (below / ".relay").mkdir(parents=True)
    os.mkfifo(below / ".relay" / "rules.json")
    os.mkfifo(below / ".git")
    assert rooted(below) == (str(below), str(hook.project))


def _ran(name: str, at: Path) -> tuple[Shim, Ran]:
    made = shim.make(at / "x", at / name)
    return made, made.run()


@pytest.mark.parametrize(
    "name",
    ["Ana María/x y", 'it\'s "quoted"', "$HOME `id` \\ ;&|*?", "a\nb", "жж/漢字", "n" * 140, "-n", "a:b"],
)
def test_a_home_may_have_any_name(at: Path, name: str) -> None:
    """Spaces, quotes, what a shell would expand, other scripts, and more than a socket's address can hold."""
    (at / "x").mkdir()
    (at / name).parent.mkdir(exist_ok=True)
    hook, ran = _ran(name, at)
    ran.in_silence()
    assert len(hook.spooled()) == 1
    with listening(hook.home, lambda _: http(200, b"here")) as requests:
        assert hook.run().stdout == b"here"
    assert len(requests) == 1


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", ""])
def test_the_locale_makes_no_difference(at: Path, locale: str) -> None:
    """Paths are bytes."""
    hook = shim.make(at / "x" / "..", at / os.fsdecode(b"caf\xe9 \xd0\xb6"))
    hook.run(env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}).in_silence()
    assert len(hook.spooled()) == 1


def test_a_link_to_the_launcher_leads_to_the_same_home(hook: Shim, at: Path) -> None:
    """The launcher knows its home whatever it is called by."""
    (at / "bin").mkdir()
    (at / "bin" / "hook").symlink_to(hook.launcher)
    hook.run(command=[str(at / "bin" / "hook")]).in_silence()
    assert len(hook.spooled()) == 1


def test_another_home_in_the_environment_is_not_looked_at(hook: Shim, at: Path) -> None:
    """The home is the launcher's own."""
    hook.run(env={"RELAY_HOME": str(at / "other"), "PYTHONPATH": "/", "PYTHONHOME": "/"}).in_silence()
    assert len(hook.spooled()) == 1
    assert not (at / "other").exists()


@pytest.mark.parametrize(
    "words", [(), ("claude",), ("claude", "Stop"), ("cursor", "stop"), ("stop", "claude"), ("", "")]
)
def test_unknown_words_are_left_alone(hook: Shim, words: tuple[str, ...]) -> None:
    """A hook that does not know its words ends at once, without reading."""
    with hook.start(*words) as process:
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() + process.stderr.read() == b""
    assert hook.untouched()
