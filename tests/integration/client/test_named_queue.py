"""Queues of the home by their names: `--queue`, its completion, and what `status` says of the queue of hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import click
import pytest

from relay_queue import bind, bind_outbox
from relayctl.cli.app import relayctl
from tests import stage
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home with two queues of hooks, and no daemon."""
    home = tmp_path / "home"
    (home / "queue").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    for name in ("p-shop.1", "p-shop.2"):
        anyio.run(bind_outbox, home / "queue" / name, bind("local", "p", "a", "w", "shop"))
    return home


def _commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def test_a_queue_can_be_named_wherever_its_directory_can() -> None:
    """Only `init` takes directories alone, for it makes them."""
    takes = {
        path: {name for option in command.params for name in option.opts if name.startswith("--queue")}
        for path, command in _commands(relayctl)
    }
    assert {path for path, names in takes.items() if names == {"--queue-dir"}} == {"init"}
    assert {path for path, names in takes.items() if names == {"--queue-dir", "--queue"}} == {
        *("enqueue", "flush", "status", "queue list", "queue held", "queue show", "queue retry"),
        *("queue discard", "queue backup", "queue auto", "queue forget"),
    }


def test_a_name_is_a_directory_of_the_home(home: Path) -> None:
    """Without a daemon the file is read; the directory that a daemon is told is the same."""
    alone = json.loads(run(home, "status", "--queue", "p-shop.2").stdout)
    assert alone["queue"] == str(home / "queue" / "p-shop.2" / "queue.db")
    asked: list[bytes] = []
    with serve(home, lambda request: asked.append(request) or http(200, {"held": [], "total": 0})):
        assert run(home, "queue", "held", "--queue", "p-shop.2").returncode == 0
    assert any(b"queue_dir=%2F" in one and b"p-shop.2" in one for one in asked)


def test_the_default_queue_may_be_named(tmp_path: Path) -> None:
    """Where it is not there yet all is zero, as without a name."""
    told = [run(tmp_path / "home", "status", *words).stdout for words in ((), ("--queue", "default"))]
    assert json.loads(told[0])["pending_items"] == 0
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["", "P", ".x", "../x", "a/b", "a b", "x" * 81, "ä"])
def test_what_no_queue_can_be_called_is_refused(tmp_path: Path, name: str) -> None:
    """Before a daemon is started."""
    done = run(tmp_path / "home", "flush", "--queue", name)
    error, hint = done.stderr.decode().splitlines()
    assert (done.returncode, error.startswith("error: --queue: a name is 1 to 80 of ")) == (2, True)
    assert "`relayctl queue list`" in hint
    assert not (tmp_path / "home").exists()


def test_one_way_to_name_a_queue_is_enough(home: Path) -> None:
    """Both are a wrong usage, told with the help of that command."""
    done = run(home, "queue", "held", "--queue", "p-shop.1", "--queue-dir", "/q")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "error: --queue and --queue-dir exclude each other",
        "hint: `relayctl queue held --help` shows what it takes",
    ]


def test_a_name_given_as_a_directory_is_understood(home: Path, tmp_path: Path) -> None:
    """The hint has the option that was meant; `init` would make another queue in the working directory."""
    done = run(home, "status", "--queue-dir", "p-shop.2", cwd=tmp_path)
    assert done.returncode == 2
    hint = done.stderr.decode().splitlines()[-1]
    assert hint == "hint: a queue of this home has that name: `--queue p-shop.2`"


def test_a_hint_names_a_queue_of_the_home_by_its_name(home: Path) -> None:
    """Whichever option named it."""
    with serve(home, lambda _: http(409, {"code": "not_held", "detail": "no"})) as daemon:
        for words in (("--queue", "p-shop.1"), ("--queue-dir", f"{home}/queue/p-shop.1")):
            done = run(daemon.home, "queue", "retry", "1f0c93ab", *words)
            assert "`relayctl queue held --queue p-shop.1` lists" in done.stderr.decode()


@pytest.mark.parametrize(
    ("typed", "offered"), [("", ["p-shop.1", "p-shop.2"]), ("p-shop.2", ["p-shop.2"]), ("x", [])]
)
def test_names_are_completed_from_the_directory(home: Path, typed: str, offered: list[str]) -> None:
    """No daemon is started; what cannot be a queue's name is not offered."""
    (home / "queue" / ".aside").mkdir()
    before = sorted(home.iterdir())
    env = {
        "_RELAYCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": f"relayctl queue held --queue {typed}",
        "COMP_CWORD": "4",
    }
    done = run(home, env=env)
    assert (done.stdout.decode().split(), done.stderr) == ([f"plain,{name}" for name in offered], b"")
    assert sorted(home.iterdir()) == before


def test_no_home_offers_nothing(tmp_path: Path) -> None:
    """Nor does a home that cannot be told fill the line with an error."""
    env = {
        "_RELAYCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": "relayctl flush --queue ",
        "COMP_CWORD": "3",
    }
    for named in (str(tmp_path / "none"), "~nobody-of-that-name/x"):
        done = run(tmp_path, env={**env, "RELAY_HOME": named})
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("running", [True, False])
def test_where_hooks_capture_their_queue_is_told(tmp_path: Path, running: bool) -> None:
    """A line for people; what programs read is the default queue and nothing more, wherever they run."""
    repository = tmp_path / "shop"
    (repository / "src").mkdir(parents=True)
    with stage.home() as home:
        with stage.daemon(home) as daemon:
            linked = stage.relayctl("link", "--repo", str(repository), "--project", "shop", at=home)
            assert linked.returncode == 0, linked.stderr
            for number in (1, 9, 10):
                queue = str(home / "queue" / f"p-shop.{number}")
                stage.relayctl("init", "--queue-dir", queue, "--manual", "--project", "shop", at=home)
            if running:
                _check_the_line(home, repository)
            assert daemon.stop() == 0
        if not running:
            _check_the_line(home, repository)


def _check_the_line(home: Path, repository: Path) -> None:
    line = "Hooks of shop use another queue: relayctl status --queue p-shop.10\n"
    code, shown = _on_terminal_in(repository / "src", home, "status")
    assert (code, shown.endswith(f"\n{line}")) == (0, True)
    assert str(home / "queue" / "default") in shown
    for elsewhere, words in ((repository.parent, ()), (repository, ("--queue", "p-shop.10"))):
        code, shown = _on_terminal_in(elsewhere, home, "status", *words)
        assert (code, "Hooks of" in shown) == (0, False)
    piped = run(home, "status", cwd=repository)
    assert json.loads(piped.stdout)["queue"] == str(home / "queue" / "default" / "queue.db")
    assert (piped.returncode, piped.stderr) == (0, b"")


def _on_terminal_in(directory: Path, home: Path, *words: str) -> tuple[int, str]:
    """Run a command on a terminal, in a directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        return on_terminal(home, *words)


def test_programs_pay_for_no_names(tmp_path: Path) -> None:
    """`relayctl status` in a pipe imports nothing for names of queues, hints or hooks."""
    done = run(tmp_path / "home", "status", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.decode().splitlines()}
    assert {"relayctl.cli.options", "relayctl.offline"} <= imported
    costly = "queue_names", "hints", "hook", "rules_file", "cli.project_queue", "cli.table"
    assert not imported & {f"relayctl.{name}" for name in costly}
