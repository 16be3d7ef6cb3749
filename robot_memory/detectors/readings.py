"""Readings: one measurement of a sensor as plain values, or many of them as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robot_memory.detectors.images import DecodedImage

Stamps: TypeAlias = NDArray[np.int64]
Table: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

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


@dataclass(frozen=True, slots=True)
class WrenchReading:
    """Hold a force (x, y, z in N) and a torque (x, y, z in N m) in the sensor's frame."""

    stamp_ns: int
    frame_id: str
    force: Sequence[float]
    torque: Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class JointBlock:
    """Hold joint states one after the other as arrays of (reading, joint), which may be empty."""

    stamps_ns: Stamps
    frame_id: str
    names: tuple[str, ...]
    position: Table
    velocity: Table
    effort: Table

    @classmethod
    def from_reading(cls, reading: JointReading) -> JointBlock:
        """Return a block of one reading."""
        stamps_ns, *tables = _make_tables(
            reading.stamp_ns, reading.position, reading.velocity, reading.effort
        )
        return cls(stamps_ns, reading.frame_id, tuple(reading.names), *tables)

    def select(self, rows: slice | Mask) -> JointBlock:
        """Return some of the readings."""
        tables = (self.position[rows], self.velocity[rows], self.effort[rows])
        return JointBlock(self.stamps_ns[rows], self.frame_id, self.names, *tables)

    def reorder(self, names: tuple[str, ...]) -> JointBlock:
        """Return the readings with the joints in another order; one value of each, or none."""
        places = [self.names.index(name) for name in names]
        tables = (
            table[:, places] if table.shape[1] == len(places) else table
            for table in (self.position, self.velocity, self.effort)
        )
        return JointBlock(self.stamps_ns, self.frame_id, names, *tables)


@dataclass(frozen=True, slots=True, eq=False)
class WrenchBlock:
    """Hold wrenches one after the other: an array of force and torque, x, y, z each."""

    stamps_ns: Stamps
    frame_id: str
    values: Table

    @classmethod
    def from_reading(cls, reading: WrenchReading) -> WrenchBlock:
        """Return a block of one reading."""
        wrench = [*to_floats(reading.force), *to_floats(reading.torque)]
        stamps_ns, values = _make_tables(reading.stamp_ns, wrench)
        return cls(stamps_ns, reading.frame_id, values)

    def select(self, rows: slice | Mask) -> WrenchBlock:
        """Return some of the readings."""
        return WrenchBlock(self.stamps_ns[rows], self.frame_id, self.values[rows])


@dataclass(frozen=True, slots=True)
class ImageReading:
    """Hold what a camera saw."""

    stamp_ns: int
    frame_id: str
    view: DecodedImage


def is_usable(values: Sequence[float]) -> bool:
    """Tell whether all are numbers of a size that a sensor can mean, not NaN or infinity."""
    return sum(map(abs, values)) < ABSURD


def find_usable(values: Table) -> tuple[list[int], Mask]:
    """Return which rows, of one number or more, hold only numbers of a size a sensor can mean."""
    usable: Mask = np.abs(values).max(axis=1) < ABSURD
    return usable.nonzero()[0].tolist(), usable


def _make_tables(stamp_ns: int, *values: Sequence[float]) -> tuple[Any, ...]:
    stamps_ns = np.array([stamp_ns], np.int64)
    return stamps_ns, *(np.array([to_floats(one)], np.float64) for one in values)


def to_floats(values: Sequence[float]) -> list[float]:
    """Return the values as a list of Python floats, quickly for arrays as well."""
    tolist = getattr(values, 'tolist', None)
    return list(values) if tolist is None else tolist()
