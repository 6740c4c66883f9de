"""What agent CLIs run: two launchers, the hook that one of them runs, and the hook's byte code, kept current in the home's `bin/`."""

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from types import CodeType

from relay_queue.errors import OutboxError
from relay_queue.package import package_directory
from relay_queue.private import ensure_private_dir
from relayd.events import LauncherFailed
from relayd.home import VARIABLE, Home
from relayd.whole_file import write_whole

__all__ = ("keep", "try_to_keep")

# Whatever fails in it, the import itself included, must not become an agent's error: there is nobody to tell.
_LAUNCHER = b"""\
#!/bin/sh
# Written by relayd when it starts. Agent CLIs are told this path: it stays as it is.
python=%(python)b
bin=%(bin)b
[ -f "$python" ] && [ -x "$python" ] && [ ! -d /dev/stdin ] || exit 0
trap '' HUP INT TERM
exec "$python" -IS -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
try:
    from relay_hook import main
    main()
except BaseException:
    pass
' "$bin" "$@" 2>/dev/null
"""
# Without `site`, which would cost a third of its start; what it needs of relayd it finds where that is installed.
_MCP_LAUNCHER = b"""\
#!/bin/sh
# Written by relayd when it starts. Agent CLIs are told this path: it stays as it is.
python=%(python)b
if [ ! -f "$python" ] || [ ! -x "$python" ]; then
    echo 'relay-mcp: the Python that relayd was installed with is gone; install relayd anew' >&2
    exit 1
fi
RELAY_HOME=%(home)b
export RELAY_HOME
exec "$python" -IS -c '
import sys
sys.path.append(sys.argv.pop(1))
from relayctl.mcp_stdio import main
main(sys.argv[1:])
' %(packages)b "$@"
"""
_MODULES = ("hook_fallback", "hook")
"""What the hook is made of; first what the other one loads."""
_UNCHECKED = (1).to_bytes(4, "little")
"""Flags of byte code that is used whatever the source beside it: it is we who keep both."""


def try_to_keep(home: Home, pass_env: Sequence[str]) -> LauncherFailed | None:
    """Do as `keep`, but give a failure to be told of: a daemon without hooks is better than none."""
    try:
        keep(home, pass_env)
    except (OSError, OutboxError) as error:
        detail = error.strerror if isinstance(error, OSError) else str(error)
        return LauncherFailed(detail or type(error).__name__)
    return None


def keep(home: Home, pass_env: Sequence[str]) -> None:
    """Write what is missing or not as this version and this interpreter want it.

    Each file is replaced whole, after all that it needs, so that a hook that runs meanwhile finds that.

    Args:
        home: Furnished, its lock held.
        pass_env: Names of variables that a daemon started by a hook inherits beside the usual ones.

    Raises:
        OSError: A file cannot be written.
        DirectoryRefused: The directory of the byte code is not private.
        StorageFailed: The disk does not take that directory.
    """
    cache = home.bin / "__pycache__"
    ensure_private_dir(cache, create=True, variable=VARIABLE)
    for stray in (*home.bin.glob(".*.tmp"), *cache.glob(".*.tmp")):
        stray.unlink(missing_ok=True)
    for name in _MODULES:
        _keep_module(name, home.bin / f"relay_{name}.py")
    _keep_file(home.bin / "pass-env", "".join(f"{name}\n" for name in pass_env).encode(), 0o600)
    _keep_file(home.bin / "relay-hook", _launcher(home.bin), 0o700)
    _keep_file(home.bin / "relay-mcp", _mcp_launcher(home.path), 0o700)


def _launcher(directory: Path) -> bytes:
    return _LAUNCHER % {b"python": _quoted(sys.executable), b"bin": _quoted(directory)}


def _mcp_launcher(home: Path) -> bytes:
    packages = package_directory("relayctl").parent
    return _MCP_LAUNCHER % {
        b"python": _quoted(sys.executable),
        b"home": _quoted(home),
        b"packages": _quoted(packages),
    }


def _quoted(path: str | Path) -> bytes:
    """Write a path as one word of `sh`, whatever bytes it has."""
    return b"'" + os.fsencode(path).replace(b"'", rb"'\''") + b"'"


def _keep_module(name: str, path: Path) -> None:
    source = (package_directory("relayctl") / f"{name}.py").read_bytes()
    _keep_file(path, source, 0o600)
    _keep_byte_code(Path(cache_from_source(path, optimization="")), source, path)


def _keep_byte_code(path: Path, source: bytes, named: Path) -> None:
    """Compile a module, unless what is there is whole and of this source and interpreter."""
    head = MAGIC_NUMBER + _UNCHECKED + source_hash(source)
    there = _read(path)
    if there is None or not there.startswith(head) or not _is_code(there[len(head) :]):
        code = compile(source, os.fspath(named), "exec", dont_inherit=True, optimize=2)
        write_whole(path, head + marshal.dumps(code))


def _is_code(text: bytes) -> bool:
    """Tell byte code from what a crash may have left of it, with which every hook would fail in silence."""
    try:
        return isinstance(marshal.loads(text), CodeType)  # noqa: S302 - our own file, in a directory of ours alone
    except (EOFError, ValueError, TypeError):
        return False


def _keep_file(path: Path, content: bytes, mode: int) -> None:
    if _read(path) != content or path.lstat().st_mode & 0o7777 != mode:
        write_whole(path, content, mode=mode)


def _read(path: Path) -> bytes | None:
    """Read a regular file; None if there is none."""
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()
