"""Memories, the parts of their payloads, and the newest events as MCP resources."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import to_plain
from robot_memory.core.json_text import format_value
from robot_memory.memory import Memory
from robot_memory.retrieval.payloads import make_part_uri
from robot_memory.storage.tables import parts
from robot_memory.text.quoting import quote
from robot_memory.tools.query_events import query_events
from robot_memory.tools.show import show

MEMORY = 'robot-memory://memories/{memory_id}'
PART = f'{MEMORY}/{{part}}'
"""How the address of a memory and of a part of it is made."""
EVENTS = 'robot-memory://events'
"""Where the newest events are read; of one kind: with its name."""
_NEWEST = 20
_LISTED = 100
_TITLE = 200
_EVENTS = re.compile(rf'{EVENTS}(?:/(\w{{1,64}}))?')
_URI = re.compile(r'robot-memory://memories/(\d{1,18})(?:/([\w.-]+))?')


def list_resources(memory: Memory) -> ListResourcesResult:
    """Return the newest parts of payloads; any other is read by the template."""
    with memory.db.read() as connection:
        newest = parts.newest(connection, _LISTED)
    return ListResourcesResult(
        resources=[
            Resource(
                uri=make_part_uri(memory_id, part.name),
                name=f'{part.name} of memory {memory_id}',
                title=quote(content, _TITLE),
                mime_type=part.media_type,
                size=part.size,
            )
            for memory_id, content, part in newest
        ]
    )


def _read_events(memory: Memory, uri: str, kind: str | None) -> ReadResourceResult:
    where = {} if kind is None else {'kind': kind}
    asked = {'where': where, 'order_by': 'onset', 'descending': True, 'limit': _NEWEST}
    try:
        found = query_events.run(memory, asked)
    except RobotMemoryError as error:
        raise MCPError(INVALID_PARAMS, f'[{error.code}] {error}', {'uri': uri}) from None
    return _read_json(uri, found)


def _read_json(uri: str, answer: Any) -> ReadResourceResult:
    text = json.dumps(to_plain(answer, with_bytes=False), ensure_ascii=False)
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, mime_type='application/json', text=text)]
    )


def list_templates() -> ListResourceTemplatesResult:
    """Return how the address of a memory and of a part is made."""
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(
                uri_template=MEMORY,
                name='memory',
                description='A complete memory as JSON, without the bytes of its parts.',
                mime_type='application/json',
            ),
            ResourceTemplate(
                uri_template=PART,
                name='part',
                description='A signal (.npz) or an image (JPEG) of a memory.',
            ),
            ResourceTemplate(
                uri_template=f'{EVENTS}/{{kind}}',
                name='events',
                description='The newest events of a kind (contact, fault, session) as JSON, the '
                'newest first; without the kind, of all. Clients that listen are notified of new '
                'ones.',
                mime_type='application/json',
            ),
        ]
    )


def read_resource(memory: Memory, uri: str) -> ReadResourceResult:
    """Return a memory or a part of one; raise MCPError for what is not there."""
    if of_events := _EVENTS.fullmatch(uri):
        return _read_events(memory, uri, of_events[1])
    match = _URI.fullmatch(uri)
    if match is None:
        raise MCPError(
            INVALID_PARAMS,
            f'unknown resource {format_value(uri)}; accepted: robot-memory://memories/ID and '
            'robot-memory://memories/ID/PART, as returned by recall, robot-memory://events and '
            'robot-memory://events/KIND',
            {'uri': uri},
        )
    try:
        whole = show.run(memory, {'memory_id': int(match[1])})
    except RobotMemoryError as error:
        raise MCPError(INVALID_PARAMS, f'[{error.code}] {error}', {'uri': uri}) from None
    if match[2] is None:
        return _read_json(uri, whole)
    for part in whole.parts:
        if part.name == match[2] and part.damage:
            reason = f'part {part.name} of memory {match[1]} cannot be returned: {part.damage}'
            raise MCPError(INTERNAL_ERROR, f'[unavailable] {reason}', {'uri': uri})
        if part.name == match[2] and part.content is not None:
            blob = base64.b64encode(part.content).decode()
            return ReadResourceResult(
                contents=[BlobResourceContents(uri=uri, mime_type=part.media_type, blob=blob)]
            )
    there = ', '.join(part.name for part in whole.parts if part.content is not None)
    raise MCPError(
        INVALID_PARAMS,
        f'memory {match[1]} has no part {format_value(match[2])}; available: {there or "none"}',
        {'uri': uri},
    )
