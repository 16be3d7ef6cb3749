"""What memories and events of the last seconds tell of a robot's situation: docs/rules.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import NotFound
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.retrieval.events import EventQuestion, choose_zone, list_events
from robot_memory.storage import Connection
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes.filters import active_in, compile_filter
from robot_memory.storage.tables import memories, sessions
from robot_memory.storage.tables.events import SUCCESS, TASK
from robot_memory.text.rules.mounting import Named, read_mounted, read_state

_PATHS = {
    'people_near': (('env', 'people_near'),),
    'tool': (('robot', 'tool'), ('robot', 'end_effector')),
    'place': (('spatial', 'place'), ('spatial', 'room'), ('spatial', 'region')),
}
"""Where the context of a memory says it."""
_LATEST = 50
_STATE = 'state'
_HEARD = 'auditory'


@dataclass(frozen=True)
class RecentValue:
    """
    Hold what a memory tells: None for what is unknown from then on.

    `at` is when, in microseconds; `memory_id` is 0 of an event whose memory was folded.
    """

    name: str
    value: Any
    memory_id: int
    at: int


def read_recent(memory: Memory, collection: str, max_age_s: float) -> dict[str, RecentValue]:
    """Return the newest that memories of a collection tell of each key, unless it is too old."""
    now = memory.clock()
    since = max(0, now - round(min(max_age_s, 1e12) * 1e6))
    newest: dict[str, RecentValue] = {}
    for recent in (
        *_read_records(memory, collection, since),
        *_read_events(memory, collection, since),
    ):
        known = newest.get(recent.name)
        # Of two at one time the one that knows less counts: unknown leaves no rule out.
        if recent.at >= since and (known is None or _rank(recent) > _rank(known)):
            newest[recent.name] = recent
    return {name: recent for name, recent in newest.items() if recent.value is not None}


def _rank(recent: RecentValue) -> tuple[int, bool, int]:
    return recent.at, recent.value is None, recent.memory_id


def _read_records(memory: Memory, collection: str, since: int) -> list[RecentValue]:
    """Return what the newest memories tell; no turn tells anything."""
    stored = {'created_at': {'$gte': format_instant(since)}, 'kind': {'$ne': 'turn'}}
    where = active_in(collection) & compile_filter('situation', stored)
    with memory.db.read() as connection:
        inherited = _Inherited(connection)
        return [
            recent
            for record in memories.list_newest(connection, where, _LATEST)
            for recent in (*_read_context(record, inherited), *_read_text(record))
        ]


class _Inherited:
    """Say of what a memory's context says since when its session says it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, tuple[dict[str, Any], int]] = {}

    def date(self, record: Record, part: str, value: dict[str, Any], key: str) -> int:
        """Return when it was said: as the session began, where the memory only inherited it."""
        at = date_record(record)
        if record.session_id is None:
            return at
        if record.session_id not in self._known:
            self._known[record.session_id] = self._read(record.session_id)
        context, began = self._known[record.session_id]
        inner = context.get(part)
        is_inherited = isinstance(inner, dict) and inner.get(key) == value[key]
        return min(at, began) if is_inherited else at

    def _read(self, session_id: str) -> tuple[dict[str, Any], int]:
        try:
            session = sessions.get(self._connection, session_id)
        except NotFound:
            return {}, 0
        return session.context, session.created_at


def date_record(record: Record) -> int:
    """Return when a memory was measured; where no calendar's clock says, when it was stored."""
    return record.created_at if record.measured_at is None else record.measured_at


def _read_context(record: Record, inherited: _Inherited) -> Iterator[RecentValue]:
    for name, paths in _PATHS.items():
        if name == 'people_near' and record.perception_type == _HEARD:
            continue
        for part, key in paths:
            inner = record.context.get(part)
            value = inner.get(key) if isinstance(inner, dict) else None
            fits: Callable[[Any], bool] = are_names if name == 'people_near' else _is_text
            if isinstance(inner, dict) and fits(value):
                yield RecentValue(name, value, record.id, inherited.date(record, part, inner, key))
                break


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def are_names(people: Any) -> bool:
    """Say whether a value is a list of names, perhaps empty."""
    return isinstance(people, list) and all(isinstance(name, str) and name for name in people)


def _read_text(record: Record) -> Iterator[RecentValue]:
    """Yield the tool that a perception says was mounted; states are read as events."""
    sense = record.context.get('sense')
    is_state = isinstance(sense, dict) and sense.get('detector') == _STATE
    if record.type != 'perception' or record.perception_type == _HEARD or is_state:
        return
    mounted = read_mounted(record.content)
    if mounted is not None:
        yield RecentValue('tool', mounted.words, record.id, date_record(record))


def _read_events(memory: Memory, collection: str, since: int) -> Iterator[RecentValue]:
    """Yield what states and tasks tell."""
    zone = choose_zone(memory)
    where = {'kind': {'$in': [_STATE, TASK]}, 'collection': collection}
    question = EventQuestion(where, format_instant(since), '', 'onset', True, _LATEST, '', zone)
    for event in list_events(memory, question).events:
        if event.names['kind'] == TASK:
            yield from _read_task(event)
        else:
            yield from _read_state(event)


def _read_task(event: EventRow) -> Iterator[RecentValue]:
    """Yield the tool that a task mounted: it is known once the task has ended, and not failed."""
    mounted = read_mounted(event.names['task'] or event.text or '')
    if mounted is None:
        return
    failed = any(name == SUCCESS and value == 0 for name, value, _ in event.figures)
    is_known = event.end is not None and not event.broken_off and not failed
    at = event.onset if event.end is None else event.end
    yield RecentValue(
        'tool', mounted.words if is_known else None, event.memory_id or 0, at // 1000
    )


def _read_state(event: EventRow) -> Iterator[RecentValue]:
    """Yield what a state names: while it lasts it is so, and once it has ended no more."""
    for kind in ('tool', 'place'):
        named: Named | None = read_state(event.names['label'] or '', kind)
        if named is not None:
            at = event.onset if event.end is None else event.end
            lasts = event.broken_off or event.end is None
            yield RecentValue(
                kind, named.words if lasts else None, event.memory_id or 0, at // 1000
            )
