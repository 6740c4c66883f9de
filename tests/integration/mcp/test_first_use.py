"""The first request: when the SDK may be imported, and what becomes of one that cannot be served."""

from __future__ import annotations

import anyio
import httpx
import pytest

from relayd.api.app import App
from relayd.errors import Stopping, UpgradePending
from relayd.mcp.endpoint import Endpoint
from tests.house import LIMIT_S, house, services_of
from tests.integration.mcp.talking import talk

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("error", [UpgradePending, Stopping])
async def test_a_version_that_is_being_replaced_imports_nothing(tmp_path, error):
    """The request is refused with the code that clients know; once the import is allowed, the next one is served."""
    asked = 0

    async def guard() -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise error

    async with talk(tmp_path, guard) as client:
        for _ in range(2):
            answer = await client.post(PING)
            assert (answer.status_code, answer.json()["code"]) == (503, error.code)
        assert (await client.post(PING)).json()["result"] == {}
        assert (await client.post(PING)).json()["result"] == {}
        assert asked == 3


async def test_requests_that_come_together_import_once(tmp_path):
    """The others wait for the first one's import."""
    asked = 0

    async def guard() -> None:
        nonlocal asked
        asked += 1
        await anyio.lowlevel.checkpoint()

    async with talk(tmp_path, guard) as client, anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(client.post, PING)
    assert asked == 1


async def test_a_request_after_the_end_is_told_that_the_daemon_stops(tmp_path):
    """What the SDK needs is gone by then."""
    async with house(tmp_path) as parts:
        services = services_of(parts)

        async def guard() -> None: ...

        endpoint = Endpoint(services, guard)
        transport = httpx.ASGITransport(App(services, endpoint.routes))
        async with httpx.AsyncClient(transport=transport, base_url="http://relayd", timeout=LIMIT_S) as http:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(endpoint.run)
                assert (await http.post("/mcp", json=PING)).json()["result"] == {}
                tasks.cancel_scope.cancel()
            answer = await http.post("/mcp", json=PING)
            assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
