"""How many there were when: the same numbers whichever way they are counted."""

from __future__ import annotations

import random

import pytest
from narrowing import require
from robots import Robot

from robot_memory.storage.indexes.filters import Where
from robot_memory.storage.tables.timelines import Span, Timeline

FIRST = 1_780_000_000
SINCE_2001 = 978_307_200_000_000
SEEN = Where("m.perception_type = 'visual'")
"""A condition that no index gives the ids of, as one that many pass."""


@pytest.fixture
def stamps(robot: Robot) -> list[int]:
    """When visual perceptions were measured, in microseconds, among as many tactile ones."""
    chance, kept = random.Random(3), []
    for number in range(120):
        second, nanosecond = chance.randrange(5000), chance.randrange(10**9)
        sense = 'visual' if number % 2 else 'tactile'
        stamp = {'sec': FIRST + second, 'nanosec': nanosecond}
        robot.save_perception(f'seen {number}', sense, stamp=stamp)
        if sense == 'visual':
            kept.append((FIRST + second) * 10**6 + nanosecond // 1000)
    return sorted(kept)


def test_every_window_and_number_of_parts_is_counted_exactly(
    robot: Robot, stamps: list[int]
) -> None:
    begin, end = FIRST * 10**6, (FIRST + 5000) * 10**6
    few = begin + 40 * 10**6
    windows = [Span(), Span(begin, end), Span(None, end), Span(begin), Span(begin, few), Span(few)]
    with robot.memory.db.read() as connection:
        timeline = Timeline(connection, SEEN, only_active=True)
        for window in windows:
            for buckets in (1, 2, 7, 48, 1000):
                found = timeline.measure_density(window, buckets, SINCE_2001)
                inside = [
                    at
                    for at in stamps
                    if (window.first is None or at >= window.first)
                    and (window.end is None or at < window.end)
                ]
                if not inside:
                    assert found is None
                    continue
                counted = require(found)
                assert counted.first == (min(inside) if window.first is None else window.first)
                expected = [0] * buckets
                for at in inside:
                    expected[(at - counted.first) // counted.width] += 1
                assert counted.counts == expected, (window, buckets)


def test_a_simulation_s_clock_is_left_out_beside_real_times(
    robot: Robot, stamps: list[int]
) -> None:
    robot.save_perception('simulated', 'visual', stamp={'sec': 5})
    with robot.memory.db.read() as connection:
        timeline = Timeline(connection, SEEN, only_active=True)
        counted = require(timeline.measure_density(Span(), 10, SINCE_2001))
        assert counted.first == stamps[0]
        assert sum(counted.counts) == len(stamps)
        simulated = require(timeline.measure_density(Span(None, SINCE_2001), 10, SINCE_2001))
        assert sum(simulated.counts) == 1


def test_where_nothing_passes_there_is_no_density(robot: Robot, stamps: list[int]) -> None:
    with robot.memory.db.read() as connection:
        timeline = Timeline(connection, Where("m.perception_type = 'auditory'"), only_active=True)
        assert timeline.measure_density(Span(), 10, SINCE_2001) is None
