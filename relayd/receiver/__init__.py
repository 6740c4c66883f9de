"""The daemon's own receiver: takes a batch into the feed by the contract of an ai-memory server.

receiver.py     the two calls: a batch, a single event
request.py      bytes -> items, or 400, 413, 422
parameters.py   what an item's URL says
item.py         URL and body -> an arrival for the store, or why it is dropped
capture.py      what the sender's capture policy says of a body; tools.py checks it
names.py        agents, events and sessions in one spelling
excerpt.py      the part of a body that is kept; scrub.py takes secrets out, graphemes.py cuts
"""

from relayd.receiver.receiver import Receiver, Reply
from relayd.receiver.request import MAX_BYTES as MAX_REQUEST_BYTES

__all__ = ("MAX_REQUEST_BYTES", "Receiver", "Reply")
