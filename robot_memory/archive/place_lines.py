"""The lines of maps, anchors between them and regions, declared and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from robot_memory.core.clock import LAST
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg, parse
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.maps import LAST_REVISION, MAX_NAME, NO_MAP, MapRevision, check_map_name
from robot_memory.core.places import check_orientation
from robot_memory.core.regions import parse_region

_FRAME = 128
_DIGEST = 64
"""Characters of a SHA-256 in hexadecimal."""


def _at_arg() -> Any:
    return arg('Microseconds since 1970 UTC.', minimum=-LAST, maximum=LAST)


def _name_arg(help: str) -> Any:
    return arg(help, max_length=MAX_NAME)


def _revision_arg() -> Any:
    return arg('Revision; 0: of no named map.', minimum=0, maximum=LAST_REVISION)


@dataclass(frozen=True)
class MapLine:
    """One change of the map that holds in a frame."""

    kind: str = arg('Line kind: map.', choices=('map',))
    frame: str = arg('tf frame that the map defines.', min_length=1, max_length=_FRAME)
    name: str = _name_arg('Name of the map.')
    revision: int = arg('Its revision.', minimum=1, maximum=LAST_REVISION)
    mapping: bool = arg('Whether it was being mapped.')
    at: int = _at_arg()
    digest: str | None = arg(
        "SHA-256 of the map's file.", default=None, min_length=_DIGEST, max_length=_DIGEST
    )


@dataclass(frozen=True)
class AnchorLine:
    """The pose of an older revision in a newer one."""

    kind: str = arg('Line kind: anchor.', choices=('anchor',))
    old_name: str = _name_arg('Name of the older map; empty: of no named map.')
    old_revision: int = _revision_arg()
    name: str = _name_arg('Name of the newer map.')
    revision: int = _revision_arg()
    position: Json = arg('x, y, z in metres.', shape='container')
    orientation: Json = arg('Quaternion x, y, z, w.', shape='container')
    residual: float = arg('Metres.', minimum=0.0)
    landmarks: int = arg('Landmarks that it was fitted to.', minimum=0, maximum=LAST)
    at: int = _at_arg()

    @property
    def old(self) -> MapRevision:
        """Return the older revision."""
        return MapRevision(self.old_name, self.old_revision)

    @property
    def new(self) -> MapRevision:
        """Return the newer revision."""
        return MapRevision(self.name, self.revision)


@dataclass(frozen=True)
class RegionLine:
    """One named region that set_region set."""

    kind: str = arg('Line kind: region.', choices=('region',))
    name: str = arg('Name of the region.', min_length=1, max_length=MAX_NAME)
    frame: str = arg('tf frame.', min_length=1, max_length=_FRAME)
    map: str = _name_arg('Map that its numbers are of; empty: of no named map.')
    revision: int = _revision_arg()
    shape: Json = arg('box, or polygon with bottom and top.', shape='object')
    at: int = _at_arg()

    @property
    def of(self) -> MapRevision:
        """Return the revision that its numbers are of."""
        return MapRevision(self.map, self.revision)


PlaceLine: TypeAlias = MapLine | AnchorLine | RegionLine
PLACE_LINES: Mapping[Any, Any] = {'map': MapLine, 'anchor': AnchorLine, 'region': RegionLine}
"""The declarations by the kinds of their lines."""


def parse_place_line(values: Mapping[str, Any]) -> PlaceLine:
    """Check the line of a map, an anchor or a region; raise InvalidArgument."""
    kind = values['kind']
    line: PlaceLine = parse(PLACE_LINES[kind], values, f'a line of kind {kind}')
    if isinstance(line, MapLine):
        _check_name('name', line.name)
        if line.digest is not None:
            _check_digest(line.digest)
    elif isinstance(line, AnchorLine):
        _check_revision('old_name', line.old)
        _check_revision('name', line.new)
        _check_numbers('position', line.position, 3)
        check_orientation('orientation', _check_numbers('orientation', line.orientation, 4))
    else:
        _check_revision('map', line.of)
        parse_region(line.name, {**line.shape, 'frame': line.frame})
    return line


def _check_revision(name: str, of: MapRevision) -> None:
    if of == NO_MAP:
        return
    _check_name(name, of.name)
    if not of.revision:
        raise InvalidArgument(f'revision of {name} {format_value(of.name)} must be 1 or more')


def _check_name(argument: str, name: str) -> None:
    if check_map_name(argument, name) != name:
        raise InvalidArgument(f'{argument} has needless spaces: {format_value(name)}')


def _check_digest(digest: str) -> None:
    try:
        bytes.fromhex(digest)
    except ValueError:
        raise InvalidArgument(f'digest is not hexadecimal: {format_value(digest)}') from None


def _check_numbers(name: str, given: Any, length: int) -> list[float]:
    found = [number for one in given if (number := parse_finite(one)) is not None]
    if not isinstance(given, list) or len(given) != length or len(found) != length:
        raise InvalidArgument(f'{name} must be {length} finite numbers, not {format_value(given)}')
    return found
