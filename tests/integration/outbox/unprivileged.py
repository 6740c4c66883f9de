"""Child processes to which permission bits apply, also where the tests run as root."""

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


def _prefix() -> list[str]:
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("runs as root, and setpriv is not there to give the right to override permissions up")
    return _DROP
