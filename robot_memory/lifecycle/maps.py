"""Maps: a revision begins, older ones are re-anchored, and what is stored says of which it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.core.maps import (
    NO_MAP,
    CurrentMap,
    MapRevision,
    check_map_name,
    check_map_of,
    mark_place,
)
from robot_memory.core.records import CALENDAR_FROM
from robot_memory.core.settings import NodeSettings
from robot_memory.detectors import Pose
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, maps
from robot_memory.storage.tables.maps import Anchor

_POSITIONS = ('object_position', 'position')


@dataclass(frozen=True)
class Bridge:
    """Hold the pose of an older revision in the one that holds, and how well that is known."""

    pose: Pose
    residual: float
    landmarks: int = 0


@dataclass(frozen=True)
class MapChange:
    """Say what is to hold in a frame: revision 0 begins the next one; `bridge` is from `old`."""

    name: str
    frame: str
    revision: int = 0
    is_mapping: bool = False
    old: MapRevision | None = None
    bridge: Bridge | None = None
    reason: str = ''


@dataclass(frozen=True)
class MapChanged:
    """Hold what holds now, whether it has just begun, and what it was brought from."""

    current: CurrentMap
    begun: bool
    anchor: Anchor | None


def set_map(memory: Memory, change: MapChange, digest: bytes | None = None) -> MapChanged:
    """
    Have a revision of a map hold in a frame; begin the next one where none is named.

    Raise NotFound for an older revision that never was, InvalidArgument for a revision that
    follows no other, and Conflict or Unavailable where nothing can be written.
    """
    with memory.db.write() as connection:
        before = maps.find_current(connection, change.frame)
        of = MapRevision(change.name, _choose_revision(connection, change))
        current = CurrentMap(of, change.is_mapping)
        anchor = _make_anchor(connection, change, before, of)
        now, writer = memory.clock(), memory.caller
        if current != before:
            maps.put(connection, change.frame, current, writer, now, digest)
            detail = {'frame': change.frame, 'map': of.name, 'revision': of.revision}
            detail |= {'mapping': True} if change.is_mapping else {}
            audit.record(connection, None, 'set_map', writer, change.reason, detail, now)
        if anchor is not None:
            maps.put_anchor(connection, anchor, writer, now)
            detail = {'from': anchor.old.label, 'to': of.label, 'residual_m': anchor.residual}
            audit.record(connection, None, 'anchor_map', writer, '', detail, now)
    return MapChanged(current, before is None or before.of != of, anchor)


def _choose_revision(connection: Connection, change: MapChange) -> int:
    last = maps.find_last_revision(connection, change.name)
    if not change.revision:
        return last + 1
    asked = MapRevision(change.name, change.revision)
    if change.revision <= last and not maps.is_known(connection, asked):
        raise InvalidArgument(
            f'revision {change.revision} of map {format_value(change.name)} is not known, and '
            f'{last} is: give one that is known to return to it, a higher one, or none to begin '
            f'{last + 1}'
        )
    return change.revision


def _make_anchor(
    connection: Connection, change: MapChange, before: CurrentMap | None, of: MapRevision
) -> Anchor | None:
    if change.bridge is None:
        return None
    old = change.old or (NO_MAP if before is None else before.of)
    if old == of:
        raise InvalidArgument(
            f'map {of.label} cannot be brought into itself: name the older revision by old_name '
            'and old_revision, or leave revision out to begin a new one'
        )
    if old.name and not maps.is_known(connection, old):
        raise NotFound(f'no map {old.label} is known; nothing was changed')
    return Anchor(old, of, change.bridge.pose, change.bridge.residual, change.bridge.landmarks)


def begin_map(memory: Memory, settings: NodeSettings) -> CurrentMap | None:
    """
    Have the map of a node's parameters hold; None where they name none.

    Raise InvalidArgument for a name, a frame or a file that is none.
    """
    given, frame = settings.map_name, settings.map_frame.strip().lstrip('/')
    if not given and not settings.map_file:
        return None
    if not frame:
        raise InvalidArgument('map_frame must name a tf frame such as map')
    name = check_map_name('map_name', given) if given else ''
    if not settings.map_file:
        return hold_map(memory, name, frame, settings.map_revision)
    if settings.map_revision:
        raise InvalidArgument(
            'map_revision goes with map_name alone; with map_file the content of the file counts'
        )
    return load_map(memory, settings.map_file, name, frame)


def hold_map(memory: Memory, name: str, frame: str, revision: int = 0) -> CurrentMap:
    """
    Have a map hold that a parameter names; the same parameter begins nothing at the next start.

    Revision 0 is the newest one of the name; 1 begins where there is none.
    """
    with memory.db.read() as connection:
        current = maps.find_current(connection, frame)
        wanted = revision or maps.find_last_revision(connection, name) or 1
    if current is not None and current.of == MapRevision(name, wanted):
        return current
    return set_map(memory, MapChange(name, frame, wanted, reason='parameter map_name')).current


def load_map(memory: Memory, path: str, name: str, frame: str) -> CurrentMap:
    """
    Have the map of a file hold: the next revision where its content is new, else the known one.

    The file is one of nav2's map_server, a YAML beside the picture that its `image` names; any
    other is taken as it is. Without a name it is that of the file. Raise InvalidArgument for one
    that cannot be read.
    """
    file = expand_path(path, 'map_file')
    digest = _digest_map(file)
    name = name or check_map_name('the name of map_file', file.stem)
    with memory.db.read() as connection:
        current = maps.find_current(connection, frame)
        known = maps.find_by_digest(connection, frame, name, digest)
    if known is not None and current is not None and current.of == known:
        return current
    revision = 0 if known is None else known.revision
    change = MapChange(name, frame, revision, reason=f'map file {file.name}')
    return set_map(memory, change, digest).current


def _digest_map(file: Path) -> bytes:
    # Here: most nodes load no map, and would wait for the parser at their start.
    from robot_memory.core.params_file import read_yaml

    try:
        found = hashlib.sha256(file.read_bytes())
        loaded = read_yaml(file, f'map_file {file}') if file.suffix in ('.yaml', '.yml') else None
        image = loaded.get('image') if isinstance(loaded, Mapping) else None
        if isinstance(image, str):
            found.update((file.parent / image).read_bytes())
    except OSError as error:
        named = error.filename or file
        raise InvalidArgument(f'cannot read map_file {named}: {error.strerror}') from None
    return found.digest()


def mark_context(
    connection: Connection, context: Mapping[str, Any], frame_id: str | None, stamp: int | None
) -> dict[str, Any]:
    """Return a context whose position says of which map it is, where its frame has one."""
    spatial = context.get('spatial')
    has_place = isinstance(spatial, Mapping) and any(name in spatial for name in _POSITIONS)
    if not isinstance(spatial, Mapping) or not has_place:
        return dict(context)
    check_map_of('context.spatial', spatial)
    names = (spatial.get('frame_id'), context.get('frame_id'), frame_id)
    frame = next((name for name in names if isinstance(name, str) and name), '')
    return {**context, 'spatial': mark_position(connection, spatial, frame, stamp)}


def mark_position(
    connection: Connection, holder: Mapping[str, Any], frame_id: str, stamp: int | None
) -> dict[str, Any]:
    """
    Return what holds a position in a frame with the map that held when it was measured.

    Stamps in nanoseconds of a clock that knows no calendar are of now. What says itself of which
    map it is stays as it is.
    """
    at = None if stamp is None or stamp // 1000 < CALENDAR_FROM else stamp // 1000
    current = maps.find_current(connection, frame_id.lstrip('/'), at)
    return dict(holder) if current is None else mark_place(holder, current)
