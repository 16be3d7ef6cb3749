"""Curves, strips and plans as SVG: points that a template draws, decimated to what can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.proportions import compute_wilson
from robot_memory.detectors import Signal
from robot_memory.plot.curves import Curves, split_by_unit
from robot_memory.plot.drawn import Drawn

WIDTH, HEIGHT = 640, 180
LEFT, RIGHT, TOP, BOTTOM = 56, 8, 8, 24
COLUMNS = 300
"""Columns that a curve is decimated to; of each its least and its greatest value are drawn."""
MOST_CURVES = 12
"""Curves in one chart; of more the largest."""


@dataclass(frozen=True)
class Tick:
    """Hold where a tick is, in pixels, and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Line:
    """Hold a curve: its name, its SVG path, and its number, which chooses the colour."""

    name: str
    path: str
    number: int


@dataclass(frozen=True)
class Chart:
    """Hold what a template draws: axes in pixels of a view box of WIDTH by HEIGHT."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    marks: tuple[Tick, ...] = ()
    summary: str = ''
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    top: int = TOP
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Interval:
    """Hold a share of some tries with its Wilson interval, in pixels and in numbers."""

    x: float
    y: float
    low: float
    high: float
    text: str


def draw_signal(
    signal: Signal, onset_ns: int, peak_ns: int, end_ns: int, baseline: Sequence[float] = ()
) -> list[Chart]:
    """
    Return a chart of each unit of a signal against the baseline; x is seconds from the onset.

    A column of pixels has the least and the greatest of its values, so no peak is lost.
    """
    event = Drawn(None, '', '', onset_ns, peak_ns, end_ns, signal, (), tuple(baseline))
    marks = {'onset': onset_ns, 'peak': peak_ns, 'end': end_ns}
    return [_draw_curves(curves, onset_ns, marks) for curves in split_by_unit(event)]


def _draw_curves(curves: Curves, origin_ns: int, marks: dict[str, int]) -> Chart:
    seconds = (curves.stamps_ns - origin_ns) / 1e9
    values = curves.values
    labels = [label or curves.name for label in curves.labels]
    if curves.is_vector:
        values = np.column_stack((values, curves.size))
        labels.append(f'|{curves.name or "norm"}|')
    order = np.argsort(-np.nanmax(np.abs(values), axis=0), kind='stable')[:MOST_CURVES]
    first, last = float(seconds[0]), float(seconds[-1])
    low, high = _widen(float(np.nanmin(values)), float(np.nanmax(values)))
    scale_x = _Scale(first, last if last > first else first + 1, LEFT, WIDTH - RIGHT)
    scale_y = _Scale(low, high, HEIGHT - BOTTOM, TOP)
    lines = tuple(
        Line(labels[column], _trace(seconds, values[:, column], scale_x, scale_y), number)
        for number, column in enumerate(sorted(order))
    )
    at = {name: (stamp - origin_ns) / 1e9 for name, stamp in marks.items()}
    largest = float(np.nanmax(np.abs(values)))
    return Chart(
        curves.name,
        curves.unit,
        lines,
        tuple(Tick(scale_x(one), f'{one:g}') for one in list_ticks(first, last)),
        tuple(Tick(scale_y(one), f'{one:g}') for one in list_ticks(low, high)),
        tuple(Tick(scale_x(one), name) for name, one in at.items() if first <= one <= last),
        f'{largest:.4g} {curves.unit}'.strip(),
    )


def _trace(
    x: NDArray[np.float64], y: NDArray[np.float64], scale_x: _Scale, scale_y: _Scale
) -> str:
    """Return the path of a curve; where there is no number it is broken."""
    points: list[str] = []
    pen = 'M'
    for row in decimate(x, y):
        if math.isnan(y[row]):
            pen = 'M'
            continue
        points.append(f'{pen}{scale_x(x[row]):.1f} {scale_y(y[row]):.1f}')
        pen = 'L'
    return ''.join(points)


def decimate(
    x: NDArray[np.float64], y: NDArray[np.float64], columns: int = COLUMNS
) -> NDArray[np.intp]:
    """Return the rows to draw: of each column of x the first, least, greatest and last."""
    if len(x) <= 4 * columns:
        return np.arange(len(x))
    span = x[-1] - x[0] or 1.0
    column = np.minimum(((x - x[0]) / span * columns).astype(np.intp), columns - 1)
    starts = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
    ends = np.r_[starts[1:], len(x)]
    kept: list[int] = []
    for start, end in zip(starts, ends, strict=True):
        part = y[start:end]
        rows = {int(start), int(end) - 1}
        if not np.isnan(part).all():
            rows |= {int(start + np.nanargmin(part)), int(start + np.nanargmax(part))}
        kept += sorted(rows)
    return np.array(kept, dtype=np.intp)


def draw_successes(outcomes: Sequence[bool], blocks: int = 12) -> tuple[Interval, ...]:
    """
    Return how often trials succeeded as they went on: shares of consecutive blocks of them.

    Each has its Wilson interval of 95 %; a block has at least five trials where there are so many.
    """
    if not outcomes:
        return ()
    size = max(5, math.ceil(len(outcomes) / blocks))
    scale_x = _Scale(0, max(len(outcomes), 1), LEFT, WIDTH - RIGHT)
    scale_y = _Scale(0, 1, HEIGHT - BOTTOM, TOP)
    found = []
    for start in range(0, len(outcomes), size):
        block = outcomes[start : start + size]
        successes = sum(block)
        low, high = compute_wilson(successes, len(block))
        found.append(
            Interval(
                round(scale_x(start + len(block) / 2), 1),
                round(scale_y(successes / len(block)), 1),
                round(scale_y(low), 1),
                round(scale_y(high), 1),
                f'{start + 1}-{start + len(block)}: {successes}/{len(block)} '
                f'({low:.0%} to {high:.0%})',
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class _Scale:
    """Bring a range of numbers into a range of pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1)
        return float(self.start + share * (self.end - self.start))


def _widen(low: float, high: float) -> tuple[float, float]:
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return low - margin, high + margin


def list_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers in a range, at most so many."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]
