"""Folded memories: what their events still say, and which digest stands for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.fields import to_plain
from robot_memory.core.records import Record
from robot_memory.retrieval.event_views import view_event
from robot_memory.storage import Connection
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import EventRow, read_events
from robot_memory.storage.tables import audit, folding, memories

_FIELDS = ('topic', 'source', 'recording')


def find_folded(
    connection: Connection, memory_id: int, zone: ZoneInfo
) -> tuple[Record, dict[str, Any]] | None:
    """
    Return what is left of a folded memory, as a record, and its event; None where it was not.

    The record has what its event and its digest say: `superseded_by` names the digest.
    """
    digest_id = folding.find_digest(connection, memory_id)
    if digest_id is None:
        return None
    digest = memories.get(connection, [digest_id])[digest_id]
    (event,) = read_events(connection, Fields.read(connection), [memory_id])
    record = replace(
        digest,
        id=memory_id,
        content=f'{_describe(event)}; folded into the digest, memory {digest_id}',
        context=_make_context(event),
        status=audit.FOLDED,
        superseded_by=digest_id,
        session_id=event.names['session_id'],
        frame_id=event.names['frame_id'],
        stamp=event.onset,
    )
    return record, to_plain(view_event(event, zone, 0))


def _describe(event: EventRow) -> str:
    names = [event.names['kind'], event.names['label']]
    figures = [f'{name.replace("_", " ")} {value:g} {unit}' for name, value, unit in event.figures]
    return ', '.join(one.strip() for one in (*filter(None, names), *figures))


def _make_context(event: EventRow) -> dict[str, Any]:
    sense = {name: event.names[name] for name in _FIELDS if event.names[name]}
    sense |= {'detector': event.names['kind'], 'kind': event.names['label']}
    context: dict[str, Any] = {'sense': {name: one for name, one in sense.items() if one}}
    if event.figures:
        context['params'] = {
            name: {'value': value, 'unit': unit} for name, value, unit in event.figures
        }
    if event.names['task']:
        context['task'] = {'name': event.names['task']}
    if event.names['robot']:
        context['robot'] = {'id': event.names['robot']}
    return context
