"""The feed for those who read it and those who add to it.

feed.py       what the routes ask: a page, a follower, an addition, sums
page.py       events as readers see them
follower.py   waits for what comes
addition.py   what may be added, and how it becomes an event
kinds.py      names of kinds, and patterns of them
data.py       the JSON of an event, read strictly
usage.py      tokens and cost: in an event, and summed up
"""

from relayd.feed.feed import Feed

__all__ = ("Feed",)
