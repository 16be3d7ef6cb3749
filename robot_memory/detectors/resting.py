"""Wrenches at rest, looked at many at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.baseline import Baseline
from robot_memory.detectors.contact_event import SMOOTH_S
from robot_memory.detectors.event import StampOrder
from robot_memory.detectors.readings import Table, WrenchBlock
from robot_memory.detectors.ring_buffer import RingBuffer, Row

LEAST = 8
"""Fewer readings are looked at faster one by one."""
MOST = 128
"""What ends a rest is seldom further away than so many readings."""


@dataclass(frozen=True)
class Rest:
    """Say how many readings are at rest, the mean at the last of them, and if one was low."""

    count: int
    mean: list[float]
    was_low: bool


def smooth(mean: list[float], values: list[float], share: float) -> list[float]:
    """Return a mean that has moved by a share of its distance to the next values."""
    return [old + share * (new - old) for old, new in zip(mean, values, strict=True)]


def follow_rest(
    block: WrenchBlock,
    rows: list[Row],
    order: StampOrder,
    buffer: RingBuffer,
    baseline: Baseline,
    mean: list[float],
    end_ns: int,
    release: float,
) -> Rest:
    """
    Have stamps, buffer and baseline take the readings before `end_ns` that are at rest, in a row.

    `block` and `rows` hold the same readings. Those that are taken fill no block of the baseline.
    `mean` is that of the last tenth of a second. At rest a level is under `release`, and that of
    the mean under half of it once the baseline is settled; one under half of that is low. Few
    readings are left to be looked at one by one.
    """
    stamps_ns = block.stamps_ns[: order.count_going_on(block.stamps_ns)]
    stamps_ns = stamps_ns[: stamps_ns.searchsorted(end_ns)]
    if len(stamps_ns) < LEAST:
        return Rest(0, mean, False)
    values = block.values[: len(stamps_ns)]
    means = _follow_mean(mean, values, np.diff(stamps_ns, prepend=order.last_ns) / 1e9)
    twice = np.concatenate((stamps_ns, stamps_ns))
    found = baseline.measure_levels(twice, np.concatenate((means, values)))
    levels, single = found[: len(stamps_ns)], found[len(stamps_ns) :]
    lift = release / 2 if baseline.is_settled else release
    rests = (levels < lift) & (single < release)
    count = len(stamps_ns) if rests.all() else int(rests.argmin())
    if not count:
        return Rest(0, mean, False)
    order.last_ns = rows[count - 1][0]
    buffer.extend(rows[:count])
    baseline.update_within_block(values[:count])
    return Rest(count, means[count - 1].tolist(), bool(levels[:count].min() < lift / 2))


def _follow_mean(mean: list[float], values: Table, elapsed: NDArray[np.float64]) -> Table:
    """Return the mean at each reading, as `smooth` moves it from one to the next."""
    shares = (elapsed / (elapsed + SMOOTH_S)).tolist()
    columns = values.transpose().tolist()
    smoothed = [smooth_axis(*one, shares) for one in zip(mean, columns, strict=True)]
    means: Table = np.array(smoothed).transpose()
    return means


def smooth_axis(mean: float, values: list[float], shares: list[float]) -> list[float]:
    """Return the mean at each value, each time moved by a share of its distance to the value."""
    means = []
    for value, share in zip(values, shares, strict=True):
        mean += share * (value - mean)
        means.append(mean)
    return means
