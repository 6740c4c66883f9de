"""The base URL of a server, in the one spelling under which equal destinations compare equal.

The spelling is that of the WHATWG URL standard for `http` and `https`, less its trailing slashes. A base URL has no user
information, no query and no fragment, not even an empty one.
"""

import ipaddress
import re
from urllib.parse import quote, unquote_to_bytes

from relay_queue.errors import BindingRefused

__all__ = ("normalise_url",)

_FIELD = "server_url"
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_MAX_CHARACTERS = 2_048
_MAX_PORT = 65_535
_MAX_OCTET = 255

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PARTS = re.compile(r"(https?):[/\\]*([^/\\?#]*)([^?#]*)(.*)", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?")
_NOT_IN_A_HOST = re.compile(r"[\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]")
_NOT_ESCAPED_IN_A_PATH = "!$%&'()*+,-./:;=@[]_|~"
_SAME_FOLDER = re.compile(r"\.|%2e", re.IGNORECASE)
_UPPER_FOLDER = re.compile(r"(?:\.|%2e){2}", re.IGNORECASE)
_IPV4_LAST = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IPV4_NUMBER = re.compile(r"0x([0-9a-f]{0,40})|(0[0-7]{0,40})|([1-9][0-9]{0,40})")


def normalise_url(url: str) -> str:
    """Spell a base URL in the normal way.

    Scheme and host become lower case, names in other scripts punycode, short IPv4 forms four numbers; the default
    port, dot segments and trailing slashes vanish; a backslash is a slash.

    Raises:
        BindingRefused: It is no base URL; the message does not repeat it.

    Source: docs/outbox.md, "Binding".
    """
    stripped = url.strip(" ")
    if _UNPRINTABLE.search(stripped):
        raise BindingRefused(_FIELD, "must not have control characters")
    if len(stripped) > _MAX_CHARACTERS:
        raise BindingRefused(_FIELD, f"must not be longer than {_MAX_CHARACTERS} characters")
    parts = _PARTS.fullmatch(stripped)
    if parts is None:
        raise BindingRefused(_FIELD, "must begin with http:// or https://, or be the word local")
    scheme, authority, path, rest = parts[1].lower(), parts[2], parts[3], parts[4]
    if rest:
        raise BindingRefused(
            _FIELD, "must not have a query" if rest[0] == "?" else "must not have a fragment"
        )
    user, _, host_and_port = authority.rpartition("@")
    if user:
        raise BindingRefused(_FIELD, "must not have user information")
    return f"{scheme}://{_host_and_port(host_and_port, scheme)}{_path(path)}"


def _host_and_port(text: str, scheme: str) -> str:
    match = _HOST_AND_PORT.fullmatch(text)
    if match is None:
        raise BindingRefused(
            _FIELD, "must have only a host, or a host, a colon and a port number, before its path"
        )
    host = _ipv6(match[1][1:-1]) if match[1].startswith("[") else _name(match[1])
    digits = match[2] or ""
    port = digits.lstrip("0") or digits[:1]
    if not port or port == _DEFAULT_PORTS[scheme]:
        return host
    if len(port) > len(str(_MAX_PORT)) or int(port) > _MAX_PORT:
        raise BindingRefused(_FIELD, f"must have a port of at most {_MAX_PORT}")
    return f"{host}:{port}"


def _name(escaped: str) -> str:
    try:
        name = unquote_to_bytes(escaped).decode()
    except UnicodeDecodeError:
        raise BindingRefused(_FIELD, "must have a host in UTF-8") from None
    name = (name if name.isascii() else _punycode(name)).lower()
    if not name:
        raise BindingRefused(_FIELD, "must have a host")
    if _NOT_IN_A_HOST.search(name):
        raise BindingRefused(_FIELD, "must have a host of characters that a host may have")
    numbers = name.removesuffix(".").split(".")
    return _ipv4(numbers) if _IPV4_LAST.fullmatch(numbers[-1]) else name


def _punycode(name: str) -> str:
    import idna  # noqa: PLC0415 - large tables, for names in other scripts only

    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError:
        raise BindingRefused(_FIELD, "must have a host that is a valid international name") from None


def _ipv4(parts: list[str]) -> str:
    """Read one to four numbers, decimal, octal or hexadecimal, the last of which fills all bytes that are left."""
    matches = [_IPV4_NUMBER.fullmatch(part) for part in parts]
    numbers = [_ipv4_number(match) for match in matches if match is not None]
    left = 5 - len(parts)
    if (
        len(numbers) < len(parts)
        or left < 1
        or max([0, *numbers[:-1]]) > _MAX_OCTET
        or numbers[-1] >= 256**left
    ):
        raise BindingRefused(_FIELD, "must have a host that is a valid IPv4 address, as it ends in a number")
    address = numbers[-1] + sum(number << 8 * (3 - place) for place, number in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(address))


def _ipv4_number(match: re.Match[str]) -> int:
    hexadecimal, octal, decimal = match.groups()
    if hexadecimal is not None:
        return int(hexadecimal or "0", 16)
    return int(octal, 8) if octal else int(decimal)


def _ipv6(text: str) -> str:
    try:
        address = int(ipaddress.IPv6Address(text))
    except ipaddress.AddressValueError:
        raise BindingRefused(_FIELD, "must have a valid IPv6 address in its brackets") from None
    if "%" in text:
        raise BindingRefused(_FIELD, "must have an IPv6 address without a zone")
    groups = [address >> shift & 0xFFFF for shift in range(112, -1, -16)]
    for length in range(8, 1, -1):
        for start in range(9 - length):
            if not any(groups[start : start + length]):
                return f"[{_hex(groups[:start])}::{_hex(groups[start + length :])}]"
    return f"[{_hex(groups)}]"


def _hex(groups: list[int]) -> str:
    return ":".join(f"{group:x}" for group in groups)


def _path(text: str) -> str:
    kept: list[str] = []
    for segment in text.replace("\\", "/").split("/")[1:]:
        if _UPPER_FOLDER.fullmatch(segment):
            del kept[-1:]
        elif not _SAME_FOLDER.fullmatch(segment):
            kept.append(quote(segment, safe=_NOT_ESCAPED_IN_A_PATH))
    return "/".join(["", *kept]).rstrip("/")
