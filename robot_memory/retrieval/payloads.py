"""Payloads of perceptions: short digests for recall, all of them for show."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.fields import arg, to_plain
from robot_memory.storage import Connection
from robot_memory.storage.tables import parts, payloads
from robot_memory.storage.tables.parts import PACKED, Part

_DIGEST = 1500
"""Characters of data that recall returns; show returns the rest."""


@dataclass(frozen=True)
class PartView:
    """One payload part: a signal or an image."""

    name: str = arg('Part name: signal, picture, or film with a number.')
    media_type: str = arg(
        'application/x-npz: arrays stamp_ns (nanoseconds), values, columns and units for '
        'numpy.load; image/jpeg: an image.'
    )
    size: int = arg('Size in bytes.')
    uri: str = arg('MCP resource URI of the content.')
    removed: str | None = arg('Time of eviction, UTC, ISO 8601.', default=None, omitted=True)
    damage: str | None = arg(
        'Why the content cannot be returned: it is damaged.', default=None, omitted=True
    )
    content: bytes | None = arg(
        'Content; over MCP, read the resource instead.', default=None, omitted=True
    )


def make_memory_uri(memory_id: int) -> str:
    """Return where MCP reads a memory."""
    return f'robot-memory://memories/{memory_id}'


def make_part_uri(memory_id: int, name: str) -> str:
    """Return where MCP reads a part of a memory's payload."""
    return f'{make_memory_uri(memory_id)}/{name}'


def view_part(memory_id: int, part: Part) -> PartView:
    """Return how a part of a memory's payload is shown."""
    return PartView(
        name=part.name,
        media_type=part.media_type,
        size=part.size,
        uri=make_part_uri(memory_id, part.name),
        removed=None if part.removed_at is None else format_instant(part.removed_at),
        damage=part.damage or None,
        content=part.content,
    )


def load_digests(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return short data and the parts without their bytes, of those memories that have some."""
    found: dict[int, dict[str, Any]] = {}
    for memory_id, text in payloads.list_short_data(connection, ids, _DIGEST).items():
        found[memory_id] = {'data': json.loads(text)}
    for memory_id, kept in parts.of(connection, ids).items():
        found.setdefault(memory_id, {})['parts'] = [
            to_plain(view_part(memory_id, part)) for part in kept
        ]
    return found


def load_payload(connection: Connection, memory_id: int) -> tuple[Any, Any, list[Part]]:
    """Return data, metadata and the parts of a memory, all with their bytes."""
    values = dict(zip(('data', 'metadata'), payloads.get(connection, memory_id), strict=True))
    kept = []
    for part in parts.of(connection, [memory_id], with_content=True).get(memory_id, []):
        if part.media_type == PACKED and part.content is not None:
            values[part.name] = json.loads(zlib.decompress(part.content))
        else:
            kept.append(part)
    return values['data'], values['metadata'], kept
