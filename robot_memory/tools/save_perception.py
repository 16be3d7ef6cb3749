"""Keep what the robot sensed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Field, Json, Stamp, arg, check, collection_arg, get_fields
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.maps import check_map_of
from robot_memory.core.places import check_covariance, check_orientation
from robot_memory.core.records import PERCEPTION_TYPES
from robot_memory.core.trials import CHANGE, TRIAL
from robot_memory.lifecycle import perceptions
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.memory import Memory
from robot_memory.tool import tool

_RESERVED = ('sense', TRIAL, CHANGE, 'digest')


@dataclass(frozen=True)
class SavePerceptionRequest:
    """Request of save_perception."""

    description: str = arg('Description of the event.', min_length=5, max_length=2000)
    perception_type: str = arg('Modality.', default='visual', choices=PERCEPTION_TYPES)
    data: Json | None = arg(
        'Readings, features or a trajectory, as JSON.', default=None, shape='container'
    )
    metadata: Json | None = arg(
        'Format, rate and units, as JSON; also stamp, frame_id and pose.',
        default=None,
        shape='container',
    )
    collection: str = collection_arg('Collection.')
    session_id: str | None = arg('Session id from start_session.', default=None)
    stamp: Stamp | None = arg('Time of the measurement (header.stamp).', default=None)
    frame_id: str | None = arg('Coordinate frame of the measurement.', default=None)
    pose: Json | None = arg(
        'Pose as JSON: {"position": [x, y, z] in metres, "orientation": [x, y, z, w], '
        '"frame_id": "map", "covariance": [36 numbers, m and rad]}; default frame: that of '
        'the measurement.',
        default=None,
        shape='object',
        typed='pose',
    )
    context: Json | None = arg(
        'Context partitions as JSON: params, spatial, robot, env, task.',
        default=None,
        shape='object',
    )


@dataclass(frozen=True)
class SavePerceptionResponse:
    """Response of save_perception."""

    memory_id: int = arg('Id of the new memory.')
    perception_type: str = arg('Modality.')
    collection: str = arg('Collection to store the memory in.')
    has_embedding: bool = arg('False if the vector is not computed yet.')


@tool(core=True, planner=False)
def save_perception(memory: Memory, request: SavePerceptionRequest) -> SavePerceptionResponse:
    """
    Store a perception (vision, touch, sound, motion) with its time, frame and pose.

    Call it for what was just sensed and no tap stores.

    A perception is an event: storing the same description twice creates two memories.
    """
    text = request.description.strip()
    if len(text) < 5:
        raise InvalidArgument(
            f'description must have at least 5 characters, not {len(text)}: {format_value(text)}'
        )
    request = _with_header(request)
    context = _check_context(request.context or {})
    pose = _checked_pose(request.pose)
    if pose is not None:
        context['spatial'] = {
            **context.get('spatial', {}),
            'position': pose['position'],
            'frame_id': pose.get('frame_id', request.frame_id),
            **{name: pose[name] for name in ('map', 'map_revision') if name in pose},
        }
    stored = perceptions.store_perception(
        memory,
        Perception(
            text,
            request.perception_type,
            request.collection,
            request.session_id,
            request.stamp,
            request.frame_id,
            pose,
            context,
            request.data,
            request.metadata,
        ),
    )
    return SavePerceptionResponse(
        stored.memory_id, request.perception_type, request.collection, stored.has_vector
    )


def _check_context(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a context of a caller; refuse partitions that only the store writes."""
    own = [name for name in _RESERVED if name in given]
    if own:
        raise InvalidArgument(
            f'context must not have {", ".join(own)}, which the store writes itself; trials come '
            'by record_outcome'
        )
    if not isinstance(given.get('spatial', {}), dict):
        raise InvalidArgument(
            f'context.spatial must be an object, not {format_value(given["spatial"])}'
        )
    return dict(given)


def _with_header(request: SavePerceptionRequest) -> SavePerceptionRequest:
    """Take stamp, frame_id and pose from the metadata where they are not given themselves."""
    metadata: Any = request.metadata
    if not isinstance(metadata, Mapping):
        return request
    taken = {
        name: check(_FIELDS[name], metadata[name])
        for name in ('stamp', 'frame_id', 'pose')
        if getattr(request, name) is None and metadata.get(name) is not None
    }
    return replace(request, **taken)


def _checked_pose(pose: Any) -> dict[str, Any] | None:
    """Return a pose whose numbers are numbers; refuse any other."""
    if pose is None:
        return None
    lengths = {'position': (2, 3), 'orientation': (4,)}
    others = ('frame_id', 'covariance', 'map', 'map_revision')
    numbers = {name: value for name, value in pose.items() if name not in others}
    good = (
        'position' in pose
        and isinstance(pose.get('frame_id', ''), str)
        and all(
            name in lengths
            and isinstance(value, list)
            and len(value) in lengths[name]
            and all(parse_finite(x) is not None for x in value)
            for name, value in numbers.items()
        )
    )
    if not good:
        raise InvalidArgument(
            'pose must be {"position": [x, y, z], "orientation": [x, y, z, w], "frame_id": '
            '"map", "covariance": [36 numbers]}, all but position optional, not '
            f'{format_value(pose)}'
        )
    if 'orientation' in pose:
        check_orientation('pose.orientation', [float(x) for x in pose['orientation']])
    if pose.get('covariance') is not None:
        check_covariance('pose.covariance', pose['covariance'])
    checked = {name: value for name, value in pose.items() if value is not None}
    check_map_of('pose', checked)
    return checked


_FIELDS: dict[str, Field] = {field.name: field for field in get_fields(SavePerceptionRequest)}
