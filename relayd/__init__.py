"""The daemon: owns the home, the queues and the feed, and serves them over one Unix socket."""

__version__ = "0.1.0"
