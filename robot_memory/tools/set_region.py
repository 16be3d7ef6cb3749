"""Name a region, remove one, or list them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg
from robot_memory.core.json_text import format_value
from robot_memory.core.maps import NO_MAP
from robot_memory.core.regions import Region
from robot_memory.lifecycle import regions
from robot_memory.memory import Memory
from robot_memory.storage.tables import regions as stored
from robot_memory.tool import tool

_SHAPE = ('frame', 'box', 'polygon')


@dataclass(frozen=True)
class SetRegionRequest:
    """Request of set_region."""

    name: str | None = arg(
        'Name of the region, e.g. left bin; without one they are only listed.', default=None
    )
    frame: str | None = arg('tf frame that it is in.', default=None, max_length=128)
    box: Json | None = arg(
        'Two opposite corners in metres as JSON: [[x, y, z], [x, y, z]], with or without z.',
        default=None,
        shape='container',
    )
    polygon: Json | None = arg(
        'In place of box, 3 to 256 corners in metres as JSON: [[x, y], [x, y], [x, y]].',
        default=None,
        shape='container',
    )
    heights: Json | None = arg(
        'Of a polygon, from where to where it goes up, in metres as JSON: [bottom, top]; null: no '
        'limit.',
        default=None,
        shape='container',
    )
    remove: bool = arg('True: the region of that name is removed.', default=False)


@dataclass(frozen=True)
class RegionView:
    """A named region."""

    name: str = arg('Name.')
    frame: str = arg('tf frame that it is in.')
    polygon: Json = arg('Corners [x, y] in metres.')
    heights: Json = arg(
        'From where to where it goes up, in metres: [bottom, top]; null: no limit.'
    )
    of_map: str | None = arg(
        'Map that its numbers are of, where the frame had one.', default=None, omitted=True
    )
    from_file: bool = arg('True if it is of regions_file.', default=False)
    authority: str | None = arg('Who set it.', default=None, omitted=True)


@dataclass(frozen=True)
class SetRegionResponse:
    """Response of set_region."""

    status: str = arg('set, removed or listed.')
    regions: tuple[RegionView, ...] = arg('All regions, those of regions_file first.')


@tool()
def set_region(memory: Memory, request: SetRegionRequest) -> SetRegionResponse:
    """
    Name a box or a polygon that near takes as in, remove one, or list them.

    Call it when somebody says where something is called something: the left bin, the charger.

    A region of the same name is replaced. Those of regions_file are changed in that file. What an
    operator set only an operator changes. No-record zones are of the file alone.
    """
    shape: dict[str, Any] = {
        name: value for name in _SHAPE if (value := getattr(request, name)) is not None
    }
    if request.heights is not None:
        shape |= _read_heights(request.heights)
    status = 'listed'
    if request.name is None:
        if shape or request.remove:
            raise InvalidArgument('name is missing: the name of the region, e.g. left bin')
    elif request.remove:
        if shape:
            raise InvalidArgument(f'remove takes name alone; leave out {", ".join(shape)}')
        regions.remove_region(memory, request.name)
        status = 'removed'
    else:
        regions.set_region(memory, request.name, shape)
        status = 'set'
    filed = [_view(one, from_file=True) for one in memory.no_record.regions]
    with memory.db.read() as connection:
        kept = [_view(one.region, one.writer.authority) for one in stored.list_all(connection)]
    return SetRegionResponse(status, (*filed, *kept))


def _read_heights(given: Any) -> dict[str, Any]:
    if not isinstance(given, list) or len(given) != 2:
        raise InvalidArgument(
            'heights must be [bottom, top] in metres, null for no limit, not '
            f'{format_value(given)}'
        )
    heights = zip(('bottom', 'top'), given, strict=True)
    return {name: value for name, value in heights if value is not None}


def _view(region: Region, authority: str | None = None, *, from_file: bool = False) -> RegionView:
    of = region.of or NO_MAP
    return RegionView(
        region.name,
        region.frame,
        [list(corner) for corner in region.corners],
        [one if math.isfinite(one) else None for one in (region.bottom, region.top)],
        of.label if of.name else None,
        from_file,
        authority,
    )
