"""Pages of events in an order, each after the last row of the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage.events.conditions import Selection
from robot_memory.storage.events.fields import FARTHEST, LENGTH, TEXTS, TIMES, Fields, Measure
from robot_memory.storage.events.ranking import LENGTH_NS, Key, Page, make_beyond
from robot_memory.storage.events.windows import count_rows, find_extent, find_rows, merge
from robot_memory.storage.tables import event_names
from robot_memory.storage.tables.figures import SLOTS, read_values

_FEW = 20_000
"""Events of a window that are rather all sorted than found in the order of an index."""
_WORTH = 8
"""What part of a window is looked at in the order of values before it is rather sorted."""


@dataclass(frozen=True)
class EventRow:
    """
    Hold one event; times are nanoseconds as they are known now, `end` is None while it lasts.

    `figures` are name, value and unit; `text` is that of its memory.
    """

    id: int
    memory_id: int | None
    names: Mapping[str, str | None]
    onset: int
    peak: int
    end: int | None
    broken_off: bool
    recording_offset: int | None
    figures: tuple[tuple[str, float, str], ...]
    text: str | None


def list_page(
    connection: apsw.Connection,
    chosen: Selection,
    order: Measure | str,
    descending: bool,
    limit: int,
    after: Key | None = None,
) -> list[Key]:
    """
    Return the first ids of a selection in an order, with the values that order them.

    The order is a figure, the duration or the name of a time; ties go by id. `after` is where the
    page before ended.
    """
    if isinstance(order, str):
        return _list_by_time(connection, chosen, TIMES[order], descending, limit, after)
    chosen = chosen.having(order)
    if chosen.kinds is not None and not chosen.kinds:
        return []
    if order is LENGTH or None not in order.columns.values():
        counted = count_rows(connection, chosen)
        if counted > _FEW:
            page = Page(chosen, order, descending, limit, after)
            found = page.read(connection, counted // _WORTH)
            if found is not None:
                return found
    value = LENGTH_NS if order is LENGTH else order.sql_of_kinds
    return _sort(connection, chosen, value, descending, limit, after)


_DAY_NS = 86_400 * 10**9


def _list_by_time(
    connection: apsw.Connection,
    chosen: Selection,
    column: str,
    descending: bool,
    limit: int,
    after: Key | None,
) -> list[Key]:
    value = chosen.fields.time(column)
    if column == 'end':  # what lasts ends after all else
        value = f'coalesce({value}, {FARTHEST})'
    if column == 'onset' and after is not None:
        last = int(after[0])
        if descending:
            high = last + 1 if chosen.high is None else min(chosen.high, last + 1)
            chosen = replace(chosen, high=high)
        else:
            chosen = replace(chosen, low=last if chosen.low is None else max(chosen.low, last))
    if column == 'onset' and chosen.fields.corrected:
        return _widen(connection, chosen, value, descending, limit, after)
    return _sort(connection, chosen, value, descending, limit, after, by_onset=column == 'onset')


def _widen(
    connection: apsw.Connection,
    chosen: Selection,
    value: str,
    descending: bool,
    limit: int,
    after: Key | None,
) -> list[Key]:
    """
    Return a page in the order of corrected onsets, which no index has.

    What lies near the beginning of the page is sorted first, then more until it is full.
    """
    first, last = find_extent(connection)
    first, last = max(first, -FARTHEST), min(last, FARTHEST - 1)
    ends = [end for end in (chosen.until, chosen.high, last + 1) if end is not None]
    high = min(ends)
    low = first if chosen.low is None else max(first, chosen.low)
    span = _DAY_NS
    while True:
        if descending:
            part = replace(chosen, low=max(low, high - span), high=high)
        else:
            part = replace(chosen, low=low, high=min(high, low + span))
        part = part.require(f'{value} >= ? AND {value} < ?', part.low, part.high)
        found = _sort(connection, part, value, descending, limit, after, by_onset=True)
        if len(found) == limit or span > high - low:
            return found
        span *= 8


def _sort(
    connection: apsw.Connection,
    chosen: Selection,
    value: str,
    descending: bool,
    limit: int,
    after: Key | None,
    by_onset: bool = False,
) -> list[Key]:
    """Return a page of the rows of a window, sorted unless they come in the order of onsets."""
    if after is not None:
        chosen = chosen.require(*make_beyond(value, descending, after))
    parts = find_rows(connection, chosen, may_scan=not by_onset)
    if not parts:
        return []
    query = merge(parts, f'{value} AS value, e.id AS id')
    sign = 'DESC' if descending else 'ASC'
    rows = connection.execute(
        f'{query.sql} ORDER BY value {sign}, id {sign} LIMIT ?', (*query.values, limit)
    )
    return [(row[0], row[1]) for row in rows]


def find_events(connection: apsw.Connection, memory_id: int) -> list[EventRow]:
    """Return the newest event of a memory; none where it is no event."""
    return list(find_newest_each(connection, [memory_id]).values())


def find_newest_each(
    connection: apsw.Connection, memory_ids: Sequence[int]
) -> dict[int, EventRow]:
    """Return the newest event of each memory that has one, by the memory."""
    rows: Any = connection.execute(
        'SELECT asked.value, (SELECT id FROM events INDEXED BY events_of_memories'
        ' WHERE memory_id = asked.value ORDER BY onset DESC LIMIT 1) FROM json_each(?) AS asked',
        (dump_json(list(memory_ids)),),
    )
    newest = {memory_id: event for memory_id, event in rows if event is not None}
    if not newest:
        return {}
    events = read_events(connection, Fields.read(connection), list(newest.values()))
    by_id = {event.id: event for event in events}
    return {memory_id: by_id[event] for memory_id, event in newest.items()}


_PLACES = ', '.join(f'e.{column}' for column in TEXTS.values())


def read_events(connection: apsw.Connection, fields: Fields, ids: Sequence[int]) -> list[EventRow]:
    """Return events by their ids, in that order."""
    rows: list[Any] = connection.execute(
        f'SELECT e.id, e.memory_id, {fields.time("onset")}, {fields.time("peak")},'
        f' {fields.time("end")}, e.broken_off, e.recording_offset, m.content, e.others,'
        f' e.value_1, e.value_2, e.value_3, e.value_4, {_PLACES}'
        ' FROM events AS e LEFT JOIN memories AS m'
        ' ON m.id = e.memory_id AND (e.id < 0 OR e.id = e.memory_id)'
        ' WHERE e.id IN (SELECT value FROM json_each(?))',
        (dump_json(list(ids)),),
    ).fetchall()
    names = event_names.read(connection, {one for row in rows for one in row[13:]})
    found = {}
    for event_id, memory_id, onset, peak, end, broken_off, offset, text, others, *rest in rows:
        places = dict(zip(TEXTS, rest[SLOTS:], strict=True))
        found[event_id] = EventRow(
            event_id,
            memory_id,
            {name: names[place] for name, place in places.items()},
            onset,
            peak,
            end,
            bool(broken_off),
            offset,
            tuple(read_values(fields.figures, places['kind'], rest[:SLOTS], others)),
            text,
        )
    return [found[one] for one in ids]
