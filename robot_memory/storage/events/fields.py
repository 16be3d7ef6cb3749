"""What can be asked of an event: columns of text, times, its duration, and its figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.units import convert, parse_quantity, read_bound
from robot_memory.storage import epochs
from robot_memory.storage.tables import event_hours, event_names, figures
from robot_memory.storage.tables.figures import Figure

TEXTS = {
    'kind': 'kind',
    'label': 'label',
    'topic': 'topic',
    'frame_id': 'frame',
    'robot': 'robot',
    'session_id': 'session',
    'task': 'task',
    'recording': 'recording',
    'collection': 'collection',
    'source': 'source',
}
"""Fields that are names, and their columns."""
TIMES = {'onset': 'onset', 'start': 'onset', 'peak': 'peak', 'end': 'end'}
"""Fields that are measured times, and their columns."""
DURATION = 'duration'
OTHERS = ('duration', 'broken_off', 'memory_id', 'event_id')
KINDS = (
    'contact',
    'turn',
    'motion',
    'effort',
    'scene',
    'fault',
    'task',
    'trial',
    'session',
    'state',
    'perception',
)
"""Kinds that can be asked for before there is an event of them."""
FARTHEST = 2**63 - 1
"""The last time in nanoseconds that SQLite holds."""
_UNITS = re.compile(r'(.+?)\s*\[(.*)\]')


@dataclass(frozen=True)
class Measure:
    """
    A number of events `e`, as SQL that is NULL where they have none.

    `columns` has of each kind the number of its column, None where it has none; a duration has
    no kinds. `sql_of_kinds` holds where an event is of one of these kinds.
    """

    name: str
    unit: str
    sql: str
    sql_of_kinds: str
    columns: Mapping[int, int | None]


_LENGTH_S = '((e."end" - e.onset) / 1e9)'
LENGTH = Measure(DURATION, 's', _LENGTH_S, _LENGTH_S, {})
"""The duration of an event that has ended, in seconds."""


@dataclass(frozen=True)
class Fields:
    """What the store knows of events: the names of kinds that there are, and all figures."""

    kinds: Mapping[int, str]
    figures: tuple[Figure, ...]
    corrected: bool

    @staticmethod
    def read(connection: apsw.Connection) -> Fields:
        """Read what there is."""
        found = tuple(figures.list_all(connection))
        ids = {row[0] for row in connection.execute(f'SELECT kind FROM {event_hours.KINDS}')} | {
            one.kind for one in found
        }
        ids |= set(event_names.find_ids(connection, KINDS))
        names = event_names.read(connection, ids)
        kinds = {one: name for one, name in names.items() if one is not None and name is not None}
        return Fields(kinds, found, epochs.has_corrected(connection))

    def find_kinds(self, where: str, names: Iterable[Any]) -> frozenset[int]:
        """Return the ids of kinds; raise InvalidArgument that names those there are."""
        known = {*KINDS, *self.kinds.values()}
        for name in names:
            if not isinstance(name, str) or name not in known:
                raise InvalidArgument(
                    f'{where} must be one of {", ".join(sorted(known))}, not {format_value(name)}'
                )
        return frozenset(one for one, name in self.kinds.items() if name in names)

    def time(self, column: str) -> str:
        """Return as SQL a time of events `e` in nanoseconds, as is known now."""
        if not self.corrected:
            return f'e."{column}"'
        return f'(e."{column}" + 1000 * {epochs.read_offset("e.epoch")})'

    def find_measure(
        self, name: str, kinds: frozenset[int] | None, bounds: Iterable[Any] = ()
    ) -> Measure:
        """
        Return a figure, or the duration, of events of some kinds (None: of any).

        Where it has several units, `bounds` or the name (`speed [m/s]`) say which. Raise
        InvalidArgument that names what there is.
        """
        if name in (DURATION, figures.DURATION):
            return LENGTH
        named = _UNITS.fullmatch(name)
        plain, unit = (named[1], named[2]) if named else (name, None)
        found = [
            one
            for one in self.figures
            if one.name == plain
            and (kinds is None or one.kind in kinds)
            and (unit is None or one.unit == unit)
        ]
        if not found:
            raise InvalidArgument(self._describe_unknown(name, kinds))
        units = sorted({one.unit for one in found})
        if len(units) > 1:
            units = [unit for unit in units if _fits(unit, bounds)] or units
        if len(units) > 1:
            ways = ' or '.join(f'{plain} [{unit}]' for unit in units)
            raise InvalidArgument(f'{name} has several units; name one: {ways}')
        columns = {one.kind: one for one in found if one.unit == units[0]}
        cases = ' '.join(f'WHEN {kind} THEN {_read(one)}' for kind, one in columns.items())
        sql = of_kinds = f'(CASE e.kind {cases} END)'
        if len({_read(one) for one in columns.values()}) == 1:
            of_kinds = _read(next(iter(columns.values())))
        slots = {one.kind: one.slot for one in columns.values()}
        return Measure(plain, units[0], sql, of_kinds, slots)

    def _describe_unknown(self, name: str, kinds: frozenset[int] | None) -> str:
        there: dict[str, list[str]] = {}
        for one in self.figures:
            if kinds is None or one.kind in kinds:
                text = f'{one.name} ({one.unit})' if one.unit else one.name
                there.setdefault(self.kinds[one.kind], []).append(text)
        listed = '; '.join(f'of {kind}: {", ".join(names)}' for kind, names in there.items())
        asked = 'events' if kinds is None else 'events of these kinds'
        return (
            f'{asked} have no field or figure {format_value(name)}; fields: '
            f'{", ".join([*TEXTS, *TIMES, *OTHERS])}; figures {listed or "of them: none"}'
        )


def to_nanoseconds(instant: int) -> int:
    """Return an instant in microseconds as nanoseconds, the farthest where there are none."""
    return max(-FARTHEST, min(1000 * instant, FARTHEST))


def _read(figure: Figure) -> str:
    """Return as SQL the value of a figure of an event `e` that is of its kind."""
    if figure.slot is not None:
        return f'e.value_{figure.slot}'
    return f'(e.others ->> \'$."{figure.id}"\')'


def _fits(unit: str, bounds: Iterable[Any]) -> bool:
    """Say whether any of the bounds has a unit that can be converted."""
    for bound in bounds:
        quantity = parse_quantity(bound) if isinstance(bound, str) else None
        if quantity and quantity[1] and convert(*quantity, unit) is not None:
            return True
    return False


def read_number(where: str, measure: Measure, value: Any) -> float:
    """Return a bound of a figure in its unit; raise InvalidArgument."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InvalidArgument(
            f'{where} must be a number or text with a unit, not {format_value(value)}'
        )
    try:
        return read_bound(where, value, measure.unit)
    except OverflowError:
        raise InvalidArgument(f'{where} must fit a float, not {format_value(value)}') from None
