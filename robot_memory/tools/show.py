"""Show the whole of a memory: what recall leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from robot_memory.core.fields import Json, arg
from robot_memory.memory import Memory
from robot_memory.retrieval.event_views import LINKED, LINKED_TOTAL, LinkedEventView
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.folded import find_folded
from robot_memory.retrieval.linked_events import describe_linked
from robot_memory.retrieval.payloads import PartView, load_payload, view_part
from robot_memory.retrieval.views import MemoryView, view_memory
from robot_memory.storage import Connection
from robot_memory.storage.events.pages import find_events
from robot_memory.storage.tables import folding, maps
from robot_memory.storage.tables.records import get_whole
from robot_memory.tool import tool


@dataclass(frozen=True)
class ShowRequest:
    """Request of show."""

    memory_id: int = arg('Memory to show.', minimum=1)


@dataclass(frozen=True)
class ShowResponse:
    """Response of show."""

    memory: MemoryView = arg('Memory in the form that recall returns.')
    status: str = arg('active, invalidated, superseded or folded.')
    superseded_by: int | None = arg(
        'Id of the memory that superseded it; of a folded one that of its digest.'
    )
    data: Json = arg('Measured data, as stored; of a folded memory its event.')
    metadata: Json = arg('Units, detector and its settings.')
    parts: tuple[PartView, ...] = arg('Signals and images.')
    linked: tuple[LinkedEventView, ...] | None = arg(LINKED, default=None, omitted=True)
    linked_total: int | None = arg(LINKED_TOTAL, default=None, omitted=True)


@tool(read_only=True, idempotent=True, planner=True)
def show(memory: Memory, request: ShowRequest) -> ShowResponse:
    """
    Return a complete memory: data, metadata, and the bytes of its signals and images.

    Call it if a response names shortened fields, or to see a picture.

    Soft-deleted and superseded memories are returned as well; status says which they are. Of a
    folded one there are its event with all figures, and the digest that stands for it.
    """
    zone = choose_zone(memory)
    with memory.db.read() as connection:
        record = get_whole(connection, [request.memory_id]).get(request.memory_id)
        if record is None:
            return _show_folded(connection, request.memory_id, zone)
        data, metadata, parts = load_payload(connection, record.id)
        events = find_events(connection, record.id)
        of_maps = maps.describe_each(connection, [record])
    shown = tuple(view_part(record.id, part) for part in parts)
    return ShowResponse(
        view_memory(record, zone, of_maps),
        record.status,
        record.superseded_by,
        data,
        metadata,
        shown,
        **describe_linked(memory, events),
    )


def _show_folded(connection: Connection, memory_id: int, zone: ZoneInfo) -> ShowResponse:
    found = find_folded(connection, memory_id, zone)
    if found is None:
        raise folding.explain_missing(connection, memory_id)
    record, event = found
    view = view_memory(record, zone)
    return ShowResponse(view, record.status, record.superseded_by, event, None, ())
