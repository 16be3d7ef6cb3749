"""Readings made straight from the bytes of the frequent types, without the message between."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from robot_memory.detectors.images import decode_image
from robot_memory.detectors.readings import ImageReading, JointReading, WrenchReading

_LENGTH = struct.Struct('<I')
_SIX = struct.Struct('<6d')
_SIZE = struct.Struct('<II')
_HEAD = 12
"""Bytes before the frame of a message that begins with a header: encapsulation and stamp."""
_PADDING = 3


@lru_cache(maxsize=64)
def _make_doubles(count: int) -> struct.Struct:
    return struct.Struct(f'<{count}d')


def _read_frame(raw: bytes | memoryview) -> tuple[str, int]:
    """Return the frame of a header and where it ends; raise ValueError if it is unusual."""
    (size,) = _LENGTH.unpack_from(raw, _HEAD)
    end = _HEAD + 4 + size
    if raw[1] != 1 or raw[0] or not size or end > len(raw) or raw[end - 1]:
        raise ValueError('unusual header')
    return str(raw[_HEAD + 4 : end - 1], 'utf-8'), end


def _align(at: int, size: int) -> int:
    """Return the next place that is aligned from the begin of the content."""
    return (at - 4 + size - 1 & -size) + 4


def _check_end(raw: bytes | memoryview, at: int) -> None:
    if not at <= len(raw) <= at + _PADDING:
        raise ValueError('unusual length')


def _read_wrench(raw: bytes | memoryview, stamp: int) -> WrenchReading:
    frame, at = _read_frame(raw)
    at = _align(at, 8)
    _check_end(raw, at + 48)
    values = _SIX.unpack_from(raw, at)
    return WrenchReading(stamp, frame, values[:3], values[3:])


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


def _find_names_end(raw: bytes | memoryview, at: int) -> int:
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


class _JointReader:
    """Read joint states; what comes before the positions is mostly that of the message before."""

    def __init__(self) -> None:
        self._before = b''
        self._frame = ''
        self._names: tuple[str, ...] = ()

    def __call__(self, raw: bytes | memoryview, stamp: int) -> JointReading:
        end = _HEAD + len(self._before)
        if raw[1] != 1 or raw[0] or not self._before or raw[_HEAD:end] != self._before:
            self._frame, at = _read_frame(raw)
            at = _align(at, 4)
            end = _find_names_end(raw, at)
            self._names = _read_names(bytes(raw[at:end]))
            self._before = bytes(raw[_HEAD:end])
        at, found = end, []
        for _ in range(3):
            at = at + 3 & -4
            (count,) = _LENGTH.unpack_from(raw, at)
            at += 4
            if count:
                at = (at + 3 & -8) + 4
                found.append(_make_doubles(count).unpack_from(raw, at))
                at += 8 * count
            else:
                found.append(())
        _check_end(raw, at)
        return JointReading(stamp, self._frame, self._names, *found)


def _read_image(raw: bytes | memoryview, stamp: int) -> ImageReading:
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
    return ImageReading(stamp, frame, view)


def make_fast_reader(kind: str) -> Callable[[Any, int], Any] | None:
    """
    Return what makes a reading of the bytes of a message and its stamp; None for other types.

    It raises ValueError, struct.error or IndexError for bytes that are not as usual: those are
    left to the general reader.
    """
    if kind == 'sensor_msgs/msg/JointState':
        return _JointReader()
    if kind == 'geometry_msgs/msg/WrenchStamped':
        return _read_wrench
    return _read_image if kind == 'sensor_msgs/msg/Image' else None
