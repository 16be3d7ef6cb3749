"""A picture is kept when the scene has changed and settled; and pictures are decoded."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from robot_memory.capture import (
    Event,
    ImageReading,
    SceneDetector,
    SceneSettings,
    decode_compressed,
    decode_image,
)
from robot_memory.errors import InvalidArgument

DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', Path(__file__).parents[2] / 'shared' / 'data'))
START_NS = 10**18


def table(block: tuple[int, int] | None = None, width: int = 320, height: int = 240):
    """Return a picture of a table, with a red block whose upper left corner is at `block`."""
    pixels = np.full((height, width, 3), (176, 180, 186), float)
    pixels[height // 3 :] = (140, 110, 80)
    pixels[height // 2 : height // 2 + 30, width - 80 : width - 30] = (60, 70, 90)
    if block:
        x, y = block
        pixels[y : y + 30, x : x + 40] = (190, 30, 30)
    return pixels


def stream(scenes, frames=12, noise=3.0, flicker=0.12, start_ns=START_NS) -> list[ImageReading]:
    """Return each scene for so many pictures at 10 Hz, with noise and exposure flicker."""
    random = np.random.default_rng(2)
    readings = []
    for count, scene in enumerate(scene for scene in scenes for _ in range(frames)):
        noisy = scene * (1 + flicker * np.sin(1.7 * count)) + random.normal(0, noise, scene.shape)
        pixels = np.clip(noisy, 0, 255).astype(np.uint8)
        readings.append(ImageReading(start_ns + count * 10**8, 'camera', pixels))
    return readings


def run(readings: list[ImageReading], **changes: float) -> list[Event]:
    detector = SceneDetector(SceneSettings(**changes))
    return [event for reading in readings for event in detector.feed(reading)]


def test_an_object_that_comes_and_goes_gives_three_pictures_and_says_where_it_was():
    readings = stream([table(), table((30, 180)), table()])
    events = run(readings)
    assert len(events) == 3
    assert [event.data['first'] for event in events] == [True, False, False]
    stamps = {reading.stamp_ns for reading in readings}
    assert all(event.stamp_ns in stamps and event.frame_id == 'camera' for event in events)
    came = events[1]
    assert came.perception_type == 'visual'
    (region,) = came.data['regions']
    assert region['where'] == 'lower left'
    assert np.allclose(region['bbox'], [30, 180, 40, 30], atol=3)
    assert region['share'] == pytest.approx(40 * 30 / (320 * 240), rel=0.15)
    assert 'lower left' in came.description
    assert 'red now' in came.description
    assert 'red before' in events[2].description
    assert json.loads(json.dumps([came.data, came.metadata])) == [came.data, came.metadata]


def test_the_thumbnail_is_a_jpeg_of_at_most_320_pixels():
    (event,) = run(stream([table(width=800, height=600)], frames=2))
    assert event.thumbnail is not None
    picture = Image.open(io.BytesIO(event.thumbnail))
    assert (picture.format, picture.size) == ('JPEG', (320, 240))


def test_a_still_scene_with_noise_and_flicker_is_kept_once():
    assert len(run(stream([table()], frames=60, noise=6.0, flicker=0.25))) == 1


def test_grey_pictures_are_followed_as_well():
    readings = [
        ImageReading(r.stamp_ns, '', np.ascontiguousarray(r.pixels[:, :, 0]))
        for r in stream([table(), table((30, 180))])
    ]
    assert len(run(readings)) == 2


def test_nothing_is_kept_while_something_moves_and_one_picture_when_it_stops():
    moving = [table((x, 180)) for x in range(0, 160, 8)]
    readings = stream([table()]) + stream(moving, frames=1, start_ns=START_NS + 2 * 10**9)
    assert len(run(readings)) == 1
    readings += stream([moving[-1]], start_ns=START_NS + 5 * 10**9)
    events = run(readings)
    assert len(events) == 2
    assert events[1].stamp_ns >= START_NS + 5 * 10**9


def test_what_changed_during_a_silence_is_kept_at_once_and_what_did_not_is_not():
    later = START_NS + 60 * 10**9
    assert len(run(stream([table()]) + stream([table()], start_ns=later))) == 1
    events = run(stream([table()]) + stream([table((30, 180))], start_ns=later))
    assert [event.stamp_ns for event in events] == [START_NS, later]


def test_black_pictures_are_not_kept_and_do_not_count_as_a_change():
    detector = SceneDetector()
    black = np.zeros((240, 320, 3))
    events = [e for r in stream([black, table(), black, table()]) for e in detector.feed(r)]
    assert len(events) == 1
    assert detector.ignored == {'too dark': 24}


def test_a_blurred_picture_waits_until_it_is_sharp():
    sharp = table((30, 180))
    picture = Image.fromarray(sharp.astype(np.uint8))
    blurred = np.asarray(picture.filter(ImageFilter.GaussianBlur(8)), float)
    detector = SceneDetector()
    seen = stream([table(), blurred, sharp], noise=1.0)
    events = [event for reading in seen for event in detector.feed(reading)]
    assert len(events) == 2
    assert events[1].stamp_ns >= seen[24].stamp_ns
    assert detector.ignored['not sharp'] > 0


def test_no_more_pictures_a_minute_are_kept_than_allowed_and_later_ones_again():
    scenes = [table(), table((30, 180))] * 4
    assert len(run(stream(scenes))) == 8
    assert len(run(stream(scenes), max_per_minute=3)) == 3
    later = stream([table((150, 120))], start_ns=START_NS + 70 * 10**9)
    assert len(run(stream(scenes) + later, max_per_minute=3)) == 4


def test_a_recording_that_starts_over_gives_its_pictures_again():
    once = stream([table(), table((30, 180))])
    events = run(once + once)
    assert len(events) == 4
    assert events[:2] == events[2:]


def test_what_is_no_picture_and_a_stamp_that_is_none_are_counted():
    detector = SceneDetector()
    for pixels in (
        np.zeros((0, 0), np.uint8),
        np.zeros((64, 64, 4), np.uint8),
        np.zeros((64, 64)),
    ):
        assert not detector.feed(ImageReading(START_NS, '', pixels))
    assert not detector.feed(ImageReading(0, '', table().astype(np.uint8)))
    assert detector.ignored == {'not a picture': 3, 'no stamp': 1}


def test_another_resolution_starts_anew():
    larger = stream([table(width=640, height=360)], start_ns=START_NS + 2 * 10**9)
    events = run(stream([table()]) + larger)
    assert [event.data['first'] for event in events] == [True, True]


def robot_camera_frames() -> tuple[Path, list[str]]:
    folder = DATA / 'images' / 'robot_camera_frames'
    if not folder.exists():
        pytest.skip(f'no pictures in {DATA}: set ROBOT_MEMORY_DATA')
    with (folder / 'labels.csv').open() as table_of_labels:
        return folder, [row['file'] for row in csv.DictReader(table_of_labels)]


def test_robot_camera_frames_that_differ_by_one_can_are_told_apart():
    folder, names = robot_camera_frames()
    without = [name for name in names if name.endswith('_no_coke_can.png')]
    assert len(without) == 8
    for name in without:
        empty, can = (
            np.asarray(Image.open(folder / file).convert('RGB'), float)
            for file in (name, name.replace('_no_coke_can', ''))
        )
        events = run(stream([empty, can, empty], noise=4.0, flicker=0.15))
        assert len(events) == 3, name


def test_robot_camera_frames_that_stand_still_are_kept_once():
    folder, names = robot_camera_frames()
    for name in names:
        still = np.asarray(Image.open(folder / name).convert('RGB'), float)
        assert len(run(stream([still], noise=4.0, flicker=0.15))) == 1, name


@pytest.mark.parametrize('bad', [{'min_area': 0}, {'settle_s': float('inf')}])
def test_settings_that_no_picture_meets_are_refused(bad):
    with pytest.raises(InvalidArgument, match='accepted'):
        SceneSettings(**bad)


RGB = np.array([[[250, 20, 30], [40, 250, 60]], [[70, 80, 250], [100, 110, 120]]], np.uint8)


@pytest.mark.parametrize(
    ('encoding', 'data'),
    [
        ('rgb8', RGB),
        ('bgr8', RGB[:, :, ::-1]),
        ('rgba8', np.dstack((RGB, RGB[:, :, 0]))),
        ('bgra8', np.dstack((RGB[:, :, ::-1], RGB[:, :, 0]))),
    ],
)
def test_colour_encodings_give_rgb_whatever_padding_a_row_has(encoding, data):
    row = 2 * data.shape[2]
    padded = b''.join(line.tobytes() + b'???' for line in data)
    assert (decode_image(encoding, 2, 2, row, False, data.tobytes()) == RGB).all()
    assert (decode_image(encoding, 2, 2, row + 3, False, padded) == RGB).all()


def test_grey_and_depth_encodings_give_grey():
    assert decode_image('mono8', 1, 3, 3, False, b'\x01\x02\x03').tolist() == [[1, 2, 3]]
    assert decode_image('mono16', 1, 2, 4, True, b'\x12\x34\xff\x00').tolist() == [[0x12, 0xFF]]
    assert decode_image('mono16', 1, 2, 4, False, b'\x34\x12\x00\xff').tolist() == [[0x12, 0xFF]]
    millimetres = np.array([[1600, 60_000]], '<u2').tobytes()
    assert decode_image('16UC1', 1, 2, 4, False, millimetres).tolist() == [[100, 255]]


def test_yuv_and_bayer_encodings_give_about_the_colour():
    red = (76, 85, 255)
    uyvy = bytes((red[1], red[0], red[2], red[0]))
    yuyv = bytes((red[0], red[1], red[0], red[2]))
    for encoding, data in (('yuv422', uyvy), ('yuv422_yuy2', yuyv)):
        pixels = decode_image(encoding, 1, 2, 4, False, data)
        assert np.allclose(pixels, [[(254, 0, 0)] * 2], atol=2), encoding
    for encoding, data in (
        ('bayer_rggb8', [200, 90, 100, 30]),
        ('bayer_gbrg8', [90, 30, 200, 100]),
    ):
        pixels = decode_image(encoding, 2, 2, 2, False, bytes(data))
        assert pixels.shape == (2, 2, 3), encoding
        assert (pixels == (200, 95, 30)).all(), encoding


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        (('nv21', 2, 2, 6, False, bytes(12)), 'nv21'),
        (('rgb8', 2, 2, 6, False, bytes(11)), '11 bytes'),
        (('rgb8', 2, 2, 5, False, bytes(12)), 'step 5'),
        (('rgb8', 0, 2, 6, False, b''), '2 x 0'),
        (('rgb8', 2**31, 2**31, 2**33, False, b''), 'pixels'),
        (('yuv422', 1, 3, 6, False, bytes(6)), '3 pixels wide'),
        (('bayer_rggb8', 1, 4, 4, False, bytes(4)), 'bayer'),
    ],
)
def test_pictures_that_cannot_be_read_are_refused_by_name(arguments, named):
    with pytest.raises(InvalidArgument, match=named):
        decode_image(*arguments)


@pytest.mark.parametrize('kind', ['PNG', 'JPEG'])
def test_compressed_pictures_are_read(kind):
    buffer = io.BytesIO()
    Image.fromarray(table().astype(np.uint8)).save(buffer, kind)
    assert np.allclose(decode_compressed(buffer.getvalue())[5, 5], (176, 180, 186), atol=3)


def test_compressed_pictures_that_are_cut_short_or_none_are_refused():
    buffer = io.BytesIO()
    Image.fromarray(table().astype(np.uint8)).save(buffer, 'JPEG')
    for data in (b'', b'no picture', buffer.getvalue()[:400], buffer.getvalue()[:-300]):
        with pytest.raises(InvalidArgument, match=f'{len(data)} bytes'):
            decode_compressed(data)
