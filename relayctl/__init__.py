"""The client: commands for people and scripts, speaking HTTP to the daemon over its Unix socket."""

# Beside relayd's own, which it equals (tests/unit/client): to ask the installed package would cost 38 ms.
__version__ = "0.1.0"

PROTOCOL = 1
"""What this client speaks; a daemon that speaks another one is left alone."""
