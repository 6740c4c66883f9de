"""What an agent may do with a hook's standard input."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.hook import shim
from tests.integration.hook.shim import Ran, Shim
from tests.waiting import eventually


def _finish(process: subprocess.Popen[bytes], began: float) -> Ran:
    """Wait for the end without closing standard input."""
    status = process.wait(timeout=30)
    took_s = time.monotonic() - began
    said = []
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        said.append(stream.read())
        stream.close()
    if process.stdin is not None:
        process.stdin.close()
    return Ran(status, said[0], said[1], took_s)


@pytest.mark.parametrize("text", [b"", b"null", b"garbage \x00\xff", b"{}", b" \n", b'{"a": 1}\n\n'])
def test_any_text_is_handed_on_as_it_is(hook: Shim, text: bytes) -> None:
    """The hook parses nothing."""
    hook.run(stdin=text).in_silence()
    assert hook.payloads() == [text]


@pytest.mark.parametrize("size", [3 << 20, 8 << 20])
def test_a_large_text_is_handed_on_whole(hook: Shim, size: int) -> None:
    """Up to 8 MiB; a session's start has time for it on any machine."""
    text = b'{"x":"' + b"y" * (size - 8) + b'"}'
    hook.run("session-start", stdin=text).in_silence()
    assert hook.payloads() == [text]


def test_a_text_over_the_limit_is_dropped_and_counted(hook: Shim) -> None:
    """One byte over 8 MiB, or 10 MB: nothing is spooled, and the agent could write all of it."""
    for count, size in enumerate(((8 << 20) + 1, 10_000_000), 1):
        hook.run("session-start", stdin=b"x" * size).in_silence()
        assert (hook.home / "spool" / "dropped-large").stat().st_size == count
    assert (hook.spooled(), hook.codes()) == ([], ["too_large"] * 2)


def test_a_directory_as_standard_input_is_none_of_ours(hook: Shim) -> None:
    """The interpreter would refuse to start with it, by a status of its own."""
    command = ["/bin/sh", "-c", 'exec "$0" "$@" </', str(hook.launcher)]
    hook.run(command=command).in_silence()
    assert hook.untouched()


def test_a_closed_standard_input_is_empty(hook: Shim) -> None:
    """Neither a closed input nor closed streams all round are an error, and no file of ours takes their place."""
    for closing in ("<&-", "<&- >&- 2>&-"):
        hook.run(command=["/bin/sh", "-c", f'exec "$0" "$@" {closing}', str(hook.launcher)]).in_silence()
    assert hook.payloads() == [b"", b""]
    assert all(path.read_bytes().startswith(b"POST ") for path in hook.spooled())


@pytest.mark.parametrize("text", [b"", b'{"unfinished": '])
def test_an_input_that_stays_open_costs_half_the_time(hook: Shim, text: bytes) -> None:
    """Without an end and without a closing brace the hook goes on with what there is."""
    began = time.monotonic()
    process = hook.start("claude", "stop")
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    _finish(process, began).in_silence()
    assert 200 < hook.took_ms() < 1000
    assert hook.payloads() == [text]


def test_a_closing_brace_and_silence_end_the_input(hook: Shim) -> None:
    """A session's start, which might read for over a second, goes on at once, white space behind the brace or not."""
    for text in (b'{"a": {}}', b'{"a": {}} \r\n'):
        began = time.monotonic()
        process = hook.start("claude", "session-start")
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.flush()
        _finish(process, began).in_silence()
        assert hook.took_ms() < 1000
    assert hook.payloads() == [b'{"a": {}}', b'{"a": {}} \r\n']


# A moment of silence that no stall of the machine can end before the next piece.
_PATIENT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import relay_hook
relay_hook._QUIET_S = 1.0
relay_hook.main()
"""


def test_a_brace_in_the_middle_ends_nothing(hook: Shim) -> None:
    """What follows a brace within its moment of silence belongs to the text, also in many small pieces."""
    pieces = [b'{"a": {"b": {}', b"}", b', "c": {}', b"}", b"\n"] * 5
    command = [sys.executable, "-IS", "-c", _PATIENT, str(hook.home / "bin")]
    process = hook.start("claude", "session-start", command=command)
    assert process.stdin is not None
    for piece in pieces:
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(0.004)
    assert process.communicate(timeout=30) == (b"", b"")
    assert hook.payloads() == [b"".join(pieces)]


def test_a_slow_agent_is_waited_for_until_its_brace(hook: Shim) -> None:
    """Silence before the closing brace ends nothing within half of the time."""
    process = hook.start("claude", "session-start")
    assert process.stdin is not None
    for piece in (b'{"a": 1,', b'"b": 2}'):
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(0.2)
    assert process.communicate(timeout=30) == (b"", b"")
    assert hook.payloads() == [b'{"a": 1,"b": 2}']


@pytest.mark.parametrize("open_ended", [True, False])
def test_a_socket_will_do_for_standard_input(hook: Shim, *, open_ended: bool) -> None:
    """Some agents give a socket pair, and some keep their end open."""
    ours, theirs = socket.socketpair()
    with ours:
        began = time.monotonic()
        process = hook.start("claude", "stop", stdin=theirs.fileno())
        theirs.close()
        ours.sendall(shim.PAYLOAD)
        if not open_ended:
            ours.shutdown(socket.SHUT_WR)
        _finish(process, began).in_silence()
    assert hook.payloads() == [shim.PAYLOAD]


def test_the_agents_own_descriptor_stays_as_it_was(hook: Shim) -> None:
    """What the agent shares with its hook is not made non-blocking; and if it is so already, the hook copes."""
    reading, writing = os.pipe()
    began = time.monotonic()
    process = hook.start("claude", "stop", stdin=reading)
    _finish(process, began).in_silence()
    assert os.get_blocking(reading)
    os.set_blocking(reading, False)
    process = hook.start("claude", "session-start", stdin=reading)
    time.sleep(0.05)
    os.write(writing, shim.PAYLOAD)
    _finish(process, time.monotonic()).in_silence()
    assert not os.get_blocking(reading)
    os.close(reading)
    os.close(writing)
    assert hook.payloads() == [b"", shim.PAYLOAD]


def test_an_alarm_before_its_time_ends_nothing(hook: Shim) -> None:
    """Nor does one that somebody else sends: the text is read to its end."""
    process = hook.start("claude", "session-start")
    assert process.stdin is not None
    process.stdin.write(b'{"a":')
    process.stdin.flush()
    eventually(lambda: _catches(process.pid, signal.SIGALRM))
    for _ in range(3):
        os.kill(process.pid, signal.SIGALRM)
        time.sleep(0.01)
    assert process.communicate(b" 1}", timeout=30) == (b"", b"")
    assert hook.payloads() == [b'{"a": 1}']


def _catches(pid: int, wish: int) -> bool:
    (line,) = [text for text in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigCgt" in text]
    return bool(int(line.split()[1], 16) >> (wish - 1) & 1)


# The alarm comes at the very moment at which a piece has been read.
_LATE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import relay_hook
class Late(relay_hook.Watch):
    def read_piece(self, brace):
        piece = super().read_piece(brace)
        self.waits_until = 0.0
        self.ring()
        return piece
relay_hook.Watch = Late
relay_hook.main()
"""


def test_an_alarm_that_comes_with_the_text_loses_nothing(hook: Shim) -> None:
    """What was read stays, and what follows is read."""
    text = b'{"x": "' + b"y" * 300_000 + b'"}'
    hook.run(stdin=text, command=[sys.executable, "-IS", "-c", _LATE, str(hook.home / "bin")]).in_silence()
    assert hook.payloads() == [text]
