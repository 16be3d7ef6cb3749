"""Readings: one measurement of a sensor as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.detectors.images import DecodedImage

ABSURD = 1e9


@dataclass(frozen=True, slots=True)
class JointReading:
    """Hold joint states: rad or m, rad/s or m/s, N m or N; a sequence may be empty."""

    stamp_ns: int
    frame_id: str
    names: tuple[str, ...]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]

    def reorder(self, names: tuple[str, ...]) -> JointReading:
        """Return the reading with its joints in another order; one value of each, or none."""
        places = [self.names.index(name) for name in names]
        position, velocity, effort = (
            [values[place] for place in places] if len(values) == len(places) else values
            for values in (self.position, self.velocity, self.effort)
        )
        return JointReading(self.stamp_ns, self.frame_id, names, position, velocity, effort)


@dataclass(frozen=True, slots=True)
class WrenchReading:
    """Hold a force (x, y, z in N) and a torque (x, y, z in N m) in the sensor's frame."""

    stamp_ns: int
    frame_id: str
    force: Sequence[float]
    torque: Sequence[float]


@dataclass(frozen=True, slots=True)
class ImageReading:
    """Hold what a camera saw."""

    stamp_ns: int
    frame_id: str
    view: DecodedImage


def is_usable(values: Sequence[float]) -> bool:
    """Tell whether all are numbers of a size that a sensor can mean, not NaN or infinity."""
    return sum(map(abs, values)) < ABSURD


def to_floats(values: Sequence[float]) -> list[float]:
    """Return the values as a list of Python floats, quickly for arrays as well."""
    tolist = getattr(values, 'tolist', None)
    return list(values) if tolist is None else tolist()
