"""Where a repository comes from, in one spelling whatever the way to it."""

from __future__ import annotations

import re
from urllib.parse import unquote

__all__ = ("normal_remote",)

_MAX_CHARS = 2048
_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "https": "443", "http": "80", "git": "9418"}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)", re.DOTALL)
_SCP = re.compile(r"(?:[^/:@\[]*@)?(\[[^\]/]+\]|[^/:\[\]@]+):(?!:)(.+)", re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@%]+)(?::([0-9]*))?")
_FOREIGN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff@\\]")


def normal_remote(url: str) -> str | None:
    """Make `host/path` of a remote's URL; None if it names no server, or is not understood.

    The scheme, the user, the scheme's own port, `.git` and slashes at the ends are the way and not the place, so they go;
    the host's case too. A local path identifies nothing beyond this machine. What could hold a credential is either
    dropped or makes the whole no identity.

    Source: docs/projects.md, "Which directories are one project".
    """
    if len(url) > _MAX_CHARS:
        return None
    taken = _of_url(url) if "://" in url else _of_scp(url)
    if taken is None:
        return None
    host, path = taken
    host = host.lower().removesuffix(".")
    parts = [part for part in path.split("/") if part]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    whole = "/".join([host, *filter(None, parts)])
    if not host or "/" not in whole or _FOREIGN.search(whole) or {".", ".."}.intersection(parts):
        return None
    return whole


def _of_url(url: str) -> tuple[str, str] | None:
    found = _URL.fullmatch(url.partition("?")[0].partition("#")[0])
    if found is None or (port_of_scheme := _PORTS.get(found[1].lower())) is None:
        return None
    authority = _AUTHORITY.fullmatch(found[2].rpartition("@")[2])
    if authority is None:
        return None
    host, port = authority[1], (authority[2] or "").lstrip("0")
    return host if port in ("", port_of_scheme) else f"{host}:{port}", unquote(
        found[3], errors="surrogateescape"
    )


def _of_scp(url: str) -> tuple[str, str] | None:
    """Take `user@host:path` apart: a colon before the first slash, else it is a path."""
    found = _SCP.fullmatch(url)
    return None if found is None else (found[1], found[2])
