"""Where a memory is: one position in one frame, read from its pose and context."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite

UNIT_TOLERANCE = 0.01
"""How far from 1 the length of a quaternion may be."""
_SYMMETRY = 1e-6
_COVARIANCE = (
    'must be the 36 numbers of a 6x6 covariance, row by row, in the order x, y, z and the '
    'rotations about these axes (m, rad): finite, symmetric, with no negative eigenvalue'
)
_OF_POSITION = _COVARIANCE.replace('(m, rad)', '(m, rad), or the 9 of x, y, z alone')
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class Place:
    """
    Hold a position in metres in a frame; an empty `frame` is an unknown one.

    `spread` is the upper triangle of the position's covariance in that frame (xx, xy, xz, yy, yz,
    zz; square metres). Of a position in a map's frame, `map` and `revision` say of which, and
    whether it is `provisional`: stored while that was mapped.
    """

    position: tuple[float, float, float]
    frame: str
    map: str = ''
    revision: int = 0
    spread: tuple[float, ...] | None = None
    provisional: bool = False


def read_place(context: Mapping[str, Any], frame_id: str | None, pose: Any) -> Place | None:
    """Return where a memory is: the thing's position, else the measurement's; None: nowhere."""
    spatial = context.get('spatial')
    spatial = spatial if isinstance(spatial, Mapping) else {}
    position = _read_position(spatial.get('object_position'))
    if position is not None:
        return _make_place(position, spatial, 'object_covariance', context, frame_id)
    if isinstance(pose, Mapping):
        position = _read_position(pose.get('position'))
        if position is not None:
            return _make_place(position, pose, 'covariance', {}, frame_id)
    position = _read_position(spatial.get('position'))
    if position is None:
        return None
    return _make_place(position, spatial, 'covariance', context, frame_id)


def _make_place(
    position: tuple[float, float, float],
    beside: Mapping[str, Any],
    covariance: str,
    around: Mapping[str, Any],
    frame_id: str | None,
) -> Place:
    names = (beside.get('frame_id'), around.get('frame_id'), frame_id)
    frames = (name.lstrip('/') for name in names if isinstance(name, str))
    map_name, revision = beside.get('map'), beside.get('map_revision')
    return Place(
        position,
        next(filter(None, frames), ''),
        map_name if isinstance(map_name, str) else '',
        revision if isinstance(revision, int) and not isinstance(revision, bool) else 0,
        read_spread(beside.get(covariance)),
        beside.get('provisional') is True,
    )


def _read_position(value: Any) -> tuple[float, float, float] | None:
    if not isinstance(value, list) or len(value) not in (2, 3):
        return None
    numbers = [number for number in map(parse_finite, value) if number is not None]
    if len(numbers) != len(value):
        return None
    x, y, z = (*numbers, 0.0)[:3]
    return x, y, z


def read_spread(covariance: Any) -> tuple[float, ...] | None:
    """
    Return the upper triangle of the position's part of a covariance; None where it is none.

    All zeros are none: ROS has them where a covariance is not known.
    """
    width = {9: 3, 36: 6}.get(len(covariance)) if isinstance(covariance, list) else None
    if width is None:
        return None
    numbers = [parse_finite(covariance[row * width + column]) for row, column in _UPPER]
    found = tuple(number for number in numbers if number is not None)
    if len(found) != len(_UPPER) or not any(map(parse_finite, covariance)):
        return None
    xx, xy, xz, yy, yz, zz = found
    rows = [(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)]
    return found if _is_semidefinite(rows, 1e-9 * max(map(abs, found))) else None


def check_spatial(context: Mapping[str, Any]) -> None:
    """Raise InvalidArgument where the spatial partition of a context has what is no covariance."""
    spatial = context.get('spatial')
    for name in ('object_covariance', 'covariance'):
        given = spatial.get(name) if isinstance(spatial, Mapping) else None
        if given is not None:
            _check_covariance(f'context.spatial.{name}', given, (36, 9), _OF_POSITION)


def check_orientation(name: str, orientation: Sequence[float]) -> None:
    """Raise InvalidArgument for a quaternion whose length is not 1."""
    length = math.hypot(*orientation)
    if abs(length - 1) > UNIT_TOLERANCE:
        raise InvalidArgument(
            f'{name} must be a quaternion x, y, z, w of length 1, not {format_value(orientation)} '
            f'of length {length:.6g}'
        )


def check_covariance(name: str, covariance: Any) -> None:
    """Raise InvalidArgument for what is no 6x6 covariance, and say what is wrong."""
    _check_covariance(name, covariance, (36,), _COVARIANCE)


def _check_covariance(name: str, covariance: Any, sizes: Sequence[int], wanted: str) -> None:
    numbers = [parse_finite(x) for x in covariance] if isinstance(covariance, list) else []
    found = [number for number in numbers if number is not None]
    if len(numbers) not in sizes or len(found) != len(numbers):
        count = f'; these are {len(numbers)}' if numbers and len(numbers) not in sizes else ''
        raise InvalidArgument(f'{name} {wanted}, not {format_value(covariance)}{count}')
    width = math.isqrt(len(found))
    rows = [found[at : at + width] for at in range(0, len(found), width)]
    largest = max(map(abs, found))
    for row in range(width):
        for column in range(row):
            apart = abs(rows[row][column] - rows[column][row])
            if apart > _SYMMETRY * largest:
                raise InvalidArgument(
                    f'{name} {wanted}; row {row + 1}, column {column + 1} is '
                    f'{rows[row][column]:.6g}, but row {column + 1}, column {row + 1} is '
                    f'{rows[column][row]:.6g}'
                )
    if not _is_semidefinite(rows, 1e-9 * largest):
        raise InvalidArgument(f'{name} {wanted}; this one has a negative eigenvalue')


def _is_semidefinite(rows: Sequence[Sequence[float]], slack: float) -> bool:
    """Say whether a symmetric matrix has no negative eigenvalue, by its pivots (LDL)."""
    left = [list(row) for row in rows]
    open_rows = list(range(len(left)))
    while open_rows:
        pivot = max(open_rows, key=lambda at: left[at][at])
        open_rows.remove(pivot)
        value = left[pivot][pivot]
        if value < -slack:
            return False
        if value <= slack:
            rest = [*open_rows, pivot]
            return all(abs(left[a][b]) <= 3 * slack for a in rest for b in rest)
        for a in open_rows:
            for b in open_rows:
                left[a][b] -= left[a][pivot] * left[pivot][b] / value
    return True
