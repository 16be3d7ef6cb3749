"""Charts: what is drawn of a signal, and that no peak is lost by decimation."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from robot_memory.core.proportions import compute_wilson
from robot_memory.detectors import Signal
from robot_memory.viewer.charts import (
    COLUMNS,
    HEIGHT,
    WIDTH,
    decimate,
    draw_signal,
    draw_successes,
    list_ticks,
)


def make_signal(rows: int, *, spike: int | None = None) -> Signal:
    stamps = np.arange(rows, dtype=np.int64) * 2_000_000
    values = np.zeros((rows, 3), np.float32)
    values[:, 0] = np.sin(np.arange(rows) / 50)
    if spike is not None:
        values[spike, 2] = 40.0
    return Signal(('force.x', 'force.y', 'force.z'), ('N', 'N', 'N'), stamps, values)


def test_a_force_is_drawn_with_its_norm_unit_and_marks() -> None:
    (chart,) = draw_signal(make_signal(500, spike=250), 400_000_000, 500_000_000, 600_000_000)
    assert chart.unit == 'N'
    assert [line.name for line in chart.lines] == ['x', 'y', 'z', '|force|']
    assert [mark.text for mark in chart.marks] == ['onset', 'peak', 'end']
    assert chart.summary.startswith('40')


def test_a_spike_of_one_sample_in_a_million_is_drawn() -> None:
    (chart,) = draw_signal(make_signal(1_000_000, spike=654_321), 0, 0, 0)
    heights = {
        line.name: [float(y) for y in re.findall(r'[ML][\d.]+ ([\d.]+)', line.path)]
        for line in chart.lines
    }
    assert min(heights['z']) < min(heights['y']) - HEIGHT / 2
    assert all(len(line.path) < 50_000 for line in chart.lines)


def test_decimation_keeps_order_ends_and_extremes() -> None:
    chance = np.random.default_rng(7)
    y = chance.normal(size=50_000)
    rows = decimate(np.linspace(0, 1, len(y)), y)
    assert list(rows) == sorted(set(rows.tolist()))
    assert (rows[0], rows[-1]) == (0, len(y) - 1)
    assert len(rows) <= 4 * COLUMNS
    assert (y[rows].min(), y[rows].max()) == (y.min(), y.max())


def test_where_there_is_no_number_the_curve_is_broken() -> None:
    signal = make_signal(100)
    signal.values[40:60, 0] = np.nan
    (chart,) = draw_signal(signal, 0, 0, 0)
    assert chart.lines[0].path.count('M') == 2
    assert 'nan' not in ''.join(line.path for line in chart.lines)


@pytest.mark.parametrize('rows', [1, 2])
def test_a_signal_of_a_sample_or_two_is_drawn(rows: int) -> None:
    (chart,) = draw_signal(make_signal(rows), 0, 0, 0)
    for line in chart.lines:
        for x, y in re.findall(r'([\d.]+) ([\d.]+)', line.path):
            assert 0 <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT


def test_blocks_of_trials_have_their_wilson_intervals() -> None:
    outcomes = [False] * 5 + [True] * 55
    blocks = draw_successes(outcomes)
    assert len(blocks) == 12
    low, high = compute_wilson(0, 5)
    assert blocks[0].text == f'1-5: 0/5 ({low:.0%} to {high:.0%})'
    assert all(one.high <= one.y <= one.low for one in blocks)
    assert draw_successes([]) == ()


@pytest.mark.parametrize(('low', 'high'), [(0, 1), (-3.2, 7.9), (1e-7, 2e-7), (5, 5), (0, 1e9)])
def test_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    ticks = list_ticks(low, high)
    assert 1 <= len(ticks) <= 7
    assert all(low <= tick <= high or math.isclose(tick, low) for tick in ticks)
