"""Poses and stamps of a robot's arm, and what tells two poses apart."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import strategies as st

from robot_memory.detectors import Pose, PoseLookup

START_NS = 10**18
SECOND = 10**9
NO_TURN = (0.0, 0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


def ns(seconds: float) -> int:
    return START_NS + round(seconds * SECOND)


def about_z(angle: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)


def x_of(place: PoseLookup) -> float:
    assert place.pose is not None, place.reason
    return place.pose.position[0]


def same(pose: Pose | None, other: Pose, tolerance: float = 1e-9) -> bool:
    """Tell whether two poses are one; q and -q are the same orientation."""
    assert pose is not None
    cosine = sum(a * b for a, b in zip(pose.orientation, other.orientation, strict=True))
    near = math.dist(pose.position, other.position) <= tolerance
    return near and abs(cosine) == pytest.approx(1, abs=tolerance)


numbers = st.floats(-100, 100)
quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1)


@st.composite
def unit_poses(draw: Any) -> Pose:
    turn = draw(quaternions)
    length = math.hypot(*turn)
    return Pose(draw(st.tuples(*[numbers] * 3)), tuple(part / length for part in turn))
