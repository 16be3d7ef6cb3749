"""Readings made straight from the bytes of the frequent types, without the message between."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.images import decode_image
from robot_memory.detectors.readings import ImageReading, JointBlock, Table, WrenchBlock

Raw: TypeAlias = 'bytes | memoryview'
Rows: TypeAlias = NDArray[np.uint8]
Block: TypeAlias = 'JointBlock | WrenchBlock'

UNUSUAL = (ValueError, IndexError, struct.error)
"""What is raised for bytes that are not as usual: those are left to the general reader."""
_LENGTH = struct.Struct('<I')
_SIZE = struct.Struct('<II')
_STAMP = slice(4, 12)
_HEAD = 12
"""Bytes before the frame of a message that begins with a header: encapsulation and stamp."""
_PADDING = 3
_NANOSECONDS = 10**9
_MAX_LAYOUTS = 64


def _read_frame(raw: Raw) -> tuple[str, int]:
    """Return the frame of a header and where it ends; raise ValueError if it is unusual."""
    (size,) = _LENGTH.unpack_from(raw, _HEAD)
    end = _HEAD + 4 + size
    if raw[1] != 1 or raw[0] or not size or end > len(raw) or raw[end - 1]:
        raise ValueError('unusual header')
    return str(raw[_HEAD + 4 : end - 1], 'utf-8'), end


def _align(at: int, size: int) -> int:
    """Return the next place that is aligned from the begin of the content."""
    return (at - 4 + size - 1 & -size) + 4


def _check_end(raw: Raw, at: int) -> None:
    if not at <= len(raw) <= at + _PADDING:
        raise ValueError('unusual length')


@lru_cache(maxsize=64)
def _read_names(content: bytes) -> tuple[str, ...]:
    """Return the texts of a sequence that begins, and ends, with these bytes."""
    (count,) = _LENGTH.unpack_from(content)
    names, at = [], 4
    for _ in range(count):
        at = at + 3 & -4
        (size,) = _LENGTH.unpack_from(content, at)
        at += 4
        names.append(content[at : at + size - 1].decode())
        at += size
    return tuple(names)


def _find_names_end(raw: Raw, at: int) -> int:
    (count,) = _LENGTH.unpack_from(raw, at)
    at += 4
    if count > len(raw):
        raise ValueError('unusual length')
    for _ in range(count):
        at = at + 3 & -4
        (size,) = _LENGTH.unpack_from(raw, at)
        at += 4 + size
        if not size or at > len(raw) or raw[at - 1]:
            raise ValueError('unusual name')
    return at


@dataclass(frozen=True)
class _Layout:
    """
    Say where the numbers of a message lie: `tables` by where each begins and its count.

    All messages of its length that have the same bytes in the spans of `same` have it.
    """

    frame_id: str
    names: tuple[str, ...]
    tables: tuple[tuple[int, int], ...]
    same: tuple[tuple[slice, Rows], ...]

    def count_fitting(self, rows: Rows) -> int:
        """Return how many messages in a row have it; few are looked at where few do."""
        done, step = 0, 1
        while done < len(rows):
            part = rows[done : done + step]
            count = len(part)
            for span, wanted in self.same:
                fits = (part[:count, span] == wanted).all(axis=1)
                count = count if fits.all() else int(fits.argmin())
            done += count
            if count < len(part):
                break
            step *= 8
        return done

    def cut_tables(self, rows: Rows) -> list[Table]:
        """Return the numbers of messages."""
        return [
            np.ascontiguousarray(rows[:, at : at + 8 * count]).view('<f8')
            if count
            else np.empty((len(rows), 0))
            for at, count in self.tables
        ]


def _make_layout(
    raw: Raw, names: tuple[str, ...], tables: list[tuple[int, int]], spans: list[slice]
) -> _Layout:
    row = np.frombuffer(bytes(raw), np.uint8)
    frame, _ = _read_frame(raw)
    same = tuple((span, row[span]) for span in (slice(0, 2), *spans))
    return _Layout(frame, names, tuple(tables), same)


def _find_joints(raw: Raw) -> _Layout:
    _, at = _read_frame(raw)
    at = _align(at, 4)
    end = _find_names_end(raw, at)
    names = _read_names(bytes(raw[at:end]))
    spans, tables, at = [slice(_HEAD, end)], [], end
    for _ in range(3):
        at = at + 3 & -4
        (count,) = _LENGTH.unpack_from(raw, at)
        spans.append(slice(at, at + 4))
        at += 4
        if count:
            at = (at + 3 & -8) + 4
        tables.append((at, count))
        at += 8 * count
    _check_end(raw, at)
    return _make_layout(raw, names, tables, spans)


def _find_wrench(raw: Raw) -> _Layout:
    _, end = _read_frame(raw)
    at = _align(end, 8)
    _check_end(raw, at + 48)
    return _make_layout(raw, (), [(at, 6)], [slice(_HEAD, end)])


def _make_joints(layout: _Layout, rows: Rows, stamps_ns: NDArray[np.int64]) -> JointBlock:
    return JointBlock(stamps_ns, layout.frame_id, layout.names, *layout.cut_tables(rows))


def _make_wrenches(layout: _Layout, rows: Rows, stamps_ns: NDArray[np.int64]) -> WrenchBlock:
    return WrenchBlock(stamps_ns, layout.frame_id, *layout.cut_tables(rows))


_FREQUENT: dict[str, tuple[Callable[[Raw], _Layout], Callable[..., Block]]] = {
    'sensor_msgs/msg/JointState': (_find_joints, _make_joints),
    'geometry_msgs/msg/WrenchStamped': (_find_wrench, _make_wrenches),
}
"""How the numbers of a type are found, and a block is made of them."""


class BlockReader:
    """Read the messages of a frequent type in blocks, by the layouts met before."""

    def __init__(self, kind: str) -> None:
        """Take a type that is frequent."""
        self._find_layout, self._make_block = _FREQUENT[kind]
        self._layouts: dict[int, _Layout] = {}

    def read(self, raws: Sequence[Raw]) -> list[tuple[Sequence[int], Block | None]]:
        """
        Return blocks, each with which messages are in it; None where they are not as usual.

        They are in the order of their last messages. Joints of several publishers, which take
        turns, are put apart: each block then is of other joints, in whatever order they are named.
        Otherwise no two overlap.
        """
        lengths = list(map(len, raws))
        different = set(lengths)
        if len(different) > 1:
            groups = [
                [at for at, other in enumerate(lengths) if other == length] for length in different
            ]
            found = [part for group in groups for part in self._read_equal(raws, group)]
            joints = {
                tuple(sorted(block.names))
                for _, block in found
                if isinstance(block, JointBlock) and block.names
            }
            if len(found) == len(joints) == len(groups):
                return sorted(found, key=lambda part: part[0][-1])
        runs = groupby(range(len(raws)), key=lengths.__getitem__)
        return [part for _, run in runs for part in self._read_equal(raws, list(run))]

    def _read_equal(
        self, raws: Sequence[Raw], positions: list[int]
    ) -> Iterator[tuple[Sequence[int], Block | None]]:
        """Yield the blocks of messages of the same length."""
        length = len(raws[positions[0]])
        rows = np.frombuffer(b''.join([raws[at] for at in positions]), np.uint8)
        rows = rows.reshape(len(positions), length)
        begin = 0
        while begin < len(positions):
            count, block = self._read_first(raws[positions[begin]], rows[begin:])
            yield positions[begin : begin + count], block
            begin += count

    def _read_first(self, first: Raw, rows: Rows) -> tuple[int, Block | None]:
        """Return the block of the first message and of those after it that are like it."""
        layout = self._layouts.get(len(first))
        count = layout.count_fitting(rows) if layout is not None else 0
        if layout is None or not count:
            try:
                layout = self._find_layout(first)
            except UNUSUAL:
                return 1, None
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
            self._layouts[len(first)] = layout
            count = layout.count_fitting(rows)
        rows = rows[:count]
        parts = np.ascontiguousarray(rows[:, _STAMP]).view('<i4').astype(np.int64)
        stamps_ns = parts[:, 0] * _NANOSECONDS + (parts[:, 1] & 0xFFFFFFFF)
        return count, self._make_block(layout, rows, stamps_ns)


def make_block_reader(kind: str) -> BlockReader | None:
    """Return what reads the messages of a type in blocks; None for those not so frequent."""
    return BlockReader(kind) if kind in _FREQUENT else None


def read_image(raw: Raw, stamp_ns: int) -> ImageReading:
    """Return the reading of a sensor_msgs/Image; raise one of UNUSUAL if it is not as usual."""
    frame, at = _read_frame(raw)
    at = _align(at, 4)
    height, width = _SIZE.unpack_from(raw, at)
    (size,) = _LENGTH.unpack_from(raw, at + 8)
    at += 12 + size
    if not size or size > 64 or raw[at - 1]:
        raise ValueError('unusual encoding')
    encoding = str(raw[at - size : at - 1], 'utf-8')
    is_bigendian = bool(raw[at])
    at = _align(at + 1, 4)
    step, length = _SIZE.unpack_from(raw, at)
    at += 8
    _check_end(raw, at + length)
    data = memoryview(raw)[at : at + length]
    view = decode_image(encoding, height, width, step, is_bigendian, data)
    return ImageReading(stamp_ns, frame, view)
