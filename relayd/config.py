"""The daemon's settings: defaults, then `config.toml`, then `RELAY_*`, then flags.

A setting has one name, `section.key`: that is a key of a table in `config.toml`, and `RELAY_SECTION_KEY` in the
environment. An unknown key in the file is an error; other `RELAY_*` variables belong to clients and hooks.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from relay_queue.errors import BindingRefused
from relay_queue.server_url import normalise_url
from relayd.errors import ConfigRefused
from relayd.harness.ignored import Patterns
from relayd.settings_file import read_settings

__all__ = (
    "CaptureConfig",
    "Config",
    "DaemonConfig",
    "DeliveryConfig",
    "InjectConfig",
    "LogConfig",
    "ReceiverConfig",
    "StopConfig",
    "load",
)


class ReceiverConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The daemon's own receiver, where a queue bound to `local` delivers."""

    excerpts: bool = True
    """Keep a bounded excerpt of each body in the feed."""


class CaptureConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What hooks leave out."""

    ignore_paths: tuple[str, ...] = ()
    """Patterns of paths of which nothing is captured, as in `.gitignore`."""


class InjectConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What hooks tell agents."""

    session_tokens: Annotated[int, Meta(ge=0, le=2_500)] = 2_500
    """At most so many at the start of a session; 0 tells nothing."""
    prompt_tokens: Annotated[int, Meta(ge=0, le=1_000)] = 1_000
    """At most so many beside a prompt; 0 tells nothing."""


class DeliveryConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How remote servers are reached."""

    proxy: str | None = None
    """URL of an HTTP proxy; none is taken from the environment."""


class DaemonConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How clients start the daemon."""

    pass_env: tuple[str, ...] = ()
    """Names of further variables that a daemon started on demand inherits."""
    idle_s: Annotated[float, Meta(ge=1, le=86_400)] = 900.0
    """Seconds without a request and without work after which a daemon started on demand leaves."""


class LogConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the log goes and how much of it is kept."""

    max_bytes: Annotated[int, Meta(ge=64 * 1024, le=1024 * 1024 * 1024)] = 5 * 1024 * 1024
    """Of `logs/relayd.log` and the one file before it, together."""
    debug: bool = False
    """Log each batch and each enqueue too."""
    foreground: bool = False
    """Log to standard error, for people, instead of to the file."""


class StopConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the daemon leaves."""

    grace_s: Annotated[float, Meta(ge=0, le=600)] = 10.0
    """Seconds that requests under way may take to finish."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every setting of one daemon."""

    receiver: ReceiverConfig = ReceiverConfig()
    capture: CaptureConfig = CaptureConfig()
    inject: InjectConfig = InjectConfig()
    delivery: DeliveryConfig = DeliveryConfig()
    daemon: DaemonConfig = DaemonConfig()
    log: LogConfig = LogConfig()
    stop: StopConfig = StopConfig()


def load(file: Path, environ: Mapping[str, str], *, foreground: bool = False) -> Config:
    """Read the settings once.

    Args:
        file: `config.toml`; it may be missing.
        environ: Blank variables count as unset. A list is split at commas.
        foreground: The flag of that name; False leaves `log.foreground` as it is.

    Raises:
        ConfigRefused: The file cannot be read, a key of it is unknown, or a value is wrong.
    """
    config = _with_environment(_from_file(file), environ)
    _check_proxy(config.delivery.proxy)
    Patterns.parse(config.capture.ignore_paths)  # at the start, not at the first hook
    if foreground:
        config = msgspec.structs.replace(config, log=msgspec.structs.replace(config.log, foreground=True))
    return config


def _from_file(file: Path) -> Config:
    try:
        return read_settings(file, Config)
    except FileNotFoundError:
        return Config()


def _check_proxy(url: str | None) -> None:
    """Refuse at the start what every delivery would fail of; unlike a server's URL it may name a user."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        normalise_url(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        fits = url.isprintable() and " " not in url
    except (BindingRefused, ValueError):
        fits = False
    if not fits:
        raise ConfigRefused("delivery.proxy", "must be an http or https URL with a host")


def _with_environment(config: Config, environ: Mapping[str, str]) -> Config:
    for section in msgspec.structs.fields(config):
        table = cast("msgspec.Struct", getattr(config, section.name))
        for field in msgspec.structs.fields(table):
            variable = f"RELAY_{section.name}_{field.name}".upper()
            if text := environ.get(variable, "").strip():
                table = msgspec.structs.replace(table, **{field.name: _value(variable, text, field.type)})
        config = msgspec.structs.replace(config, **{section.name: table})
    return config


def _value(variable: str, text: str, kind: object) -> object:
    given = [part.strip() for part in text.split(",")] if kind == tuple[str, ...] else text
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigRefused(variable, str(error)) from None
