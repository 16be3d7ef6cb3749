"""Products of vectors of 8-bit whole numbers, by numkong; numpy would make 32 bits of them."""

from __future__ import annotations

import numkong
import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.quantisation import Plane


def compute_dots(vector: Plane, rows: Plane) -> NDArray[np.int32]:
    """Return the dot products of a vector, shape (dimension,), with rows, shape (rows,)."""
    found: NDArray[np.int32] = np.asarray(numkong.dot(vector, rows))
    return found
