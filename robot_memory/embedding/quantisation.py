"""
A unit vector as two planes of int8: what a search reads, and what that rounds away.

The coarse plane is the vector scaled to -127..127, the fine plane the rounding error in 254ths of
a step. Together they hold a component to some 2e-5 of the greatest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Plane = NDArray[np.int8]
_STEPS = 127.0
_FINE = 254.0


def split(vectors: Vector) -> tuple[Plane, Plane]:
    """Return the coarse and the fine plane of vectors, shape (..., dimension), not zero."""
    greatest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled = vectors * (_STEPS / np.maximum(greatest, 1e-30))
    coarse = np.rint(scaled)
    fine = np.rint((scaled - coarse) * _FINE)
    return coarse.astype(np.int8), fine.astype(np.int8)


def join(coarse: Plane, fine: Plane) -> Vector:
    """Return the unit vectors of planes, shape (..., dimension)."""
    vectors = coarse.astype(np.float32) + fine.astype(np.float32) / np.float32(_FINE)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vector = vectors / np.maximum(lengths, 1e-12)
    return unit


def pack(vector: Vector) -> tuple[bytes, bytes]:
    """Return the planes of a vector as bytes; raise ValueError for one that is not finite."""
    if not np.isfinite(vector).all():
        raise ValueError('the vector is not finite')
    coarse, fine = split(vector)
    return coarse.tobytes(), fine.tobytes()


def unpack(rows: Sequence[Any]) -> dict[int, Vector]:
    """Return the vectors of rows (id, coarse, fine) by id."""
    if not rows:
        return {}
    coarse, fine = (
        np.frombuffer(b''.join(row[plane] for row in rows), np.int8).reshape(len(rows), -1)
        for plane in (1, 2)
    )
    return dict(zip((row[0] for row in rows), join(coarse, fine), strict=True))
