"""The zone in which a question tells its times: 13:41 UTC, noon Tokyo time, 北京时间八点."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from robot_memory.text.questions.model import Anchor, Reading, Window
from robot_memory.text.questions.tables import load_pattern, load_table


def find_zone(folded: str) -> tuple[ZoneInfo, tuple[int, int]] | None:
    """Return the zone that a folded text names beside its times, and where; None for none."""
    for name in ('short', 'chinese', 'place'):
        for match in load_pattern('zones', 'zone', name).finditer(folded):
            start, end = match.span('name')
            for at in (start + shift for shift in range(max(1, end - start - 1))):
                zone = _list_zones().get(folded[at:end])
                whole = at == start or folded[at] >= '\u3400' or folded[at - 1] == ' '
                if zone is not None and whole:
                    return ZoneInfo(zone), (at if at > start else match.start(), match.end())
    return None


@cache
def _list_zones() -> dict[str, str]:
    """Return the zones by the names of their cities and by those of the table."""
    cities = {one.rpartition('/')[2].replace('_', ' ').lower(): one for one in _list_areas()}
    return cities | {
        name: zone
        for zone, names in load_table('zones')['names'].items()
        for name in re.split(' *, *', names)
    }


def _list_areas() -> list[str]:
    return sorted(one for one in available_timezones() if re.match('[A-Z][a-z]+/[A-Z]', one))


def show_in(reading: Reading, zone: ZoneInfo) -> Reading:
    """Return a reading whose windows are told in a zone."""
    return replace(
        reading,
        window=_move(reading.window, zone),
        against=_move(reading.against, zone),
        anchor=_move_anchor(reading.anchor, zone),
    )


def _move(window: Window | None, zone: ZoneInfo) -> Window | None:
    if window is None:
        return None
    pieces = tuple(replace(one, zone=zone) for one in window.pieces)
    return replace(window, zone=zone, pieces=pieces)


def _move_anchor(anchor: Anchor | None, zone: ZoneInfo) -> Anchor | None:
    if anchor is None:
        return None
    return replace(anchor, window=_move(anchor.window, zone), to=_move_anchor(anchor.to, zone))
