"""What clients offer while an argument is typed, through a real client."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PromptReference, ResourceTemplateReference
from robots import REVISIONS, MovableClock, Robot

from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.mcp_server.server import build_server
from robot_memory.storage.tables.parts import Part

pytestmark = pytest.mark.anyio
PROMPT = PromptReference(name='sage_debug_mode')
MEMORY = ResourceTemplateReference(uri='robot-memory://memories/{memory_id}')
PART = ResourceTemplateReference(uri='robot-memory://memories/{memory_id}/{part}')


@pytest.fixture
def asked(robot: Robot, revision: str) -> Client:
    return Client(build_server(robot.memory), mode=REVISIONS[revision])


def push(robot: Robot) -> str:
    picture = b'\xff\xd8\xff\xe0'
    parts = (Part('picture', 'image/jpeg', len(picture), picture),)
    return str(
        store_perception(robot.memory, Perception('Push of 9 N', 'tactile', parts=parts)).memory_id
    )


async def offered(
    client: Client, reference: Any, name: str, value: str, **chosen: str
) -> list[str]:
    found = await client.complete(reference, {'name': name, 'value': value}, chosen)
    return found.completion.values


async def test_a_task_is_completed_with_the_titles_of_sessions(
    asked: Client, robot: Robot, clock: MovableClock
) -> None:
    for title in ('Open the drawer', 'Sort the cups', 'Open the door', '', 'Open the drawer'):
        clock.forward(seconds=3600)
        robot.start_session(title=title)
    async with asked as client:
        assert await offered(client, PROMPT, 'task', 'open') == [
            'Open the drawer',
            'Open the door',
        ]
        assert len(await offered(client, PROMPT, 'task', '')) == 3
        assert await offered(client, PROMPT, 'task', '%') == []
        assert await offered(client, PROMPT, 'other', '') == []


async def test_no_more_than_a_hundred_are_offered_and_their_number_is_told(
    asked: Client, robot: Robot
) -> None:
    for number in range(103):
        robot.start_session(title=f'Shift {number}')
    async with asked as client:
        found = (await client.complete(PROMPT, {'name': 'task', 'value': 'shift'})).completion
    assert (len(found.values), found.total, found.has_more) == (100, 103, True)


async def test_an_address_is_completed_with_what_has_payloads(asked: Client, robot: Robot) -> None:
    robot.learn(insight='The red cup needs 12 N')
    first, second = push(robot), push(robot)
    async with asked as client:
        assert await offered(client, MEMORY, 'memory_id', '') == [second, first]
        assert await offered(client, MEMORY, 'memory_id', first) == [first]
        assert await offered(client, PART, 'part', 'p', memory_id=first) == ['picture']
        for nothing in ('99', 'x', ''):
            assert await offered(client, PART, 'part', '', memory_id=nothing) == []


@pytest.mark.parametrize(
    ('reference', 'said'),
    [
        (PromptReference(name='no_such_prompt'), 'accepted: sage_memory_expert'),
        (ResourceTemplateReference(uri='file:///etc/{name}'), 'accepted: robot-memory'),
    ],
)
async def test_what_is_not_there_is_told(asked: Client, reference: Any, said: str) -> None:
    async with asked as client:
        with pytest.raises(MCPError, match=said) as failure:
            await client.complete(reference, {'name': 'task', 'value': ''})
    assert failure.value.error.code == INVALID_PARAMS
