"""A process that purges a decision and is killed once its row is gone, before the file is written anew.

Arguments: a home, and a text. It is stored, corrected, and purged.
"""

import os
import signal
import sys
from pathlib import Path

import anyio

from relayd.store import items
from tests.integration.memory.keeping import kept


async def die(_: object) -> bool:
    """Be killed where the file would be written anew."""
    os.kill(os.getpid(), signal.SIGKILL)
    return False


async def main(home: Path, text: str) -> None:
    """Store and purge."""
    async with kept(home) as memory:
        one = await memory.new(text, memory.shop)
        other = (await memory.decisions.edit(one, f"{text} again")).decision.id
        items.wash = die
        await memory.store.items.purge(other)


anyio.run(main, Path(sys.argv[1]), sys.argv[2])
