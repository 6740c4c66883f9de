"""The root of the tree."""

__all__ = ("RelaydError",)


class RelaydError(Exception):
    """Base of everything the daemon raises on purpose."""

    code = "relayd_error"
