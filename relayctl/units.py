"""The files that tell a service manager how to run the daemon of one home: found, written for it, compared."""

from __future__ import annotations

import os
import sys

from relayctl import _wire
from relayctl.home import open_at_once
from relayctl.service_errors import NoTemplate, PathUnfit
from relayctl.service_manager import LABEL, SERVICE, SOCKET
from relayctl.whole_file import write_whole

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    State = Literal["current", "differs", "other_home", "foreign", "missing"]

__all__ = (
    "MARK",
    "UnitFile",
    "agent_path",
    "exec_line",
    "home_in",
    "installed_home",
    "paths",
    "state_of",
    "systemd_directory",
    "wanted",
    "write",
)

MARK = "Written by `relayctl service install`"
"""What tells a file of ours from one that somebody wrote by hand."""

_HOME_LINE = "# Home: "
# An address of a Unix socket has 108 bytes on Linux, the closing NUL included.
_MAX_SOCKET_BYTES = 107
_HOME_OPTION = "--home"
_UNSAFE = frozenset("\"'\\")
_FIRST_PRINTED, _DELETE = 0x20, 0x7F


class UnitFile:
    """One file as this version writes it."""

    __slots__ = ("path", "text")

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text


def systemd_directory(environ: Mapping[str, str]) -> str:
    """Name the place of a user's own systemd units; a relative XDG_CONFIG_HOME is none (the specification's rule)."""
    config = environ.get("XDG_CONFIG_HOME", "")
    return f"{config if config.startswith('/') else _user_home(environ) + '/.config'}/systemd/user"


def agent_path(environ: Mapping[str, str]) -> str:
    """Name launchd's agent."""
    return f"{_user_home(environ)}/Library/LaunchAgents/{LABEL}.plist"


def paths(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, ...]:
    """Name every file that a service of ours may have."""
    if platform == "darwin":
        return (agent_path(environ),)
    place = systemd_directory(environ)
    return f"{place}/{SOCKET}", f"{place}/{SERVICE}"


def wanted(
    home: str,
    environ: Mapping[str, str],
    *,
    platform: str = sys.platform,
    python: str | None = None,
) -> tuple[UnitFile, ...]:
    """Write the files of a service for a home.

    Args:
        home: Absolute.
        environ: The caller's, for the places.
        platform: As `sys.platform` says it.
        python: The interpreter that has relayd; None for this one.

    Raises:
        ServiceRefused: No such file can carry the home's path, or the templates are not there.
    """
    python = python or sys.executable
    for path, named_by in ((home, "the home"), (python, "the interpreter")):
        if any(ord(char) < _FIRST_PRINTED or ord(char) == _DELETE for char in path):
            raise PathUnfit(named_by)
    command = (python, "-P", "-m", "relayd", _HOME_OPTION, home)
    if platform == "darwin":
        return (UnitFile(agent_path(environ), _agent(_template("launchd", f"{LABEL}.plist"), command)),)
    place, fits = systemd_directory(environ), len(_socket_path(home).encode()) <= _MAX_SOCKET_BYTES
    return tuple(
        UnitFile(f"{place}/{name}", _unit(_template("systemd", name), home, command, with_socket=fits))
        for name in (SOCKET, SERVICE)
        if fits or name != SOCKET
    )


def state_of(file: UnitFile, home: str) -> State:
    """Compare what lies at the path of a file with what this version writes for a home."""
    try:
        text = _read(file.path)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    if text == file.text:
        return "current"
    served = home_in(text)
    if served is None:
        return "foreign"
    return "differs" if served == home else "other_home"


def installed_home(environ: Mapping[str, str], platform: str = sys.platform) -> str | None:
    """Tell which home the installed service is for; None if there is none of ours."""
    for path in paths(environ, platform):
        try:
            home = home_in(_read(path))
        except OSError:
            continue
        if home is not None:
            return home
    return None


def home_in(text: bytes) -> str | None:
    """Tell which home a file is for; None if it is not one of ours."""
    if MARK.encode() not in text:
        return None
    if text.startswith(b"<?xml"):
        return _home_of_agent(text)
    for line in text.decode(errors="replace").split("\n"):
        if line.startswith(_HOME_LINE):
            return line.removeprefix(_HOME_LINE)
    return ""


def write(file: UnitFile) -> None:
    """Put a file in its place, whole or not at all, with the directories it needs."""
    os.makedirs(os.path.dirname(file.path), 0o700, exist_ok=True)
    write_whole(file.path, file.text, mode=0o644)


def exec_line(command: Sequence[str]) -> str:
    r"""Spell a command for `ExecStart=` (systemd.service(5), "COMMAND LINES").

    `"` and `\\` are escaped as in C, `%` would begin a specifier, and `$` a variable, but in the name of the program.
    systemd takes no program with quotes or backslashes in its name, so a shell becomes such a one.
    """
    program, *words = command
    if _UNSAFE.intersection(program):
        program, words = "/bin/sh", ["-c", 'exec "$0" "$@"', *command]
    return " ".join([_quoted(program), *(_quoted(word.replace("$", "$$")) for word in words)])


def _quoted(word: str) -> str:
    return '"{}"'.format(word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%"))


def _unit(template: str, home: str, command: Sequence[str], *, with_socket: bool) -> bytes:
    """Fill in a unit: what it runs, where it listens; comments before the first section are for readers of the template."""
    lines = template[template.index("[") :].split("\n") if "[" in template else []
    head = (f"# {MARK}, which writes over what is changed here.", f"{_HOME_LINE}{home}", "")
    filled = _filled(lines, home, command, with_socket=with_socket)
    return "\n".join((*head, *filled)).encode()


def _filled(lines: Sequence[str], home: str, command: Sequence[str], *, with_socket: bool) -> Iterator[str]:
    for line in lines:
        if line.startswith("ExecStart="):
            yield f"ExecStart={exec_line(command)}"
        elif line.startswith("ListenStream="):
            # taken as it is, but for specifiers
            yield "ListenStream=" + _socket_path(home).replace("%", "%%")
        elif with_socket or SOCKET not in line:
            yield line


def _socket_path(home: str) -> str:
    return f"{home}/{_wire.SOCKET_NAME}"


def _agent(template: str, command: Sequence[str]) -> bytes:
    import plistlib

    agent = plistlib.loads(template.encode())
    agent["ProgramArguments"] = [*command, "--launchd"]
    text = plistlib.dumps(agent, sort_keys=False)
    return text.replace(
        b"<plist ", f"<!-- {MARK}, which writes over what is changed here. -->\n<plist ".encode(), 1
    )


def _home_of_agent(text: bytes) -> str:
    import plistlib

    try:
        words = plistlib.loads(text)["ProgramArguments"]
        return str(words[words.index(_HOME_OPTION) + 1])
    except Exception:  # noqa: BLE001 -- whatever a changed file brings about: it is ours, and for no home we know
        return ""


def _template(kind: str, name: str) -> str:
    for place in _template_places():
        try:
            return _read(f"{place}/{kind}/{name}").decode()
        except OSError:
            continue
    raise NoTemplate(f"{kind}/{name}")


def _template_places() -> Iterator[str]:
    """Look beside a source checkout's package first, then where installers put the data of a package."""
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    import sysconfig

    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        yield f"{sysconfig.get_path('data', scheme)}/share/relayd"


def _user_home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    return home if home.startswith("/") else os.path.expanduser("~")


def _read(path: str) -> bytes:
    with open(path, "rb", opener=open_at_once) as file:
        return file.read()
