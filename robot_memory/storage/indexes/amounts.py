"""
Amounts with a unit in filters: refused where they were meant for the numbers that are stored.

A text orders letter by letter, and as such '12 N' is less than '2 N'. Labels may look like amounts
('7A', '4K', '10 in'), so what is stored at the path decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.core.units import parse_quantity, parse_unit
from robot_memory.storage.indexes import facets
from robot_memory.storage.indexes.conditions import COMPARISONS, read_operators
from robot_memory.storage.indexes.filters import COLUMNS, TIMES, flatten_filter

COLUMNS_OF_NUMBERS = frozenset(
    'memory_id id turn_id confidence access_count superseded_by'.split()
)
"""Columns of filters that hold no texts."""
_APART = re.compile(r'[0-9.]\s+\S')


def refuse_amounts(connection: apsw.Connection, name: str, conditions: Mapping[str, Any]) -> None:
    """
    Refuse to order by an amount with a unit where numbers are stored, and it is no label.

    It may be one where texts are stored, too, unless a space stands before its unit. `name` is
    the argument that the conditions came in.
    """
    for path, condition in flatten_filter(name, conditions).items():
        if path in TIMES:
            continue
        for operator, value in read_operators(name, path, condition).items():
            amount = _read_amount(value) if operator in COMPARISONS else None
            if amount is not None and _means_numbers(connection, path, value):
                number = dump_json({operator: amount[0]})
                raise InvalidArgument(
                    f'{name}[{format_value(path)}]: {operator} compares numbers with numbers, and '
                    f'texts letter by letter; numbers are stored there, and {format_value(value)} '
                    f'is an amount with a unit; accepted: {number} for stored numbers in '
                    f'{amount[1]}'
                )


def _read_amount(value: Any) -> tuple[float, str] | None:
    """Return number and unit of a text that has both."""
    found = parse_quantity(value) if isinstance(value, str) else None
    return found if found and found[1] and parse_unit(found[1]) is not None else None


def _means_numbers(connection: apsw.Connection, path: str, value: str) -> bool:
    if path in COLUMNS:
        return path in COLUMNS_OF_NUMBERS
    numbers, texts = facets.find_kinds(connection, path)
    return numbers and (not texts or bool(_APART.search(value)))
