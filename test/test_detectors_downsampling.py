"""A signal is reduced, and keeps its extremes and its shape."""

from __future__ import annotations

import itertools
import math

import numpy as np

from robot_memory.detectors.downsampling import MinMaxDownsampler, simplify


def test_extremes_are_all_rows_while_they_fit_and_then_spread_evenly() -> None:
    few, many = MinMaxDownsampler(100), MinMaxDownsampler(100)
    for step in range(90):
        few.add(0.0, (step, [0.0]))
    assert [stamp for stamp, _ in few.collect_rows()] == list(range(90))
    for step in range(100_000):
        many.add(math.sin(step / 1e4), (step, [0.0]))
    stamps = [stamp for stamp, _ in many.collect_rows()]
    assert 50 <= len(stamps) <= 102
    assert max(b - a for a, b in itertools.pairwise(stamps)) < 4 * 100_000 / 50


def test_a_reduced_trajectory_comes_within_the_tolerance_of_every_reading() -> None:
    points = [(step * 10**7, [math.sin(step / 40), math.cos(step / 25)]) for step in range(900)]
    kept = simplify(points, np.array([0.01, 0.01]))
    times = [stamp for stamp, _ in points]
    for joint in range(2):
        line = np.interp(times, [p[0] for p in kept], [p[1][joint] for p in kept])
        assert np.abs(line - [p[1][joint] for p in points]).max() <= 0.01
    assert len(kept) < len(points) / 4
