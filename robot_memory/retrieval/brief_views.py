"""What was found, in few characters: the text, and a line that says what it is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.fields import arg
from robot_memory.core.json_text import parse_finite
from robot_memory.core.records import Record, is_rule_giver
from robot_memory.core.zones import format_local
from robot_memory.retrieval.evidence import is_only_simulated
from robot_memory.retrieval.pages import make_page, page_arg
from robot_memory.retrieval.retriever import Found
from robot_memory.text.quoting import format_label

_LONGEST = 60
_MINUTE = len('2026-11-20 14:03')
_POSITIONS = ('object_position', 'position', 'target_position')


@dataclass(frozen=True)
class BriefView:
    """One recalled memory in brief."""

    id: int = arg('Memory id for show, update and forget.')
    content: str = arg('Text of the memory.')
    about: str = arg(
        'Kind, local time, confidence, how often it was observed, position, whose word it is; at '
        'most 60 characters.'
    )
    page: str | None = page_arg()


def view_briefly(found: Found, zone: ZoneInfo, viewer_url: str = '') -> tuple[BriefView, ...]:
    """Return what was found, best match first."""
    return tuple(
        BriefView(
            one.id,
            one.content,
            _describe(one, found, zone),
            page=make_page(viewer_url, one.id) if viewer_url else None,
        )
        for one in (found.records[hit.id] for hit in found.hits)
    )


def _describe(record: Record, found: Found, zone: ZoneInfo) -> str:
    """Join as many parts as fit, the most important first."""
    about = ''
    for part in _list_parts(record, found, zone):
        joined = f'{about}, {part}' if about else part
        if len(joined) <= _LONGEST:
            about = joined
    return about


def _list_parts(record: Record, found: Found, zone: ZoneInfo) -> Iterator[str]:
    kind = record.perception_type or (f'{record.role} turn' if record.role else record.category)
    yield format_label(kind)
    at = record.measured_at or max(record.updated_at, record.created_at)
    yield format_local(at, zone).replace('T', ' ')[:_MINUTE]
    yield f'{record.confidence:.2f}'
    if newer := found.newer.get(record.id) or found.contradicts.get(record.id):
        yield f'but see {newer}'
    evidence = record.evidence
    if evidence is not None and evidence.is_repeated:
        yield f'{evidence.count + evidence.simulated_count} times'
    if evidence is not None and evidence.tries:
        yield f'{evidence.successes} of {evidence.tries} succeeded'
    if is_only_simulated(record):
        yield 'simulated'
    if not is_rule_giver(record):
        yield record.authority
    if record.id in found.of_maps:
        yield found.of_maps[record.id]
    if position := _find_position(record):
        yield f'at {position}'


def _find_position(record: Record) -> str:
    """Return a position as text, of the memory's object or of the measurement, with its frame."""
    spatial = record.context.get('spatial')
    spatial = spatial if isinstance(spatial, dict) else {}
    frame = spatial.get('frame_id') or record.frame_id or ''
    places: Iterable[Any] = [spatial.get(name) for name in _POSITIONS]
    for place in (*places, (record.pose or {}).get('position')):
        if isinstance(place, list) and 2 <= len(place) <= 3:
            numbers = [number for one in place if (number := parse_finite(one)) is not None]
            if len(numbers) == len(place):
                listed = ' '.join(f'{number:.2f}'.rstrip('0').rstrip('.') for number in numbers)
                return f'[{listed}] {format_label(str(frame))}'.rstrip()
    return ''
