"""What tools take and answer of places near a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.fields import Json, arg

NEAR = (
    'In any frame: {"frame": map, "position": [x,y,z]}, {"of": mem_12, frame or object} or '
    '{"in": region}; optional at, within (m), probability.'
)


@dataclass(frozen=True)
class PlaceView:
    """Where a memory is in the asked frame."""

    position: Json = arg('x, y, z in metres in the asked frame.', typed='position')
    distance: float = arg('Distance in metres.')
    frame_id: str = arg('Asked frame.')
    orientation: Json | None = arg(
        'Quaternion x, y, z, w in the asked frame, where it is known.', default=None, omitted=True
    )
    probability: float | None = arg(
        'Probability that it is within the radius or in the region, where its covariance is '
        'known.',
        default=None,
        omitted=True,
    )
    of_map: str | None = arg(
        'Older map from which it was brought: of map kitchen r3.', default=None, omitted=True
    )


@dataclass(frozen=True)
class NearPlace:
    """The keys of `near`, typed for ROS."""

    frame: str = arg('Frame of the answer; empty: that of what `of` names.', default='')
    position: Json | None = arg('Position in frame, in metres.', default=None, typed='point')
    of: str = arg('In place of position: mem_12, a frame of tf, or an object.', default='')
    in_: str = arg('In place of frame, position and within: a named region.', default='')
    at: str = arg('Instant of the transforms; not set: now.', default='', typed='instant')
    within: float | None = arg('Radius in metres.', default=None, minimum=0.0)
    probability: float | None = arg(
        'Least probability that it is within the radius or in the region.',
        default=None,
        minimum=0.0,
        maximum=1.0,
    )
    source: str = arg('Whose transforms, where several robots share the store.', default='')


@dataclass(frozen=True)
class SpatialTarget:
    """The keys of `spatial_sort`, typed for ROS."""

    field: str = arg('Path of a position.', default='spatial.object_position')
    target: Json | None = arg('Target in the unit of the field.', default=None, typed='point')
    max_distance: float | None = arg('Greatest distance.', default=None, minimum=0.0)
    frame_id: str = arg('Only positions in this frame; empty: all.', default='')


NEAR_ANSWER = (
    'Of near: frame, position, at (the instant of the transforms), not_compared (reason and '
    'number of what passes but cannot be brought into the frame), moving (frames that move), map '
    '(the revision that is asked), anchored (older revisions among the answers, with residuals).'
)
POSE = 'Pose at the time of the measurement, in its own frame_id or else in frame_id.'
PLACE = 'Where it is in the asked frame of near.'
OF_MAP = (
    'Of which map its place is, where another revision holds now or it was stored while mapping: '
    'of map kitchen r3.'
)


def near_arg(help_text: str = NEAR) -> Any:
    """Declare a question for what is near a place, with its help."""
    return arg(help_text, default=None, shape='object', typed=NearPlace)


def near_answer_arg() -> Any:
    """Declare what an answer says of `near`."""
    return arg(NEAR_ANSWER, default=None, omitted=True)
