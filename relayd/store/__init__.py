"""`relay.db`: the feed, the keys it was fed under, and the queues bound on this machine.

Everything that knows SQL of `relay.db` is in this package; a store on another engine takes its place here.
"""

from relayd.store.relay_store import RelayStore, open_store
from relayd.store.rows import Arrival, BoundQueue, FeedRow, HookSeen, Link, Outcome, Pruned, Upstream

__all__ = (
    "Arrival",
    "BoundQueue",
    "FeedRow",
    "HookSeen",
    "Link",
    "Outcome",
    "Pruned",
    "RelayStore",
    "Upstream",
    "open_store",
)
