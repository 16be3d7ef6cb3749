"""
The cells of the grid over positions: cubes of half a micrometre (2^-21 of a position's unit).

There are 2^48 along an axis; what lies beyond is in the outermost. A cell is the numbers of its
three steps with their bits interleaved, so that the cells of a larger cube stand in one range.
`cell_arrays` has what is done with many cells at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BITS = 48
PER_UNIT = 2.0**21
MIDDLE = 2.0 ** (BITS - 1)
HALF = MIDDLE / PER_UNIT
"""How far the grid reaches from its middle along an axis, in the positions' unit."""
CELL_BYTES = 3 * BITS // 8


def make_cell(position: Sequence[float]) -> bytes:
    """Return the cell that a position is in; its first three numbers count."""
    x, y, z = (*position, 0.0, 0.0, 0.0)[:3]
    # Binary digits that are read as octal ones stand three bits apart.
    first, second, third = (int(format(_find_step(one), 'b'), 8) for one in (x, y, z))
    return (first << 2 | second << 1 | third).to_bytes(CELL_BYTES, 'big')


def _find_step(x: float) -> int:
    return math.floor(min(max(x * PER_UNIT, -MIDDLE), MIDDLE - 1) + MIDDLE)
