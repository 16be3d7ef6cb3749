"""
What belongs to an event: its session, task and outcome, pictures, and what was at the same time.

A link is derived when it is read, from measured times and from what tells events apart (session,
robot, recording, source), so that it is never stale and takes no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.core.truncation import shorten
from robot_memory.core.zones import format_local, format_measured
from robot_memory.memory import Memory
from robot_memory.retrieval.event_views import LinkedEventView
from robot_memory.retrieval.events import EventQuestion, choose_zone, list_events
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes.filters import active_in, compile_filter, in_session
from robot_memory.storage.tables import memories, parts, sessions
from robot_memory.storage.tables.events import PERCEPTION, SESSION, SUCCESS, TASK

MOST = 10
"""Linked events of an answer."""
DURING, WITHIN, OUTCOME, PICTURE = 'during', 'within', 'outcome', 'picture'
SAME_TIME, BEFORE, AFTER = 'at the same time', 'shortly before', 'shortly after'
_RANKS = (DURING, OUTCOME, PICTURE)
_POOL = 200
_APART = ('session_id', 'robot', 'recording', 'source')
"""Two events belong together where they differ in none of these; what one has not, fits."""
_LONG = (TASK, SESSION)
_SECOND = 10**9
_NEAR = _SECOND
_PICTURE_NEAR, _PICTURES = 5 * _SECOND, 3
"""How far from an event a picture may be, and how many of the nearest are linked."""
_AFTER_TASK, _UNTIL_OUTCOME = 60 * _SECOND, 3600 * _SECOND
"""How long after a task, or after an event whose task has no end, its outcome may be told."""
_TEXT = 300
_TELLS_OUTCOME = compile_filter(
    'outcome', {'kind': 'fact', 'task.success': {'$in': [True, False]}}
)


@dataclass(frozen=True)
class Link:
    """An event and how it is related to another."""

    event: EventRow
    relation: str


def describe_linked(memory: Memory, events: Sequence[EventRow]) -> dict[str, Any]:
    """Return the fields of an answer that tell what is linked to its only event."""
    if len(events) != 1:
        return {}
    links = find_links(memory, events[0])
    views = [_view(memory, link) for link in links[:MOST]]
    stated = None
    if all(link.relation != OUTCOME for link in links):
        stated = _find_stated_outcome(memory, events[0])
    if stated is not None:
        views.insert(sum(view.relation == DURING for view in views), stated)
    return {
        'linked': tuple(views[:MOST]) or None,
        'linked_total': len(links) + (stated is not None) or None,
    }


def find_links(memory: Memory, event: EventRow) -> list[Link]:
    """
    Return the events that are linked to one: its task, outcome and pictures first.

    Others follow from the nearest one on.
    """
    around = _list(memory, event, event.onset - _PICTURE_NEAR, _get_end(event) + _PICTURE_NEAR, {})
    shown = _find_pictures(memory, (event, *around))
    pictures = sorted(
        (one for one in around if one.id in shown), key=lambda one: _measure_gap(event, one)
    )
    near = _PICTURE_NEAR if event.id in shown else _NEAR
    links = {one.id: Link(one, DURING) for one in _find_sessions(memory, event)}
    links |= {one.id: Link(one, PICTURE) for one in pictures[:_PICTURES]}
    for one in around:
        relation = _relate(event, one, near)
        if relation and one.id not in links:
            links[one.id] = Link(one, relation)
    outcome = _find_outcome(memory, event, [link.event for link in links.values()])
    if outcome is not None:
        links[outcome.id] = Link(outcome, OUTCOME)
    links.pop(event.id, None)
    return sorted(links.values(), key=lambda link: (_rank(link), _measure_gap(event, link.event)))


def _list(
    memory: Memory,
    event: EventRow,
    since: int,
    until: int,
    where: dict[str, Any],
    most: int = _POOL,
) -> list[EventRow]:
    """Return what overlaps a window in nanoseconds and is told apart from an event by nothing."""
    zone = choose_zone(memory)
    same = {
        name: {'$in': [event.names[name], None]}
        for name in _APART
        if event.names[name] is not None
    }
    begin, end = (format_local(at // 1000, zone) for at in (since, until + 1000))
    where = {'collection': event.names['collection'], **same, **where}
    question = EventQuestion(where, begin, end, 'onset', False, most, '', zone)
    return list(list_events(memory, question).events)


def _find_sessions(memory: Memory, event: EventRow) -> list[EventRow]:
    """Return the session of an event, at whatever time: that of a recording is another clock's."""
    if event.names['session_id'] is None:
        return []
    where = {'kind': SESSION, 'session_id': event.names['session_id']}
    question = EventQuestion(where, '', '', 'onset', True, 1, '', choose_zone(memory))
    return list(list_events(memory, question).events)


def _find_pictures(memory: Memory, events: Sequence[EventRow]) -> set[int]:
    """Return the ids of those events that are pictures: a scene, or a perception with an image."""
    stored = [one.id for one in events if one.names['kind'] == PERCEPTION]
    with memory.db.read() as connection:
        found = parts.of(connection, stored)
    shown = {key for key, kept in found.items() if any('image/' in one.media_type for one in kept)}
    return shown | {one.id for one in events if one.names['kind'] == 'scene'}


def _find_outcome(memory: Memory, event: EventRow, linked: Sequence[EventRow]) -> EventRow | None:
    """Return the first event at or after one that tells how its task went."""
    with memory.db.read() as connection:
        if all(one.name != SUCCESS for one in Fields.read(connection).figures):
            return None
    tasks = [one for one in (event, *linked) if one.names['kind'] == TASK]
    tasks = [one for one in tasks if one is event or _relate(event, one, 0) == DURING]
    names = {one.names['task'] for one in (event, *tasks)} - {None}
    if not names:
        return None
    ends = [one.end + _AFTER_TASK for one in tasks if one.end is not None]
    until = min(ends, default=_get_end(event) + _UNTIL_OUTCOME)
    where = {'task': {'$in': sorted(map(str, names))}, SUCCESS: {'$gte': 0}}
    found = _list(memory, event, event.onset, until, where, 2)
    return next((one for one in found if one.id != event.id), None)


def _find_stated_outcome(memory: Memory, event: EventRow) -> LinkedEventView | None:
    """Return the fact of its session that tells how the task of an event went."""
    session_id, task = event.names['session_id'], event.names['task']
    if session_id is None:
        return None
    where = active_in(event.names['collection'] or '') & in_session(session_id) & _TELLS_OUTCOME
    with memory.db.read() as connection:
        found = memories.list_newest(connection, where, _POOL)
    found = [one for one in found if task in (None, one.context['task'].get('name', task))]
    if not found:
        return None
    later = [one for one in found if 1000 * one.created_at >= event.onset]
    fact = later[-1] if later else found[0]
    return LinkedEventView(
        event_id=None,
        memory_id=fact.id,
        kind=fact.type,
        label=_name_outcome(fact.context['task']['success']),
        relation=OUTCOME,
        start=format_local(fact.created_at, choose_zone(memory)),
        duration=None,
        text=shorten(fact.content, _TEXT),
    )


def _name_outcome(success: Any) -> str:
    return 'success' if success else 'failure'


def _relate(event: EventRow, other: EventRow, near: int) -> str:
    """Return how another event is related to one by its time and kind; empty where it is not."""
    gap = max(other.onset - _get_end(event), event.onset - _get_end(other))
    if gap > 0:
        return '' if gap > near else AFTER if other.onset > event.onset else BEFORE
    kind, of = event.names['kind'], other.names['kind']
    if of in _LONG and kind != SESSION and kind != of:
        return DURING
    if kind in _LONG and kind != of:
        return WITHIN
    return SAME_TIME


def _get_end(event: EventRow) -> int:
    """Return the end of an event; of a task or session that lasts, a year after its onset."""
    if event.end is not None:
        return event.end
    return event.onset + 31_536_000 * _SECOND


def _measure_gap(event: EventRow, other: EventRow) -> int:
    return abs(other.peak - event.peak)


def _rank(link: Link) -> int:
    return _RANKS.index(link.relation) if link.relation in _RANKS else len(_RANKS)


def _view(memory: Memory, link: Link) -> LinkedEventView:
    event, label, text = link.event, link.event.names['label'], link.event.text
    if link.relation == OUTCOME:
        label = _name_outcome(dict(one[:2] for one in event.figures)[SUCCESS])
    if event.names['kind'] == SESSION:
        text = _describe_session(memory, event)
    return LinkedEventView(
        event_id=event.id,
        memory_id=event.memory_id,
        kind=event.names['kind'] or '',
        label=label,
        relation=link.relation,
        start=format_measured(event.onset, choose_zone(memory)),
        duration=None if event.end is None else (event.end - event.onset) / 1e9,
        text=None if text is None else shorten(text, _TEXT),
    )


def _describe_session(memory: Memory, event: EventRow) -> str:
    with memory.db.read() as connection:
        session = sessions.get(connection, event.names['session_id'] or '')
    score = session.outcome_score
    said = [event.names['task'], f'session {session.id}']
    said += [] if score is None else [f'outcome score {score:g}']
    return ', '.join(filter(None, said))
