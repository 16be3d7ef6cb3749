"""Products of vectors of 8-bit whole numbers, by numkong: numpy would widen them first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numkong

if TYPE_CHECKING:
    from robot_memory.embedding.quantisation import Plane

compute_dots: Callable[[Plane, Plane], Any] = numkong.dot
"""Return the dot products, int32, of a vector, shape (dimension,), with rows, shape (rows,)."""
