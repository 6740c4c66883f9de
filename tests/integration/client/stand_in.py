"""Run in place of the interpreter that would start the daemon: does as the file `script` in the home says.

One word a line, the first line taken by the first start and so on; the last is for all later ones.

ready     listen, say so, and stay until the socket is removed
refused   leave last-start.json, say why, end
crash     end with a traceback
held      say that another daemon holds the home
left      end without a word, as one does that is asked to leave before it is ready
killed    be ended by SIGTERM before it is ready
slow      wait for the file `go`, then as `ready`
"""

import fcntl
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path


def open_descriptors() -> list[int]:
    """List what was inherited, up to a number no test reaches."""
    found = []
    for descriptor in range(256):
        try:
            fcntl.fcntl(descriptor, fcntl.F_GETFD)
        except OSError:
            continue
        found.append(descriptor)
    return found


def main() -> int:
    """Do one start."""
    inherited = open_descriptors()
    arguments = sys.argv[1:]
    home = arguments[arguments.index("--home") + 1]
    ready_fd = int(arguments[arguments.index("--ready-fd") + 1])
    lock_fd = int(arguments[arguments.index("--start-lock-fd") + 1])
    os.chdir(home)
    told = {
        "arguments": arguments,
        "environ": dict(os.environ),
        "session": os.getsid(0) == os.getpid(),
        "descriptors": [
            descriptor for descriptor in inherited if descriptor not in (0, 1, 2, ready_fd, lock_fd)
        ],
    }
    with Path("starts").open("a+") as starts:
        fcntl.flock(starts, fcntl.LOCK_EX)
        starts.seek(0)
        number = len(starts.readlines())
        starts.write(json.dumps(told) + "\n")
    words = Path("script").read_text().split()
    return act(words[min(number, len(words) - 1)], ready_fd, lock_fd)


def act(word: str, ready_fd: int, lock_fd: int) -> int:
    """Play one part."""
    if word == "crash":
        return 1 // 0
    if word == "refused":
        detail = {"code": "config_refused", "detail": "config.toml: unknown key"}
        Path("last-start.json").write_text(json.dumps(detail))
        os.write(ready_fd, json.dumps({"ready": False, **detail}).encode() + b"\n")
        return 2
    if word == "left":
        return 0
    if word == "killed":
        os.kill(os.getpid(), signal.SIGTERM)
    if word == "held":
        os.write(
            ready_fd, b'{"ready": false, "code": "already_running", "detail": "already running", "pid": 7}\n'
        )
        return 3
    while word == "slow" and not Path("go").exists():
        time.sleep(0.02)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("relayd.sock")
    listener.listen(128)
    with suppress(BrokenPipeError):  # as the daemon does: its starter may be gone
        os.write(ready_fd, b'{"ready": true, "pid": 1}\n')
    os.close(ready_fd)
    os.close(lock_fd)
    while Path("relayd.sock").exists():
        time.sleep(0.02)
    return 0


sys.exit(main())
