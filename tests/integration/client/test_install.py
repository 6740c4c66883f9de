"""`relayctl service`: units written, loaded and removed, and commands that leave starting to the manager."""

from __future__ import annotations

import json
import os
import plistlib
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from relayctl import control, managed, service, service_state, units
from relayctl.client import Client
from relayctl.errors import ServiceDown
from relayctl.service_errors import ChangeUnfinished, ForeignFile, NoServiceManager, OtherHomesService
from tests import stage
from tests.integration.client import fake_manager
from tests.integration.client.command import environ_of, on_terminal, run

_SYSTEMD = [
    ["systemctl", "--user", "daemon-reload"],
    ["systemctl", "--user", "enable", "--now", "relayd.socket", "relayd.service"],
]


class Machine(NamedTuple):
    """A user's machine: where they live, the home of their daemon, and the manager on PATH."""

    user: Path
    home: Path
    tools: Path

    @property
    def env(self) -> dict[str, str]:
        """What a command finds in its environment."""
        return {"HOME": str(self.user), "PATH": f"{self.tools}:{os.environ['PATH']}"}

    @property
    def whole(self) -> dict[str, str]:
        """The same for calls within this process."""
        return environ_of(self.home, self.env)

    @property
    def unit(self) -> Path:
        """The installed service unit."""
        return self.user / ".config/systemd/user/relayd.service"

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run one command line."""
        return run(self.home, *words, env=self.env)

    def ok(self, *words: str) -> dict[str, Any]:
        """Run one that succeeds; what it printed."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def asked(self) -> list[list[str]]:
        """What the manager was told to do since the last look, questions left out."""
        notes = self.tools / "asked"
        calls = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
        notes.unlink(missing_ok=True)
        return [
            call
            for call in calls
            if not {"is-active", "is-enabled", "print", "show-environment"}.intersection(call)
        ]


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine whose user has a space in their name; no daemon is left on it."""
    with stage.home() as place:
        user = place / "Ana María"
        user.mkdir()
        made = Machine(user, user / "state 100%" / "re$HOME", place / "bin")
        fake_manager.install(made.tools)
        yield made
        (made.tools / "fail").unlink(missing_ok=True)
        assert made.run("daemon", "stop").returncode == 0


def test_install_and_uninstall(machine: Machine) -> None:
    """Files, manager and mark come in this order, and go in the opposite one; what is stored stays."""
    answer = machine.ok("service", "install", "--yes")
    assert machine.asked() == _SYSTEMD
    assert (answer["installed"], answer["up_to_date"], answer["managed"]) == (True, True, True)
    assert (machine.home / "managed").read_text() == "systemd\n"
    assert (machine.home.stat().st_mode & 0o777, (machine.home / "managed").stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )
    assert machine.ok("daemon", "status")["managed"] == "systemd"
    assert machine.ok("queue", "list")["queues"] == []

    answer = machine.ok("service", "uninstall", "--yes")
    assert machine.asked() == [
        ["systemctl", "--user", "disable", "--now", "relayd.service", "relayd.socket"],
        ["systemctl", "--user", "daemon-reload"],
    ]
    assert (answer["installed"], answer["managed"]) == (False, False)
    assert answer["done"][0] == f"remove {machine.home}/managed"
    assert list(machine.unit.parent.iterdir()) == []
    assert (machine.home / "relay.db").exists()


def test_people_get_a_table_and_advice(machine: Machine) -> None:
    """What is installed in words; settings of this shell, which the service will not see, are named."""
    done = run(machine.home, "service", "install", "--yes", env={**machine.env, "RELAY_LOG_DEBUG": "1"})
    assert b"hint: the service does not see RELAY_LOG_DEBUG of this shell" in done.stderr
    code, shown = on_terminal(machine.home, "service", "status", env=machine.env)
    assert code == 0
    assert "installed with systemd\n" in shown
    assert f"{machine.unit}: as this version writes it" in shown
    assert "relayd.service: active, enabled" in shown
    assert "only connect" in shown
    assert "by systemd, as a service" in on_terminal(machine.home, "daemon", "status", env=machine.env)[1]
    other = machine.user / "other"
    shown = on_terminal(other, "service", "status", env=machine.env)[1]
    assert f"installed with systemd for another home: {machine.home}" in shown
    machine.ok("service", "uninstall", "--yes")
    machine.tools.joinpath("fail").write_text("is-active")
    shown = on_terminal(machine.home, "service", "status", env=machine.env)[1]
    assert "none is installed" in shown
    assert "start the daemon on demand" in shown
    assert "problem" in shown


def test_templates_are_found_where_installers_put_them(tmp_path: Path) -> None:
    """Without a source checkout beside the package they are in share/relayd; without them nothing is done."""
    site, data = tmp_path / "site", tmp_path / "base/share/relayd"
    shutil.copytree(
        Path(units.__file__).parent, site / "relayctl", ignore=shutil.ignore_patterns("__pycache__")
    )
    env = {
        **environ_of(tmp_path / "home"),
        "PYTHONPATH": f"{site}:{Path(click.__file__).parents[1]}",
        "PYTHONUSERBASE": str(tmp_path / "base"),
    }

    def shown() -> subprocess.CompletedProcess[bytes]:
        words = [sys.executable, "-S", "-m", "relayctl", "service", "install", "--print"]
        return subprocess.run(words, env=env, capture_output=True, check=False, cwd=tmp_path)

    before = shown()
    assert before.returncode == 2
    assert (
        b"the template systemd/relayd.socket is not installed with this package; nothing was" in before.stderr
    )
    shutil.copytree(Path(__file__).parents[3] / "systemd", data / "systemd")
    assert b"[Service]" in shown().stdout


def test_a_path_that_no_unit_can_carry_is_refused(machine: Machine) -> None:
    """A line break would end the line, so nothing is written."""
    done = run(machine.user / "a\nb", "service", "install", "--yes", env=machine.env)
    assert done.returncode == 2
    assert b"the path of the home holds control characters" in done.stderr
    told = json.loads(run(machine.user / "a\nb", "service", "status", env=machine.env).stdout)
    assert told["problem"].startswith("the path of the home")


def test_a_changed_agent_still_counts_as_ours(machine: Machine) -> None:
    """One whose command was edited away is for no home that we know, but it may be written anew with --force."""
    home, environ = str(machine.home), machine.whole
    (file,) = units.wanted(home, environ, platform="darwin")
    Path(file.path).parent.mkdir(parents=True)
    Path(file.path).write_bytes(file.text.replace(b"--home", b"--elsewhere"))
    with pytest.raises(OtherHomesService, match="a home that it does not name"):
        service.uninstall(home, environ, force=False, platform="darwin")
    service.uninstall(home, environ, force=True, platform="darwin").carry_out()
    assert not Path(file.path).exists()


def test_what_is_done_already_is_done_again_without_harm(machine: Machine) -> None:
    """A second install stops nothing and writes no file; a second uninstall has nothing to do."""
    machine.ok("service", "install", "--yes")
    before = machine.ok("daemon", "status")["pid"]
    machine.asked()
    machine.ok("service", "install", "--yes")
    assert machine.asked() == _SYSTEMD
    assert machine.ok("daemon", "status")["pid"] == before
    machine.ok("service", "uninstall", "--yes")
    machine.asked()
    assert machine.ok("service", "uninstall")["done"] == []
    assert machine.asked() == []


def test_a_daemon_on_demand_is_stopped_first(machine: Machine) -> None:
    """There is one daemon afterwards, the manager's."""
    before = machine.ok("daemon", "start")["pid"]
    done = machine.ok("service", "install", "--yes")["done"]
    assert done[0] == "stop the daemon that runs"
    after = machine.ok("daemon", "status")
    assert (after["pid"] != before, str(after["pid"])) == (True, (machine.tools / "pid").read_text())


def test_print_shows_the_files_and_writes_nothing(machine: Machine) -> None:
    """Both units with this interpreter and this home; no home, no file, no call."""
    shown = machine.run("service", "install", "--print")
    assert (shown.returncode, shown.stderr) == (0, b"")
    text = shown.stdout.decode()
    assert f"# {machine.unit}\n" in text
    assert "[Socket]" in text
    assert '100%%/re$$HOME"' in text
    assert not machine.home.exists()
    assert not machine.unit.exists()
    assert machine.asked() == []


def test_without_a_terminal_nothing_is_done_unasked(machine: Machine) -> None:
    """It says what it would do, and that --yes does it; exit 2."""
    done = machine.run("service", "install")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"  write {machine.unit}\n".encode() in done.stderr
    assert b"--yes does it without asking" in done.stderr
    assert not machine.unit.exists()
    assert not machine.home.exists()
    assert machine.asked() == []


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 2)])
def test_a_person_is_asked(machine: Machine, answer: bytes, code: int) -> None:
    """Only yes goes on."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "relayctl", "service", "install"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=machine.whole,
    ) as asking:
        os.close(theirs)
        os.write(ours, answer)
        _, stderr = asking.communicate(timeout=60)
    os.close(ours)
    assert (asking.returncode, machine.unit.exists()) == (code, code == 0)
    assert b"go on? [y/N]" in stderr


def test_a_file_of_somebody_else_is_kept(machine: Machine) -> None:
    """Without --force nothing is changed; uninstall leaves it in any case."""
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text("[Service]\nExecStart=/mine\n")
    done = machine.run("service", "install", "--yes")
    assert done.returncode == 2
    assert b"was not written by relayctl; nothing was changed" in done.stderr
    machine.ok("service", "uninstall", "--yes")
    assert machine.unit.read_text() == "[Service]\nExecStart=/mine\n"
    assert not machine.home.exists()
    machine.ok("service", "install", "--yes", "--force")
    assert units.MARK in machine.unit.read_text()


def test_another_homes_service_is_not_taken_unasked(machine: Machine) -> None:
    """A user has one service; with --force it changes its home, whose clients then start daemons themselves."""
    machine.ok("service", "install", "--yes")
    other = machine._replace(home=machine.user / "other")
    for words in (("install", "--yes"), ("uninstall", "--yes")):
        done = other.run("service", *words)
        assert (done.returncode, f"the home {machine.home};".encode() in done.stderr) == (2, True)
    told = other.ok("service", "status")
    assert (told["installed"], told["installed_home"], told["managed"]) == (True, str(machine.home), False)
    assert [file["state"] for file in told["files"]] == ["other_home", "other_home"]
    assert machine.ok("daemon", "status")["running"]

    other.ok("service", "install", "--yes", "--force")
    assert managed.manager_of(str(machine.home)) is None
    assert machine.run("daemon", "status").returncode == 3
    assert other.ok("daemon", "status")["managed"] == "systemd"
    other.ok("daemon", "stop")


def test_a_step_that_fails_tells_what_was_done_and_what_to_do(machine: Machine) -> None:
    """The files are there, the mark is not, and the commands to go on are shown; repeating goes on."""
    machine.tools.joinpath("fail").write_text("enable")
    done = machine.run("service", "install", "--yes")
    assert done.returncode == 2
    said = done.stderr.decode()
    assert (
        "error: `systemctl --user enable --now relayd.socket relayd.service` failed: Failed to connect to bus"
        in said
    )
    assert f"  done:     write {machine.unit}\n" in said
    assert f"  not done: write {machine.home}/managed\n" in said
    assert "hint: by hand: `systemctl --user enable --now relayd.socket relayd.service`" in said
    assert managed.manager_of(str(machine.home)) is None
    machine.tools.joinpath("fail").unlink()
    assert machine.ok("service", "install", "--yes")["managed"]


def test_a_removal_that_fails_in_the_middle_says_so_too(machine: Machine) -> None:
    """Clients may start daemons again at once; the files wait for the manager."""
    machine.ok("service", "install", "--yes")
    machine.tools.joinpath("fail").write_text("disable")
    done = machine.run("service", "uninstall", "--yes")
    assert done.returncode == 2
    assert f"  not done: remove {machine.unit}\n".encode() in done.stderr
    assert f"`rm '{machine.unit}'`".encode() in done.stderr
    assert (machine.unit.exists(), managed.manager_of(str(machine.home))) == (True, None)
    machine.tools.joinpath("fail").unlink()
    machine.ok("service", "uninstall", "--yes")
    assert not machine.unit.exists()


def test_without_the_manager_nothing_is_written(machine: Machine) -> None:
    """A container has no systemctl: refused before the first step."""
    environ = {**machine.whole, "PATH": str(machine.user)}
    with pytest.raises(NoServiceManager, match="there is no systemctl here; nothing was changed"):
        service.install(str(machine.home), environ, lambda: None, force=False, platform="linux")
    assert list(machine.user.iterdir()) == []


def test_a_manager_that_does_not_answer_is_found_out_before_anything_is_written(machine: Machine) -> None:
    """As under `su`, where systemctl is there and its bus is not."""
    machine.tools.joinpath("fail").write_text("show-environment")
    done = machine.run("service", "install", "--yes")
    assert done.returncode == 2
    assert (
        b"systemd does not answer: Failed to connect to bus: No medium found; nothing was changed"
        in done.stderr
    )
    assert list(machine.user.iterdir()) == []


def test_a_managed_home_is_only_connected_to(machine: Machine) -> None:
    """No command starts a daemon beside the service; the error says how to start it."""
    machine.ok("service", "install", "--yes")
    stopped = machine.ok("daemon", "stop")
    assert stopped["stopped_pid"]
    assert machine.asked()[-1] == ["systemctl", "--user", "stop", "relayd.socket", "relayd.service"]
    done = machine.run("queue", "list")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"error: no daemon answers for {machine.home}, which systemd looks after\n".encode()
    )
    assert b"`relayctl daemon start`" in done.stderr
    assert machine.asked() == []
    first = machine.ok("daemon", "start")["pid"]
    assert machine.asked() == [
        ["systemctl", "--user", "start", "relayd.socket"],
        ["systemctl", "--user", "start", "relayd.service"],
    ]
    second = machine.ok("daemon", "restart")["pid"]
    assert first != second
    assert machine.asked() == [["systemctl", "--user", "restart", "relayd.service"]]
    machine.ok("daemon", "start")
    assert machine.asked() == []


def test_a_managed_home_still_runs_without_a_daemon(machine: Machine) -> None:
    """--no-daemon needs no service."""
    machine.ok("service", "install", "--yes")
    machine.ok("daemon", "stop")
    assert machine.ok("--no-daemon", "queue", "list")["queues"] == []


def test_a_service_that_cannot_start_tells_the_daemons_own_cause(machine: Machine) -> None:
    """What the daemon left behind says more than the manager."""
    machine.ok("service", "install", "--yes")
    machine.ok("daemon", "stop")
    (machine.home / "config.toml").write_text("[no]\n")
    done = machine.run("daemon", "start")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: the daemon did not start: ")
    assert b"config.toml" in done.stderr
    (machine.home / "config.toml").unlink()


def test_a_manager_that_fails_is_quoted(machine: Machine) -> None:
    """Its own words, and where more is."""
    machine.ok("service", "install", "--yes")
    machine.ok("daemon", "stop")
    machine.tools.joinpath("fail").write_text("start")
    done = machine.run("daemon", "start")
    assert done.returncode == 2
    assert (
        b"`systemctl --user start relayd.socket` failed: Failed to connect to bus: No medium found"
        in done.stderr
    )
    assert b"journalctl --user -u relayd.service" in done.stderr


def test_stop_ends_a_daemon_beside_the_service_too(machine: Machine) -> None:
    """One started by hand holds the home all the same."""
    machine.ok("service", "install", "--yes")
    machine.ok("daemon", "stop")
    with stage.daemon(machine.home) as daemon:
        assert machine.ok("daemon", "stop")["stopped_pid"] == daemon.process.pid
        assert daemon.process.wait(timeout=20) == 0


def test_status_compares_with_what_this_version_writes(machine: Machine) -> None:
    """An edited unit differs, a removed one is missing; installing renews both and restarts the service."""
    machine.ok("service", "install", "--yes")
    before = machine.ok("daemon", "status")["pid"]
    with machine.unit.open("a") as unit:
        unit.write("Nice=5\n")
    machine.unit.with_name("relayd.socket").unlink()
    told = machine.ok("service", "status")
    assert [file["state"] for file in told["files"]] == ["missing", "differs"]
    assert told["units"][1] == {"unit": "relayd.service", "active": "active", "enabled": "enabled"}
    assert (told["up_to_date"], told["problem"]) == (False, None)
    machine.ok("service", "install", "--yes")
    assert machine.ok("service", "status")["up_to_date"]
    assert machine.ok("daemon", "status")["pid"] != before


def test_status_without_a_manager_says_what_is_in_the_way(machine: Machine) -> None:
    """As in a container: nothing is active, and why that is not known."""
    machine.tools.joinpath("fail").write_text("is-active")
    told = machine.ok("service", "status")
    assert (told["installed"], told["managed"]) == (False, False)
    assert told["problem"] == "Failed to connect to bus: No medium found"
    assert [unit["active"] for unit in told["units"]] == [None, None]


def test_a_mark_of_a_later_version_counts(tmp_path: Path) -> None:
    """Whoever wrote it, no client starts a daemon beside it."""
    (tmp_path / "managed").write_text("of-tomorrow\n")
    assert managed.manager_of(str(tmp_path)) in managed.MANAGERS
    with Client({"RELAY_HOME": str(tmp_path)}) as client, pytest.raises(ServiceDown):
        client.reach()


@pytest.mark.parametrize("name", ["b $HOME ${HOME} %h 100% é", 'b "in" \\n it\'s'])
def test_systemd_takes_the_units_as_they_are_written(machine: Machine, tmp_path: Path, name: str) -> None:
    """`systemd-analyze verify` finds the program of a path with everything in it, and complains of nothing."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    python = tmp_path / name / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    files = units.wanted(
        f"{tmp_path}/a \"b\" $c %h \\d 'e' é", machine.whole, platform="linux", python=str(python)
    )
    for file in files:
        units.write(file)
    done = subprocess.run(
        [analyze, "--user", "verify", *(file.path for file in files)],
        capture_output=True,
        check=False,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(machine.user), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert b"relayd" not in done.stderr, done.stderr


def test_a_home_too_long_for_a_socket_unit_gets_a_service_alone(machine: Machine) -> None:
    """systemd binds by the whole path, which has 107 bytes; the daemon itself has no such limit."""
    (file,) = units.wanted(f"/{'x' * 120}", machine.whole, platform="linux")
    assert file.path.endswith("relayd.service")
    assert b"relayd.socket" not in file.text


def test_the_agent_of_launchd(machine: Machine) -> None:
    """A property list for this home, loaded anew when it changes, stopped and started by launchctl."""
    home, environ = str(machine.home), machine.whole
    with Client(environ) as client:
        service.install(
            home, environ, lambda: control.stop(client), force=False, platform="darwin"
        ).carry_out()
        path = machine.user / "Library/LaunchAgents/dev.relayd.plist"
        agent = plistlib.loads(path.read_bytes())
        assert agent["ProgramArguments"] == [
            sys.executable,
            "-P",
            "-m",
            "relayd",
            "--home",
            home,
            "--launchd",
        ]
        target = f"gui/{os.getuid()}/dev.relayd"
        assert machine.asked() == [["launchctl", "bootstrap", f"gui/{os.getuid()}", str(path)]]
        told = service_state.state(home, environ, platform="darwin")
        assert (told["up_to_date"], told["installed_home"], told["managed"]) == (True, home, True)
        assert told["units"] == [{"unit": "dev.relayd", "active": "running", "enabled": "enabled"}]

        first = control.restart(client).pid
        assert machine.asked() == [["launchctl", "kickstart", "-k", target]]
        assert control.stop(client) == first
        assert machine.asked() == [["launchctl", "bootout", target]]
        assert control.start(client).pid != first
        assert machine.asked() == [["launchctl", "bootstrap", f"gui/{os.getuid()}", str(path)]]
        client.forget()

        service.install(
            home, environ, lambda: control.stop(client), force=False, platform="darwin"
        ).carry_out()
        assert [call[1] for call in machine.asked()] == ["bootout", "bootstrap"]
        service.uninstall(home, environ, force=False, platform="darwin").carry_out()
        assert machine.asked() == [["launchctl", "bootout", target]]
    assert not path.exists()
    assert managed.manager_of(home) is None


def test_an_agent_that_launchd_does_not_know_is_no_fault(machine: Machine) -> None:
    """Removing goes on after a bootout by hand; restarting loads it."""
    home, environ = str(machine.home), machine.whole
    with Client(environ) as client:
        service.install(
            home, environ, lambda: control.stop(client), force=False, platform="darwin"
        ).carry_out()
        control.stop(client)
        control.restart(client)
        control.stop(client)
        machine.asked()
        service.uninstall(home, environ, force=False, platform="darwin").carry_out()
    assert machine.asked() == []


def test_launchd_is_waited_for_until_it_has_let_go_of_the_agent(machine: Machine) -> None:
    """It says that it is about to, and takes no new agent meanwhile."""
    home, environ = str(machine.home), machine.whole
    (machine.tools / "slow").touch()
    with Client(environ) as client:
        for _ in range(2):
            service.install(
                home, environ, lambda: control.stop(client), force=False, platform="darwin"
            ).carry_out()
        control.stop(client)
        client.forget()
        control.start(client)
        client.forget()
        service.uninstall(home, environ, force=False, platform="darwin").carry_out()
    verbs = [call[1] for call in machine.asked()]
    assert verbs == ["bootstrap", "bootout", "bootstrap", "bootout", "bootstrap", "bootout"]


def test_files_of_others_are_told_apart_on_macos_too(machine: Machine) -> None:
    """An agent without our mark is somebody's, one with it and another home is that home's."""
    home, environ = str(machine.home), machine.whole
    (file,) = units.wanted("/elsewhere -- <&>", environ, platform="darwin")
    units.write(file)
    with pytest.raises(OtherHomesService, match="the home /elsewhere -- <&>; nothing was changed"):
        service.install(home, environ, lambda: None, force=False, platform="darwin")
    Path(file.path).write_bytes(b"<?xml version='1.0'?><plist><dict/></plist>")
    with pytest.raises(ForeignFile):
        service.install(home, environ, lambda: None, force=False, platform="darwin")


def test_a_disk_that_does_not_take_the_file_is_told(machine: Machine) -> None:
    """The place of the units may be somebody else's or a file."""
    (machine.user / ".config").write_text("")
    plan = service.install(str(machine.home), machine.whole, lambda: None, force=False, platform="linux")
    with pytest.raises(ChangeUnfinished, match=r"\.config") as unfinished:
        plan.carry_out()
    assert unfinished.value.details[0] == "done:     stop the daemon that runs"
