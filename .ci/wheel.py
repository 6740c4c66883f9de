"""Build the wheel, install it where nothing else is, and do the main job with the installed commands."""

# ruff: noqa: INP001, S603, T201 -- a script, which starts our own commands and prints

import json
import os
import shlex
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EVENTS = ROOT / "docs/examples/events.json"
DECISION = "Prices are rounded half to even, never by floating point."


class Machine:
    """A directory that stands for a fresh machine: an environment with the wheel, and an empty HOME."""

    def __init__(self, place: Path) -> None:
        """Lay it out in a new directory."""
        self.home = place / "home of a user"
        self.elsewhere = place / "elsewhere"
        self.bin = place / "venv/bin"
        self.home.mkdir(mode=0o700)
        self.elsewhere.mkdir()

    def install(self, wheel: Path) -> None:
        """Install with the caller's pip settings: they name the registry."""
        venv.create(self.bin.parent, with_pip=True)
        run(self.bin / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check", wheel)

    def relayctl(self, *arguments: str) -> Any:  # noqa: ANN401 -- JSON
        """Run one installed command in a bare environment; the JSON it printed."""
        print(f"$ relayctl {shlex.join(arguments)}", flush=True)
        done = subprocess.run(
            [self.bin / "relayctl", *arguments],
            cwd=self.elsewhere,
            env={"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            stdout=subprocess.PIPE,
            check=False,
        )
        sys.stdout.write(done.stdout.decode())
        if done.returncode:
            sys.exit(f"FAILED: exit status {done.returncode}")
        return json.loads(done.stdout) if done.stdout.strip() else None


def main() -> None:
    """Do it all in a temporary directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="relayd-wheel-") as place:
        machine = Machine(Path(place))
        machine.install(built_wheel(Path(place)))
        try:
            use(machine)
        finally:
            machine.relayctl("daemon", "stop", "--json")
    print("The installed wheel works.")


def built_wheel(place: Path) -> Path:
    """Build it with the back end at hand, from the files as they are."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "dist")
    (wheel,) = (place / "dist").glob("*.whl")
    return wheel


def use(machine: Machine) -> None:
    """Enqueue, deliver, enqueue again, and remember; on a machine where nothing was before and nothing runs."""
    count = len(json.loads(EVENTS.read_bytes()))
    fresh = machine.relayctl("status")
    check(fresh["pending_items"] == fresh["receipts"] == 0, "a fresh machine has nothing")
    check(not any(machine.home.iterdir()), "asking for the status leaves nothing behind")

    stored = machine.relayctl("enqueue", "--file", str(EVENTS))
    check((stored["stored"], stored["recognized"]) == (count, 0), f"{count} events are stored")
    flushed = machine.relayctl("flush")
    check((flushed["pending_items"], flushed["exit_code"]) == (0, 0), "nothing is pending after the flush")
    status = machine.relayctl("status")
    check(
        status["receipts"] == status["receipt_outcomes"]["stored"] == count, f"{count} events were delivered"
    )

    again = machine.relayctl("enqueue", "--file", str(EVENTS))
    check((again["stored"], again["recognized"]) == (0, count), "the same events are recognized")
    feed = machine.relayctl("feed")
    check(len(feed["events"]) == count, "each event is in the feed once")
    remember(machine)


def remember(machine: Machine) -> None:
    """Decide something for a project, find it by another form of its words, and see it in a brief."""
    machine.relayctl("project", "add", "shop")
    decided = machine.relayctl("decide", DECISION, "--project", "shop")
    check(decided["created"], "a decision is recorded")
    found = machine.relayctl("recall", "rounding", "--project", "shop")
    check([item["id"] for item in found["items"]] == [decided["id"]], "it is found by another form of a word")
    brief = machine.relayctl("brief", "--project", "shop", "--json")
    check(DECISION in brief["text"], "a brief holds it")


def run(*command: str | os.PathLike[str]) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, cwd=ROOT, check=True)


def check(holds: bool, what: str) -> None:
    """Say that something holds, or end here."""
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(1)


if __name__ == "__main__":
    main()
