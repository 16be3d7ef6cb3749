"""
A unit vector as two planes: what a search reads, and what that rounds away.

The coarse plane is the vector scaled to -127..127, in int8; the fine plane the rounding error in
8ths of a step, in 3 bits. Together they hold a component to 5e-4 of the greatest one; a cosine is
off by 5e-5 (root mean square), where the coarse plane alone has 4e-4.

numpy is imported by what is called: the indexes import this module, and words need no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = 'NDArray[np.float32]'
Plane: TypeAlias = 'NDArray[np.int8]'
_STEPS, _PARTS = 127.0, 8


def split(vectors: Vector) -> tuple[Plane, Plane]:
    """
    Return the coarse and the fine plane of vectors, shape (..., dimension), not zero.

    Numbers of the fine plane are -4 to 3: the part of a step that the rounding error lies in.
    """
    import numpy as np

    greatest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled = vectors * (_STEPS / np.maximum(greatest, 1e-30))
    coarse = np.rint(scaled)
    fine = np.clip(np.floor((scaled - coarse) * _PARTS), -_PARTS // 2, _PARTS // 2 - 1)
    return coarse.astype(np.int8), fine.astype(np.int8)


def join(coarse: Plane, fine: Plane) -> Vector:
    """Return the unit vectors of planes, shape (..., dimension)."""
    import numpy as np

    vectors = coarse + (fine + np.float32(0.5)) / np.float32(_PARTS)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vector = vectors / np.maximum(lengths, 1e-12)
    return unit


def pack(vector: Vector) -> tuple[bytes, bytes]:
    """Return the planes of a vector as bytes; raise ValueError for one that is not finite."""
    import numpy as np

    if not np.isfinite(vector).all():
        raise ValueError('the vector is not finite')
    coarse, fine = split(vector)
    codes = (fine + _PARTS // 2).astype(np.uint8)
    bits = codes[:, None] >> np.array((2, 1, 0), np.uint8) & 1
    return coarse.tobytes(), np.packbits(bits).tobytes()


def unpack(rows: Sequence[Any]) -> dict[int, Vector]:
    """Return the vectors of rows (id, coarse, fine) by id."""
    import numpy as np

    if not rows:
        return {}
    coarse = np.frombuffer(b''.join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
    packed = np.frombuffer(b''.join(row[2] for row in rows), np.uint8).reshape(len(rows), -1)
    dimension = coarse.shape[1]
    bits = np.unpackbits(packed, axis=1, count=dimension * 3).reshape(len(rows), dimension, 3)
    high, middle, low = np.moveaxis(bits, -1, 0)
    fine = (high << 2 | middle << 1 | low).astype(np.int8) - np.int8(_PARTS // 2)
    return dict(zip((row[0] for row in rows), join(coarse, fine), strict=True))
