"""Which map a place is of: a name and a revision, and how they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.places import Place

MAX_NAME = 64
LAST_REVISION = 1_000_000_000


class MapRevision(NamedTuple):
    """Name a revision of a map; the empty name is that of places from before maps had names."""

    name: str = ''
    revision: int = 0

    @property
    def label(self) -> str:
        """Return it in words: kitchen r3."""
        return f'{self.name} r{self.revision}' if self.name else 'no named map'


class CurrentMap(NamedTuple):
    """Hold the revision that holds in a frame, and whether it is still being mapped."""

    of: MapRevision
    is_mapping: bool


NO_MAP = MapRevision()


def check_map_name(argument: str, name: Any) -> str:
    """Return the name of a map without surrounding space; raise InvalidArgument for none."""
    found = ' '.join(name.split()) if isinstance(name, str) else ''
    if not found or len(found) > MAX_NAME or not found.isprintable():
        raise InvalidArgument(
            f'{argument} must be the name of a map such as kitchen, 1 to {MAX_NAME} characters, '
            f'not {format_value(name)}'
        )
    return found


def check_map_of(argument: str, holder: Mapping[str, Any]) -> None:
    """Raise InvalidArgument where what holds a position is of a map that is none."""
    if 'map' in holder:
        check_map_name(f'{argument}.map', holder['map'])
    revision = holder.get('map_revision')
    is_number = isinstance(revision, int) and not isinstance(revision, bool)
    is_good = is_number and 1 <= (revision or 0) <= LAST_REVISION
    if ('map' in holder) != ('map_revision' in holder) or ('map' in holder and not is_good):
        raise InvalidArgument(
            f'{argument}.map and {argument}.map_revision go together, the revision counted from '
            f'1, e.g. "kitchen" and 3, not {format_value(holder.get("map"))} and '
            f'{format_value(revision)}'
        )


def mark_place(spatial: Mapping[str, Any], current: CurrentMap) -> dict[str, Any]:
    """Return what holds a position with the map that it is of, unless it says that itself."""
    if 'map' in spatial:
        return dict(spatial)
    marked = {**spatial, 'map': current.of.name, 'map_revision': current.of.revision}
    return {**marked, 'provisional': True} if current.is_mapping else marked


def describe_place(place: Place, holds: MapRevision) -> str | None:
    """
    Return of which map a place is, where that does not go without saying.

    That is where another revision `holds` in its frame, or it was stored while mapping.
    """
    own = MapRevision(place.map, place.revision)
    if own == holds and not place.provisional:
        return None
    return f'of map {own.label}, provisional' if place.provisional else describe_revision(own)


def describe_revision(of: MapRevision) -> str:
    """Return of which map something is: of map kitchen r3."""
    return f'of map {of.label}' if of.name else 'of no named map'
