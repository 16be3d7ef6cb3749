"""Named regions that callers set, beside those of the file of regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robot_memory.core.authority import is_higher
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.json_text import format_value
from robot_memory.core.maps import NO_MAP
from robot_memory.core.regions import MAX_REGIONS, Region, fold_name, parse_region
from robot_memory.core.suggestions import suggest
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, maps, regions
from robot_memory.storage.tables.regions import StoredRegion


def set_region(memory: Memory, name: str, shape: Mapping[str, Any]) -> Region:
    """
    Keep a region, in place of one of the same name; it is of the map that holds in its frame now.

    Raise InvalidArgument for what is no region, Conflict for one of the file of regions, or of a
    higher authority.
    """
    region = parse_region(name, shape)
    _refuse_filed(memory, region.name)
    with memory.db.write() as connection:
        known = regions.find(connection, region.name)
        _refuse_higher(memory, known)
        if known is None and regions.count(connection) >= MAX_REGIONS:
            raise InvalidArgument(
                f'there are {MAX_REGIONS} regions, the most that are kept: remove one first'
            )
        current = maps.find_current(connection, region.frame)
        region = replace(region, of=NO_MAP if current is None else current.of)
        given = {key: value for key, value in shape.items() if key != 'frame'}
        regions.put(connection, region, given, memory.caller, memory.clock())
        _note(memory, connection, 'set_region', region)
    return region


def remove_region(memory: Memory, name: str) -> Region:
    """Remove a region; raise NotFound where there is none, Conflict as `set_region` does."""
    _refuse_filed(memory, name)
    with memory.db.write() as connection:
        known = regions.find(connection, name)
        if known is None:
            names = [one.region.name for one in regions.list_all(connection)]
            raise NotFound(
                f'there is no region {format_value(name)}{suggest(name, names)} that set_region '
                f'set; there are: {", ".join(names[:20]) or "none"}'
            )
        _refuse_higher(memory, known)
        regions.remove(connection, name)
        _note(memory, connection, 'remove_region', known.region)
    return known.region


def _refuse_filed(memory: Memory, name: str) -> None:
    if any(fold_name(one.name) == fold_name(name) for one in memory.no_record.regions):
        raise Conflict(
            f'the region {format_value(name)} is of regions_file, which stands above; change it '
            'there, and nothing was changed here'
        )


def _refuse_higher(memory: Memory, known: StoredRegion | None) -> None:
    caller = memory.caller.authority
    if known is not None and is_higher(known.writer.authority, caller):
        raise Conflict(
            f'the region {format_value(known.region.name)} was set by '
            f'{known.writer.authority}, and {caller} is lower; nothing was changed'
        )


def _note(memory: Memory, connection: Connection, action: str, region: Region) -> None:
    detail = {'region': region.name, 'frame': region.frame}
    audit.record(connection, None, action, memory.caller, '', detail, memory.clock())
