"""Readings made straight from the bytes of the frequent types, without the message between."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.images import decode_image
from robot_memory.detectors.readings import ImageReading, JointBlock, Mask, Table, WrenchBlock

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
_MAX_LAYOUTS = 16
"""Of messages of one length; more are found anew each time."""
_MAX_LENGTHS = 64


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

    def find_fitting(self, rows: Rows) -> Mask:
        """Return which messages have it."""
        fitting: Mask = np.ones(len(rows), np.bool_)
        for span, wanted in self.same:
            fitting &= (rows[:, span] == wanted).all(axis=1)
        return fitting

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
        self._layouts: dict[int, list[_Layout]] = {}

    def read(self, raws: Sequence[Raw]) -> list[tuple[Sequence[int], Block | None]]:
        """
        Return blocks, each with which messages are in it; None where they are not as usual.

        They are in the order of their last messages. Joints of several publishers, which take
        turns, are put apart: each block then is of other joints, in whatever order they are named.
        Otherwise no two overlap.
        """
        groups = self._sort_by_layout(raws)
        if len(groups) > 1:
            names = {tuple(sorted(one.layout.names)) for one in groups if one.layout is not None}
            if not all(names) or len(names) < len(groups):
                groups = _split_into_runs(groups)
            groups.sort(key=lambda group: group.positions[-1])
        return [(group.positions, self._make(group)) for group in groups]

    def _sort_by_layout(self, raws: Sequence[Raw]) -> list[_Group]:
        """Return the messages of each layout; each that has none alone."""
        lengths = list(map(len, raws))
        by_length: dict[int, list[int]] = {length: [] for length in set(lengths)}
        if len(by_length) == 1:
            by_length[lengths[0]] = list(range(len(raws)))
        else:
            for at, length in enumerate(lengths):
                by_length[length].append(at)
        found: list[_Group] = []
        for length, positions in by_length.items():
            rows = np.frombuffer(b''.join([raws[at] for at in positions]), np.uint8)
            found += self._sort_equal(raws, positions, rows.reshape(len(positions), length))
        return found

    def _sort_equal(self, raws: Sequence[Raw], positions: list[int], rows: Rows) -> list[_Group]:
        """Return the messages of each layout among those of the same length."""
        found: list[_Group] = []
        known = list(self._layouts.get(rows.shape[1], ()))
        while positions:
            if known:
                layout = known.pop(0)
            else:
                made = self._add_layout(raws[positions[0]])
                if made is None:
                    found.append(_Group(positions[:1], None, rows[:1]))
                    positions, rows = positions[1:], rows[1:]
                    continue
                layout = made
            fitting = layout.find_fitting(rows)
            if fitting.all():
                return [*found, _Group(positions, layout, rows)]
            if fitting.any():
                chosen = [positions[at] for at in fitting.nonzero()[0].tolist()]
                found.append(_Group(chosen, layout, rows[fitting]))
                positions = [positions[at] for at in (~fitting).nonzero()[0].tolist()]
                rows = rows[~fitting]
        return found

    def _add_layout(self, raw: Raw) -> _Layout | None:
        """Return the layout of a message that no known one fits; None where it is not as usual."""
        try:
            layout = self._find_layout(raw)
        except UNUSUAL:
            return None
        of_length = self._layouts.setdefault(len(raw), [])
        if len(of_length) >= _MAX_LAYOUTS or len(self._layouts) > _MAX_LENGTHS:
            self._layouts = {len(raw): (of_length := [])}
        of_length.append(layout)
        return layout

    def _make(self, group: _Group) -> Block | None:
        if group.layout is None:
            return None
        parts = np.ascontiguousarray(group.rows[:, _STAMP]).view('<i4').astype(np.int64)
        stamps_ns = parts[:, 0] * _NANOSECONDS + (parts[:, 1] & 0xFFFFFFFF)
        return self._make_block(group.layout, group.rows, stamps_ns)


class _Group(NamedTuple):
    """Hold messages of one layout, in their order; without one a message that has none."""

    positions: Sequence[int]
    layout: _Layout | None
    rows: Rows


def _split_into_runs(groups: list[_Group]) -> list[_Group]:
    """Return the messages that follow each other in the same group, run by run."""
    places = sorted(
        (position, number, at)
        for number, group in enumerate(groups)
        for at, position in enumerate(group.positions)
    )
    found = []
    for number, run in groupby(places, key=itemgetter(1)):
        places_of = list(run)
        begin, end = places_of[0][2], places_of[-1][2] + 1
        group = groups[number]
        found.append(
            _Group([place[0] for place in places_of], group.layout, group.rows[begin:end])
        )
    return found


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
