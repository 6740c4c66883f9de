"""What `doctor` says of hooks: their launcher, their failures, when they came, the spool, and the project at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from relayctl.checks.hook_log import MEANINGS
from tests import stage
from tests.integration.client.command import run
from tests.integration.client.doctoring import answers, diagnose, private
from tests.integration.client.scripted_daemon import serve

ROOT = Path(__file__).resolve().parents[3]
LINK = {"root": "/w", "project": "shop", "git_common_dir": None, "remote": None, "linked_at_ms": 1}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    return private(tmp_path)


def _launcher(home: Path, python: str = sys.executable) -> Path:
    """Lay out what the daemon keeps in `bin/`."""
    place = home / "bin"
    (place / "__pycache__").mkdir(mode=0o700, parents=True)
    place.chmod(0o700)
    for name in ("hook", "hook_fallback"):
        (place / "__pycache__" / f"relay_{name}.x.pyc").touch()
        (place / f"relay_{name}.py").write_bytes((ROOT / "relayctl" / f"{name}.py").read_bytes())
    launcher = place / "relay-hook"
    launcher.write_text(f"#!/bin/sh\npython='{python}'\nexec \"$python\"\n")
    launcher.chmod(0o700)
    return launcher


def test_a_launcher_that_can_run_is_well(home: Path) -> None:
    """A Python with a blank and a quote in its path is found as the shell finds it."""
    python = home / "a b'c"
    python.symlink_to(sys.executable)
    launcher = _launcher(home, str(python).replace("'", r"'\''"))
    check = diagnose(home)[1]["launcher"]
    assert (check["state"], check["detail"]) == ("ok", str(launcher))


def test_each_fault_of_a_launcher_is_a_warning_that_a_restart_mends(home: Path) -> None:
    """It is not executable, its Python is gone, half of the hook is another version's, is missing, is not compiled."""
    launcher = _launcher(home)
    told: list[str] = []

    def look() -> None:
        check = diagnose(home)[1]["launcher"]
        assert (check["state"], check["todo"]) == ("warn", "`relayctl daemon restart` writes it anew")
        told.append(check["detail"].removeprefix(f"{launcher} ").partition(",")[0])

    for name in ("relay_hook_fallback", "relay_hook"):
        module = launcher.with_name(f"{name}.py")
        (launcher.parent / "__pycache__" / f"{name}.x.pyc").unlink()
        look()
        module.write_text("# an older one\n")
        look()
        module.unlink()
        look()
    launcher.write_text("python='/nowhere/python'\n")
    look()
    launcher.chmod(0o600)
    look()
    assert told == [
        "has no byte code of relay_hook_fallback.py",
        "runs a relay_hook_fallback.py that is not the installed version's",
        "has no relay_hook_fallback.py beside it",
        "has no byte code of relay_hook.py",
        "runs a relay_hook.py that is not the installed version's",
        "has no relay_hook.py beside it",
        "runs /nowhere/python",
        "may not be executed",
    ]


def test_a_daemon_without_a_launcher_is_a_warning(home: Path) -> None:
    """It keeps one, so something took it away."""
    with serve(home, answers({})):
        check = diagnose(home)[1]["launcher"]
    assert (check["state"], "missing" in check["detail"]) == ("warn", True)


def test_failures_of_hooks_are_counted_by_code_for_a_day(home: Path) -> None:
    """Older lines, lines that are none and the file before are handled; each code says what it means."""
    (home / "logs").mkdir(mode=0o700)
    now = int(time.time())

    def line(code: str, ago_s: int) -> str:
        return (
            json.dumps({"time": now - ago_s, "cli": "claude", "event": "stop", "code": code, "ms": 3}) + "\n"
        )

    (home / "logs" / "hooks.log.1").write_text(line("foreign", 90_000) + line("foreign", 7_200))
    (home / "logs" / "hooks.log").write_text(
        line("foreign", 3_660)
        + "garbage\n[]\n"
        + line("no_daemon", 60)
        + line("of_tomorrow", 1)
        + '{"time": 1'
    )
    code, checks = diagnose(home)
    found = {
        name.partition("hook failures ")[2]: check for name, check in checks.items() if "failures" in name
    }
    assert (code, {name: check["state"] for name, check in found.items()}) == (
        0,
        {"foreign": "warn", "no_daemon": "ok", "of_tomorrow": "warn"},
    )
    assert found["foreign"]["detail"].startswith(
        "2 within a day, the last 1 h ago: the daemon of another home"
    )


def test_every_code_a_hook_writes_has_a_meaning() -> None:
    """What the hook can log is what is explained, and the documents explain it too."""
    source = (ROOT / "relayctl" / "hook_fallback.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for code in MEANINGS:
        assert f'"{code}"' in source, code
        assert f"| `{code}` |" in page, code


@pytest.mark.parametrize(
    ("seen", "state", "told"),
    [
        ([], "warn", "no hook ever came"),
        ([("claude", "stop", 8 * 86_400_000)], "warn", "the last came 8 d ago (claude stop)"),
        (
            [("claude", "stop", 60_000), ("codex", "stop", 90_000)],
            "ok",
            "the last came 1 min ago (claude stop)",
        ),
        (
            [("claude", "session-end", 60_000), ("claude", "stop", 90_000)],
            "warn",
            "never: session-start, user-prompt-submit",
        ),
    ],
)
def test_hooks_that_do_not_come_are_a_warning(
    home: Path, seen: list[tuple[str, str, int]], state: str, told: str
) -> None:
    """Where projects are linked, hooks are expected; the command to put into the settings is shown."""
    now_ms = time.time_ns() // 1_000_000
    rows = [{"cli": cli, "event": event, "last_at_ms": now_ms - ago} for cli, event, ago in seen]
    routes: dict[str, Any] = {"/v1/links": {"links": [LINK], "project": None}, "/v1/hooks": {"seen": rows}}
    with serve(home, answers(routes)):
        check = diagnose(home)[1]["hooks"]
    assert (check["state"], told in check["detail"]) == (state, True)
    assert (f"{home}/bin/relay-hook " in check["todo"]) is (state == "warn")


def test_hooks_of_a_linked_project_are_seen_from_the_first_one_on(tmp_path: Path) -> None:
    """With a real daemon: linked, nothing came yet, then one did, and then one that nobody can read."""
    project = tmp_path / "shop"
    project.mkdir()
    with stage.home() as place, stage.daemon(place) as daemon:
        assert "to begin" in diagnose(place, cwd=project)[1]["hooks"]["todo"]
        assert run(place, "link", "--repo", str(project)).returncode == 0
        checks = diagnose(place, cwd=project)[1]
        assert (checks["hooks"]["state"], checks["project"]["state"]) == ("warn", "ok")
        assert checks["project"]["detail"] == f"{project} is linked to shop"
        hook = [str(place / "bin" / "relay-hook"), "claude", "stop"]
        for payload in (b'{"session_id": "s", "cwd": "/w", "hook_event_name": "Stop"}', b"garbage"):
            done = subprocess.run(
                hook, input=payload, cwd=project, env=stage.CLEAN, capture_output=True, check=True
            )
            assert (done.stdout, done.stderr) == (b"", b"")
        checks = diagnose(place, cwd=project)[1]
        assert (checks["hooks"]["state"], checks["launcher"]["state"]) == ("ok", "ok")
        assert checks["hook failures refused"]["state"] == "warn"
        assert "queue p-shop.1" in checks
        assert daemon.stop() == 0


def test_without_links_it_is_said_how_to_begin(home: Path) -> None:
    """That is no fault."""
    with serve(home, answers({"/v1/links": {"links": []}, "/v1/hooks": {"seen": []}})):
        check = diagnose(home)[1]["hooks"]
    assert (check["state"], "relayctl link" in check["todo"]) == ("ok", True)


@pytest.mark.parametrize(
    ("rules", "linked", "verdict"),
    [
        (None, None, ("ok", "is not linked")),
        (None, "shop", ("warn", "rules.json is missing")),
        ('{"version": 1, "project": "shop"}', None, ("warn", "not registered on this machine")),
        ('{"version": 1, "project": "shop"}', "shop", ("ok", "is linked to shop")),
        ('{"version": 1, "project": "old"}', "shop", ("ok", "its rules name old, what was linked counts")),
        ('{"version": 1, "project": "Not A Slug"}', "shop", ("warn", "names no project")),
        ("garbage", "shop", ("warn", "names no project")),
    ],
)
def test_the_project_at_hand_is_judged(
    home: Path, tmp_path: Path, rules: str | None, linked: str | None, verdict: tuple[str, str]
) -> None:
    """The rules file and what is linked on this machine must both be there."""
    state, told = verdict
    here = tmp_path / "w" / "src"
    (tmp_path / "w" / ".relay").mkdir(parents=True)
    here.mkdir()
    if rules is not None:
        (tmp_path / "w" / ".relay" / "rules.json").write_text(rules)
    with serve(home, answers({"/v1/links": {"links": [], "project": linked}})) as daemon:
        check = diagnose(home, cwd=here)[1]["project"]
        assert any(b"/v1/links?directory=" in request for request in daemon.requests)
    assert (check["state"], told in check["detail"]) == (state, True)
    assert ("Not A Slug" in check["detail"], "relayctl link" in check["todo"]) == (
        False,
        state == "warn" or linked is None,
    )


def test_the_rules_of_a_worktree_are_found_beside_its_repository(home: Path, tmp_path: Path) -> None:
    """As a hook finds them."""
    main, tree = tmp_path / "main", tmp_path / "elsewhere" / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (main / ".git" / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (main / ".relay").mkdir()
    (main / ".relay" / "rules.json").write_text('{"version": 1, "project": "shop"}')
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    check = diagnose(home, cwd=tree)[1]["project"]
    assert check["detail"].startswith(f"rules in {main};")


def test_a_working_directory_that_is_gone_is_no_fault(home: Path, tmp_path: Path) -> None:
    """All the rest is looked at."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir "{gone}" && exec {sys.executable} -P -m relayctl doctor --json'
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=gone,
        env={**os.environ, "RELAY_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["project"]["detail"] == "the working directory is gone"


def _spool(home: Path, files: list[tuple[float, int]], *, below: str = "") -> list[str]:
    """Lay events of an age in seconds and a size in bytes into the spool; by their names alone they count."""
    place = home / "spool" / below
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = [
        f"{time.time_ns() - int(age * 1e9) + at:020d}-{os.getpid()}-{size}.http"
        for at, (age, size) in enumerate(files)
    ]
    for name in names:
        (place / name).touch()
    return names


@pytest.mark.parametrize(
    ("files", "state", "told"),
    [
        ([(7_300.0, 1_000), (5.0, 24)], "ok", "2 events, 1.0 KiB, the oldest 2 h old"),
        ([(9.0, 54 << 20)], "warn", "84% full: 1 event, 54.0 MiB"),
        ([(9.0, 64 << 20)], "fail", "full: 1 event"),
    ],
)
def test_the_spool_is_measured_against_its_bound(
    home: Path, files: list[tuple[float, int]], state: str, told: str
) -> None:
    """By the names in it; a file on its way in is no event."""
    _spool(home, files)
    (home / "spool" / ".1-2.tmp").touch()
    check = diagnose(home)[1]["spool"]
    assert (check["state"], check["detail"].startswith(told)) == (state, True)
    assert "relayctl daemon start" in check["todo"]


def test_events_that_stay_in_the_spool_of_a_daemon_are_a_warning(home: Path) -> None:
    """It should have taken them in with the next hook."""
    _spool(home, [(7_300.0, 10)])
    with serve(home, answers({})):
        assert diagnose(home)[1]["spool"]["state"] == "warn"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_spool_that_cannot_be_written_fails(home: Path) -> None:
    """Events would be dropped."""
    (home / "spool").mkdir(mode=0o500)
    check = diagnose(home)[1]["spool"]
    assert (check["state"], check["todo"]) == ("fail", f"chmod 700 {home}/spool")


def test_rejected_events_are_a_warning_with_the_newest(home: Path) -> None:
    """The command shows it."""
    newest = _spool(home, [(90.0, 10), (9.0, 20)], below="rejected")[1]
    check = diagnose(home)[1]["spool rejected"]
    assert check["state"] == "warn"
    assert check["detail"] == f"the daemon refused 2 events, 30 B; the newest is {newest}"
    assert f"{home}/spool/rejected/{newest}" in check["todo"]


def test_dropped_events_are_counted_and_time_lets_them_rest(home: Path) -> None:
    """A byte is an event; a week after the last one it is no warning any more."""
    (home / "spool").mkdir(mode=0o700)
    full, large = home / "spool" / "dropped-full", home / "spool" / "dropped-large"
    full.write_bytes(b"...")
    large.write_bytes(b".")
    weeks_ago = time.time() - 15 * 86_400
    os.utime(large, (weeks_ago, weeks_ago))
    checks = diagnose(home)[1]
    told = checks["spool dropped-full"], checks["spool dropped-large"]
    assert [check["state"] for check in told] == ["warn", "ok"]
    assert told[0]["detail"].startswith("3 events because the spool was full, the last ")
    assert told[1]["detail"] == "1 event because they were over 8 MiB, the last 15 d ago"
