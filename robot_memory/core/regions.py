"""Named regions: boxes and polygons with a frame, read from YAML, and what reaches into them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from robot_memory.core import polygons
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.maps import MapRevision
from robot_memory.core.polygons import Point
from robot_memory.core.suggestions import suggest

Vector: TypeAlias = tuple[float, float, float]
MAX_NAME = 64
MAX_CORNERS = 256
MAX_REGIONS = 1000
MAX_METRES = 1e7
CHI_SQUARED_99 = 11.344866730144373
"""The 99 % quantile of chi-squared with three degrees of freedom."""
_KEYS = ('frame', 'box', 'polygon', 'bottom', 'top')
_LEAST_DEVIATION = 1e-6
"""Metres; a covariance without extent along an axis is rounded, and still has a shadow."""


@dataclass(frozen=True)
class Region:
    """
    Hold an upright prism in a frame: its corners in the plane, and from where to where it goes up.

    Metres; `bottom` and `top` are infinite where it has no limit. The edge belongs to it. `of` is
    the revision of a map that its numbers are of, None for whichever holds.
    """

    name: str
    frame: str
    corners: tuple[Point, ...]
    bottom: float = -math.inf
    top: float = math.inf
    of: MapRevision | None = None

    @property
    def middle(self) -> Vector:
        """Return the middle of the box around it; 0 where it has no limit in height."""
        x, y = ((min(ends) + max(ends)) / 2 for ends in zip(*self.corners, strict=True))
        height = (self.bottom + self.top) / 2
        return x, y, height if math.isfinite(height) else 0.0

    @property
    def radius(self) -> float:
        """Return how far from its middle anything in it can be, in metres."""
        x, y, z = self.middle
        flat = max(math.dist((x, y), corner) for corner in self.corners)
        return math.hypot(flat, z - self.bottom, self.top - z) + polygons.SLACK

    def contains(self, position: Vector) -> bool:
        """Say whether a position in the region's frame lies in it."""
        x, y, z = position
        is_beside = z < self.bottom - polygons.SLACK or z > self.top + polygons.SLACK
        return not is_beside and polygons.contains(self.corners, (x, y))

    def is_reached(self, position: Vector, spread: Sequence[float] | None) -> bool:
        """
        Say whether the 99 % ellipsoid of a position in the region's frame reaches into it.

        `spread` is the upper triangle of the covariance (xx, xy, xz, yy, yz, zz; square metres),
        None for an exact position. The ellipsoid is taken for the product of its shadow on the
        plane and its height, in which it lies.
        """
        if spread is None:
            return self.contains(position)
        x, y, z = position
        xx, xy, _, yy, _, zz = spread
        radius = math.sqrt(CHI_SQUARED_99)
        height = radius * max(math.sqrt(max(zz, 0.0)), _LEAST_DEVIATION)
        if z + height < self.bottom or z - height > self.top:
            return False
        # Lengths are measured in deviations: there the ellipse is a circle around the origin.
        long = max(math.sqrt(max(xx, 0.0)), _LEAST_DEVIATION)
        slant = xy / long
        wide = max(math.sqrt(max(yy - slant * slant, 0.0)), _LEAST_DEVIATION)
        seen: list[Point] = []
        for corner_x, corner_y in self.corners:
            along = (corner_x - x) / long
            seen.append((along, (corner_y - y - slant * along) / wide))
        return polygons.measure_distance(seen, (0.0, 0.0)) <= radius


def fold_name(name: str) -> str:
    """Return a region's name as it is compared: without capitals and doubled spaces."""
    return ' '.join(name.split()).casefold()


def find_region(regions: Sequence[Region], name: str, argument: str) -> Region:
    """Return the region of a name; raise InvalidArgument, which names the argument."""
    for region in regions:
        if fold_name(region.name) == fold_name(name):
            return region
    known = [region.name for region in regions]
    listed = ', '.join(known[:20]) or 'none is defined'
    raise InvalidArgument(
        f'{argument}: there is no region {format_value(name)}{suggest(name, known)}; '
        f'accepted: {listed}'
    )


def parse_regions(given: Any) -> tuple[Region, ...]:
    """Return the regions of a mapping by name; raise InvalidArgument, which names the region."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            'regions must map names to regions, such as kitchen: {frame: map, box: [[0, 0], '
            f'[4, 3]]}}, not {format_value(given)}'
        )
    if len(given) > MAX_REGIONS:
        raise InvalidArgument(f'regions has {len(given)}; at most {MAX_REGIONS} are accepted')
    found = tuple(parse_region(name, value) for name, value in given.items())
    names: dict[str, str] = {}
    for region in found:
        other = names.setdefault(fold_name(region.name), region.name)
        if other is not region.name:
            raise InvalidArgument(
                f'regions has both {format_value(other)} and {format_value(region.name)}; '
                'capital letters do not tell names apart'
            )
    return found


def parse_region(name: Any, given: Any) -> Region:
    """Return the region that a mapping describes; raise InvalidArgument, which names it."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise InvalidArgument(
            f'the name of a region must have 1 to {MAX_NAME} characters, not {format_value(name)}'
        )
    try:
        return _parse_shape(' '.join(name.split()), given)
    except InvalidArgument as error:
        raise InvalidArgument(f'region {format_value(name)}: {error}') from None


def _parse_shape(name: str, given: Any) -> Region:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f'it must have frame, and box or polygon, and is {format_value(given)}'
        )
    unknown = [str(key) for key in given if key not in _KEYS]
    if unknown:
        raise InvalidArgument(
            f'unknown key {unknown[0]}{suggest(unknown[0], _KEYS)}; accepted: {", ".join(_KEYS)}'
        )
    frame = given.get('frame')
    if not isinstance(frame, str) or not frame.strip('/ '):
        raise InvalidArgument(
            f'frame must name a tf frame such as map or base_link, not {format_value(frame)}'
        )
    frame = frame.strip().lstrip('/')
    if ('box' in given) == ('polygon' in given):
        raise InvalidArgument('it must have either box or polygon')
    if 'box' in given:
        return _parse_box(name, frame, given)
    bottom = _parse_height(given, 'bottom', -math.inf)
    top = _parse_height(given, 'top', math.inf)
    if bottom >= top:
        raise InvalidArgument(f'bottom must be less than top, not {bottom:g} and {top:g}')
    return Region(name, frame, _parse_corners(given['polygon']), bottom, top)


def _parse_box(name: str, frame: str, given: Mapping[str, Any]) -> Region:
    if 'bottom' in given or 'top' in given:
        raise InvalidArgument('bottom and top of a box are the z of its corners')
    box = given['box']
    corners = [_parse_numbers(one) for one in box] if isinstance(box, list) else []
    lengths = [len(one) for one in corners]
    if lengths not in ([2, 2], [3, 3]):
        raise InvalidArgument(
            'box must be two opposite corners, [[x, y, z], [x, y, z]] in metres, with or without '
            f'z, not {format_value(box)}'
        )
    spans = [(min(pair), max(pair)) for pair in zip(*corners, strict=True)]
    for axis, (least, most) in zip('xyz', spans, strict=False):
        if least == most:
            raise InvalidArgument(f'box has no extent along {axis}: both corners have {least:g}')
    (left, right), (near, far), *height = spans
    plane = ((left, near), (right, near), (right, far), (left, far))
    return Region(name, frame, plane, *(height[0] if height else ()))


def _parse_corners(given: Any) -> tuple[Point, ...]:
    found = [_parse_numbers(one) for one in given] if isinstance(given, list) else []
    if not 3 <= len(found) <= MAX_CORNERS or any(len(one) != 2 for one in found):
        count = f' with {len(given)} corners' if isinstance(given, list) else ''
        raise InvalidArgument(
            f'polygon must be a list of 3 to {MAX_CORNERS} corners [x, y] in metres, not '
            f'{format_value(given)}{count}'
        )
    corners = tuple((one[0], one[1]) for one in found)
    if len(corners) > 3 and corners[0] == corners[-1]:
        raise InvalidArgument(
            f'polygon: the first corner [{corners[0][0]:g}, {corners[0][1]:g}] is repeated at the '
            'end; leave that out'
        )
    fault = polygons.find_fault(corners)
    if fault:
        raise InvalidArgument(f'polygon crosses or touches itself: {fault}')
    return corners


def _parse_numbers(given: Any) -> list[float]:
    """Return the numbers of a list; nothing where one is none, or too far away."""
    if not isinstance(given, list):
        return []
    numbers = [parse_finite(one) for one in given]
    usable = [one for one in numbers if one is not None and abs(one) <= MAX_METRES]
    return usable if len(usable) == len(given) else []


def _parse_height(given: Mapping[str, Any], name: str, default: float) -> float:
    if name not in given:
        return default
    number = parse_finite(given[name])
    if number is None or abs(number) > MAX_METRES:
        raise InvalidArgument(
            f'{name} must be a height in metres, not {format_value(given[name])}'
        )
    return number
