"""A client that listens is told of what is stored, whichever process stores it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents
from narrowing import require
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.mcp_server import HttpBridge
from robot_memory.mcp_server.notifications import MAX_STREAMS
from robot_memory.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
EVENTS = 'robot-memory://events'
TOUCH: dict[str, Any] = {'description': 'The gripper touched the tray', 'stamp': {'sec': 10**9}}


def client_of(robot: Robot) -> Client:
    return Client(build_server(robot.memory), mode='2026-07-28')


async def read_events(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return json.loads(content.text)['events']


async def next_uri(stream: Any) -> str:
    with anyio.fail_after(HANG_SECONDS):
        uri: str = (await anext(stream)).uri
        return uri


async def test_a_kind_that_is_named_is_notified_and_no_other(
    open_robot: Callable[..., Robot],
) -> None:
    robot, other = open_robot(), open_robot()
    async with (
        client_of(robot) as client,
        client.listen(resource_subscriptions=[f'{EVENTS}/session']) as stream,
    ):
        other.save_perception(**TOUCH)
        session = other.start_session().session_id
        assert await next_uri(stream) == f'{EVENTS}/session'
        (event,) = await read_events(client, f'{EVENTS}/session')
        assert (event['session_id'], event['end']) == (session, None)
        other.end_session(session)
        assert await next_uri(stream) == f'{EVENTS}/session'
        assert (await read_events(client, f'{EVENTS}/session'))[0]['end'] is not None


async def test_all_events_and_a_memory_that_changes_are_notified(robot: Robot) -> None:
    kept = require(robot.learn('The cup is wet').memory_id)
    uri = f'robot-memory://memories/{kept}'
    async with (
        client_of(robot) as client,
        client.listen(resource_subscriptions=[EVENTS, uri]) as stream,
    ):
        robot.update(kept, 'The cup is dry')
        assert await next_uri(stream) == uri
        robot.save_perception(**TOUCH)
        assert await next_uri(stream) == EVENTS
        assert (await read_events(client, EVENTS))[0]['kind'] == 'perception'


async def test_there_are_only_so_many_streams_and_one_that_closes_makes_room(
    robot: Robot,
) -> None:
    async with client_of(robot) as client, anyio.create_task_group() as tasks:
        opened = anyio.Semaphore(0)
        close = anyio.Event()

        async def hold() -> None:
            async with client.listen(resource_subscriptions=[EVENTS]):
                opened.release()
                await close.wait()

        for _ in range(MAX_STREAMS):
            tasks.start_soon(hold)
        with anyio.fail_after(HANG_SECONDS):
            for _ in range(MAX_STREAMS):
                await opened.acquire()
        with pytest.raises(MCPError, match=f'{MAX_STREAMS} streams are open'):
            async with client.listen(resource_subscriptions=[EVENTS]):
                pass
        assert (await client.call_tool('recall', {'query': 'cup'})).is_error is False
        close.set()


async def test_what_is_no_kind_of_events_is_refused_with_those_there_are(robot: Robot) -> None:
    async with client_of(robot) as client:
        with pytest.raises(MCPError, match='must be one of contact'):
            await client.read_resource(f'{EVENTS}/contacts')


async def test_over_http_a_stream_is_served_beside_calls(free: HttpBridge) -> None:
    async with (
        Client(free.url, mode='2026-07-28') as client,
        client.listen(resource_subscriptions=[f'{EVENTS}/perception']) as stream,
    ):
        await client.call_tool('save_perception', TOUCH)
        assert await next_uri(stream) == f'{EVENTS}/perception'
