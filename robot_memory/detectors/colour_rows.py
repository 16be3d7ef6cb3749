"""Rows of coloured pixels as a camera sends them: averaged as they are, decoded where needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Rows: TypeAlias = NDArray[np.uint8]
Planes: TypeAlias = NDArray[np.uint8]
"""A picture as arrays of (colour, row, column)."""

_SHIFTS = {2: 2, 4: 4, 8: 6, 16: 8}
"""Of sides of squares the shift that divides by their pixels: a sum of those fits 16 bits."""


@dataclass(frozen=True, eq=False)
class ColourRows:
    """Hold the rows of a picture, in bytes, and which colours these are: `RGB`, `BGRX`, .."""

    rows: Rows
    layout: str

    @property
    def mode(self) -> str:
        """Return the mode of the picture that `decode` makes."""
        return 'RGB'

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels."""
        height, row = self.rows.shape
        return row // len(self.layout), height

    def decode(self) -> Image.Image:
        """Return the picture."""
        image = Image.new('RGB', self.size, None)  # not filled, for every pixel is set
        rows = np.ascontiguousarray(self.rows)
        image.frombytes(rows, 'raw', self.layout, self.rows.shape[1], 1)
        return image

    def average(self, side: int) -> Planes | None:
        """
        Return the means of squares with a side of so many pixels, as Pillow's `reduce` makes them.

        None where the squares do not fill the picture, or are of a side that is not a power of 2.
        """
        width, height = self.size
        if side not in _SHIFTS or width % side or height % side:
            return None
        stacked = self.rows.reshape(height // side, side, -1)
        lines = np.add(stacked[:, 0], stacked[:, 1], dtype=np.uint16)
        for at in range(2, side):
            lines += stacked[:, at]
        depth = len(self.layout)
        squares = lines.reshape(-1, side * depth)
        planes = np.empty((3, len(squares)), np.uint8)
        for plane, colour in zip(planes, 'RGB', strict=True):
            first = self.layout.index(colour)
            total = squares[:, first] + squares[:, first + depth]
            for at in range(first + 2 * depth, side * depth, depth):
                total += squares[:, at]
            total += side * side // 2
            total >>= _SHIFTS[side]
            plane[:] = total
        return planes.reshape(3, height // side, width // side)
