"""Rows of figures: which numbers the events of a kind have, in which unit, and in which column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from robot_memory.core.json_text import parse_finite
from robot_memory.core.units import convert
from robot_memory.storage import remembered

SLOTS = 4
"""Columns of values; the first figures of a kind have one each, the others are in `others`."""
DURATION = 'duration_s'
"""The figure that is no column: an event has a duration."""
_MOST = 64
_TABLE = 'figures'


@dataclass(frozen=True)
class Figure:
    """A figure of a kind: `kind` is the id of its name, `slot` the number of its column."""

    id: int
    kind: int
    name: str
    unit: str
    slot: int | None


def read_params(context: Mapping[str, object]) -> dict[str, tuple[float, str]]:
    """Return value and unit of the numbers among the params of a context, by name."""
    params = context.get('params')
    found: dict[str, tuple[float, str]] = {}
    for name, given in params.items() if isinstance(params, dict) else ():
        value, unit = (
            (given.get('value'), given.get('unit')) if isinstance(given, dict) else (None, None)
        )
        number = parse_finite(value)
        if number is not None and isinstance(unit, str) and len(found) < _MOST:
            found[name] = number, unit
    return found


def store(
    connection: apsw.Connection, kind: int, values: Mapping[str, tuple[float, str]]
) -> tuple[dict[int, float], dict[str, float]]:
    """
    Return values with a unit by the numbers of their columns, and the others by figure id.

    A figure that is new to the kind is registered. A value in another unit of the same dimension
    is converted into that of the figure.
    """
    known = remembered.look_up(_TABLE, kind, lambda: list_all(connection, kind))
    columns: dict[int, float] = {}
    others: dict[str, float] = {}
    for name, (value, unit) in values.items():
        figure, number = _find(known, name, value, unit)
        if figure is None:
            figure = _register(connection, known, kind, name, unit)
            known.append(figure)
        if figure.slot is None:
            others[str(figure.id)] = number
        else:
            columns[figure.slot] = number
    return columns, others


def _find(known: list[Figure], name: str, value: float, unit: str) -> tuple[Figure | None, float]:
    """Return the figure that a value is of, and the value in its unit."""
    same = [figure for figure in known if figure.name == name]
    for figure in same:
        if figure.unit == unit:
            return figure, value
    for figure in same:
        converted = convert(value, unit, figure.unit)
        if converted is not None:
            return figure, converted
    return None, value


def _register(
    connection: apsw.Connection, known: list[Figure], kind: int, name: str, unit: str
) -> Figure:
    taken = {figure.slot for figure in known}
    slot = next((slot for slot in range(1, SLOTS + 1) if slot not in taken), None)
    connection.execute(
        'INSERT INTO figures (kind, name, unit, slot) VALUES (?, ?, ?, ?)',
        (kind, name, unit, slot),
    )
    return Figure(connection.last_insert_rowid(), kind, name, unit, slot)


def read_values(
    known: Iterable[Figure], kind: int, slots: Sequence[float | None], others: str | None
) -> list[tuple[str, float, str]]:
    """Return name, value and unit of the figures of an event, by its columns and `others`."""
    extra = json.loads(others) if others else {}
    return [
        (one.name, value, one.unit)
        for one in known
        if one.kind == kind
        for value in [slots[one.slot - 1] if one.slot else extra.get(str(one.id))]
        if value is not None
    ]


def list_all(connection: apsw.Connection, kind: int | None = None) -> list[Figure]:
    """Return the figures of a kind, or of all kinds, in the order in which they came."""
    rows = connection.execute(
        'SELECT id, kind, name, unit, slot FROM figures WHERE ?1 IS NULL OR kind = ?1 ORDER BY id',
        (kind,),
    )
    return [Figure(*row) for row in rows]
