"""Readings: one measurement of a sensor as plain values, and the decoding of pictures."""

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robot_memory.errors import InvalidArgument

Pixels = NDArray[np.uint8]

MAX_PIXELS = 64_000_000
ABSURD = 1e9


@dataclass(frozen=True, slots=True)
class JointReading:
    """Hold joint states: rad or m, rad/s or m/s, N m or N; a sequence may be empty."""

    stamp_ns: int
    frame_id: str
    names: tuple[str, ...]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


@dataclass(frozen=True, slots=True)
class WrenchReading:
    """Hold a force (x, y, z in N) and a torque (x, y, z in N m) in the sensor's frame."""

    stamp_ns: int
    frame_id: str
    force: Sequence[float]
    torque: Sequence[float]


@dataclass(frozen=True, slots=True)
class ImageReading:
    """Hold a picture: uint8, (height, width, 3) in RGB or (height, width) in grey."""

    stamp_ns: int
    frame_id: str
    pixels: Pixels


def usable(values: Sequence[float]) -> bool:
    """Tell whether all are numbers of a size that a sensor can mean, not NaN or infinity."""
    return sum(map(abs, values)) < ABSURD


def floats(values: Sequence[float]) -> list[float]:
    """Return the values as a list of Python floats, quickly for arrays as well."""
    tolist = getattr(values, 'tolist', None)
    return list(values) if tolist is None else tolist()


def decode_image(
    encoding: str, height: int, width: int, step: int, is_bigendian: bool, data: bytes
) -> Pixels:
    """
    Return the pixels of a raw ROS picture (sensor_msgs/Image) as RGB or grey.

    `step` is the length of a row in bytes. Depth in 16UC1 (mm) becomes grey of 16 mm a level.
    An encoding that is not known, and a buffer that does not hold the picture, raise
    InvalidArgument.
    """
    if encoding not in _ENCODINGS:
        known = ', '.join(sorted(_ENCODINGS))
        raise InvalidArgument(f'encoding {encoding!r} cannot be read; accepted: {known}')
    depth, convert = _ENCODINGS[encoding]
    row = width * depth
    if height < 1 or width < 1 or height * width > MAX_PIXELS:
        raise InvalidArgument(
            f'a {encoding} picture of {width} x {height} pixels cannot be read; '
            f'accepted: 1 to {MAX_PIXELS} pixels'
        )
    if step < row:
        raise InvalidArgument(
            f'step {step} is too short for {width} {encoding} pixels; accepted: {row} or more'
        )
    needed = step * (height - 1) + row
    if len(data) < needed:
        raise InvalidArgument(
            f'{len(data)} bytes do not hold a {width} x {height} {encoding} picture with rows '
            f'of {step} bytes; accepted: {needed} or more'
        )
    flat = np.frombuffer(data, np.uint8, needed)
    rows = np.lib.stride_tricks.as_strided(flat, (height, row), (step, 1), writeable=False)
    return convert(rows, bool(is_bigendian))


def decode_compressed(data: bytes) -> Pixels:
    """Return the pixels of a JPEG, PNG or other picture file; InvalidArgument if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
            if picture.width * picture.height > MAX_PIXELS:
                raise InvalidArgument(
                    f'a compressed picture of {picture.width} x {picture.height} pixels is too '
                    f'large; accepted: up to {MAX_PIXELS} pixels'
                )
            if picture.mode.startswith('I;16'):
                return _top_byte(np.asarray(picture))
            return np.asarray(picture if picture.mode in ('L', 'RGB') else picture.convert('RGB'))
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise InvalidArgument(
            f'{len(data)} bytes of a compressed picture cannot be read ({error}); '
            'accepted: a whole JPEG or PNG file'
        ) from error


def _top_byte(values: NDArray[np.uint16]) -> Pixels:
    return (values >> 8).astype(np.uint8)


def _channels(*order: int, depth: int) -> Callable[[Pixels, bool], Pixels]:
    def convert(rows: Pixels, _: bool) -> Pixels:
        pixels: Pixels = rows.reshape(rows.shape[0], -1, depth)
        if order == tuple(range(depth)):
            return pixels
        return np.ascontiguousarray(pixels[:, :, list(order)])

    return convert


def _grey(rows: Pixels, _: bool) -> Pixels:
    return rows


def _words(rows: Pixels, is_bigendian: bool) -> NDArray[np.uint16]:
    kind = '>u2' if is_bigendian else '<u2'
    return np.ascontiguousarray(rows).view(kind).astype(np.uint16)


def _grey16(rows: Pixels, is_bigendian: bool) -> Pixels:
    return _top_byte(_words(rows, is_bigendian))


def _depth16(rows: Pixels, is_bigendian: bool) -> Pixels:
    levels: Pixels = np.minimum(_words(rows, is_bigendian) >> 4, 255).astype(np.uint8)
    return levels


def _yuv422(luma: int) -> Callable[[Pixels, bool], Pixels]:
    """Return a converter by ITU-R BT.601, full range; the luma is at that byte of each pair."""

    def convert(rows: Pixels, _: bool) -> Pixels:
        if rows.shape[1] % 4:
            raise InvalidArgument(
                f'a yuv422 picture is {rows.shape[1] // 2} pixels wide; accepted: an even width'
            )
        pairs = rows.reshape(rows.shape[0], -1, 4).astype(np.float32)
        y = pairs[:, :, luma::2].reshape(rows.shape[0], -1)
        u = np.repeat(pairs[:, :, 1 - luma], 2, axis=1) - 128
        v = np.repeat(pairs[:, :, 3 - luma], 2, axis=1) - 128
        rgb = np.stack((y + 1.402 * v, y - 0.344 * u - 0.714 * v, y + 1.772 * u), axis=2)
        return np.clip(rgb + 0.5, 0, 255).astype(np.uint8)

    return convert


def _bayer(pattern: str) -> Callable[[Pixels, bool], Pixels]:
    """Return a converter that gives each 2 x 2 cell one colour: half the detail, no fringes."""

    def convert(rows: Pixels, _: bool) -> Pixels:
        height, width = rows.shape[0] // 2 * 2, rows.shape[1] // 2 * 2
        if not height or not width:
            raise InvalidArgument('a bayer picture has a side of 1 pixel; accepted: 2 or more')
        cells = [rows[:height:2, :width:2], rows[:height:2, 1:width:2]]
        cells += [rows[1:height:2, :width:2], rows[1:height:2, 1:width:2]]
        green = [cell for cell, colour in zip(cells, pattern, strict=True) if colour == 'g']
        mixed = ((green[0].astype(np.uint16) + green[1]) >> 1).astype(np.uint8)
        half = np.stack((cells[pattern.index('r')], mixed, cells[pattern.index('b')]), axis=2)
        return np.repeat(np.repeat(half, 2, axis=0), 2, axis=1)

    return convert


_ENCODINGS: dict[str, tuple[int, Callable[[Pixels, bool], Pixels]]] = {
    'rgb8': (3, _channels(0, 1, 2, depth=3)),
    'bgr8': (3, _channels(2, 1, 0, depth=3)),
    '8UC3': (3, _channels(2, 1, 0, depth=3)),
    'rgba8': (4, _channels(0, 1, 2, depth=4)),
    'bgra8': (4, _channels(2, 1, 0, depth=4)),
    '8UC4': (4, _channels(2, 1, 0, depth=4)),
    'mono8': (1, _grey),
    '8UC1': (1, _grey),
    'mono16': (2, _grey16),
    '16UC1': (2, _depth16),
    'yuv422': (2, _yuv422(1)),
    'uyvy': (2, _yuv422(1)),
    'yuv422_yuy2': (2, _yuv422(0)),
    'yuyv': (2, _yuv422(0)),
    **{f'bayer_{pattern}8': (1, _bayer(pattern)) for pattern in ('rggb', 'bggr', 'gbrg', 'grbg')},
}
