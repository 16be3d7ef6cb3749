"""Pictures as they come in messages: decoded no finer than needed, made smaller, compared."""

from __future__ import annotations

import array
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors.colour_rows import ColourRows, Planes, Rows

Buffer: TypeAlias = 'bytes | bytearray | memoryview | array.array[int] | NDArray[np.uint8]'

MAX_PIXELS = 64_000_000
MAX_FILE_PIXELS = 16_000_000
"""Of a file that cannot be decoded coarsely, as a JPEG can: more would hold the taps up."""
PICTURE_SIDE = 320
"""Pixels on the longer side that are enough for all that is made of a picture."""
FILES = ('JPEG', 'PNG', 'TIFF', 'WEBP')
HASH_MARGIN = 0.02
HASH_TOLERANCE = 4


@dataclass(frozen=True, eq=False)
class DecodedImage:
    """
    Hold what a camera saw: `image` in RGB or grey ('L'), `width` and `height` as they were sent.

    The image may be smaller than they say, but has about 320 pixels or more on its longer side
    where they have that many. Of a `source` in rows it is decoded when it is asked for, so that
    must not change before.
    """

    source: Image.Image | ColourRows
    width: int
    height: int

    @cached_property
    def image(self) -> Image.Image:
        """Return the picture."""
        return self.source.decode() if isinstance(self.source, ColourRows) else self.source

    def average(self, side: int) -> Planes:
        """Return it averaged down to about `side` pixels on its longer side, never up; once."""
        averaged = self._averages.get(side)
        if averaged is None:
            averaged = self._averages[side] = self._average(side)
        return averaged

    @cached_property
    def _averages(self) -> dict[int, Planes]:
        return {}

    def _average(self, side: int) -> Planes:
        source = self.source
        if isinstance(source, ColourRows):
            planes = source.average(_choose_factor(source.size, side))
            if planes is not None:
                return planes
        return split_planes(shrink(self.image, side))


def split_planes(image: Image.Image) -> Planes:
    """Return an RGB or grey image as arrays of (colour, row, column)."""
    return np.ascontiguousarray(np.atleast_3d(np.asarray(image)).transpose(2, 0, 1))


def _choose_factor(size: tuple[int, int], side: int) -> int:
    return round(max(size) / side)


def shrink(image: Image.Image, side: int) -> Image.Image:
    """Return the image averaged down to about `side` pixels on its longer side, never up."""
    factor = _choose_factor(image.size, side)
    return image.reduce(factor) if factor > 1 else image


def encode_jpeg(image: Image.Image, side: int, quality: int) -> bytes:
    """Return the image as a JPEG of at most `side` pixels on its longer side."""
    small = image.copy()
    small.thumbnail((side, side), reducing_gap=2.0)
    buffer = io.BytesIO()
    small.save(buffer, 'JPEG', quality=quality)
    return buffer.getvalue()


def hash_image(image: Image.Image) -> str:
    """
    Return the difference hash of an image, 64 bits in 16 hex digits: the look of it as a whole.

    Each bit says whether a field of a 9 x 8 grid is brighter than its right neighbour, by more
    than noise makes it in an even area.
    """
    pixels = np.asarray(image, np.float32)
    grey = Image.fromarray(pixels.mean(axis=2) if pixels.ndim == 3 else pixels)
    fields = np.asarray(grey.resize((9, 8), Image.Resampling.BOX))
    low, high = np.percentile(fields, (5, 95))
    steps = fields[:, :-1] - fields[:, 1:]
    return np.packbits(steps > HASH_MARGIN * (high - low)).tobytes().hex()


def is_same_view(look_a: str, look_b: str) -> bool:
    """
    Say whether two looks are those of the same view, whatever noise and exposure.

    A thing that covers less than about a fiftieth of the picture does not make it look another.
    """
    return (int(look_a, 16) ^ int(look_b, 16)).bit_count() <= HASH_TOLERANCE


def decode_image(
    encoding: str, height: int, width: int, step: int, is_bigendian: bool, data: Buffer
) -> DecodedImage:
    """
    Return the view in a raw ROS picture (sensor_msgs/Image).

    `step` is the length of a row in bytes. Depth in 16UC1 and 16SC1 (mm) and 32FC1 (m) becomes
    grey of 16 mm a level; what is negative or not a number is black. An encoding that is not
    known, and a buffer that does not hold the picture, raise InvalidArgument.
    """
    if encoding not in _ENCODINGS:
        known = ', '.join(sorted(_ENCODINGS))
        raise InvalidArgument(f'unsupported encoding {encoding!r}; accepted: {known}')
    depth, convert = _ENCODINGS[encoding]
    row = width * depth
    if height < 1 or width < 1 or height * width > MAX_PIXELS:
        raise InvalidArgument(
            f'unsupported {encoding} image of {width} x {height} pixels; accepted: 1 to '
            f'{MAX_PIXELS} pixels'
        )
    if step < row:
        raise InvalidArgument(
            f'step {step} is too small for {width} {encoding} pixels; accepted: {row} or more'
        )
    flat = np.frombuffer(data, np.uint8)
    lines = height + height // 2 if encoding in _PLANAR else height
    needed = step * (lines - 1) + row
    if flat.size < needed:
        raise InvalidArgument(
            f'{flat.size} bytes are too few for a {width} x {height} {encoding} image with a '
            f'step of {step} bytes; accepted: {needed} or more'
        )
    rows = np.lib.stride_tricks.as_strided(flat, (lines, row), (step, 1), writeable=False)
    return DecodedImage(convert(rows, bool(is_bigendian)), width, height)


def decode_compressed(data: Buffer) -> DecodedImage:
    """Return the view in a JPEG, PNG, TIFF or WebP file; InvalidArgument where it is none."""
    file = np.frombuffer(data, np.uint8).tobytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return _decode_file(Image.open(io.BytesIO(file), formats=FILES))
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise InvalidArgument(
            f'cannot decode a compressed image of {len(file)} bytes ({error}); accepted: a '
            f'complete file in {", ".join(FILES)}'
        ) from error


def _decode_file(picture: Image.Image) -> DecodedImage:
    width, height = picture.size
    most = MAX_PIXELS if picture.format == 'JPEG' else MAX_FILE_PIXELS
    if width * height > most:
        raise InvalidArgument(
            f'a {picture.format} image of {width} x {height} pixels is too large; accepted: up '
            f'to {most} pixels, in a JPEG {MAX_PIXELS}'
        )
    scale = PICTURE_SIDE / max(width, height)
    picture.draft(None, (max(1, int(width * scale)), max(1, int(height * scale))))
    picture.load()
    if picture.mode.startswith('I'):
        return DecodedImage(_convert_grey(_take_top_byte(np.asarray(picture))), width, height)
    image = picture if picture.mode in ('L', 'RGB') else picture.convert('RGB')
    return DecodedImage(image, width, height)


def _take_top_byte(values: NDArray[Any]) -> Rows:
    return (values >> 8).astype(np.uint8)


def _make_colour_converter(layout: str) -> Callable[[Rows, bool], ColourRows]:
    return lambda rows, _: ColourRows(rows, layout)


def _convert_grey(rows: Rows, _: bool = False) -> Image.Image:
    return Image.fromarray(np.array(rows))


def _read_words(rows: Rows, is_bigendian: bool) -> NDArray[np.uint16]:
    return np.ascontiguousarray(rows).view('>u2' if is_bigendian else '<u2')


def _convert_grey16(rows: Rows, is_bigendian: bool) -> Image.Image:
    return _convert_grey(_take_top_byte(_read_words(rows, is_bigendian)))


def _convert_depth16(rows: Rows, is_bigendian: bool) -> Image.Image:
    return _convert_grey(np.minimum(_read_words(rows, is_bigendian) >> 4, 255).astype(np.uint8))


def _convert_signed_depth16(rows: Rows, is_bigendian: bool) -> Image.Image:
    millimetres = _read_words(rows, is_bigendian).astype(np.int16)
    return _convert_grey(np.clip(millimetres >> 4, 0, 255).astype(np.uint8))


def _convert_float_depth(rows: Rows, is_bigendian: bool) -> Image.Image:
    metres = np.ascontiguousarray(rows).view('>f4' if is_bigendian else '<f4')
    levels = 62.5 * np.clip(np.nan_to_num(metres), 0, 4.08)
    return _convert_grey(levels.astype(np.uint8))


def _make_nv_converter(blue: int) -> Callable[[Rows, bool], Image.Image]:
    """Return a converter of a plane of luma, and one of pairs with the blue part at that byte."""

    def convert(rows: Rows, _: bool) -> Image.Image:
        height, width = rows.shape[0] * 2 // 3, rows.shape[1]
        if height % 2 or width % 2 or rows.shape[0] * 2 != height * 3:
            raise InvalidArgument('an nv12 or nv21 image has an odd side; accepted: even sides')
        y = rows[:height:2, ::2]
        u, v = rows[height:, blue::2], rows[height:, 1 - blue :: 2]
        return Image.merge('YCbCr', [_convert_grey(plane) for plane in (y, u, v)]).convert('RGB')

    return convert


def _make_yuv422_converter(luma: int) -> Callable[[Rows, bool], Image.Image]:
    """Return a converter by ITU-R BT.601, full range; the luma is at that byte of each pair."""

    def convert(rows: Rows, _: bool) -> Image.Image:
        height, width = rows.shape[0], rows.shape[1] // 2
        if width % 2:
            raise InvalidArgument(
                f'a yuv422 image is {width} pixels wide; accepted: an even width'
            )
        every = 2 if max(width, height) >= 2 * PICTURE_SIDE else 1
        rows = rows[::every]
        y = rows[:, luma :: 2 * every]
        u, v = (np.repeat(rows[:, at::4], 2 // every, axis=1) for at in (1 - luma, 3 - luma))
        return Image.merge('YCbCr', [_convert_grey(plane) for plane in (y, u, v)]).convert('RGB')

    return convert


def _make_bayer_converter(pattern: str) -> Callable[[Rows, bool], Image.Image]:
    """Return a converter that makes of each 2 x 2 cell one pixel: half the size, no fringes."""

    def convert(rows: Rows, _: bool) -> Image.Image:
        height, width = rows.shape[0] // 2 * 2, rows.shape[1] // 2 * 2
        if not height or not width:
            raise InvalidArgument('a bayer image has a side of 1 pixel; accepted: 2 or more')
        cells = [_convert_grey(rows[y:height:2, x:width:2]) for y in (0, 1) for x in (0, 1)]
        red, blue = cells[pattern.index('r')], cells[pattern.index('b')]
        green = Image.blend(cells[pattern.index('g')], cells[pattern.rindex('g')], 0.5)
        return Image.merge('RGB', (red, green, blue))

    return convert


def _make_bayer16_converter(pattern: str) -> Callable[[Rows, bool], Image.Image]:
    convert = _make_bayer_converter(pattern)
    return lambda rows, is_bigendian: convert(
        _take_top_byte(_read_words(rows, is_bigendian)), False
    )


_PATTERNS = ('rggb', 'bggr', 'gbrg', 'grbg')
_PLANAR = ('nv12', 'nv21')
"""Encodings whose colours follow below the picture, in half as many rows."""
_ENCODINGS: dict[str, tuple[int, Callable[[Rows, bool], Image.Image | ColourRows]]] = {
    'rgb8': (3, _make_colour_converter('RGB')),
    'bgr8': (3, _make_colour_converter('BGR')),
    '8UC3': (3, _make_colour_converter('BGR')),
    'rgba8': (4, _make_colour_converter('RGBX')),
    'bgra8': (4, _make_colour_converter('BGRX')),
    '8UC4': (4, _make_colour_converter('BGRX')),
    'mono8': (1, _convert_grey),
    '8UC1': (1, _convert_grey),
    'mono16': (2, _convert_grey16),
    '16UC1': (2, _convert_depth16),
    '16SC1': (2, _convert_signed_depth16),
    '32FC1': (4, _convert_float_depth),
    'nv12': (1, _make_nv_converter(0)),
    'nv21': (1, _make_nv_converter(1)),
    'yuv422': (2, _make_yuv422_converter(1)),
    'uyvy': (2, _make_yuv422_converter(1)),
    'yuv422_yuy2': (2, _make_yuv422_converter(0)),
    'yuyv': (2, _make_yuv422_converter(0)),
    **{f'bayer_{pattern}8': (1, _make_bayer_converter(pattern)) for pattern in _PATTERNS},
    **{f'bayer_{pattern}16': (2, _make_bayer16_converter(pattern)) for pattern in _PATTERNS},
}
