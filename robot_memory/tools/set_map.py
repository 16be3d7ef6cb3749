"""Say which revision of which map holds in a frame, and bring older ones into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.maps import LAST_REVISION, NO_MAP, MapRevision, check_map_name
from robot_memory.core.places import check_orientation
from robot_memory.detectors import Pose
from robot_memory.detectors.landmarks import fit_landmarks, measure_residual
from robot_memory.lifecycle import maps
from robot_memory.lifecycle.maps import Bridge, MapChange
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class SetMapRequest:
    """Request of set_map."""

    name: str = arg('Name of the map, e.g. kitchen.')
    revision: int | None = arg(
        'Revision that holds now, a known one or a higher; default: the next one begins.',
        default=None,
        minimum=1,
        maximum=LAST_REVISION,
    )
    frame: str = arg('tf frame that the map defines.', default='map', max_length=128)
    mapping: bool = arg(
        'True while it is being mapped: what is stored is provisional.', default=False
    )
    transform: Json | None = arg(
        'Pose of the older map in this one, as JSON: {"position": [x, y, z] in metres, '
        '"orientation": [x, y, z, w]}.',
        default=None,
        shape='object',
        typed='transform',
    )
    landmarks: Json | None = arg(
        'In place of transform, at least 3 landmarks that do not lie on a line, as JSON: '
        '[{"from": [x, y, z] in the older map, "to": [x, y, z] in this one}].',
        default=None,
        shape='container',
    )
    residual: float | None = arg(
        'What transform may be off by, in metres; of landmarks it is computed.',
        default=None,
        minimum=0.0,
    )
    old_name: str | None = arg(
        'Name of the older map; default: the one that held before.', default=None
    )
    old_revision: int | None = arg(
        'Revision of the older map.', default=None, minimum=1, maximum=LAST_REVISION
    )
    old_unnamed: bool = arg(
        'True: in place of an older map, places from before maps had names.', default=False
    )


@dataclass(frozen=True)
class SetMapResponse:
    """Response of set_map."""

    name: str = arg('Name of the map that holds now.')
    revision: int = arg('Its revision.')
    frame: str = arg('tf frame that it defines.')
    mapping: bool = arg('True if what is stored now is provisional.')
    begun: bool = arg('True if the revision holds from this call on.')
    anchored: str | None = arg(
        'Older revision whose places can be compared now.', default=None, omitted=True
    )
    residual: float | None = arg(
        'Root of the mean square of what landmarks are off, in metres; of a transform as given.',
        default=None,
        omitted=True,
    )


@tool()
def set_map(memory: Memory, request: SetMapRequest) -> SetMapResponse:
    """
    Begin a revision of a map, or bring places of an older one into the one that holds.

    Call it when the robot has another map, or the same one was made anew, so that older places
    are not taken for places of today.

    Places in the frame of a map keep its name and revision. Those of another revision are not
    compared with new ones until transform or landmarks say how the two lie; rows are not changed.
    """
    name = check_map_name('name', request.name)
    frame = request.frame.strip().lstrip('/')
    if not frame:
        raise InvalidArgument(
            f'frame must name a tf frame such as map, not {format_value(request.frame)}'
        )
    done = maps.set_map(
        memory,
        MapChange(
            name,
            frame,
            request.revision or 0,
            request.mapping,
            _read_old(request, name),
            _read_bridge(request),
        ),
    )
    current, anchor = done.current, done.anchor
    return SetMapResponse(
        current.of.name,
        current.of.revision,
        frame,
        current.is_mapping,
        done.begun,
        None if anchor is None else anchor.old.label,
        None if anchor is None else round(anchor.residual, 9),
    )


def _read_old(request: SetMapRequest, name: str) -> MapRevision | None:
    is_named = request.old_name is not None or request.old_revision is not None
    if not (is_named or request.old_unnamed):
        return None
    if request.transform is None and request.landmarks is None:
        raise InvalidArgument(
            'old_name, old_revision and old_unnamed need transform or landmarks, which bring that '
            'map into this one'
        )
    if request.old_unnamed:
        if is_named:
            raise InvalidArgument('give old_unnamed, or old_name and old_revision, not both')
        return NO_MAP
    if request.old_revision is None:
        raise InvalidArgument(
            'old_revision is missing: the number of a revision of '
            f'{format_value(request.old_name)}'
        )
    old = name if request.old_name is None else check_map_name('old_name', request.old_name)
    return MapRevision(old, request.old_revision)


def _read_bridge(request: SetMapRequest) -> Bridge | None:
    given: Any = request.transform
    if given is not None and request.landmarks is not None:
        raise InvalidArgument('give transform or landmarks, not both')
    if request.landmarks is not None:
        if request.residual is not None:
            raise InvalidArgument('residual goes with transform; of landmarks it is computed')
        return _fit(request.landmarks)
    if given is None:
        if request.residual is not None:
            raise InvalidArgument('residual needs transform, whose error it is')
        return None
    unknown = sorted(set(given) - {'position', 'orientation'})
    position = _read_vector(given.get('position'), 3)
    turn = _read_vector(given.get('orientation', [0, 0, 0, 1]), 4)
    if unknown or position is None or turn is None:
        raise InvalidArgument(
            'transform must be {"position": [x, y, z], "orientation": [x, y, z, w]}, orientation '
            f'optional, not {format_value(given)}'
        )
    check_orientation('transform.orientation', turn)
    length = sum(one * one for one in turn) ** 0.5
    qx, qy, qz, qw = (one / length for one in turn)
    x, y, z = position
    return Bridge(Pose((x, y, z), (qx, qy, qz, qw)), request.residual or 0.0)


def _fit(landmarks: Any) -> Bridge:
    given = landmarks if isinstance(landmarks, list) else [landmarks]
    old, new = [], []
    for number, one in enumerate(given, 1):
        is_pair = isinstance(one, Mapping) and set(one) == {'from', 'to'}
        pair = [_read_vector(one[name], 3) for name in ('from', 'to')] if is_pair else [None]
        before, after = pair[0], pair[-1]
        if before is None or after is None:
            raise InvalidArgument(
                f'landmark {number} must be {{"from": [x, y, z], "to": [x, y, z]}} in metres, not '
                f'{format_value(one)}'
            )
        old.append(before)
        new.append(after)
    pose = fit_landmarks(old, new)
    return Bridge(pose, measure_residual(pose, old, new), len(old))


def _read_vector(given: Any, length: int) -> list[float] | None:
    """Return numbers; None where they are none. Of three, z may be left out: it is 0."""
    if not isinstance(given, list):
        return None
    given = [*given, 0] if length == 3 and len(given) == 2 else given
    numbers = [number for one in given if (number := parse_finite(one)) is not None]
    return numbers if len(given) == len(numbers) == length else None
