"""Show the whole of a memory: what recall leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.clock import iso
from robot_memory.errors import NotFound
from robot_memory.fields import Json, arg
from robot_memory.memory import Memory
from robot_memory.perceptions import part_uri, whole
from robot_memory.store import memories
from robot_memory.store.parts import Part
from robot_memory.tool import tool
from robot_memory.tools.recall import Hit, MemoryView, view


@dataclass(frozen=True)
class ShowRequest:
    """Ask for the whole of a memory."""

    memory_id: int = arg('The memory to show.', minimum=1)


@dataclass(frozen=True)
class PartView:
    """One part of a payload: a signal, a picture."""

    name: str = arg('What it is: signal, picture, or film with a number.')
    media_type: str = arg(
        'application/x-npz: arrays stamp_ns (nanoseconds), values, columns and units, as '
        'numpy.load reads them; image/jpeg: a picture.'
    )
    size: int = arg('Its length in bytes.')
    uri: str = arg('Where MCP reads it as a resource.')
    removed: str | None = arg(
        'When it was removed to make room, UTC, ISO 8601.', default=None, omitted=True
    )
    content: bytes | None = arg(
        'The bytes themselves; MCP gives them as the resource.', default=None, omitted=True
    )


@dataclass(frozen=True)
class ShowResponse:
    """Hold the whole of a memory."""

    memory: MemoryView = arg('The memory as recall returns it.')
    status: str = arg('active, invalidated or superseded.')
    superseded_by: int | None = arg('The memory that took its place.')
    data: Json = arg('What was measured, as it was kept.')
    metadata: Json = arg('Units, detector and its settings.')
    parts: tuple[PartView, ...] = arg('Signals and pictures.')


@tool(read_only=True, idempotent=True)
def show(memory: Memory, request: ShowRequest) -> ShowResponse:
    """
    Show the whole of a memory: data, metadata, and the bytes of its signals and pictures.

    Forgotten and superseded memories are shown, too, and say so.
    """
    with memory.db.read() as connection:
        record = memories.get(connection, [request.memory_id]).get(request.memory_id)
        if record is None:
            raise NotFound(
                f'there is no memory {request.memory_id}; recall and query_records return ids'
            )
        data, metadata, parts = whole(connection, record.id)
    shown = tuple(_part_view(record.id, part) for part in parts)
    return ShowResponse(
        view(record, Hit(record.id, 0.0)),
        record.status,
        record.superseded_by,
        data,
        metadata,
        shown,
    )


def _part_view(memory_id: int, part: Part) -> PartView:
    return PartView(
        name=part.name,
        media_type=part.media_type,
        size=part.size,
        uri=part_uri(memory_id, part.name),
        removed=None if part.removed_at is None else iso(part.removed_at),
        content=part.content,
    )
