"""Who sits here, in the letters an actor may have."""

from __future__ import annotations

import os
import re

__all__ = ("user_as_actor",)

_FOREIGN = re.compile(r"[^A-Za-z0-9._:-]")
_MAX_CHARS = 64


def user_as_actor() -> str:
    """Make an actor of the user's name: other characters than an actor may have become `-`.

    From the password database, as the daemon takes it: the variables that say it too may differ between the two.
    """
    import pwd

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container without a name for this uid
        name = str(os.getuid())
    return _FOREIGN.sub("-", name)[:_MAX_CHARS]
