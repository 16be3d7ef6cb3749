"""No-record zones and times for calls: what may not be kept now is refused before it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from robot_memory.core.errors import Conflict, RobotMemoryError
from robot_memory.core.no_record import SensorPlace, Withheld
from robot_memory.core.places import check_covariance, read_spread
from robot_memory.core.regions import Region, Vector
from robot_memory.core.zones import get_zone
from robot_memory.detectors.poses import turn_covariance
from robot_memory.memory import Memory

Finder: TypeAlias = Callable[[Region], Sequence[SensorPlace | None]]
"""Says where the sensor may be in a zone's frame, at least one place; None: that is unknown."""
_UPPER = np.triu_indices(3)
_WORDS = {
    Withheld.ZONE: 'the sensor is in the no-record zone {zone}',
    Withheld.PLACE_UNKNOWN: (
        'there is a no-record zone, {zone}, and the place of the sensor in its frame is unknown'
    ),
    Withheld.TIME: 'it is a no-record time',
    Withheld.CLOCK_SUSPECT: (
        'there are no-record times, and the clock is suspect (`robot-memory clock trust` confirms '
        'it)'
    ),
}


def judge_time(memory: Memory) -> Withheld | None:
    """Return why nothing is kept at this moment, None where something may be."""
    rules = memory.no_record
    if not rules.times:
        return None
    try:
        with memory.db.read() as connection:
            is_trusted = memory.timekeeper.judge_now(connection).trusted
            now = memory.timekeeper.read_now(connection)
    except RobotMemoryError:
        return Withheld.CLOCK_SUSPECT
    if not is_trusted:
        return Withheld.CLOCK_SUSPECT
    return Withheld.TIME if rules.covers_time(now, get_zone(memory.settings.time_zone)) else None


def judge_place(zones: Sequence[Region], find: Finder) -> tuple[Withheld | None, str]:
    """Return why nothing is kept at a place, and the zone; None where something may be."""
    unknown = ''
    for zone in zones:
        for placed in find(zone):
            if placed is None:
                unknown = unknown or zone.name
            elif zone.is_reached(placed.position, placed.spread):
                return Withheld.ZONE, zone.name
    return (Withheld.PLACE_UNKNOWN if unknown else None), unknown


def count_withheld(memory: Memory, reason: Withheld, number: int = 1) -> None:
    """Count what is not kept, for status and metrics."""
    memory.registry.count(reason.counter, number)


def get_withheld(memory: Memory) -> dict[str, int]:
    """Return how much was not kept since the start, by the label of the reason."""
    return {one.label: memory.registry.get_count(one.counter) for one in Withheld}


def refuse_unrecorded(
    memory: Memory, what: str, frame: str = '', pose: Mapping[str, Any] | None = None
) -> None:
    """
    Raise Conflict where a caller would have something kept in a no-record zone or time.

    `pose` is that of the sensor, with its `frame_id`, else it is at the origin of `frame`; empty:
    of the robot's. What a tap hands on was judged message by message before.
    """
    rules = memory.no_record
    if not rules or memory.caller.face == 'tap':
        return
    zone = ''
    reason = judge_time(memory)
    if reason is None and rules.zones:
        reason, zone = judge_place(rules.zones, _make_finder(memory, frame, pose))
    if reason is None:
        return
    count_withheld(memory, reason)
    raise Conflict(f'{what} keeps nothing now: {_WORDS[reason].format(zone=zone)}')


def _make_finder(memory: Memory, frame: str, pose: Mapping[str, Any] | None) -> Finder:
    if pose is None:
        return lambda zone: [memory.locate(zone.frame, frame)]
    x, y, z = (*map(float, pose['position']), 0.0)[:3]
    covariance = pose.get('covariance')
    if covariance is not None:
        check_covariance('pose.covariance', covariance)
    spread = read_spread(covariance)
    given = str(pose.get('frame_id') or frame).lstrip('/')

    def find(zone: Region) -> SensorPlace | None:
        if not given:
            return None
        if given == zone.frame:
            return SensorPlace((x, y, z), spread=spread if spread and any(spread) else None)
        at = memory.locate(zone.frame, given, of_frame=True)
        return None if at is None else carry_place(at, (x, y, z), spread)

    return lambda zone: [find(zone)]


def carry_place(at: SensorPlace, position: Vector, spread: Sequence[float] | None) -> SensorPlace:
    """Return a position in a frame where that frame is; the covariances of both add up."""
    turned = [sum(a * b for a, b in zip(row, position, strict=True)) for row in at.turn]
    x, y, z = (a + b for a, b in zip(at.position, turned, strict=True))
    turned_spread = None if spread is None else turn_covariance(spread, at.turn)[_UPPER].tolist()
    parts = [one for one in (at.spread, turned_spread) if one is not None and any(one)]
    total = tuple(map(sum, zip(*parts, strict=True))) if parts else None
    return SensorPlace((x, y, z), at.turn, total)
