"""How the parts of a daemon are put together: what the routes work with, on what is open already."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from relayd.brief.briefs import Briefs
from relayd.brief.injection import Injections
from relayd.brief.recollection import Recollection
from relayd.config import Config
from relayd.credentials import Credentials
from relayd.delivery.dispatch import Dispatcher
from relayd.deposit import Deposit
from relayd.events import Bus, SearchIndexDamaged
from relayd.feed import Feed
from relayd.harness.clean import Cleaner
from relayd.harness.ignored import Patterns
from relayd.home import Home
from relayd.hooks.intake import HookIntake
from relayd.log import Log
from relayd.memory.decisions import Decisions
from relayd.memory.gate import Gate
from relayd.memory.preferences import Preferences
from relayd.memory.purge import Purge
from relayd.projects.catalogue import Catalogue
from relayd.projects.directory import Directories
from relayd.queues import QueueRegistry
from relayd.receiver import Receiver
from relayd.rules.grok import GrokRules
from relayd.rules.relay_md import Rules
from relayd.rules.remembered import Remembered
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.services import Services
from relayd.store import RelayStore

__all__ = ("compose",)


def compose(
    *,
    home: Home,
    home_id: str,
    config: Config,
    log: Log,
    bus: Bus,
    gate: Gate,
    store: RelayStore,
    index: SearchIndex,
    registry: QueueRegistry,
    credentials: Credentials,
    receiver: Receiver,
    dispatcher: Dispatcher,
    stopping: anyio.Event,
    stop: Callable[[str], None],
) -> Services:
    """Build everything that owns neither a file nor a task.

    Everything given is as in `Services`; `gate` is what all texts must pass, `index` the one the store was opened with.
    """
    directories = Directories(store.links)
    deposit = Deposit(registry, bus, dispatcher.wake)
    decisions, preferences = Decisions(store.decisions, gate), Preferences(store.preferences, gate)
    search = Search(store, index, on_damage=lambda: bus.publish(SearchIndexDamaged(str(home.database))))
    briefs = Briefs(decisions, preferences, search, store.changes)
    injections = Injections(
        decisions,
        preferences,
        search,
        briefs,
        session_tokens=config.inject.session_tokens,
        prompt_tokens=config.inject.prompt_tokens,
    )
    remembered = Remembered(
        store,
        decisions,
        preferences,
        ignored=Patterns.parse(config.capture.ignore_paths),
        max_tokens=config.inject.session_tokens,
        turns=search.turns,
    )
    grok_rules = GrokRules(store, remembered, gate, bus, log)
    bus.subscribe(grok_rules.hear)
    hooks = HookIntake(
        home=home,
        registry=registry,
        store=store,
        directories=directories,
        cleaner=Cleaner(config.capture.ignore_paths),
        deposit=deposit,
        injections=injections,
        bus=bus,
        log=log,
        stopping=stopping,
    )
    return Services(
        home=home,
        config=config,
        log=log,
        bus=bus,
        registry=registry,
        dispatcher=dispatcher,
        credentials=credentials,
        store=store,
        directories=directories,
        deposit=deposit,
        hooks=hooks,
        receiver=receiver,
        feed=Feed(store, gate),
        projects=Catalogue(store.projects, directories, gate),
        decisions=decisions,
        preferences=preferences,
        purge=Purge(store.items, gate),
        search=search,
        briefs=briefs,
        recollection=Recollection(decisions, preferences, search, briefs),
        injections=injections,
        rules=Rules(decisions, preferences, search),
        grok_rules=grok_rules,
        home_id=home_id,
        stopping=stopping,
        stop=stop,
    )
