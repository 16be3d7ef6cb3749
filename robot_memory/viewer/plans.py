"""A plan: where a memory is in its frame, among the regions of that frame, seen from above."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.retrieval.views import MemoryView
from robot_memory.storage import Connection
from robot_memory.storage.tables import regions
from robot_memory.viewer.charts import Tick, list_ticks

SIZE = 240
MARGIN = 28
_LEAST = 0.5
"""Metres that a plan shows at least."""


@dataclass(frozen=True)
class Outline:
    """Hold a region: its name, where that is written, and its corners as SVG has them."""

    name: str
    x: float
    y: float
    corners: str


@dataclass(frozen=True)
class Plan:
    """Hold a plan in pixels: x of the frame to the right, y upwards."""

    frame_id: str
    x: float
    y: float
    text: str
    outlines: tuple[Outline, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    size: int = SIZE
    margin: int = MARGIN


def draw_plan(connection: Connection, memory: MemoryView) -> Plan | None:
    """Return the plan of a memory; None of one whose place is not known."""
    position, frame = _find_position(memory)
    if position is None:
        return None
    stored = [one.region for one in regions.list_all(connection)]
    near = [one for one in stored if one.frame == frame]
    corners = [corner for one in near for corner in one.corners]
    points = [(0.0, 0.0), (position[0], position[1]), *((x, y) for x, y in corners)]
    low_x, high_x = _spread(x for x, _ in points)
    low_y, high_y = _spread(y for _, y in points)
    span = max(high_x - low_x, high_y - low_y) * 1.1
    middle = ((low_x + high_x) / 2, (low_y + high_y) / 2)
    scale = (SIZE - 2 * MARGIN) / span

    def place(x: float, y: float) -> tuple[float, float]:
        across = SIZE / 2 + (x - middle[0]) * scale
        return round(across, 1), round(SIZE / 2 - (y - middle[1]) * scale, 1)

    outlines = tuple(
        _draw_outline(one.name, [place(*corner) for corner in one.corners]) for one in near
    )
    half = span / 2
    across, up = place(position[0], position[1])
    return Plan(
        frame or '',
        across,
        up,
        ', '.join(f'{value:.3g}' for value in position) + ' m',
        outlines,
        tuple(
            Tick(place(one, 0)[0], f'{one:g}')
            for one in list_ticks(middle[0] - half, middle[0] + half, 4)
        ),
        tuple(
            Tick(place(0, one)[1], f'{one:g}')
            for one in list_ticks(middle[1] - half, middle[1] + half, 4)
        ),
    )


def _draw_outline(name: str, corners: list[tuple[float, float]]) -> Outline:
    left, top = min(x for x, _ in corners), min(y for _, y in corners)
    listed = ' '.join(f'{x},{y}' for x, y in corners)
    return Outline(name, round(left + 4, 1), round(top + 13, 1), listed)


def _find_position(memory: MemoryView) -> tuple[list[float] | None, str | None]:
    """Return the position of a memory in metres, and its frame."""
    pose = memory.pose if isinstance(memory.pose, Mapping) else {}
    found = _read_numbers(pose.get('position'))
    if found is not None:
        return found, pose.get('frame_id') or memory.frame_id
    spatial = memory.spatial if isinstance(memory.spatial, Mapping) else {}
    for name, value in spatial.items():
        found = _read_numbers(value) if name.endswith('position') else None
        if found is not None:
            frame = spatial.get('frame_id')
            return found, frame if isinstance(frame, str) else memory.frame_id
    return None, None


def _read_numbers(value: Any) -> list[float] | None:
    if isinstance(value, Mapping):
        value = [value.get(name) for name in ('x', 'y', 'z')]
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        return None
    numbers = [one for one in value if isinstance(one, (int, float)) and math.isfinite(one)]
    return [float(one) for one in numbers] if len(numbers) == len(value) else None


def _spread(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    low, high = min(found), max(found)
    lack = max(0.0, _LEAST - (high - low)) / 2
    return low - lack, high + lack
