"""An anchor and where it was read, and how far from it a question looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_memory.text.questions.events import Span
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.moments import SECONDS, UNITS
from robot_memory.text.questions.numbers import parse_number

_FEW = 5.0
AROUND = 600.0
"""Seconds around an event where the question does not say how many."""


@dataclass(frozen=True)
class FoundAnchor:
    """
    Hold an anchor and where it was read.

    `parts` are where the words of each of its events stand: two where it is between two. Where
    the other end is a time, `since` or `until` is where that stands.
    """

    anchor: Anchor
    span: Span
    parts: tuple[Span, ...] = ()
    since: Span | None = None
    until: Span | None = None


def measure_distance(groups: Mapping[str, str | None]) -> float | None:
    """Return the seconds of 'in the ten minutes after', None where nothing is said."""
    quarter, unit, number = groups.get('quarter'), groups.get('unit'), groups.get('number')
    if quarter:
        return 900.0 if quarter.startswith('quarter') else 1800.0
    if unit:
        few = number in ('a few', 'few', 'several')
        several = not number and (groups.get('many') or '')
        amount = 2 * _FEW if several else _FEW if few else parse_number(number or 'one')
        return amount * SECONDS[UNITS.get(unit, unit)]
    return None
