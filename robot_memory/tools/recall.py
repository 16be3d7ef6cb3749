"""Answer a question from memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.zones import get_zone
from robot_memory.memory import Memory
from robot_memory.retrieval.answerable import judge
from robot_memory.retrieval.asked import add_asked_events
from robot_memory.retrieval.brief_views import BriefView, view_briefly
from robot_memory.retrieval.empty_answers import explain_nothing_found, why_empty_arg
from robot_memory.retrieval.event_views import (
    AGGREGATE,
    AGGREGATE_IDS,
    EVENTS,
    LINKED,
    LINKED_TOTAL,
    NO_MATCH,
    READ_AS,
    EventView,
    FigureView,
    LinkedEventView,
    read_arg,
)
from robot_memory.retrieval.place_views import SpatialTarget, near_answer_arg, near_arg
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Found, Retriever
from robot_memory.retrieval.views import MemoryView, view_memories
from robot_memory.storage.indexes.amounts import refuse_amounts
from robot_memory.tool import tool

if TYPE_CHECKING:
    from robot_memory.retrieval.asked_events import AskedEvents
    from robot_memory.retrieval.past import Past

MIN_CONFIDENCE = 0.3


@dataclass(frozen=True)
class RecallRequest:
    """Request of recall."""

    query: str = arg('Query in natural language.', default='', max_length=10_000)
    collection: str = collection_arg('Collection to search.')
    n: int = arg('Maximum number of memories.', default=5, minimum=1, maximum=100)
    min_confidence: float = arg(
        'Minimum confidence.', default=MIN_CONFIDENCE, minimum=0.0, maximum=1.0
    )
    session_id: str | None = arg('Restrict to this session.', default=None)
    context_filter: Json | None = arg(
        'Conditions on the context: {"task.success": true, "params.force.value": {"$lt": '
        '15}}; $eq $ne $gt $gte $lt $lte $in $nin, at most 10.',
        default=None,
        shape='object',
        typed='filter',
    )
    spatial_sort: Json | None = arg(
        'Sort by distance: {"field": "spatial.object_position", "target": [x, y, z]}; optional '
        'max_distance, frame_id.',
        default=None,
        shape='object',
        typed=SpatialTarget,
    )
    as_of: str = arg(
        'As of an instant (ISO 8601) or audit line (#120), by keyword.',
        default='',
        max_length=100,
        typed='instant',
    )
    read: str = read_arg()
    format: str = arg(
        'brief: text and one line a memory; full: all fields; default: recall_format.',
        default='',
        choices=('', 'full', 'brief'),
    )
    near: Json | None = near_arg()


@dataclass(frozen=True)
class RecallResponse:
    """Response of recall."""

    memories: tuple[MemoryView, ...] = arg('Memories, best match first.')
    total: int = arg(
        'Number of memories in this response, at most n; query_records counts all that pass.'
    )
    mode: str = arg('Retrieval mode: hybrid, bm25_only, vec_only or filter.')
    query_ms: float = arg('Duration in milliseconds.')
    frames: Json | None = arg(
        'Number of returned memories per coordinate frame, if spatial_sort compared several; '
        '"unknown" counts positions without a frame.',
        default=None,
        omitted=True,
    )
    as_of: Json | None = arg(
        'The state that answered: line, at, gone, the memories of then that were erased or '
        'folded since, and instant, which as_of was read as (of a date its beginning in UTC).',
        default=None,
        omitted=True,
    )
    faded: int = arg(
        'Number of memories that would be in this answer, but have decayed below min_confidence.',
        default=0,
    )
    read_as: str | None = arg(READ_AS, default=None, omitted=True)
    no_match: bool | None = arg(NO_MATCH, default=None, omitted=True)
    events: tuple[EventView, ...] | None = arg(EVENTS, default=None, omitted=True)
    aggregate: FigureView | None = arg(AGGREGATE, default=None, omitted=True)
    aggregate_ids: tuple[int, ...] | None = arg(AGGREGATE_IDS, default=None, omitted=True)
    linked: tuple[LinkedEventView, ...] | None = arg(LINKED, default=None, omitted=True)
    linked_total: int | None = arg(LINKED_TOTAL, default=None, omitted=True)
    models: tuple[str, ...] = arg(
        'Embedding models that were asked; empty: none (bm25_only, filter).', default=()
    )
    answerable: float | None = arg(
        'Chance from 0 to 1 that the memories answer the query, rather than tell of another '
        'person, thing, number or time; removes nothing. Absent without a query.',
        default=None,
        omitted=True,
    )
    brief: tuple[BriefView, ...] | None = arg(
        'The memories with format brief, which leaves memories empty.', default=None, omitted=True
    )
    near: Json | None = near_answer_arg()
    why_empty: str | None = why_empty_arg()


class Answer(NamedTuple):
    """Hold how a request was planned, what answers it, and the zone that its times are told in."""

    plan: RecallPlan
    past: Past | None
    found: Found
    asked: AskedEvents | None
    zone: ZoneInfo


def find_answer(memory: Memory, request: RecallRequest) -> Answer:
    """Return what answers a request; no access is recorded."""
    past = None
    if request.as_of:
        from robot_memory.retrieval.past import find_past

        past = find_past(memory, request.as_of, request.context_filter)
    least = request.min_confidence
    plan = RecallPlan.of(
        collection=request.collection,
        limit=request.n,
        query=request.query,
        min_confidence=0.0 if past is not None and least == MIN_CONFIDENCE else least,
        session_id=request.session_id,
        context_filter=request.context_filter,
        spatial_sort=request.spatial_sort,
        around=request.near,
        fills=True,
        marks_newer=True,
        has_payloads=True,
        as_of=None if past is None else past.line,
    )
    conditions: Any = request.context_filter or {}
    if conditions:
        with memory.db.read() as connection:
            refuse_amounts(connection, 'context_filter', conditions)
    found = Retriever(memory).find(plan)
    zone = get_zone(memory.settings.time_zone)
    asked = None
    fields = (request.context_filter, request.spatial_sort, request.near, past)
    reads = request.read == 'auto' and request.query.strip() and not any(fields)
    if reads:
        found, asked = add_asked_events(
            memory, found, request.query, request.collection, request.session_id, request.n
        )
    return Answer(plan, past, found, asked, zone)


@tool(read_only=True, idempotent=True, core=True)
def recall(memory: Memory, request: RecallRequest) -> RecallResponse:
    """
    Retrieve memories by keyword, meaning, filter or distance, best match first.

    Call it to look something up; before acting, call get_context. The query may be empty with
    a context_filter, spatial_sort or near.

    Collection, session, confidence, context_filter and max_distance are applied before ranking.
    With spatial_sort or near, memories that match a query keyword come first; each group is sorted
    by distance. near brings places of other frames into the asked one; spatial_sort does not.
    With as_of, min_confidence applies only if it is not the default.
    """
    plan, past, found, asked, zone = find_answer(memory, request)
    chance = judge(found, request.query) if request.query.strip() else None
    is_brief = (request.format or memory.settings.recall_format) == 'brief'
    why = None
    if not found.hits and not (asked and (asked.events or asked.figure)):
        why = (
            found.around.explain(found.near)
            if found.around is not None
            else explain_nothing_found(
                memory,
                plan,
                session_id=request.session_id,
                conditions=request.context_filter,
                past=past,
            )
        )
    asked_parts = {}
    if asked is not None:
        from robot_memory.retrieval.event_answers import describe_asked

        asked_parts = describe_asked(memory, asked)
    viewer_url = memory.settings.viewer_url
    response = RecallResponse(
        () if is_brief else view_memories(found, zone, viewer_url),
        len(found.hits),
        found.mode,
        found.query_ms,
        found.frames,
        None if past is None else past.describe(),
        found.faded,
        models=found.models,
        answerable=chance,
        **asked_parts,
        brief=view_briefly(found, zone, viewer_url) if is_brief and found.hits else None,
        near=found.near,
        why_empty=why,
    )
    if past is None:
        memory.accesses.record(hit.id for hit in found.hits)
    return response
