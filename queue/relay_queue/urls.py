"""Item URLs of one binding, without building the same one again for every key."""

from relay_queue.binding import Binding
from relay_queue.envelope import Event
from relay_queue.item import item_url

__all__ = ("Urls",)


class Urls:
    """URLs of the events of some batch or input; those of one agent and event differ in the key only.

    The key comes last and needs no escaping (`item.item_url`). Short-lived: it grows with every new pair.
    """

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        self._keyless: dict[tuple[str, str], str] = {}

    def url(self, event: Event, key: str) -> str:
        """Give the URL of an event."""
        kind = (event.agent, event.event)
        keyless = self._keyless.get(kind)
        if keyless is None:
            keyless = self._keyless[kind] = item_url(self._binding, event, "")
        return keyless + key
