"""A picture is kept when the scene has changed and settled, or one was asked for."""

from __future__ import annotations

import csv
import json
from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import recordings
from amounts import few_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from numpy.typing import NDArray
from PIL import Image
from scenes import (
    SECOND_NS,
    START_NS,
    TENTH_NS,
    elsewhere,
    feed,
    looks,
    opened,
    reading,
    run,
    softened,
    stamps,
    stream,
    table,
    trembling,
)

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import (
    DecodedImage,
    Event,
    ImageReading,
    SceneDetector,
    SceneSettings,
    is_same_view,
)


def test_an_object_that_comes_and_goes_gives_three_pictures_and_says_where_it_was() -> None:
    readings = stream([table(), table((30, 180)), table()])
    events = run(readings)
    assert [event.data['kept_because'] for event in events] == ['first', 'changed', 'changed']
    taken = {one.stamp_ns for one in readings}
    assert all(event.stamp_ns in taken and event.frame_id == 'camera' for event in events)
    assert all(event.stamp_ns == event.peak_ns == event.end_ns for event in events)
    came = events[1]
    assert (came.perception_type, came.subject) == ('visual', 'scene')
    (region,) = came.data['regions']
    assert (region['what'], region['where']) == ('appeared', 'lower left')
    assert np.allclose(region['bbox'], [30, 180, 40, 30], atol=3)
    assert region['share'] == pytest.approx(40 * 30 / (320 * 240), rel=0.15)
    assert came.description.startswith(
        'The camera (camera) sees: a red object appeared at the lower left ('
    )
    assert 'a red object disappeared from the lower left' in events[2].description
    assert json.loads(json.dumps([came.data, came.metadata])) == [came.data, came.metadata]


def test_an_object_that_moves_has_disappeared_here_and_appeared_there() -> None:
    events = run(stream([table((30, 180)), table((150, 110))]))
    assert len(events) == 2
    assert 'a red object disappeared from the lower left' in events[1].description
    assert 'a red object appeared in the centre' in events[1].description


def test_the_first_picture_says_what_colours_it_shows() -> None:
    (event,) = run(stream([table()], frames=2))
    assert (
        event.description == 'The camera (camera) sees for the first time: mostly brown and grey'
    )
    assert event.data['colours'] == ['brown', 'grey']


def test_the_picture_is_a_jpeg_of_at_most_320_pixels_and_the_film_of_160() -> None:
    events = run(stream([table(width=800, height=600), table((100, 400), 800, 600)], frames=20))
    first, second = events
    assert require(second.picture).stamp_ns == second.stamp_ns
    assert opened(require(second.picture).jpeg).size == (320, 240)
    assert {opened(picture.jpeg).size for picture in first.film + second.film} == {(160, 120)}


def test_the_film_shows_two_seconds_before_and_one_after_twice_a_second() -> None:
    (_, event) = run(stream([table(), table((30, 180)), table((30, 180))], frames=30))
    film = [picture.stamp_ns - event.stamp_ns for picture in event.film]
    assert min(film) >= -2 * SECOND_NS
    assert max(film) <= SECOND_NS
    assert len(film) == 6
    assert 0 not in film
    assert all(later - earlier >= SECOND_NS / 2 for earlier, later in pairwise(film))
    red = [np.asarray(opened(picture.jpeg))[100, 25] for picture in event.film]
    assert red[0][1] > 90
    assert red[-1][1] < 60


def test_the_film_is_the_same_wherever_the_stream_begins() -> None:
    readings = stream([table(), table((30, 180)), table((30, 180))], frames=30)
    whole, late = run(readings)[-1], run(readings[13:])[-1]
    assert whole.stamp_ns == late.stamp_ns
    assert whole.film == late.film != ()


def test_an_event_is_handed_on_when_its_film_is_complete() -> None:
    detector = SceneDetector()
    readings = stream([table()], frames=14)
    early = feed(detector, readings[:11])
    assert early == []
    assert detector.since_ns == START_NS
    (event,) = feed(detector, readings[11:])
    assert not event.broken_off
    assert detector.since_ns == 0
    assert detector.finish() == []


def test_without_a_film_an_event_is_handed_on_at_once() -> None:
    detector = SceneDetector(SceneSettings(pre_s=0, post_s=0))
    (event,) = detector.feed(stream([table()])[0])
    assert event.film == ()
    assert detector.since_ns == 0


@pytest.mark.parametrize('then_s', [60, -60], ids=['a silence', 'a clock that went back'])
def test_the_film_ends_where_the_stream_is_interrupted(then_s: int) -> None:
    detector = SceneDetector()
    first = stream([table()], frames=8)
    assert feed(detector, first) == []
    (event,) = detector.feed(stream([table()], start_ns=START_NS + then_s * SECOND_NS)[0])
    assert event.stamp_ns == START_NS
    assert [picture.stamp_ns for picture in event.film] == [first[5].stamp_ns]
    assert not event.broken_off


def test_the_end_of_the_stream_breaks_the_film_off() -> None:
    detector = SceneDetector()
    assert feed(detector, stream([table()], frames=8)) == []
    (event,) = detector.finish()
    assert event.broken_off
    assert (detector.since_ns, detector.finish()) == (0, [])


@pytest.mark.parametrize('size', [(64, 48), (320, 240), (640, 480)])
def test_a_still_scene_is_kept_once_whatever_noise_flicker_and_drift(
    size: tuple[Any, ...],
) -> None:
    still = table(width=640, height=480)
    still = np.asarray(Image.fromarray(still.astype(np.uint8)).resize(size), float)
    shown = stream([still], frames=60, noise=6.0, flicker=0.1, drift=0.3)
    assert len(run(shown, settle_s=0)) == 1


@pytest.mark.parametrize('size', [(324, 244), (644, 484)])
def test_a_camera_that_trembles_by_a_pixel_sees_a_still_scene(size: tuple[Any, ...]) -> None:
    shown = stream(trembling(elsewhere(3, *size), 40), frames=1, noise=2.0)
    assert len(run(shown, settle_s=0)) == 1


def test_flicker_that_overexposes_a_part_is_no_change() -> None:
    bright = table()
    bright[20:70, 100:220] = 246
    assert len(run(stream([bright], frames=60, flicker=0.15), settle_s=0)) == 1


def test_noise_as_strong_as_a_change_is_none() -> None:
    assert len(run(stream([table(width=64, height=48)], frames=100, noise=18.0), settle_s=0)) == 1


def test_grey_pictures_are_followed_as_well() -> None:
    readings = [
        reading(np.asarray(one.view.image)[:, :, 0], one.stamp_ns)
        for one in stream([table(), table((30, 180))])
    ]
    assert len(run(readings)) == 2


def test_nothing_is_kept_while_something_moves_and_one_picture_when_it_stops() -> None:
    moving = [table((x, 180)) for x in range(0, 160, 8)]
    readings = stream([table()]) + stream(moving, frames=1, start_ns=START_NS + 2 * SECOND_NS)
    assert len(run(readings)) == 1
    readings += stream([moving[-1]], start_ns=START_NS + 5 * SECOND_NS)
    events = run(readings)
    assert len(events) == 2
    assert events[1].stamp_ns >= START_NS + 5 * SECOND_NS


def lamp(x: float, y: float, radius: float, gain: float) -> Any:
    """Return a table on which a lamp shines, softly, from above a place."""
    pixels = table((120, 150))
    ys, xs = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    pool = np.exp(-((xs - x) ** 2 + (ys - y) ** 2) / (2 * radius**2))
    return np.clip(pixels * 0.5 * (1 + gain * pool)[:, :, None], 0, 255)


@pytest.mark.parametrize('radius', [25, 40, 90, 400])
@pytest.mark.parametrize(('x', 'y'), [(80, 60), (160, 120), (240, 170)])
def test_a_lamp_that_is_switched_is_light_and_no_object(x: int, y: int, radius: int) -> None:
    dark, lit = lamp(x, y, radius, 0.0), lamp(x, y, radius, 1.6)
    events = run(stream([dark, lit, dark], frames=14, flicker=0.0))[1:]
    assert radius == 400 or len(events) == 2
    for event, what in zip(events, ('brighter', 'darker'), strict=False):
        assert {region['what'] for region in event.data['regions']} == {what}
        assert f'the light changed, {what}' in event.description


def test_an_object_that_appears_under_a_lamp_is_an_object() -> None:
    lit = lamp(160, 120, 60, 1.0)
    white = lit.copy()
    white[100:140, 200:250] = 235
    _, event = run(stream([lit, white], frames=14, flicker=0.0))
    assert 'a white object appeared' in event.description


@pytest.mark.parametrize('size', [(64, 48), (320, 240), (640, 480)])
def test_another_view_is_a_change_however_much_of_the_picture_differs(
    size: tuple[Any, ...],
) -> None:
    events = run(stream([elsewhere(seed, *size) for seed in range(6)], noise=4.0))
    assert len(events) == 6
    assert all('another view' in event.description for event in events[1:])


def test_what_changed_during_a_silence_is_kept_at_once_and_what_did_not_is_not() -> None:
    later = START_NS + 60 * SECOND_NS
    assert len(run(stream([table()]) + stream([table()], start_ns=later))) == 1
    events = run(stream([table()]) + stream([table((30, 180))], start_ns=later))
    assert [event.stamp_ns for event in events] == [START_NS, later]
    assert 'after 58.9 s without a picture: a red object appeared' in events[1].description


def test_after_a_silence_the_first_good_picture_is_kept_though_something_moves() -> None:
    later = START_NS + 60 * SECOND_NS
    blurred, moving = softened(table((30, 180)), 8), [table((x, 180)) for x in range(0, 160, 8)]
    after = stream([np.zeros((240, 320, 3)), blurred, *moving], frames=1, start_ns=later)
    events = run(stream([table()]) + after)
    assert [event.stamp_ns for event in events] == [START_NS, after[2].stamp_ns]


def test_a_silence_in_which_nothing_changed_is_over_with_the_next_picture() -> None:
    moving = [table((x, 180)) for x in range(0, 160, 8)]
    after = stream([table(), *moving], frames=1, start_ns=START_NS + 60 * SECOND_NS)
    assert len(run(stream([table()]) + after)) == 1


def test_black_pictures_are_not_kept_and_do_not_count_as_a_change() -> None:
    detector = SceneDetector()
    black = np.zeros((240, 320, 3))
    events = feed(detector, stream([black, table(), black, table()]))
    assert len(events) == 1
    assert detector.ignored == {'too dark': 24}


def test_a_blurred_picture_waits_until_it_is_sharp() -> None:
    sharp = table((30, 180))
    detector = SceneDetector()
    seen = stream([table(), softened(sharp, 8), sharp], noise=1.0)
    events = feed(detector, seen) + detector.finish()
    assert len(events) == 2
    assert events[1].stamp_ns >= seen[24].stamp_ns
    assert detector.ignored['not sharp'] > 0


@pytest.mark.parametrize(('width', 'blur'), [(64, 3), (160, 4), (320, 8), (640, 16), (1280, 32)])
@pytest.mark.parametrize('noise', [0, 6])
def test_sharp_and_blurred_are_told_apart_at_any_size_and_noise(
    width: int, blur: int, noise: int
) -> None:
    small = table((100, 150), 320, 240).astype(np.uint8)
    sharp = np.asarray(Image.fromarray(small).resize((width, width * 3 // 4)), float)
    assert len(run(stream([sharp], frames=3, noise=noise))) == 1
    assert run(stream([softened(sharp, blur)], frames=3, noise=noise)) == []


def test_no_more_pictures_a_minute_are_kept_than_allowed_and_later_ones_again() -> None:
    scenes = [table(), table((30, 180))] * 4
    assert len(run(stream(scenes))) == 8
    assert len(run(stream(scenes), max_per_minute=3)) == 3
    later = stream([table((150, 120))], start_ns=START_NS + 70 * SECOND_NS)
    assert len(run(stream(scenes) + later, max_per_minute=3)) == 4


def test_a_picture_that_is_asked_for_is_kept_though_nothing_changed() -> None:
    detector = SceneDetector()
    readings = stream([table()], frames=60)
    events = feed(detector, readings[:30])
    detector.expect(readings[40].stamp_ns - 1)
    events += feed(detector, readings[30:]) + detector.finish()
    assert [event.stamp_ns for event in events] == [START_NS, readings[40].stamp_ns]
    assert events[1].data['kept_because'] == 'expected'
    assert events[1].description == 'The camera (camera) sees: no change, mostly brown and grey'


def test_a_picture_that_is_asked_for_is_kept_though_something_moves() -> None:
    readings = stream([table((x, 180)) for x in range(0, 160, 8)], frames=1)
    detector = SceneDetector()
    detector.expect(readings[7].stamp_ns)
    events = feed(detector, readings) + detector.finish()
    assert [event.stamp_ns for event in events] == [START_NS, readings[7].stamp_ns]


def test_a_picture_that_is_asked_for_is_the_first_good_one() -> None:
    black = np.zeros((240, 320, 3))
    readings = stream([table(), black, softened(table(), 8), table()], noise=1.0)
    detector = SceneDetector()
    detector.expect(readings[12].stamp_ns)
    events = feed(detector, readings) + detector.finish()
    assert stamps(events) == [0.0, 3.6]


def test_pictures_that_are_asked_for_are_kept_beside_so_many_a_minute() -> None:
    detector = SceneDetector(SceneSettings(max_per_minute=2))
    readings = stream([table(), table((30, 180)), table()], frames=50)
    for second in (1, 2, 4):
        detector.expect(START_NS + second * SECOND_NS)
    events = feed(detector, readings) + detector.finish()
    assert [event.data['kept_because'] for event in events] == [
        'first',
        'expected',
        'expected',
        'expected',
        'changed',
    ]
    assert stamps(events)[:4] == [0.0, 1.0, 2.0, 4.0]


def test_one_picture_is_enough_for_all_who_asked_before_it() -> None:
    detector = SceneDetector()
    for _ in range(100):
        detector.expect(START_NS - SECOND_NS)
    assert len(feed(detector, stream([table()], frames=60)) + detector.finish()) == 1


@pytest.mark.parametrize('ended', [True, False])
def test_a_recording_that_starts_over_gives_its_pictures_again(ended: bool) -> None:
    once = stream([table(), table((30, 180))], frames=24)
    detector = SceneDetector(SceneSettings(max_per_minute=2))
    events = feed(detector, once) + (detector.finish() if ended else [])
    detector.expect(START_NS)
    events += feed(detector, once) + detector.finish()
    assert len(events) == 4
    assert events[:2] == events[2:] == run(once, max_per_minute=2)
    assert detector.ignored == ({} if ended else {'the clock went back': 1})


def test_what_is_no_picture_and_a_stamp_that_is_none_are_counted() -> None:
    detector = SceneDetector()
    for image in (Image.new('RGB', (0, 0)), Image.new('RGBA', (64, 64)), Image.new('L', (64, 15))):
        assert not detector.feed(ImageReading(START_NS, '', DecodedImage(image, *image.size)))
    assert not detector.feed(reading(table(), 0))
    assert detector.ignored == {'not a picture': 3, 'no stamp': 1}


def test_another_resolution_starts_anew() -> None:
    larger = stream([table(width=640, height=360)], start_ns=START_NS + 2 * SECOND_NS)
    events = run(stream([table()]) + larger)
    assert [event.data['kept_because'] for event in events] == ['first', 'first']


@pytest.mark.parametrize(
    'bad',
    [
        {'min_area': 0},
        {'min_area': 1.5},
        {'settle_s': float('inf')},
        {'max_per_minute': 0},
        {'max_per_minute': 2.5},
        {'film_hz': 0},
        {'pre_s': -1},
        {'post_s': 'long'},
    ],
    ids=str,
)
def test_settings_that_no_picture_meets_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(bad))):
        SceneSettings(**bad)


def random_image(mode: str, fields: int, size: tuple[int, int], seed: int, level: int) -> Any:
    """Return fields of random colours up to that level, `fields` of them across."""
    shape = (fields, fields, len(mode)) if len(mode) > 1 else (fields, fields)
    colours = np.random.default_rng(seed).integers(0, level, shape, np.uint8, endpoint=True)
    return Image.fromarray(colours, mode).resize(size, Image.Resampling.NEAREST)


SIDES = st.sampled_from([1, 15, 16, 17, 64, 101, 200, 330])
IMAGES = st.builds(
    random_image,
    mode=st.sampled_from(['RGB'] * 4 + ['L', 'RGBA', 'CMYK']),
    fields=st.sampled_from([1, 3, 7, 100]),
    size=st.tuples(SIDES, SIDES) | st.just((64, 48)),
    seed=st.integers(0, 3),
    level=st.sampled_from([3, 60, 255]),
)
STAMPS = st.integers(-5, 500).map(lambda tenths: START_NS + tenths * TENTH_NS) | st.integers(-1, 1)


@settings(deadline=None, max_examples=few_or_many(20, 60))
@given(
    steps=st.lists(st.tuples(IMAGES, STAMPS, st.booleans()), max_size=20),
    pre_s=st.sampled_from([0.0, 2.0]),
    post_s=st.sampled_from([0.0, 1.0]),
)
def test_whatever_comes_each_stream_gives_the_same_pictures_again_in_order(
    steps: Any, pre_s: Any, post_s: Any
) -> None:
    detectors = [SceneDetector(SceneSettings(pre_s=pre_s, post_s=post_s)) for _ in range(2)]
    found: list[list[Event]] = [[], []]
    for image, stamp_ns, asked in steps:
        for detector, events in zip(detectors, found, strict=True):
            if asked:
                detector.expect(stamp_ns)
            events += detector.feed(ImageReading(stamp_ns, '', DecodedImage(image, *image.size)))
            assert detector.since_ns in (0, *(stamp for _, stamp, _ in steps))
    for detector, events in zip(detectors, found, strict=True):
        events += detector.finish()
        assert detector.since_ns == 0
    assert found[0] == found[1]
    assert detectors[0].ignored == detectors[1].ignored
    for event in found[0]:
        film = [picture.stamp_ns for picture in event.film]
        assert all(earlier < later for earlier, later in pairwise(film))
        assert event.stamp_ns not in film
        assert all(-2 <= (stamp - event.stamp_ns) / 1e9 <= 1 for stamp in film)
        assert max(opened(require(event.picture).jpeg).size) <= 320
        json.dumps([event.data, event.metadata], allow_nan=False)


def camera_frames() -> dict[str, NDArray[Any]]:
    folder = recordings.shared('images/robot_camera_frames')
    with (folder / 'labels.csv').open() as table_of_labels:
        names = [row['file'] for row in csv.DictReader(table_of_labels)]
    return {name: np.asarray(Image.open(folder / name).convert('RGB'), float) for name in names}


def can_pairs() -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Return the name and the pictures of each pair: without the can, with it."""
    frames = camera_frames()
    without = [name for name in frames if name.endswith('_no_coke_can.png')]
    pairs = [(name, frames[name], frames[name.replace('_no_coke_can', '')]) for name in without]
    assert len(pairs) == 8
    return pairs


@pytest.mark.parametrize('noise', [0.0, 6.0])
def test_robot_camera_frames_that_differ_by_one_can_are_told_apart(noise: float) -> None:
    for name, empty, can in can_pairs():
        events = run(stream([empty, can, empty], 10, noise, flicker=0.1, drift=0.1))
        assert [int(stamp) for stamp in stamps(events)] == [0, 1, 2], name
        came, went = (max(event.data['regions'], key=_share) for event in events[1:])
        assert (came['what'], went['what']) == ('appeared', 'gone'), name
        assert {came['colour_now'], went['colour_before']} <= {'red', 'brown'}, name


def _share(region: Any) -> float:
    made: float = region['share']
    return made


def some_frames() -> list[tuple[str, NDArray[Any]]]:
    """Return every sixth picture with its name; every one in `make test-long`."""
    return list(camera_frames().items())[:: few_or_many(6, 1)]


def test_robot_camera_frames_that_stand_still_are_kept_once() -> None:
    for name, still in some_frames():
        shown = stream([still], 30, noise=6.0, flicker=0.1, drift=0.15)
        assert len(run(shown, settle_s=0)) == 1, name


def test_robot_camera_frames_of_a_camera_that_trembles_by_a_pixel_are_kept_once() -> None:
    for name, still in some_frames():
        shown = stream(trembling(still, 12), 1, noise=2.0, flicker=0.1)
        assert len(run(shown, settle_s=0)) == 1, name


def test_robot_camera_frames_one_after_the_other_are_all_kept_once() -> None:
    frames = list(camera_frames().values())
    events = run(stream(frames, 10, noise=4.0, flicker=0.1), max_per_minute=600)
    assert [int(stamp) for stamp in stamps(events)] == list(range(38))


@pytest.fixture(scope='module')
def tasks() -> list[tuple[str, Any]]:
    """Return topic and reading of every message of fifty recorded tasks; only to read."""
    return list(recordings.readings_of(recordings.shared('bags/bridge_tasks')))


@pytest.mark.parametrize('asked', [False, True], ids=['unasked', 'asked'])
@pytest.mark.parametrize('camera', ['camera_0', 'camera_1', 'camera_2'])
def test_each_episode_of_a_recording_gives_a_picture_or_two(
    tasks: list[tuple[str, Any]], camera: str, asked: bool
) -> None:
    detector = SceneDetector()
    events, begins = [], []
    for topic, one in tasks:
        if topic == '/task':
            begins.append(one.stamp_ns)
            if asked:
                detector.expect(one.stamp_ns)
        elif topic.startswith(f'/{camera}/'):
            events += detector.feed(one)
    events += detector.finish()
    counts = Counter(bisect_right(begins, event.stamp_ns) - 1 for event in events)
    assert len(begins) == 50
    assert set(counts) == set(range(50))
    assert max(counts.values()) <= 2
    first = {bisect_right(begins, event.stamp_ns) - 1: event for event in reversed(events)}
    assert all(event.stamp_ns - begins[n] < SECOND_NS for n, event in first.items())


def test_a_camera_that_sees_only_black_gives_no_picture(tasks: list[tuple[str, Any]]) -> None:
    detector = SceneDetector()
    for topic, one in tasks:
        if topic.startswith('/camera_3/'):
            assert not detector.feed(one)
    assert detector.ignored == {'too dark': 500}


def test_robot_camera_frames_look_alike_only_where_they_show_the_same_place() -> None:
    frames = camera_frames()
    seen = {name: looks(pixels, 4, quality=80) for name, pixels in frames.items()}
    for name, found in seen.items():
        assert all(is_same_view(one, other) for one in found for other in found), name
    bridge = [name for name in frames if name.startswith(('bridge', 'stack', 'open'))]
    for name in bridge:
        assert not any(
            is_same_view(seen[name][0], seen[other][0]) for other in frames if other != name
        )
