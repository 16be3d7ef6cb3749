"""List records exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, Stamp, actor_arg, arg
from robot_memory.core.records import Record
from robot_memory.core.truncation import fit_each, shortened_arg
from robot_memory.memory import Memory
from robot_memory.retrieval.empty_answers import Asked, explain_empty, why_empty_arg
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.evidence import (
    DISAGREES,
    OBSERVED,
    REPLACED_BY,
    REPLACEMENT,
    REPLACES,
    ObservedView,
    ReplacementView,
    view_links,
    view_observed,
)
from robot_memory.retrieval.near import NearSearch, prepare
from robot_memory.retrieval.near_question import parse_area
from robot_memory.retrieval.past import Past, find_past
from robot_memory.retrieval.place_views import (
    NEAR,
    OF_MAP,
    PLACE,
    POSE,
    PlaceView,
    near_answer_arg,
    near_arg,
)
from robot_memory.storage import Connection
from robot_memory.storage.indexes.amounts import refuse_amounts
from robot_memory.storage.indexes.filters import ACTIVE, Where, among
from robot_memory.storage.indexes.occasions import compile_occasions
from robot_memory.storage.past import open_past
from robot_memory.storage.tables import audit, maps, memories
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.tables.records import get_whole
from robot_memory.tool import tool


@dataclass(frozen=True)
class QueryRecordsRequest:
    """Request of query_records."""

    actor_id: str | None = actor_arg('Actor who said or did it.')
    session_id: str | None = arg('Session id.', default=None)
    where: Json | None = arg(
        'Conditions as JSON, combined with AND: {"created_at": {"$gte": "2026-03-09T10:30:00Z"}, '
        '"category": "gotcha", "task.success": true}; $eq $ne $gt $gte $lt $lte $in $nin.',
        default=None,
        shape='object',
        typed='filter',
    )
    limit: int = arg('Maximum number of records.', default=10, minimum=1, maximum=1000)
    offset: int = arg('Number of records to skip.', default=0, minimum=0)
    as_of: str = arg(
        'As of an instant (ISO 8601) or audit line (#120).',
        default='',
        max_length=100,
        typed='instant',
    )
    near: Json | None = near_arg(f'{NEAR} Here within or in is required.')


@dataclass(frozen=True)
class RecordView:
    """One listed record."""

    actor_id: str | None = arg('Actor who said or did it.')
    session_id: str | None = arg('Session id.')
    record_id: str = arg('Record id: mem_ and the memory id.')
    record_content: str = arg('Text of the memory.')
    strategy_name: str = arg('persona, instruction, episodic, or the value given in the context.')
    event_id: str | None = arg('Event that the record belongs to.')
    created_at: str = arg('Creation time, UTC, ISO 8601.', typed='instant')
    updated_at: str = arg('Time of the last change, UTC, ISO 8601.', typed='instant')
    memory_id: int = arg('Memory id for update and forget.')
    kind: str = arg('fact, perception or turn.')
    category: str = arg('One of the 11 categories.')
    confidence: float = arg('Confidence, 0 to 1.')
    collection: str = arg('Collection to store the memory in.')
    context: Json = arg('Complete context.')
    status: str = arg('active, invalidated or superseded.')
    superseded_by: int | None = arg(
        'Id of the memory that superseded it.', default=None, omitted=True
    )
    role: str | None = arg(
        "Speaker's role, user or assistant; turns only.", default=None, omitted=True
    )
    turn_id: int | None = arg(
        'Turn number in its session; turns only.', default=None, omitted=True
    )
    time_uncertain: bool | None = arg(
        'True if created_at is only in the right order: the clock was wrong and was never set.',
        default=None,
        omitted=True,
    )
    measured_at: str | None = arg(
        'Time of the measurement, ISO 8601 with the offset of time_zone.',
        default=None,
        omitted=True,
        typed='instant',
    )
    stamp: Stamp | None = arg(
        'Time of the measurement; perceptions only.', default=None, omitted=True
    )
    frame_id: str | None = arg('Coordinate frame of the measurement.', default=None, omitted=True)
    pose: Json | None = arg(POSE, default=None, omitted=True, typed='pose')
    observed: ObservedView | None = arg(OBSERVED, default=None, omitted=True)
    replaces: int | None = arg(REPLACES, default=None, omitted=True)
    replaced_by: int | None = arg(REPLACED_BY, default=None, omitted=True)
    replacement: ReplacementView | None = arg(REPLACEMENT, default=None, omitted=True)
    disagrees: tuple[int, ...] | None = arg(DISAGREES, default=None, omitted=True)
    near: PlaceView | None = arg(PLACE, default=None, omitted=True)
    of_map: str | None = arg(OF_MAP, default=None, omitted=True)
    audit: Json | None = arg(
        'Audit trail (actor, time, reason), if there is one.',
        default=None,
        omitted=True,
    )
    shortened: tuple[str, ...] | None = shortened_arg()


@dataclass(frozen=True)
class QueryRecordsResponse:
    """Response of query_records."""

    memory_id: str = arg('Store id.')
    records: tuple[RecordView, ...] = arg('Page of records, newest first.')
    total_count: int = arg('Number of matching records on all pages.')
    as_of: Json | None = arg(
        'The state that was listed: line, at, gone, the memories of then that were erased or '
        'folded since, and instant, which as_of was read as (of a date its beginning in UTC).',
        default=None,
        omitted=True,
    )
    near: Json | None = near_answer_arg()
    why_empty: str | None = why_empty_arg()


_LONG = ('record_content', 'context', 'pose', 'audit')


@tool(read_only=True, idempotent=True, core=True, planner=False)
def query_records(memory: Memory, request: QueryRecordsRequest) -> QueryRecordsResponse:
    """
    List matching records, newest first, with pagination.

    Call it for an exact, complete list; recall ranks instead.

    Without a condition on status only active records are listed; with one, soft-deleted and
    superseded records are included, with their audit trail.
    """
    conditions: Any = request.where or {}
    where, occasion = compile_occasions(
        'where', conditions, session_id=request.session_id, actor_id=request.actor_id
    )
    if 'status' not in conditions:
        where &= ACTIVE
    question = parse_area(request.near)
    past = find_past(memory, request.as_of, conditions)
    if question is not None and past is not None:
        raise InvalidArgument('near with as_of is not supported; near.at names an instant')
    opened = memory.db.read() if past is None else open_past(memory.db, past.line)
    with opened as connection:
        refuse_amounts(connection, 'where', conditions)
        search, passing = None, where
        if question is not None:
            search = prepare(memory, connection, question, None)
            where &= among(search.list_within(connection, where))
        ids = memories.list_page(connection, where, request.limit, request.offset)
        known = get_whole(connection, ids, occasion)
        page = [known[memory_id] for memory_id in ids]
        zone = choose_zone(memory)
        of_maps = maps.describe_each(connection, page) if past is None else {}
        views = tuple(
            fit_each([_view(connection, record, zone, search, of_maps) for record in page], _LONG)
        )
        total = _total(connection, where, request, len(views))
        near_view = None if search is None else search.describe(connection, passing, ids)
        why = None
        if not views:
            why = _explain_empty(connection, request, total, past)
            if search is not None and not total:
                why = search.explain(near_view)
        return QueryRecordsResponse(
            get_store_id(connection),
            views,
            total,
            None if past is None else past.describe(),
            near_view,
            why,
        )


def _explain_empty(
    connection: Connection, request: QueryRecordsRequest, total: int, past: Past | None
) -> str:
    if total:
        return f'offset {request.offset} is beyond the last of {total} records.'
    return explain_empty(
        connection,
        Asked(
            name='where',
            conditions=request.where or {},
            session_id=request.session_id,
            actor_id=request.actor_id,
            as_of='' if past is None else past.name(),
        ),
    )


def _total(connection: Connection, where: Where, request: QueryRecordsRequest, shown: int) -> int:
    """Count what fits; a short page that is not empty says it itself."""
    if 0 < shown < request.limit:
        return request.offset + shown
    return memories.count(connection, where)


def _view(
    connection: Connection,
    record: Record,
    zone: ZoneInfo,
    search: NearSearch | None,
    of_maps: Mapping[int, str],
) -> RecordView:
    trail = audit.read_trail(connection, record.id)
    return RecordView(
        actor_id=record.actor_id,
        session_id=record.session_id,
        record_id=f'mem_{record.id}',
        record_content=record.content,
        strategy_name=record.strategy_name,
        event_id=record.event_id,
        created_at=record.created,
        updated_at=format_instant(record.updated_at),
        memory_id=record.id,
        kind=record.type,
        category=record.category,
        confidence=round(record.confidence, 6),
        collection=record.collection,
        context=record.context,
        status=record.status,
        superseded_by=record.superseded_by,
        role=record.role,
        turn_id=record.turn_id,
        time_uncertain=record.time_uncertain or None,
        measured_at=record.format_measured(zone),
        stamp=None if record.stamp is None else Stamp(record.stamp),
        frame_id=record.frame_id,
        pose=record.pose,
        observed=view_observed(record),
        near=None if search is None else search.view(record),
        of_map=of_maps.get(record.id),
        **view_links(record),
        audit=[{**line, 'at': format_instant(line['at'])} for line in trail] or None,
    )
