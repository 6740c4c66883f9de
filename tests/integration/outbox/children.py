"""Child processes: bound by permission bits also where the tests run as root, or let go together."""

import os
import shutil
import subprocess
import sys

import pytest

_DROP = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--"]


def run_python(code: str, *arguments: object, umask: int | None = None) -> str:
    """Run code in a new interpreter that may not override permissions, and return what it prints."""
    finished = subprocess.run(
        [*_prefix(), sys.executable, "-c", code, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        umask=-1 if umask is None else umask,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def run_together(code: str, *argument_lists: tuple[object, ...]) -> list[tuple[str, str]]:
    """Run code in several interpreters that begin at the same moment; give what each printed and complained.

    The code waits for a line on standard input once it has imported what it needs, and ends when that closes.
    """
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for arguments in argument_lists
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return [child.communicate(timeout=60) for child in children]


def _prefix() -> list[str]:
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("runs as root, and setpriv is not there to give the right to override permissions up")
    return _DROP
