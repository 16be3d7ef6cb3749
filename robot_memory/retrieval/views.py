"""What tools answer: pure functions from what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant, format_instants
from robot_memory.core.fields import Json, Stamp, arg, to_plain
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record, describe_statement, is_rule_giver
from robot_memory.core.truncation import compute_field_limit, fit_each, shorten, shortened_arg
from robot_memory.retrieval.evidence import (
    DISAGREES,
    OBSERVED,
    REPLACED_BY,
    REPLACEMENT,
    REPLACES,
    ObservedView,
    ReplacementView,
    describe_links,
    is_only_simulated,
    view_evidence,
    view_observed,
)
from robot_memory.retrieval.pages import make_page, page_arg
from robot_memory.retrieval.place_views import OF_MAP, PLACE, POSE, PlaceView
from robot_memory.retrieval.retriever import Found
from robot_memory.search.query import Hit
from robot_memory.text import tokenizer

_PARTITIONS = ('params', 'spatial', 'robot', 'task')
_LONG = ('content', 'pose', 'payload')
_SUMMARY = 80


@dataclass(frozen=True)
class MemoryView:
    """One recalled memory."""

    id: int = arg('Memory id for update and forget.')
    content: str = arg('Text of the memory.')
    human_summary: str = arg('Summary of at most 80 characters.')
    type: str = arg('fact, perception or turn.')
    perception_type: str | None = arg('Modality; perceptions only.')
    session_id: str | None = arg('Session id.')
    category: str = arg('One of the 11 categories.')
    confidence: float = arg('Confidence, 0 to 1.')
    context: str = arg('Complete context as JSON text.')
    params: Json = arg('Context partition params.', typed='figures')
    spatial: Json = arg('Context partition spatial.')
    robot: Json = arg('Context partition robot.')
    task: Json = arg('Context partition task.')
    _rrf_score: float = arg('Fused score that determines the order.')
    created_at: str = arg('Creation time, UTC, ISO 8601.', typed='instant')
    tags: tuple[str, ...] = arg('Topics.')
    updated_at: str | None = arg(
        'Time of the last change of its text, UTC, ISO 8601; only if it was updated.',
        default=None,
        omitted=True,
        typed='instant',
    )
    distance: float | None = arg(
        'Distance to the target of spatial_sort, in its unit.', default=None, omitted=True
    )
    near: PlaceView | None = arg(PLACE, default=None, omitted=True)
    stamp: Stamp | None = arg(
        'Time of the measurement; perceptions only.', default=None, omitted=True
    )
    measured_at: str | None = arg(
        'Time of the measurement, ISO 8601 with the offset of time_zone.',
        default=None,
        omitted=True,
        typed='instant',
    )
    frame_id: str | None = arg('Coordinate frame of the measurement.', default=None, omitted=True)
    pose: Json | None = arg(POSE, default=None, omitted=True, typed='pose')
    of_map: str | None = arg(OF_MAP, default=None, omitted=True)
    payload: Json | None = arg(
        'Measured data as a short digest, and a list of parts (signals, images); show and their '
        'uri return the content.',
        default=None,
        omitted=True,
    )
    newer: int | None = arg(
        'Id of a newer memory that differs in one value which the query does not name.',
        default=None,
        omitted=True,
    )
    actor_id: str | None = arg('Actor who said it.', default=None, omitted=True)
    role: str | None = arg(
        "Speaker's role, user or assistant; turns only.", default=None, omitted=True
    )
    authority: str = arg(
        'Who stands behind it: operator, planner, robot, person, observed or imported; only what '
        'operators and planners state is a rule.',
        default='planner',
    )
    stated_by: str = arg('Who stated it, e.g. operator:anna, relayed by planner-1.', default='')
    time_uncertain: bool | None = arg(
        'True if created_at is only in the right order: the clock was wrong and was never set.',
        default=None,
        omitted=True,
    )
    observed: ObservedView | None = arg(OBSERVED, default=None, omitted=True)
    simulated: bool | None = arg(
        'True if it was observed in simulation only.', default=None, omitted=True
    )
    replaces: int | None = arg(REPLACES, default=None, omitted=True)
    replaced_by: int | None = arg(REPLACED_BY, default=None, omitted=True)
    replacement: ReplacementView | None = arg(REPLACEMENT, default=None, omitted=True)
    disagrees: tuple[int, ...] | None = arg(DISAGREES, default=None, omitted=True)
    contradicts: int | None = arg(
        'Id of a memory of higher authority that differs in one value; that one stands.',
        default=None,
        omitted=True,
    )
    helped: int | None = arg(
        'Trials that used it and succeeded (record_outcome).', default=None, omitted=True
    )
    hurt: int | None = arg('Trials that used it and failed.', default=None, omitted=True)
    page: str | None = page_arg()
    shortened: tuple[str, ...] | None = shortened_arg()


def view_memories(found: Found, zone: ZoneInfo, viewer_url: str = '') -> tuple[MemoryView, ...]:
    """Return what was found as memories, within the size of an answer."""
    return _view(found, zone, viewer_url, is_whole=False)


def view_memory(
    record: Record, zone: ZoneInfo, of_maps: Mapping[int, str] | None = None
) -> MemoryView:
    """Return the whole of a memory; `of_maps` says of which map it is, where that is told."""
    hits, records = (Hit(record.id, 0.0),), {record.id: record}
    found = Found(hits, records, 'filter', {}, {}, {}, None, 0.0, of_maps=of_maps or {})
    return _view(found, zone, '', is_whole=True)[0]


def describe_results(found: Found, zone: ZoneInfo) -> list[dict[str, Any]]:
    """Return what was found as plug-ins see it: content, role, score and metadata."""
    described = []
    for hit in found.hits:
        record = found.records[hit.id]
        metadata = _describe(record, found.mode)
        if measured := record.format_measured(zone):
            metadata['measured_at'] = measured
        if updated := format_update(record):
            metadata['updated_at'] = updated
        if record.evidence is not None:
            metadata['observed'] = to_plain(view_observed(record))
        metadata |= describe_links(record)
        if is_only_simulated(record):
            metadata['simulated'] = True
        metadata |= {name: n for name in ('helped', 'hurt') if (n := getattr(record, name))}
        if hit.id in found.of_maps:
            metadata['of_map'] = found.of_maps[hit.id]
        if hit.id in found.newer:
            metadata['newer'] = found.newer[hit.id]
        if hit.id in found.contradicts:
            metadata['contradicts'] = found.contradicts[hit.id]
        described.append(
            {
                'content': record.content,
                'role': record.role,
                'score': round(hit.score, 6),
                'metadata': metadata,
            }
        )
    return described


def describe_records(records: Sequence[Record], zone: ZoneInfo) -> list[dict[str, Any]]:
    """Return records that were not searched for as plug-ins see them, with a score of 0."""
    hits = tuple(Hit(record.id, 0.0) for record in records)
    by_id = {record.id: record for record in records}
    return describe_results(Found(hits, by_id, 'filter', {}, {}, {}, None, 0.0), zone)


def format_update(record: Record) -> str | None:
    """Return when the text was changed, UTC, ISO 8601; None where it stands as it was stored."""
    changed = record.updated_at > record.created_at
    return format_instant(record.updated_at) if changed else None


def describe_authority(record: Record) -> dict[str, Any]:
    """Return who stands behind a record, and whether it is to be quoted."""
    return {
        'quoted': not is_rule_giver(record),
        'authority': record.authority,
        'stated_by': describe_statement(record),
    }


def _describe(record: Record, mode: str) -> dict[str, Any]:
    return {
        'session_id': record.session_id,
        'turn_id': record.turn_id,
        'timestamp': record.created,
        'memory_id': record.id,
        'type': record.type,
        'category': record.category,
        **describe_authority(record),
        'actor_id': record.actor_id,
        'event_id': record.event_id,
        'score_kind': 'words' if mode == 'bm25_only' else 'fused',
    }


def _view(
    found: Found, zone: ZoneInfo, viewer_url: str, *, is_whole: bool
) -> tuple[MemoryView, ...]:
    """Return what was found, whole or within the size of an answer."""
    records = [found.records[hit.id] for hit in found.hits]
    views = [
        MemoryView(
            id=record.id,
            content=record.content,
            type=record.type,
            perception_type=record.perception_type,
            session_id=record.session_id,
            category=record.category,
            confidence=round(record.confidence, 6),
            **{name: record.context.get(name, {}) for name in _PARTITIONS},
            _rrf_score=round(hit.score, 6),
            tags=record.tags,
            distance=None if hit.distance is None else round(hit.distance, 9),
            near=None if found.around is None else found.around.view(record),
            stamp=None if record.stamp is None else Stamp(record.stamp),
            frame_id=record.frame_id,
            pose=record.pose,
            of_map=found.of_maps.get(record.id),
            payload=found.payloads.get(record.id),
            newer=found.newer.get(record.id),
            actor_id=record.actor_id,
            role=record.role,
            time_uncertain=record.time_uncertain or None,
            authority=record.authority,
            contradicts=found.contradicts.get(record.id),
            helped=record.helped or None,
            hurt=record.hurt or None,
            page=make_page(viewer_url, record.id) if viewer_url else None,
            **derived,
        )
        for hit, record, derived in zip(
            found.hits, records, _derive_each(records, zone), strict=True
        )
    ]
    if is_whole:
        return tuple(views)
    limit = compute_field_limit(len(records))
    views = fit_each(views, _LONG)
    return tuple(
        view if len(view.context) <= limit else _shorten_context(view, record.context, limit)
        for view, record in zip(views, records, strict=True)
    )


def _derive_each(records: Sequence[Record], zone: ZoneInfo) -> list[dict[str, Any]]:
    """Return the fields of views that are made of several of a record, column by column."""
    summaries = [_summarize(record.content) for record in records]
    instants = {at for record in records for at in (record.created_at, record.updated_at)}
    read = [record.evidence for record in records if record.evidence is not None]
    times = format_instants(instants.union(*((one.first_at, one.last_at) for one in read)))
    contexts = [dump_json(record.context) for record in records]
    dated = [(record.format_measured(zone), describe_statement(record)) for record in records]
    known = [view_evidence(record, times) for record in records]
    return [
        {
            'human_summary': summary,
            'created_at': times[record.created_at],
            'updated_at': None
            if record.updated_at <= record.created_at
            else times[record.updated_at],
            'context': context,
            'measured_at': measured,
            'stated_by': stated,
            **found,
        }
        for record, summary, context, (measured, stated), found in zip(
            records, summaries, contexts, dated, known, strict=True
        )
    ]


def _summarize(content: str) -> str:
    """Return the beginning of a text; all of it where that has room."""
    if len(content) <= _SUMMARY:
        return content
    kept, gone = tokenizer.cut(content, _SUMMARY - 3)
    return f'{kept}...' if gone > 3 else content


def _shorten_context(view: MemoryView, whole: dict[str, Any], limit: int) -> MemoryView:
    """Return a view with less of its context; it and those of its partitions cut are named."""
    kept = shorten(whole, limit)
    partitions = {name: kept.get(name, {}) for name in _PARTITIONS}
    cut = [name for name, value in partitions.items() if value != whole.get(name, {})]
    shortened = ('context', *cut, *(view.shortened or ()))
    return replace(view, context=dump_json(kept), **partitions, shortened=shortened)
