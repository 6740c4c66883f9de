"""The commands in docs/http-api.md do what the page says, against a real daemon."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import stage

ROOT = Path(__file__).resolve().parents[3]
OUTBOX = "/tmp/outbox"  # noqa: S108 -- the directory that the page names, replaced below
NO_SUCH_EVENT = "1f0c93ab"  # the key that the page makes up


def examples() -> list[str]:
    """Every command of the page, with its continuation lines, in order; the one that ends the daemon comes last."""
    text = (ROOT / "docs/http-api.md").read_text(encoding="utf-8")
    found = re.findall(r"^    relay .*(?:\n {6,}.*)*", text, flags=re.MULTILINE)
    return sorted((command.strip() for command in found), key=lambda command: "/v1/stop" in command)


def run(command: str, home: Path) -> str:
    """Run one command with the page's `relay`; the status of the answer."""
    relay = f"curl -sS -o /dev/null -w '%{{http_code}}' --unix-socket '{home}/relayd.sock'"
    script = f'relay() {{ {relay} "$@"; }}\n{command.replace(OUTBOX, str(home / "outbox"))}'
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=ROOT,
        env=stage.CLEAN,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_every_example_is_answered_as_the_page_says():
    """Each command succeeds; those for a held event that is not there are told so."""
    with stage.home() as home, stage.daemon(home):
        answers = {command: run(command, home) for command in examples()}
    assert len(answers) > 15
    wrong = {
        command: status
        for command, status in answers.items()
        if not re.fullmatch("404" if NO_SUCH_EVENT in command else "20[012]", status)
    }
    assert wrong == {}
