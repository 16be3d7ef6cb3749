"""Memories and the bytes of their payloads as MCP resources, through a real client."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, ImageContent, TextContent, TextResourceContents
from robots import REVISIONS, Robot

from robot_memory.core.fields import to_plain
from robot_memory.detectors import Signal
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.mcp_server.server import build_server
from robot_memory.storage.tables.parts import Part

pytestmark = pytest.mark.anyio

JPEG_HEAD = b'\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00'
JPEG = JPEG_HEAD + bytes(64) + b'\xff\xd9'


def blob_of(contents: TextResourceContents | BlobResourceContents) -> str:
    assert isinstance(contents, BlobResourceContents)
    return contents.blob


def text_of(contents: TextResourceContents | BlobResourceContents) -> str:
    assert isinstance(contents, TextResourceContents)
    return contents.text


def sense(robot: Robot) -> tuple[int, Signal]:
    """Keep a perception with a signal and a picture; return its id and the signal."""
    signal = Signal(
        ('force.x', 'force.y'),
        ('N', 'N'),
        np.arange(5, dtype=np.int64),
        np.arange(10, dtype=np.float32).reshape(5, 2),
    )
    content = signal.to_npz()
    parts = (
        Part('signal', 'application/x-npz', len(content), content),
        Part('picture', 'image/jpeg', len(JPEG), JPEG),
    )
    data = {'peak_force': 9.0}
    kept = store_perception(
        robot.memory, Perception('Push of 9 N', 'tactile', data=data, parts=parts)
    )
    return kept.memory_id, signal


@pytest.fixture
def client(robot: Robot, revision: str) -> Client:
    return Client(build_server(robot.memory), mode=REVISIONS[revision])


async def test_the_bytes_of_a_part_are_a_resource(robot: Robot, client: Client) -> None:
    memory_id, signal = sense(robot)
    async with client:
        listed = (await client.list_resources()).resources
        uris = [str(resource.uri) for resource in listed]
        assert uris == [
            f'robot-memory://memories/{memory_id}/picture',
            f'robot-memory://memories/{memory_id}/signal',
        ]
        (found,) = (await client.read_resource(uris[1])).contents
        assert found.mime_type == 'application/x-npz'
        read = Signal.from_npz(base64.b64decode(blob_of(found)))
        assert read.columns == signal.columns and read.units == signal.units
        assert (read.values == signal.values).all()
        assert (read.stamps_ns == signal.stamps_ns).all()
        (picture,) = (await client.read_resource(uris[0])).contents
        assert base64.b64decode(blob_of(picture)) == JPEG


async def test_a_memory_is_a_resource_without_the_bytes(robot: Robot, client: Client) -> None:
    memory_id, _ = sense(robot)
    async with client:
        (found,) = (await client.read_resource(f'robot-memory://memories/{memory_id}')).contents
    assert json.loads(text_of(found)) == to_plain(robot.show(memory_id), with_bytes=False)
    assert 'content' not in json.loads(text_of(found))['parts'][0]


async def test_the_templates_say_how_an_address_is_made(client: Client) -> None:
    async with client:
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        'robot-memory://memories/{memory_id}',
        'robot-memory://memories/{memory_id}/{part}',
        'robot-memory://events/{kind}',
    ]


@pytest.mark.parametrize(
    ('uri', 'said'),
    [
        ('robot-memory://memories/77', 'no memory 77'),
        ('robot-memory://memories/1/film', 'available: signal, picture'),
        ('robot-memory://memories/../../etc/passwd', 'accepted: robot-memory'),
        ('file:///etc/passwd', 'accepted: robot-memory'),
        ('robot-memory://memories/99999999999999999999', 'accepted: robot-memory'),
    ],
)
async def test_what_is_not_there_is_told(
    robot: Robot, client: Client, uri: str, said: str
) -> None:
    sense(robot)
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
    assert said in str(refused.value)


async def test_show_gives_a_model_the_picture_to_look_at_and_no_base64_in_text(
    robot: Robot, client: Client
) -> None:
    memory_id, _ = sense(robot)
    async with client:
        answer = await client.call_tool('show', {'memory_id': memory_id})
    text, picture = answer.content
    assert isinstance(text, TextContent)
    assert isinstance(picture, ImageContent)
    assert base64.b64decode(picture.data) == JPEG and picture.mime_type == 'image/jpeg'
    assert 'content' not in answer.structured_content['parts'][0]
    assert base64.b64encode(JPEG).decode() not in text.text
