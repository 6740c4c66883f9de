"""The tour in the README can be taken."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import stage

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
PLACES = "/tmp/tour", "/tmp/outbox", "/tmp/work"  # noqa: S108 -- the directories that the README names, replaced below


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_every_command_of_the_tour_succeeds():
    """Typed one after the other in a fresh place, none fails, and nothing is left at the end."""
    commands = re.findall(
        r"^    \$ (.*(?:\n {6,}.*)*)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    script = "\n".join(["set -e", *commands])
    with stage.home() as place:
        for name in PLACES:
            script = script.replace(name, str(place / Path(name).name))
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", script],
                cwd=ROOT,
                env={**stage.CLEAN, "RELAY_HOME": str(place / "tour"), "PATH": f"{BIN}:{os.environ['PATH']}"},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            stage.relayctl("daemon", "stop", at=place / "tour")  # if the tour ended early
        assert done.returncode == 0, done.stderr
        assert list(place.iterdir()) == []
    assert len(commands) > 8
