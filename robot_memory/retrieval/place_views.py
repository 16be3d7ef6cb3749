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

    position: Json = arg('x, y, z in metres in the asked frame.')
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


NEAR_ANSWER = (
    'Of near: frame, position, at (the instant of the transforms), not_compared (reason and '
    'number of what passes but cannot be brought into the frame), moving (frames that move), map '
    '(the revision that is asked), anchored (older revisions among the answers, with residuals).'
)
PLACE = 'Where it is in the asked frame of near.'
OF_MAP = (
    'Of which map its place is, where another revision holds now or it was stored while mapping: '
    'of map kitchen r3.'
)


def near_arg(told: str = NEAR) -> Any:
    """Declare a question for what is near a place, with its help."""
    return arg(told, default=None, shape='object')


def near_answer_arg() -> Any:
    """Declare what an answer says of `near`."""
    return arg(NEAR_ANSWER, default=None, omitted=True)
