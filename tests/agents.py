"""An agent CLI at work on a machine of its own: its user's home, linked repositories, and the real hook in a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from anyio.from_thread import start_blocking_portal

from relayd.testing import ScriptedServer, scripted_server
from tests import stage
from tests.unit.projects.layouts import repository
from tests.waiting import eventually

NAMES = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "session-end": "SessionEnd",
    "pre-compact": "PreCompact",
    "post-compact": "PostCompact",
}
NO_START = {"RELAY_AUTOSTART": "0"}
_SAYS: dict[str, Callable[[Path], dict[str, str]]] = {
    "claude": lambda at: {"CLAUDE_PROJECT_DIR": str(at)},
    "codex": lambda _: {},
    "grok": lambda at: {
        "GROK_HOOK_EVENT": "any",
        "GROK_WORKSPACE_ROOT": str(at),
        "CLAUDE_PROJECT_DIR": str(at),
    },
}
"""What each agent CLI sets for its hooks."""
# A hook of 450 ms has ended long before, also on a machine with much to do; one that hangs has not.
SLACK_S = 10.0
# Such a machine may keep a hook from its answer. What it spools then, the daemon takes in with the next hook, or within
# a minute: that is shortened here, since tests have no next one.
LOOKS_OFTEN = (
    "-P",
    "-c",
    "import relayd.loss as loss; loss._WATCH_EVERY_S = 1; from relayd.__main__ import main; raise SystemExit(main())",
)
AS_IT_IS = ("-P", "-m", "relayd")
AT_ONCE = 4

Fed = tuple[str, str, int]
"""Session, event and number of one event that arrived."""

_NUMBER = re.compile(r"number (\d+)\b")


class Ran(NamedTuple):
    """How one run of the hook ended."""

    status: int
    stdout: bytes
    stderr: bytes
    took_s: float


class Desk(NamedTuple):
    """A user with a home at its default place; nothing is set but what every user has."""

    user: Path

    @property
    def home(self) -> Path:
        """The daemon's home."""
        return self.user / STATE / "relayd"

    @property
    def spool(self) -> list[Path]:
        """What is spooled, in order."""
        return sorted(self.home.glob("spool/*.http"))

    @property
    def codes(self) -> list[str]:
        """What hooks noted of their failures."""
        log = self.home / "logs/hooks.log"
        return [json.loads(line)["code"] for line in log.read_text().splitlines()] if log.exists() else []

    def relayctl(self, *words: str, cwd: Path | None = None, stdin: bytes = b"") -> Any:
        """Run a command that succeeds; what it printed."""
        code, told = self.command(*words, cwd=cwd, stdin=stdin)
        assert code == 0, told
        return told

    def command(self, *words: str, cwd: Path | None = None, stdin: bytes = b"") -> tuple[int, Any]:
        """Run a command: its exit code and what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "relayctl", *words],
            env={**stage.CLEAN, "HOME": str(self.user)},
            cwd=cwd or self.user,
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.decode()

    def link(self, *names: str) -> Path:
        """Link a new repository for each name to the project of that name; the last one."""
        for name in names:
            place = repository(self.user / "code" / name)
            self.relayctl("link", "--project", name, cwd=place)
        return place

    def start(
        self, *flags: str, env: dict[str, str] | None = None, program: tuple[str, ...] = LOOKS_OFTEN
    ) -> stage.Daemon:
        """Start a daemon on the home."""
        return stage.start(self.home, *flags, env={"HOME": str(self.user), **(env or {})}, program=program)

    @contextmanager
    def daemon(
        self, *flags: str, env: dict[str, str] | None = None, program: tuple[str, ...] = LOOKS_OFTEN
    ) -> Iterator[stage.Daemon]:
        """A daemon for the length of a block; stopped in good order if it still runs."""
        running = self.start(*flags, env=env, program=program)
        try:
            yield running
        finally:
            if running.process.poll() is None:
                running.stop()

    def hook_process(
        self,
        event: str,
        *,
        at: Path,
        env: dict[str, str] | None = None,
        stdin: int = subprocess.PIPE,
        cli: str = "claude",
    ) -> subprocess.Popen[bytes]:
        """Start the hook as an agent CLI does, by the command line of its settings."""
        command = f'"$HOME/{STATE}/relayd/bin/relay-hook" {cli} {event}'
        return subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={
                "HOME": str(self.user),
                "PATH": os.environ["PATH"],
                "LANG": "C.UTF-8",
                **(_SAYS[cli](at)),
                **NO_START,
                **(env or {}),
            },
            cwd=at,
        )

    def hook(self, event: str, payload: bytes, *, at: Path, env: dict[str, str] | None = None) -> Ran:
        """Run the hook on a whole text; whatever happens it is silent, in time and ends with 0."""
        ran = self.telling_hook(event, payload, at=at, env=env)
        assert ran.stdout == b""
        return ran

    def telling_hook(
        self, event: str, payload: bytes, *, at: Path, env: dict[str, str] | None = None, cli: str = "claude"
    ) -> Ran:
        """Run the hook of an event whose agent may be told something."""
        began = time.monotonic()
        with self.hook_process(event, at=at, env=env, cli=cli) as process:
            stdout, stderr = process.communicate(payload, timeout=30)
        ran = Ran(process.returncode, stdout, stderr, time.monotonic() - began)
        assert (ran.status, ran.stderr) == (0, b"")
        assert ran.took_s < SLACK_S
        return ran

    def stop_hook(self, number: int, session: str = "s-1", *, at: Path, **more: Any) -> Ran:
        """Run the hook of a turn's end, which says a number."""
        env = more.pop("env", None)
        return self.hook("stop", said("stop", number, session, at, **more), at=at, env=env)

    def stop_hooks(
        self, numbers: Iterable[int], *, at: Path, sessions: int, env: dict[str, str] | None = None
    ) -> None:
        """Run hooks for numbers in turn over sessions, which work side by side, each in its own order."""
        all_of_them = list(numbers)

        def work(session: int) -> None:
            for number in all_of_them[session::sessions]:
                self.stop_hook(number, f"s-{session}", at=at, env=env)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(work, range(sessions)))

    def spool_hooks(self, numbers: Iterable[int], *, at: Path, sessions: int) -> None:
        """Spool many events as the hook does: the first by the hook itself, the others after its example."""
        first, *others = numbers
        self.stop_hook(first, "s-0", at=at)
        example = self.spool[-1]
        head, _, payload = example.read_bytes().partition(b"\r\n\r\n")
        at_ns = int(example.name.partition("-")[0])
        for number in others:
            told = said("stop", number, f"s-{(number - first) % sessions}", at)
            call_id = b"%032x" % number
            text = re.sub(rb"(Relay-Id: )\w+", rb"\g<1>" + call_id, head)
            text = text.replace(b"Content-Length: %d" % len(payload), b"Content-Length: %d" % len(told))
            request = text + b"\r\n\r\n" + told
            name = f"{at_ns + number - first:020}-77-{len(request)}.http"
            (example.parent / name).write_bytes(request)

    def fed(self, daemon: stage.Daemon) -> list[Fed]:
        """What has arrived in the feed, in order, once nothing waits any more."""
        settled(daemon)
        found: list[Fed] = []
        since = 0
        while (page := daemon.call("GET", f"/v1/feed?since={since}&limit=1000&kind=hook")[1])["events"]:
            found += [
                (one["session_id"], one["event"], number_in(one["excerpt"] or "")) for one in page["events"]
            ]
            since = page["next"]
        return found

    def checks(self) -> dict[str, tuple[str, str]]:
        """What `doctor` finds: state and detail of each check."""
        _, told = self.command("doctor")
        return {check["name"]: (check["state"], check["detail"]) for check in told["checks"]}


STATE = "Library/Application Support" if sys.platform == "darwin" else ".local/state"


@contextmanager
def desk() -> Iterator[Desk]:
    """A user whose home has a space and letters beyond ASCII in its path; no daemon lives on afterwards."""
    path = Path(tempfile.mkdtemp(prefix="desk-")).resolve()
    made = Desk(path / "Ana María" / "x y")
    made.user.mkdir(parents=True)
    try:
        yield made
    finally:
        if made.home.exists():
            made.command("daemon", "stop")
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def serving() -> Iterator[ScriptedServer]:
    """A scripted server beside a test that waits for processes."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(scripted_server()) as server:
        yield server


def said(event: str, number: int, session: str = "s-1", cwd: Path = Path("/"), **members: Any) -> bytes:
    """What Claude Code says to a hook (synthetic)."""
    text = {"prompt": f"number {number}"} if event == "user-prompt-submit" else {}
    if event == "stop":
        text = {"last_assistant_message": f"number {number}", "stop_hook_active": False}
    told = {
        "session_id": session,
        "transcript_path": f"/nowhere/{session}.jsonl",
        "cwd": str(cwd),
        "hook_event_name": NAMES[event],
        **text,
        **members,
    }
    return json.dumps(told, ensure_ascii=False).encode()


def number_in(text: str) -> int:
    """The number that a hook said; -1 for none."""
    found = _NUMBER.search(text)
    return int(found[1]) if found else -1


def settled(daemon: stage.Daemon) -> None:
    """Wait until nothing is in the spool and no queue of a hook holds anything."""

    def is_settled() -> bool:
        if any(daemon.home.glob("spool/*.http")):
            return False
        listed = daemon.call("GET", "/v1/queues")[1]["queues"]
        return not any(queue["pending_items"] for queue in listed if queue["name"].startswith("p-"))

    eventually(is_settled)


def received(server: ScriptedServer) -> dict[str, list[int]]:
    """The numbers of each session, as a server took them."""
    return {
        session: [number_in(event.body["last_assistant_message"]) for event in events]
        for session, events in server.memory.sessions().items()
    }


def by_session(fed: Iterable[Fed]) -> dict[str, list[int]]:
    """The numbers of each session, as they arrived."""
    found: dict[str, list[int]] = {}
    for session, _, number in fed:
        found.setdefault(session, []).append(number)
    return found


def in_turn(numbers: Iterable[int], sessions: int) -> dict[str, list[int]]:
    """Numbers in turn over sessions, each once and in order."""
    all_of_them = list(numbers)
    return {f"s-{session}": all_of_them[session::sessions] for session in range(sessions)}
