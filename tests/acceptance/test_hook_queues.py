"""Which queue the events of real hooks go to, and which server sees them, with which token."""

from __future__ import annotations

import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from relayd.testing import ScriptedServer, Step
from tests import stage
from tests.agents import Desk, received, said, serving, settled
from tests.waiting import eventually

LOOKS = 4
"""Some queues are looked at without being opened, and a list of descriptors is not of one moment."""


@pytest.fixture
def shop(user: Desk) -> Path:
    """A linked repository; no daemon runs."""
    with user.daemon():
        return user.link("shop")


def test_two_hooks_for_one_prompt(user: Desk, shop: Path) -> None:
    """The settings of the user and of the project both have the hook: the prompt arrives once, a daemon or none."""
    told = said("user-prompt-submit", 1, cwd=shop, prompt_id="prompt-1")
    user.hook("user-prompt-submit", told, at=shop)
    user.hook("user-prompt-submit", told, at=shop)
    with user.daemon() as daemon:
        user.hook("user-prompt-submit", told, at=shop)
        again = said("user-prompt-submit", 2, cwd=shop, prompt_id="prompt-2")
        both = [user.hook_process("user-prompt-submit", at=shop) for _ in range(2)]
        for process in both:
            assert process.stdin is not None
            process.stdin.write(again)
        assert [process.communicate(timeout=30) for process in both] == [(b"", b"")] * 2
        assert user.fed(daemon) == [("s-1", "user-prompt-submit", 1), ("s-1", "user-prompt-submit", 2)]


def test_a_session_that_moves(user: Desk, shop: Path) -> None:
    """Its later events, of another linked repository, stay in its queue, also after a restart; a new session does not."""
    with user.daemon() as daemon:
        other = user.link("other")
        user.stop_hook(1, "moving", at=shop)
        user.stop_hook(2, "moving", at=other)
        user.stop_hook(3, "new", at=other)
        assert len(user.fed(daemon)) == 3
    user.stop_hook(4, "moving", at=other)
    with user.daemon() as daemon:
        assert user.fed(daemon)[-1] == ("moving", "stop", 4)
        page = daemon.call("GET", "/v1/feed?limit=10&kind=hook")[1]["events"]
    assert [(event["session_id"], event["project"]) for event in page] == [
        ("moving", "shop"),
        ("moving", "shop"),
        ("new", "other"),
        ("moving", "shop"),
    ]


def test_an_upstream_that_changes_with_events_pending(user: Desk, shop: Path) -> None:
    """The old queue drains to the old server, a new one goes to the new server; no request has the other's token."""
    with serving() as old, serving() as new, user.daemon() as daemon:
        old.token, new.token = "token-of-old", "token-of-new"
        for server in (old, new):
            user.relayctl("auth", "set", "--server-url", server.url, stdin=(server.token or "").encode())
        old.rule = lambda _: Step(status=503)
        user.relayctl("upstream", "set", "--server-url", old.url)
        user.stop_hook(1, "before", at=shop)
        eventually(lambda: old.requests)
        user.relayctl("upstream", "set", "--server-url", new.url)
        user.stop_hook(2, "before", at=shop)
        user.stop_hook(3, "after", at=shop)
        eventually(lambda: received(new))
        assert received(old) == {}
        shown = {queue["name"]: queue for queue in user.relayctl("upstream", "show")["queues"]}
        assert {name: queue["server_url"] for name, queue in shown.items()} == {
            "p-shop.1": old.url,
            "p-shop.2": new.url,
        }
        old.rule = None
        user.relayctl("flush", "--queue-dir", str(user.home / "queue/p-shop.1"))
        settled(daemon)
        user.stop_hook(4, "before", at=shop)
        user.stop_hook(5, "later", at=shop)
        settled(daemon)
        assert received(old) == {"before": [1, 2, 4]}
        assert received(new) == {"after": [3], "later": [5]}
        assert _tokens(old) == {"Bearer token-of-old"}
        assert _tokens(new) == {"Bearer token-of-new"}
        assert not any(b"token-of-new" in one.head + one.body for one in old.requests)
        assert not any(b"token-of-old" in one.head + one.body for one in new.requests)


def _tokens(server: ScriptedServer) -> set[str | None]:
    return {request.headers.get("authorization") for request in server.requests}


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_fifty_projects(user: Desk, shop: Path) -> None:
    """Hooks of fifty projects while no server answers: all wait in fifty queues, few are open, and then all arrive."""
    places = [shop]
    most = 0
    with serving() as server, ThreadPoolExecutor(4) as pool:
        server.token = "nobody-has-it"  # refused with 401, queues wait for a token or a restart
        with user.daemon() as daemon:
            user.relayctl("upstream", "set", "--server-url", server.url)
            for number in range(1, 50):
                places.append(place := user.user / "code" / f"project-{number}")
                (place / ".relay").mkdir(parents=True)
                (place / ".relay/rules.json").write_text('{"version": 1}')
                order = json.dumps({"directory": str(place), "project": place.name}).encode()
                assert daemon.call("POST", "/v1/links", order)[0] == 201
            hooks = [
                pool.submit(user.stop_hook, number, f"s-{number}", at=place)
                for number, place in enumerate(places)
            ]
            for hook in hooks:
                hook.result()
                most = max(most, _descriptors(daemon)[""])
                assert _open_queues(daemon) <= 16 + LOOKS
        server.token = None
        with user.daemon() as daemon:  # a restart delivers all of them
            eventually(lambda: len(server.memory.events) == 50)
            most = max(most, _descriptors(daemon)[""])
            settled(daemon)
            eventually(lambda: _open_queues(daemon) <= 16)
        assert len(list(user.home.glob("queue/p-*.1"))) == 50
        assert most < 192  # less than the 256 that some systems allow by default
        assert received(server) == {f"s-{number}": [number] for number in range(50)}


def _descriptors(daemon: stage.Daemon) -> Counter[str]:
    """What a daemon has open: each queue by its path, and the number of all descriptors by an empty one."""
    found: Counter[str] = Counter()
    for path in list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()):
        found[""] += 1
        with suppress(FileNotFoundError):  # closed meanwhile
            name = str(path.readlink())
            found[name] += name.endswith("/queue.db")
    return +found


def _open_queues(daemon: stage.Daemon) -> int:
    return len(_descriptors(daemon)) - 1
