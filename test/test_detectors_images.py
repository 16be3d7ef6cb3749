"""Pictures are decoded from whatever a message holds, and compared by their look."""

from __future__ import annotations

import io
from array import array
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from amounts import few_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from scenes import elsewhere, looks, table

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import DecodedImage, decode_compressed, decode_image, is_same_view

RGB = np.array([[[250, 20, 30], [40, 250, 60]], [[70, 80, 250], [100, 110, 120]]], np.uint8)


def pixels(view: DecodedImage) -> NDArray[Any]:
    """Return the image of a view as an array; it is as large as the view says, or half of it."""
    assert view.image.mode in ('RGB', 'L')
    assert view.image.width in (view.width, view.width // 2)
    return np.asarray(view.image)


@pytest.mark.parametrize(
    ('encoding', 'data'),
    [
        ('rgb8', RGB),
        ('bgr8', RGB[:, :, ::-1]),
        ('rgba8', np.dstack((RGB, RGB[:, :, 0]))),
        ('bgra8', np.dstack((RGB[:, :, ::-1], RGB[:, :, 0]))),
    ],
)
def test_colour_encodings_give_rgb_whatever_padding_a_row_has(encoding: str, data: Any) -> None:
    row = 2 * data.shape[2]
    padded = b''.join(line.tobytes() + b'???' for line in data)
    for step, buffer in ((row, data.tobytes()), (row + 3, padded), (row + 3, padded[:-3])):
        assert (pixels(decode_image(encoding, 2, 2, step, False, buffer)) == RGB).all()


@pytest.mark.parametrize(
    'buffer',
    [bytes, bytearray, memoryview, lambda data: array('B', data), list],
    ids=['bytes', 'bytearray', 'memoryview', 'array', 'list'],
)
def test_any_buffer_of_bytes_will_do(buffer: Any) -> None:
    if buffer is list:
        buffer = partial(np.frombuffer, dtype=np.uint8)
    view = decode_image('rgb8', 2, 2, 6, False, buffer(RGB.tobytes()))
    assert (pixels(view) == RGB).all()
    assert decode_compressed(buffer(file('PNG', table()))).width == 320


def test_grey_and_depth_encodings_give_grey() -> None:
    def levels(*arguments: Any) -> Any:
        return pixels(decode_image(*arguments)).tolist()

    assert levels('mono8', 1, 3, 3, False, b'\x01\x02\x03') == [[1, 2, 3]]
    assert levels('mono8', 2, 1, 3, False, b'\x01\x02\x03\x04') == [[1], [4]]
    assert levels('mono16', 1, 2, 4, True, b'\x12\x34\xff\x00') == [[0x12, 0xFF]]
    assert levels('mono16', 1, 2, 4, False, b'\x34\x12\x00\xff') == [[0x12, 0xFF]]
    millimetres = np.array([[1600, 60_000]], '<u2').tobytes()
    assert levels('16UC1', 1, 2, 4, False, millimetres) == [[100, 255]]


def test_signed_and_metric_depth_is_grey_like_millimetres() -> None:
    millimetres = np.array([[1600, 9000, -5]], '<i2').tobytes()
    view = decode_image('16SC1', 1, 3, 6, False, millimetres)
    assert pixels(view).tolist() == [[100, 255, 0]]
    for order in '<>':
        metres = np.array([[1.6, 9.0, np.nan, -1.0, np.inf]], f'{order}f4').tobytes()
        found = pixels(decode_image('32FC1', 1, 5, 20, order == '>', metres))
        assert found.tolist() == [[100, 255, 0, 0, 255]]


def test_bayer_of_16_bits_and_planar_yuv_give_the_colour() -> None:
    cells = np.array([200, 90, 100, 30], '>u2') * 256
    view = decode_image('bayer_rggb16', 2, 2, 4, True, cells.astype('>u2').tobytes())
    assert pixels(view).tolist() == [[[200, 95, 30]]]
    for encoding, pair in (('nv12', (84, 255)), ('nv21', (255, 84))):
        data = bytes([76] * 8) + bytes(pair) * 2
        view = decode_image(encoding, 2, 4, 4, False, data)
        assert np.allclose(pixels(view), [[(254, 0, 0)] * 2], atol=2), encoding
        assert (view.width, view.height) == (4, 2)
        with pytest.raises(InvalidArgument, match='too few'):
            decode_image(encoding, 2, 4, 4, False, data[:-1])
        with pytest.raises(InvalidArgument, match='even'):
            decode_image(encoding, 3, 4, 4, False, data * 2)


def test_yuv_and_bayer_encodings_give_about_the_colour() -> None:
    red = (76, 85, 255)
    uyvy = bytes((red[1], red[0], red[2], red[0]))
    yuyv = bytes((red[0], red[1], red[0], red[2]))
    for encoding, data in (('yuv422', uyvy), ('yuv422_yuy2', yuyv)):
        found = pixels(decode_image(encoding, 1, 2, 4, False, data))
        assert np.allclose(found, [[(254, 0, 0)] * 2], atol=2), encoding
        large = decode_image(encoding, 480, 640, 1280, False, data * (320 * 480))
        assert large.image.size == (320, 240)
        assert np.allclose(pixels(large), (254, 0, 0), atol=2), encoding
    for encoding, values in (
        ('bayer_rggb8', [200, 90, 100, 30]),
        ('bayer_gbrg8', [90, 30, 200, 100]),
    ):
        view = decode_image(encoding, 2, 2, 2, False, bytes(values))
        assert (view.width, view.height) == (2, 2)
        assert pixels(view).tolist() == [[[200, 95, 30]]], encoding


def test_a_file_too_large_to_decode_in_time_is_refused_by_its_head() -> None:
    for form, is_read in (('JPEG', True), ('PNG', False), ('WEBP', False), ('TIFF', False)):
        file = io.BytesIO()
        Image.new('L', (4001, 4000)).save(file, form)
        if is_read:
            assert decode_compressed(file.getvalue()).width == 4001
        else:
            with pytest.raises(InvalidArgument, match=f'a {form} image of 4001 x 4000 .*JPEG'):
                decode_compressed(file.getvalue())


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        (('nv21', 2, 2, 6, False, bytes(12)), 'nv21'),
        (('rgb8', 2, 2, 6, False, bytes(11)), '11 bytes'),
        (('rgb8', 2, 2, 6, False, b''), '0 bytes'),
        (('rgb8', 2, 2, 5, False, bytes(12)), 'step 5'),
        (('rgb8', 0, 2, 6, False, b''), '2 x 0'),
        (('rgb8', 2**31, 2**31, 2**33, False, b''), 'pixels'),
        (('yuv422', 1, 3, 6, False, bytes(6)), '3 pixels wide'),
        (('bayer_rggb8', 1, 4, 4, False, bytes(4)), 'bayer'),
    ],
)
def test_pictures_that_cannot_be_read_are_refused_by_name(
    arguments: tuple[Any, ...], named: str
) -> None:
    with pytest.raises(InvalidArgument, match=named):
        decode_image(*arguments)


def file(kind: str, picture: NDArray[Any]) -> bytes:
    """Return a picture as a file of that kind."""
    buffer = io.BytesIO()
    Image.fromarray(picture.astype(np.uint8)).save(buffer, kind, quality=90)
    return buffer.getvalue()


KINDS = ('JPEG', 'PNG', 'TIFF', 'WEBP')


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('picture', [table(), table()[:, :, 0]], ids=['colour', 'grey'])
def test_compressed_pictures_are_read(kind: Any, picture: Any) -> None:
    view = decode_compressed(file(kind, picture))
    assert (view.width, view.height) == (320, 240)
    assert np.allclose(pixels(view)[5, 5], picture[5, 5], atol=4)


def test_a_large_jpeg_is_decoded_no_finer_than_needed() -> None:
    view = decode_compressed(file('JPEG', table(width=1280, height=960)))
    assert (view.width, view.height) == (1280, 960)
    assert view.image.size == (320, 240)
    tall = decode_compressed(file('JPEG', table(width=300, height=960)))
    assert tall.image.size == (150, 480)


def test_a_grey_png_of_sixteen_bits_gives_its_upper_eight() -> None:
    buffer = io.BytesIO()
    Image.fromarray(np.full((20, 20), 0x1234, np.uint16)).save(buffer, 'PNG')
    assert (pixels(decode_compressed(buffer.getvalue())) == 0x12).all()


def test_compressed_pictures_that_are_cut_short_or_none_are_refused() -> None:
    jpeg = file('JPEG', table())
    for data in (b'', b'no picture', jpeg[:400], jpeg[:-300]):
        with pytest.raises(InvalidArgument, match=f'{len(data)} bytes'):
            decode_compressed(data)


FILES = {kind: file(kind, table()[::4, ::4]) for kind in KINDS}


@settings(deadline=None, max_examples=few_or_many(75, 300))
@given(
    kind=st.sampled_from(KINDS),
    spoilt=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8),
    end=st.integers(0, 4000),
)
def test_a_spoilt_file_is_a_picture_or_is_refused(kind: Any, spoilt: Any, end: Any) -> None:
    data = bytearray(FILES[kind][:end] if end < 2000 else FILES[kind])
    for at, value in spoilt:
        if at < len(data):
            data[at] = value
    with suppress(InvalidArgument):
        assert isinstance(decode_compressed(data), DecodedImage)


@pytest.mark.parametrize('quality', [0, 60], ids=['raw', 'jpeg'])
def test_pictures_of_one_scene_look_alike_and_of_another_do_not(quality: int) -> None:
    here, there = looks(table(), quality=quality), looks(elsewhere(1), quality=quality)
    assert all(len(look) == 16 and int(look, 16) >= 0 for look in here)
    assert all(
        is_same_view(one, other) for scene in (here, there) for one in scene for other in scene
    )
    assert not any(is_same_view(one, other) for one in here for other in there)
