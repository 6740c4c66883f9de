"""What `make run` does: a daemon, the example events through it to the local receiver, a decision that a brief holds.

On a terminal the daemon then stays in the foreground until Ctrl-C; else it is stopped after the job.
"""

# ruff: noqa: INP001, S603, T201 -- a script, which starts our own commands and prints

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HOME = Path(os.environ["RELAY_HOME"])
EVENTS = Path(__file__).with_name("events.json")
BIN = Path(sys.executable).parent
STOP_TIMEOUT_S = 60
DECISION = "Prices are rounded half to even, never by floating point."
EXAMPLE = (
    '{"event_id":"hello-1","agent":"codex","event":"user-prompt-submit",'
    '"body":{"session_id":"s-1","cwd":"/tmp","prompt":"Hello"}}'
)


def main() -> int:
    """Do the job; 0 if it was done and the daemon left as asked."""
    signal.signal(signal.SIGTERM, end)
    with started_daemon() as daemon:
        do_job()
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return 0
        print_invitation()
        if daemon is None:
            print(
                f"\nThe daemon was running before and runs on. To stop it: RELAY_HOME={HOME} {BIN}/relayctl daemon stop"
            )
            return 0
        return in_foreground(daemon)


@contextmanager
def started_daemon() -> Generator[subprocess.Popen[bytes] | None]:
    """Start a daemon of our own, and stop it at the end; None if one runs for this home already."""
    # Ctrl-Z would stop the daemon and leave the shell waiting for us; a child inherits that it is ignored.
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    reading, writing = os.pipe()
    daemon = subprocess.Popen(
        [BIN / "relayd", "--home", HOME, "--ready-fd", str(writing)],
        stdin=subprocess.DEVNULL,
        pass_fds=(writing,),
        process_group=0,
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said: dict[str, Any] = json.loads(pipe.readline() or b"{}")
    if said.get("code") == "already_running":
        daemon.wait()
        print(f"A daemon runs for {HOME} already; the events go to it.")
        yield None
        return
    if not said.get("ready"):
        sys.exit(f"relayd did not start: {said.get('detail') or 'see above'} (status {daemon.wait()})")
    print(f"relayd runs with home {HOME} (pid {daemon.pid}).")
    try:
        yield daemon
    finally:
        stop(daemon)


def do_job() -> None:
    """Enqueue, deliver, show; then remember something."""
    enqueued = json.loads(relayctl("enqueue", "--file", shown(EVENTS), "--json", keep=True))
    relayctl("flush")  # its exit status says whether anything is left
    relayctl("status")
    relayctl("feed")
    if enqueued["stored"]:
        print(f"\n{enqueued['stored']} events were stored on disk and delivered to the local receiver.")
    else:
        print(
            f"\nAll {enqueued['recognized']} events were already delivered by an earlier run; "
            "nothing was sent twice."
        )
    relayctl("decide", DECISION, "--global")  # the same again, in another run, is recognized
    relayctl("brief", "--global")
    print("\nThe decision is remembered, and the brief puts it before the next agent.")


def relayctl(*arguments: str, keep: bool = False) -> str:
    """Run one command as a reader of the output could; it must succeed.

    Args:
        arguments: After `relayctl`.
        keep: Whether to return what it printed. If not, it prints to where we do, for people on a terminal.
    """
    print(f"\n$ relayctl {shlex.join(arguments)}", flush=True)
    done = subprocess.run(
        [BIN / "relayctl", *arguments],
        env={**os.environ, "RELAY_AUTOSTART": "0"},  # no daemon but ours: if it has died, that must show
        stdout=subprocess.PIPE if keep else None,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"relayctl {arguments[0]} ended with status {done.returncode}")
    if keep:
        print(done.stdout, end="", flush=True)
    return done.stdout


def print_invitation() -> None:
    """Show how to post from elsewhere."""
    socket = shown(HOME.absolute() / "relayd.sock")
    print(
        f"\nPost an event of your own from another terminal, here:\n\n  curl --unix-socket {socket} http://relayd/v1/events -d '{EXAMPLE}'"
    )
    print(f"\nand see it arrive:\n\n  RELAY_HOME={HOME} {shown(BIN)}/relayctl feed")


def in_foreground(daemon: subprocess.Popen[bytes]) -> int:
    """Give the terminal to the daemon until it ends; its exit status.

    Ctrl-C then reaches the daemon alone. In a shared process group it would reach make too, which would end with 130.
    """
    terminal = sys.stdin.fileno()
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else using the terminal from behind would stop us
    os.tcsetpgrp(terminal, daemon.pid)
    try:
        print("\nrelayd runs in the foreground. Ctrl-C stops it.", flush=True)
        return daemon.wait()
    finally:
        os.tcsetpgrp(terminal, os.getpgrp())
        print()


def stop(daemon: subprocess.Popen[bytes]) -> None:
    """Ask the daemon to leave, and wait until it has."""
    if daemon.poll() is None:
        daemon.terminate()
    if daemon.wait(STOP_TIMEOUT_S):
        sys.exit(f"relayd ended with status {daemon.returncode}")


def end(*_: object) -> None:
    """Leave by way of every `finally`, so that no daemon is left behind."""
    sys.exit(1)


def shown(path: Path) -> str:
    """Tell a path as seen from here, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before the daemon had the terminal to itself; it was stopped on the way here
        sys.exit(130)
