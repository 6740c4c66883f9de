"""Clients at an inherited socket that no daemon will serve: each gets an end, so that none waits for ever.

Where connections start a daemon, one that is left waiting would start the next, and so on.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from contextlib import ExitStack, suppress
from typing import cast

__all__ = ("AT_ONCE_S", "LINGER_S", "turn_away")

LINGER_S = 2.5
"""For those who come a moment later; so long that starts stay below the five in ten seconds that systemd allows."""

AT_ONCE_S = 0.25
"""For those who wait already."""

_PIECE_BYTES = 65_536
_MOST = 256


def turn_away(fd: int, answer: bytes, *, for_s: float) -> None:
    """Answer whoever connects and asks, without looking at what; who does not ask gets an end.

    Args:
        fd: A listening socket; it stays open.
        answer: A whole HTTP response after which the connection ends; empty for the end alone.
        for_s: How long.
    """
    try:
        listening = socket.socket(fileno=os.dup(fd))
    except OSError:
        return
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        stack.callback(listening.close)
        try:
            listening.setblocking(False)
            selector.register(listening, selectors.EVENT_READ)
        except (OSError, ValueError):
            return  # it was no fitting socket, which is why nobody serves on it
        until_s = time.monotonic() + for_s
        while selector.get_map() and (left_s := until_s - time.monotonic()) > 0:
            for key, _ in selector.select(left_s):
                if key.fileobj is listening:
                    _accept(listening, selector, stack)
                else:
                    _serve(key, selector, answer)


def _accept(listening: socket.socket, selector: selectors.BaseSelector, stack: ExitStack) -> None:
    try:
        connection, _ = listening.accept()
    except BlockingIOError:
        return
    except OSError:  # it does not listen, or there are no descriptors left
        selector.unregister(listening)
        return
    stack.callback(connection.close)
    connection.setblocking(False)
    selector.register(connection, selectors.EVENT_READ, [False])
    if len(selector.get_map()) > _MOST:
        selector.unregister(listening)


def _serve(key: selectors.SelectorKey, selector: selectors.BaseSelector, answer: bytes) -> None:
    """Answer the first piece of a request; what follows is read and dropped, for closing before would be a reset."""
    connection = cast("socket.socket", key.fileobj)
    answered: list[bool] = key.data
    try:
        if connection.recv(_PIECE_BYTES):
            if not answered[0]:
                answered[0] = True
                connection.send(answer)
                connection.shutdown(socket.SHUT_WR)
            return
    except OSError:
        pass
    selector.unregister(connection)
    with suppress(OSError):
        connection.close()
