"""Questions to the table of events: checked, planned, answered from one snapshot."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json, format_value, parse_finite
from robot_memory.core.zones import format_local, get_zone, parse_local, to_local
from robot_memory.memory import Memory
from robot_memory.retrieval.near_question import NearQuestion
from robot_memory.storage import Connection
from robot_memory.storage.events.aggregates import SUMS, Group, aggregate
from robot_memory.storage.events.conditions import Selection, select
from robot_memory.storage.events.fields import TIMES, Fields, Measure, to_nanoseconds
from robot_memory.storage.events.pages import EventRow, list_page, read_events
from robot_memory.storage.events.ranking import Key
from robot_memory.storage.indexes.filters import ACTIVE
from robot_memory.storage.indexes.placements import PlaceFrame
from robot_memory.text.questions.times import find_time

if TYPE_CHECKING:
    from robot_memory.retrieval.near import NearSearch

_TIME_WORDS = 'yesterday, monday 14:03, two hours ago, last week'
SINCE = (
    f'Events that last until then or later: ISO 8601, or words: {_TIME_WORDS}. A date is its '
    'midnight.'
)
UNTIL = 'Events that began before then: ISO 8601 or words.'
"""What the ends of a window are."""
AGGREGATES = (*SUMS, 'median', 'quantiles', 'histogram')
_PERCENTILE = re.compile(r'p([0-9]{1,2}(?:\.[0-9]{1,3})?)')
_QUANTILES = {'p5': 0.05, 'p25': 0.25, 'p50': 0.5, 'p75': 0.75, 'p95': 0.95}


@dataclass(frozen=True)
class EventQuestion:
    """Hold which events are asked for, in which order, and where the page begins."""

    where: Mapping[str, Any]
    since: str
    until: str
    order_by: str
    descending: bool
    limit: int
    cursor: str
    zone: ZoneInfo
    near: NearQuestion | None = None


@dataclass(frozen=True)
class Page:
    """Hold a page of events; an empty `cursor` tells that it is the last one."""

    events: Sequence[EventRow]
    cursor: str
    around: NearSearch | None = None
    near: dict[str, Any] | None = None


@dataclass(frozen=True)
class Groups:
    """Hold the groups of an aggregate, all that there are, and the measure's name and unit."""

    groups: Sequence[Group]
    unit: str
    near: dict[str, Any] | None = None


def choose_zone(memory: Memory, name: str = '') -> ZoneInfo:
    """Return the zone of a name, else of the parameter, else of the system."""
    return get_zone(name or memory.settings.time_zone)


def list_events(memory: Memory, question: EventQuestion) -> Page:
    """Return a page of events; raise InvalidArgument for what cannot be asked."""
    with memory.db.read() as connection:
        chosen = _select(memory, connection, question)
        chosen, around, resolved = _restrict(memory, connection, question, chosen)
        order = _find_order(chosen, question.order_by)
        keys = list_page(
            connection,
            chosen,
            order,
            question.descending,
            question.limit + 1,
            _read_cursor(question),
        )
        page = keys[: question.limit]
        rows = read_events(connection, chosen.fields, [event_id for _, event_id in page])
    more = len(keys) > question.limit
    return Page(rows, _write_cursor(question, page[-1]) if more else '', around, resolved)


def aggregate_events(
    memory: Memory,
    question: EventQuestion,
    names: Sequence[str],
    figure: str,
    group_by: str,
    bins: int,
) -> Groups:
    """Return aggregates of a figure in groups; raise InvalidArgument for what cannot be asked."""
    sums, quantiles = _parse_aggregates(names)
    wanted = [name for name in names if name != 'count']
    with memory.db.read() as connection:
        chosen = _select(memory, connection, question)
        chosen, _, resolved = _restrict(memory, connection, question, chosen)
        if wanted and not figure:
            raise InvalidArgument(
                f'aggregate {wanted[0]} requires a figure: duration, or '
                f'{_list_figures(chosen) or "one of the events, which have none yet"}'
            )
        measure = chosen.fields.find_measure(figure, chosen.kinds) if figure else None
        groups = aggregate(
            connection,
            chosen,
            measure,
            sums,
            quantiles,
            bins if 'histogram' in names else 0,
            group_by,
            question.zone,
        )
    return Groups(groups, measure.unit if measure else '', resolved)


def count_since(memory: Memory, instant: int, zone: ZoneInfo) -> int:
    """Return how many events began at an instant, in microseconds, or later."""
    where = {'onset': {'$gte': format_local(instant, zone)}}
    question = EventQuestion(where, '', '', 'onset', False, 1, '', zone)
    groups = aggregate_events(memory, question, ['count'], '', '', 1).groups
    return groups[0].count if groups else 0


def _list_figures(chosen: Selection) -> str:
    names = {
        one.name
        for one in chosen.fields.figures
        if chosen.kinds is None or one.kind in chosen.kinds
    }
    return ', '.join(sorted(names))


def read_window(
    memory: Memory, connection: Connection, since: str, until: str, zone: ZoneInfo
) -> list[int | None]:
    """Return the ends of a window in nanoseconds, None where open; raise InvalidArgument."""

    def read(name: str, text: str) -> int:
        with suppress(InvalidArgument):
            return parse_local(name, text, zone)
        now = to_local(memory.timekeeper.read_now(connection), zone)
        found = find_time(text, now, zone)
        if found is None:
            raise InvalidArgument(
                f'{name} must be a time: ISO 8601, e.g. 2026-11-20 or 2026-11-20T14:03:00, or '
                f'words for one that is past, e.g. {_TIME_WORDS}; not {format_value(text)}'
            )
        return parse_local(name, found.isoformat(), zone)

    return [
        to_nanoseconds(read(name, text)) if text else None
        for name, text in (('since', since), ('until', until))
    ]


def _select(memory: Memory, connection: Connection, question: EventQuestion) -> Selection:
    def read_time(name: str, value: Any) -> int:
        if not isinstance(value, str):
            raise InvalidArgument(
                f'{name} must be an ISO 8601 date or time, not {format_value(value)}'
            )
        return parse_local(name, value, question.zone)

    zone = question.zone
    since, until = read_window(memory, connection, question.since, question.until, zone)
    return select(connection, question.where, since, until, read_time)


def _restrict(
    memory: Memory, connection: Connection, question: EventQuestion, chosen: Selection
) -> tuple[Selection, NearSearch | None, dict[str, Any] | None]:
    """Return the selection of what lies near the asked place, and what is told of the search."""
    if question.near is None:
        return chosen, None, None
    from robot_memory.retrieval.near import prepare  # here: it needs numpy

    search = prepare(memory, connection, question.near, None)
    ids = search.list_within(connection, ACTIVE)

    def count_in(frame: PlaceFrame) -> int:
        among = chosen.in_frame(frame.id)
        groups = aggregate(connection, among, None, ['count'], {}, 0, '', question.zone)
        return sum(group.count for group in groups)

    return chosen.of_memories(ids), search, search.describe_counted(count_in, ids)


def _find_order(chosen: Selection, name: str) -> Measure | str:
    """Return a time by its name, or a figure or the duration."""
    return name if name in TIMES else _find_measure(chosen.fields, name, chosen.kinds)


def _find_measure(fields: Fields, name: str, kinds: frozenset[int] | None) -> Measure:
    return fields.find_measure(name, kinds)


def _parse_aggregates(names: Sequence[str]) -> tuple[list[str], dict[str, float]]:
    """Return the sums among the names of aggregates, and the shares of quantiles by name."""
    sums: list[str] = []
    quantiles: dict[str, float] = {}
    for name in names:
        percentile = _PERCENTILE.fullmatch(name)
        if name in SUMS:
            sums.append(name)
        elif name == 'median':
            quantiles[name] = 0.5
        elif name == 'quantiles':
            quantiles |= _QUANTILES
        elif percentile:
            quantiles[name] = float(percentile[1]) / 100
        elif name != 'histogram':
            raise InvalidArgument(
                f'aggregate must be of {", ".join(AGGREGATES)} or a percentile such as p99, not '
                f'{format_value(name)}'
            )
    return sums, quantiles


def _write_cursor(question: EventQuestion, key: Key) -> str:
    text = json.dumps([_digest(question), *key])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')


def _read_cursor(question: EventQuestion) -> Key | None:
    """Return where the page before ended; raise InvalidArgument for another query's cursor."""
    if not question.cursor:
        return None
    try:
        padding = '=' * (-len(question.cursor) % 4)
        digest, value, event_id = json.loads(base64.urlsafe_b64decode(question.cursor + padding))
        is_key = parse_finite(value) is not None and isinstance(event_id, int)
    except (ValueError, TypeError):
        is_key = False
    if not is_key:
        raise InvalidArgument(
            'cursor must be the next_cursor of the page before, not '
            f'{format_value(question.cursor)}'
        )
    if digest != _digest(question):
        raise InvalidArgument(
            'cursor is of another query; where, since, until, order_by, descending and time_zone '
            'must be those of the page before'
        )
    return value, event_id


def _digest(question: EventQuestion) -> str:
    """Return what tells one query from another, the page aside."""
    text = dump_json(
        [
            dict(question.where),
            question.since,
            question.until,
            question.order_by,
            question.descending,
            question.zone.key,
            *([] if question.near is None else [repr(question.near)]),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
