"""Pictures are taken in a thread of their own: the same comes of them, and no other tap waits."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pipelines import TYPES, feed, make_header, pack
from recordings import Message
from robots import Robot
from waiting import HANG_SECONDS, until

from robot_memory.detectors.earlier_view import EarlierView
from robot_memory.ingest import threaded_runner
from robot_memory.ingest.earlier_runs import NOTHING_EARLIER, EarlierRuns
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.threaded_runner import BUSY, MAX_WAITING

IMAGE = 'sensor_msgs/msg/Image'
COMPRESSED = 'sensor_msgs/msg/CompressedImage'
TEXT = 'std_msgs/msg/String'
TAPS: dict[str, dict[str, Any]] = {
    'camera': {'topic': '/camera', 'type': IMAGE},
    'side': {'topic': '/side', 'type': COMPRESSED, 'max_rate_hz': 8.0},
    'task': {'topic': '/task', 'type': TEXT, 'use': 'both'},
    'stop': {'topic': '/stop', 'type': 'std_msgs/msg/Bool'},
}
FULL_HD = (1080, 1920)


@pytest.fixture(autouse=True)
def any_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing out at the end for being slow."""
    monkeypatch.setattr(threaded_runner, 'FINISH_S', HANG_SECONDS)


class BlockedRuns(EarlierRuns):
    """Find no last view, and that only once it may."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def find_last_view(self, topic: str, collection: str, stamp_ns: int) -> EarlierView | None:
        self.asked.set()
        self.released.wait()
        return None


def make_pixels(look: int, size: tuple[int, int] = (48, 64)) -> Any:
    """Return a picture of two colours, sharp between them; each look is another."""
    pixels = np.full((*size, 3), (200, 180, 40), np.uint8)
    pixels[: size[0] * (look % 5 + 1) // 7, :: look % 3 + 2] = (20, 30, 90)
    return pixels


def make_image(seconds: float, look: int, size: tuple[int, int] = (48, 64)) -> Message:
    flat = make_pixels(look, size).reshape(-1)
    image = TYPES[IMAGE](make_header(seconds, 'front'), *size, 'rgb8', 0, 3 * size[1], flat)
    return pack('/camera', IMAGE, seconds, image)


def make_compressed(seconds: float, look: int, *, broken: bool = False) -> Message:
    file = io.BytesIO()
    Image.fromarray(make_pixels(look)).save(file, 'PNG')
    data = np.frombuffer(file.getvalue()[: 90 if broken else None], np.uint8)
    image = TYPES[COMPRESSED](make_header(seconds, 'side'), 'png', data)
    return pack('/side', COMPRESSED, seconds, image)


def make_text(seconds: float, number: int) -> Message:
    return pack('/task', TEXT, seconds, TYPES[TEXT](f'Fill shelf {number}'))


def make_stop(seconds: float, pressed: bool) -> Message:
    return pack('/stop', 'std_msgs/msg/Bool', seconds, TYPES['std_msgs/msg/Bool'](pressed))


def make_stream(seed: int) -> list[Message]:
    """Return half a minute of two cameras, tasks and a button."""
    chance = random.Random(seed)
    found, look = [], 0
    for turn in range(300):
        seconds = turn / 10
        look += chance.random() < 0.06
        if not 120 <= turn < 160:
            found.append(make_image(seconds, look))
        found.append(make_compressed(seconds + 0.01, look + 1, broken=chance.random() < 0.05))
        if chance.random() < 0.05:
            found.append(make_text(seconds + 0.02, turn))
        if chance.random() < 0.05:
            found.append(make_stop(seconds + 0.03, chance.random() < 0.5))
    return found


def make_pipeline(
    robot: Robot, made: list[Any], *, threaded: bool, earlier: EarlierRuns = NOTHING_EARLIER
) -> Pipeline:
    return Pipeline(
        [make_tap(name, values) for name, values in TAPS.items()],
        PoseSourceSettings(),
        'cell',
        lambda tap, item: made.append((tap, item)),
        made.append,
        str,
        robot.memory.extensions,
        LOGGED,
        earlier,
        threaded=threaded,
    )


def feed_in_pieces(pipeline: Pipeline, messages: Sequence[Message]) -> None:
    """Feed a little at a time; what has been found is handed on between."""
    for begin in range(0, len(messages), 7):
        piece = messages[begin : begin + 7]
        feed(pipeline, piece)
        pipeline.flush_silent(piece[-1][2])


def sort_by_tap(made: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    return {name: [item for tap, item in made if tap == name] for name in TAPS}


@pytest.mark.parametrize('seed', range(3))
def test_the_same_comes_of_pictures_that_are_taken_apart(
    robot: Robot, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threaded_runner, 'MAX_WAITING', 1000)
    found = []
    for threaded in (False, True):
        made: list[Any] = []
        pipeline = make_pipeline(robot, made, threaded=threaded)
        feed_in_pieces(pipeline, make_stream(seed))
        pipeline.finish()
        told = [one for one in made if isinstance(one, str)]
        kept = sort_by_tap([one for one in made if not isinstance(one, str)])
        found.append((kept, sorted(told), pipeline.report({})))
    assert found[0] == found[1]
    assert len(found[0][0]['camera']) > 5 and len(found[0][0]['side']) > 5


def test_other_taps_go_on_while_a_picture_takes_long_and_what_is_too_much_is_counted(
    robot: Robot,
) -> None:
    made: list[Any] = []
    runs = BlockedRuns()
    pipeline = make_pipeline(robot, made, threaded=True, earlier=runs)
    more = 12
    try:
        feed(pipeline, [make_image(0.0, 0)])
        until(runs.asked.is_set, 'the first picture')
        for turn in range(1, MAX_WAITING + more + 1):
            at = turn / 10
            feed(pipeline, [make_image(at, 0), make_stop(at + 0.01, turn % 2 == 0)])
        assert len([tap for tap, _ in made if tap == 'stop']) > MAX_WAITING
        assert [tap for tap, _ in made if tap == 'camera'] == []
        camera = pipeline.report({})['camera (/camera)']
        assert camera == {'received': 1 + MAX_WAITING + more, BUSY: more}
    finally:
        runs.released.set()
    pipeline.finish()
    (event,) = [item for tap, item in made if tap == 'camera']
    assert 'for the first time' in event.description
    assert pipeline.report({})['camera (/camera)'][BUSY] == more


def test_pictures_that_wait_are_bounded_in_bytes_too(robot: Robot) -> None:
    made: list[Any] = []
    runs = BlockedRuns()
    pipeline = make_pipeline(robot, made, threaded=True, earlier=runs)
    image = make_image(0.0, 0, (4000, 5000))  # 60 MB
    try:
        feed(pipeline, [make_image(0.0, 0)])
        until(runs.asked.is_set, 'the first picture')
        feed(pipeline, [image] * 6)
        assert pipeline.report({})['camera (/camera)'] == {'received': 7, BUSY: 2}
    finally:
        runs.released.set()
    pipeline.finish()


def test_a_stream_that_ends_goes_on_with_the_next_message(robot: Robot) -> None:
    made: list[Any] = []
    pipeline = make_pipeline(robot, made, threaded=True)
    for begin in (0.0, 60.0):
        feed(pipeline, [make_image(begin + at / 10, 0, FULL_HD) for at in range(4)])
        pipeline.finish()
    assert len([tap for tap, _ in made if tap == 'camera']) == 2
