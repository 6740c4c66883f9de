"""The queue clock over sequences of time, wall clock steps, closes, crashes and boots."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from relay_queue.clock import JUMP_MS, SYSTEM, Jump, QueueClock, Snapshot

DAY_MS = 86_400_000
START_MS = 1_790_000_000_000
STEPS = st.one_of(
    st.integers(-JUMP_MS * 2, JUMP_MS * 2), st.integers(-400 * DAY_MS, 400 * DAY_MS), st.just(-START_MS)
)
SPANS = st.one_of(st.integers(0, 5_000), st.integers(0, 40 * DAY_MS))


class HandTicks:
    """A machine whose two clocks are turned by hand."""

    def __init__(self, wall_ms: int = START_MS, boot_ms: int = 60_000) -> None:
        self.wall = wall_ms
        self.boot = boot_ms

    def wall_ms(self) -> int:
        return self.wall

    def boot_ms(self) -> int:
        return self.boot

    def pass_time(self, span_ms: int) -> None:
        self.wall += span_ms
        self.boot += span_ms


class StoppedTicks(HandTicks):
    """A machine that is stopped for a while between two of our looks at its clocks."""

    stop_ms = 0

    def wall_ms(self) -> int:
        seen = super().wall_ms()
        self.pass_time(self.stop_ms)
        return seen


class ClockMachine(RuleBasedStateMachine):
    """Follows what an observer outside the machine would call the time that the queue may have seen."""

    @initialize()
    def make(self) -> None:
        self.ticks = HandTicks()
        self.clock = QueueClock.start(self.ticks)
        self.expected_ms = START_MS
        self.saved = self.clock.snapshot()
        self.stepped_ms = 0

    @rule(span_ms=SPANS)
    def time_passes(self, span_ms: int) -> None:
        self.ticks.pass_time(span_ms)
        self.expected_ms += span_ms

    @rule(step_ms=STEPS)
    def wall_clock_is_set(self, step_ms: int) -> None:
        self.ticks.wall += step_ms
        self.stepped_ms += step_ms

    @rule()
    def commit(self) -> None:
        self.saved = self.look()

    @rule(span_ms=SPANS, step_ms=st.one_of(st.just(0), STEPS), boots=st.booleans(), clean=st.booleans())
    def close_and_open(self, *, span_ms: int, step_ms: int, boots: bool, clean: bool) -> None:
        if clean:
            self.saved = self.look()
        self.ticks.pass_time(span_ms)
        self.ticks.wall += step_ms
        if boots:
            self.ticks.boot = 0
        gap_ms = self.ticks.wall - self.saved.wall_ms
        self.clock = QueueClock(*self.saved, self.ticks)
        self.expected_ms = self.saved.queue_ms + max(0, gap_ms)
        self.stepped_ms = 0
        back = (Jump(self.expected_ms, gap_ms, while_open=False),) if gap_ms < 0 else ()
        assert self.clock.unsaved == back
        self.clock.mark_saved(self.clock.unsaved)

    def look(self) -> Snapshot:
        seen = self.clock.snapshot()
        assert seen == (self.expected_ms, self.ticks.wall)
        assert self.clock.now_ms() == self.expected_ms
        jumped = abs(self.stepped_ms) > JUMP_MS
        expected = (Jump(seen.queue_ms, self.stepped_ms, while_open=True),) if jumped else ()
        assert self.clock.unsaved == expected
        self.clock.mark_saved(expected)
        self.stepped_ms = 0
        return seen

    @invariant()
    def follows_only_time(self) -> None:
        if hasattr(self, "clock"):
            self.look()


class UnwatchedClockMachine(ClockMachine):
    """The same where nobody looks at the clock between the steps."""

    @invariant()
    def follows_only_time(self) -> None:
        """Do not look."""


ClockMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
UnwatchedClockMachine.TestCase.settings = ClockMachine.TestCase.settings
TestClock = ClockMachine.TestCase
TestUnwatchedClock = UnwatchedClockMachine.TestCase


def test_a_new_queue_starts_at_the_walls_time() -> None:
    """A new queue's clock begins where the wall clock is, so that its times read well."""
    clock = QueueClock.start(HandTicks())
    assert clock.snapshot() == (START_MS, START_MS)
    assert clock.unsaved == ()


def test_a_stopped_process_sees_no_jump() -> None:
    """A process stopped between its two looks takes the time as passed and reports no jump."""
    ticks = StoppedTicks()
    clock = QueueClock.start(ticks)
    ticks.stop_ms = DAY_MS
    assert clock.now_ms() == START_MS + DAY_MS
    ticks.stop_ms = 0
    assert clock.now_ms() == START_MS + DAY_MS
    assert clock.unsaved == ()


def test_jumps_seen_after_a_save_began_stay_unsaved() -> None:
    """Only the jumps that were committed are forgotten."""
    ticks = HandTicks()
    clock = QueueClock.start(ticks)
    ticks.wall += DAY_MS
    clock.now_ms()
    committed = clock.unsaved
    ticks.wall -= DAY_MS
    clock.now_ms()
    clock.mark_saved(committed)
    assert clock.unsaved == (Jump(START_MS, -DAY_MS, while_open=True),)


def test_the_machines_clocks_can_be_read() -> None:
    """The system's own clocks give milliseconds, and the boot clock never goes back."""
    first, second = SYSTEM.boot_ms(), SYSTEM.boot_ms()
    assert 0 < first <= second
    assert SYSTEM.wall_ms() > START_MS // 2
