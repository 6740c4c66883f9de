"""What happens is told to every subscriber."""

import inspect

import msgspec

from relayd import events
from relayd.events import Bus, EventsStored, StopRequested

SIMPLE = {
    msgspec.inspect.StrType,
    msgspec.inspect.IntType,
    msgspec.inspect.BoolType,
    msgspec.inspect.NoneType,
    msgspec.inspect.LiteralType,
}


def test_subscribers_are_told_in_order():
    """Every subscriber hears everything published after it came, in the order in which they came."""
    bus, heard = Bus(), []
    bus.publish(StopRequested("too early"))
    bus.subscribe(lambda happening: heard.append(("first", happening)))
    bus.subscribe(lambda happening: heard.append(("second", happening)))
    happening = EventsStored("/q", stored=2, recognized=1)
    bus.publish(happening)
    assert heard == [("first", happening), ("second", happening)]


def test_no_happening_can_hold_a_body():
    """Happenings hold words, numbers and flags only: no field is bytes, a mapping or a list."""
    for name in events.__all__:
        kind = getattr(events, name)
        if inspect.isclass(kind) and issubclass(kind, events.Happening):
            for field in msgspec.inspect.type_info(kind).fields:
                kinds = getattr(field.type, "types", (field.type,))
                assert {type(one) for one in kinds} <= SIMPLE, f"{name}.{field.name}"


def test_public_names_are_the_exports():
    """`__all__` lists every class that is defined here."""
    defined = {n for n, v in vars(events).items() if inspect.isclass(v) and v.__module__ == events.__name__}
    assert defined == set(events.__all__)
