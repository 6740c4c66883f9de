"""What the routes of one daemon work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import anyio
from starlette.requests import Request

if TYPE_CHECKING:
    from relayd.brief.briefs import Briefs
    from relayd.brief.injection import Injections
    from relayd.brief.recollection import Recollection
    from relayd.config import Config
    from relayd.credentials import Credentials
    from relayd.delivery.dispatch import Dispatcher
    from relayd.deposit import Deposit
    from relayd.events import Bus
    from relayd.feed import Feed
    from relayd.home import Home
    from relayd.hooks.intake import HookIntake
    from relayd.log import Log
    from relayd.memory.decisions import Decisions
    from relayd.memory.preferences import Preferences
    from relayd.memory.purge import Purge
    from relayd.projects.catalogue import Catalogue
    from relayd.projects.directory import Directories
    from relayd.queues import QueueRegistry
    from relayd.receiver import Receiver
    from relayd.rules.grok import GrokRules
    from relayd.rules.relay_md import Rules
    from relayd.search.search import Search
    from relayd.store import RelayStore

__all__ = ("Services", "services")


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running daemon, put together in `relayd.composition`.

    Routes reach it by `services(request)` and own none of it.
    """

    home: Home
    config: Config
    log: Log
    bus: Bus
    registry: QueueRegistry
    dispatcher: Dispatcher
    credentials: Credentials
    store: RelayStore
    directories: Directories
    deposit: Deposit
    hooks: HookIntake
    receiver: Receiver
    feed: Feed
    projects: Catalogue
    decisions: Decisions
    preferences: Preferences
    purge: Purge
    search: Search
    briefs: Briefs
    recollection: Recollection
    injections: Injections
    rules: Rules
    grok_rules: GrokRules
    home_id: str
    stopping: anyio.Event
    """Set once the daemon is leaving: long work should come to an end."""
    stop: Callable[[str], None]
    """Ask the daemon to leave; takes the reason."""


def services(request: Request) -> Services:
    """Find the services of the daemon that answers this request."""
    return cast("Services", request.app.state.relay)
