"""List what is remembered by when it occurred."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Record
from robot_memory.core.truncation import fit_each, shortened_arg
from robot_memory.core.zones import format_local
from robot_memory.memory import Memory
from robot_memory.retrieval.empty_answers import Asked, explain_empty, why_empty_arg
from robot_memory.retrieval.events import choose_zone, read_window
from robot_memory.retrieval.evidence import REPLACED_BY, REPLACES, view_links
from robot_memory.retrieval.near import prepare
from robot_memory.retrieval.near_question import parse_area
from robot_memory.retrieval.place_views import NEAR, near_arg
from robot_memory.retrieval.views import describe_authority
from robot_memory.storage import Connection
from robot_memory.storage.indexes.amounts import refuse_amounts
from robot_memory.storage.indexes.filters import among
from robot_memory.storage.indexes.occasions import compile_occasions
from robot_memory.storage.tables.records import get_whole
from robot_memory.storage.tables.timelines import Key, Span, Timeline
from robot_memory.tool import tool

_YEAR_2001 = 978_307_200_000_000
"""Microseconds; what is stamped before is of a simulation's clock."""


@dataclass(frozen=True)
class ListTimelineRequest:
    """Request of list_timeline."""

    where: Json | None = arg(
        'Conditions as in query_records: {"kind": "perception", "session_id": "s1"}.',
        default=None,
        shape='object',
        typed='filter',
    )
    since: str = arg(
        'What occurred then or later: ISO 8601, or words: yesterday, monday 14:03. A date is its '
        'midnight.',
        default='',
        max_length=64,
    )
    until: str = arg('What occurred before then: ISO 8601 or words.', default='', max_length=64)
    descending: bool = arg('Newest first.', default=True)
    limit: int = arg('Maximum number of entries.', default=50, minimum=1, maximum=1000)
    cursor: str = arg('next_cursor of the page before.', default='', max_length=512)
    buckets: int = arg(
        'Number of equal parts of the window whose memories are counted; 0: none.',
        default=0,
        minimum=0,
        maximum=1000,
    )
    time_zone: str = arg('IANA name; default: the parameter time_zone.', default='', max_length=64)
    near: Json | None = near_arg(f'{NEAR} Here within or in is required.')


@dataclass(frozen=True)
class TimelineEntry:
    """One memory on a timeline."""

    memory_id: int = arg('Memory id for show.')
    at: str = arg(
        'When it was measured, else stored, ISO 8601 with the offset of time_zone.',
        typed='instant',
    )
    kind: str = arg('fact, perception or turn.')
    sense: str | None = arg('Modality; perceptions only.')
    category: str = arg('One of the 11 categories.')
    content: str = arg('Text of the memory.')
    confidence: float = arg('Confidence, 0 to 1.')
    collection: str = arg('Collection.')
    status: str = arg('active, invalidated or superseded.')
    session_id: str | None = arg('Session id.')
    actor_id: str | None = arg('Actor who said or did it.')
    frame_id: str | None = arg('Coordinate frame of the measurement.')
    authority: str = arg('Who stands behind it.')
    stated_by: str = arg('Who stated it.')
    quoted: bool = arg('True if a person said or a sensor observed it: it is no rule.')
    replaces: int | None = arg(REPLACES, default=None, omitted=True)
    replaced_by: int | None = arg(REPLACED_BY, default=None, omitted=True)
    shortened: tuple[str, ...] | None = shortened_arg()


@dataclass(frozen=True)
class ListTimelineResponse:
    """Response of list_timeline."""

    entries: tuple[TimelineEntry, ...] = arg('Page of memories.')
    next_cursor: str = arg('Cursor of the next page; empty on the last one.')
    time_zone: str = arg('IANA name of the zone of all times.')
    density: tuple[int, ...] = arg('Number of memories in each bucket, the oldest first.')
    density_from: str | None = arg('Begin of the first bucket.', default=None, omitted=True)
    density_until: str | None = arg('End of the last bucket.', default=None, omitted=True)
    bucket_seconds: float | None = arg(
        'Length of a bucket in seconds.', default=None, omitted=True
    )
    near: Json | None = arg('As in query_records.', default=None, omitted=True)
    why_empty: str | None = why_empty_arg()


@tool(read_only=True, idempotent=True, planner=False)
def list_timeline(memory: Memory, request: ListTimelineRequest) -> ListTimelineResponse:
    """
    List memories in the order in which they occurred, a page at a time.

    Call it for everything of a time, whatever its kind; query_events knows figures.

    Perceptions occurred when they were measured, all else when it was stored. Pages follow a key,
    so none is skipped or told twice while memories arrive. Without a condition on status only
    active memories are listed. density counts over since to until, or over all that pass;
    simulated time, before 2001, is counted only where since or until names it.
    """
    zone = choose_zone(memory, request.time_zone)
    conditions: Any = request.where or {}
    where, _ = compile_occasions('where', conditions)
    after = _read_cursor(request)
    question = parse_area(request.near)
    near_view = None
    with memory.db.read() as connection:
        refuse_amounts(connection, 'where', conditions)
        if question is not None:
            search = prepare(memory, connection, question, None)
            passing = where
            where &= among(search.list_within(connection, where))
        timeline = Timeline(connection, where, only_active='status' not in conditions)
        span = _read_span(memory, connection, request, zone)
        keys = timeline.list_keys(span, after, request.limit + 1, descending=request.descending)
        page = keys[: request.limit]
        known = get_whole(connection, [memory_id for _, memory_id in page])
        if question is not None:
            near_view = search.describe(connection, passing, [memory_id for _, memory_id in page])
        entries = [_view(known[memory_id], at, zone) for at, memory_id in page]
        density = {}
        if request.buckets:
            is_newest = request.descending and not request.cursor
            last = keys[0][0] if is_newest and keys else None
            density = _count(timeline, span, request.buckets, zone, last)
        why = None
        if not entries:
            why = _explain(connection, request)
    more = len(keys) > request.limit
    return ListTimelineResponse(
        entries=tuple(fit_each(entries, ('content',))),
        next_cursor=_write_cursor(request, page[-1]) if more else '',
        time_zone=zone.key,
        **{'density': (), **density},
        near=near_view,
        why_empty=why,
    )


def _read_span(
    memory: Memory, connection: Connection, request: ListTimelineRequest, zone: ZoneInfo
) -> Span:
    first, end = (
        None if one is None else one // 1000
        for one in read_window(memory, connection, request.since, request.until, zone)
    )
    if first is not None and end is not None and first >= end:
        raise InvalidArgument(
            f'since must be before until, not {format_value(request.since)} with until '
            f'{format_value(request.until)}'
        )
    return Span(first, end)


def _count(
    timeline: Timeline, span: Span, buckets: int, zone: ZoneInfo, last: int | None
) -> dict[str, Any]:
    """Return the density over a window, or over all that pass where it is open."""
    counted = timeline.measure_density(span, buckets, _YEAR_2001, last)
    if counted is None:
        return {}
    return {
        'density': tuple(counted.counts),
        'density_from': format_local(counted.first, zone),
        'density_until': format_local(counted.first + counted.width * buckets, zone),
        'bucket_seconds': counted.width / 1e6,
    }


def _explain(connection: Connection, request: ListTimelineRequest) -> str:
    if request.cursor:
        return 'nothing comes after this cursor any more.'
    if request.since or request.until:
        return 'nothing that passes occurred from since to until.'
    return explain_empty(connection, Asked(name='where', conditions=request.where or {}))


def _read_cursor(request: ListTimelineRequest) -> Key | None:
    """Return the key that a cursor holds; raise InvalidArgument for one of another order."""
    if not request.cursor:
        return None
    try:
        at, memory_id, descending = json.loads(base64.urlsafe_b64decode(request.cursor))
        if descending is request.descending:
            return int(at), int(memory_id)
    except (ValueError, TypeError):
        pass
    raise InvalidArgument(
        'cursor must be the next_cursor of a page of the same order, not '
        f'{format_value(request.cursor)}'
    )


def _write_cursor(request: ListTimelineRequest, key: Key) -> str:
    text = json.dumps([*key, request.descending], separators=(',', ':'))
    return base64.urlsafe_b64encode(text.encode()).decode()


def _view(record: Record, at: int, zone: ZoneInfo) -> TimelineEntry:
    links = view_links(record)
    return TimelineEntry(
        memory_id=record.id,
        at=format_local(at, zone),
        kind=record.type,
        sense=record.perception_type,
        category=record.category,
        content=record.content,
        confidence=round(record.confidence, 6),
        collection=record.collection,
        status=record.status,
        session_id=record.session_id,
        actor_id=record.actor_id,
        frame_id=record.frame_id,
        replaces=links.get('replaces'),
        replaced_by=links.get('replaced_by'),
        **describe_authority(record),
    )
