"""Exit statuses of the daemon."""

__all__ = ("AGAIN", "DAMAGED", "FAILED", "FINAL", "HELD", "LEFT", "REFUSED")

LEFT = 0
"""It left because someone asked."""

FAILED = 1
"""Anything that has no status of its own."""

REFUSED = 2
"""The home, a setting or a file cannot be used as it is; trying again does not help."""

HELD = 3
"""Another daemon holds the home."""

DAMAGED = 78
"""`relay.db` cannot be read. EX_CONFIG of sysexits.h, so that service managers can be told not to restart."""

FINAL = frozenset((REFUSED, HELD, DAMAGED))
"""Where starting again does not help."""

AGAIN = -1
"""No exit status: the process begins anew as the installed version."""
