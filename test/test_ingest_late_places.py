"""An event whose poses come late gets its place all the same, and keeps its turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pipelines import SECOND, START_NS, TYPES, feed, make_header, pack
from recordings import Message
from robots import Robot

from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import make_tap

TF = 'tf2_msgs/msg/TFMessage'
JOINTS = 'sensor_msgs/msg/JointState'
TEXT = 'std_msgs/msg/String'
IMAGE = 'sensor_msgs/msg/Image'
PLACE = PoseSourceSettings(fixed_frame='map', pose_tolerance_s=0.25)


def make_transform(seconds: float, late: float, child: str = 'tool0', x: float = 0.0) -> Message:
    """Return where the tool is at a time, which is heard `late`: it goes at 1 m/s along x."""
    moved = TYPES['geometry_msgs/msg/Vector3'](x + seconds, 0.0, 0.0)
    turn = TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    transform = TYPES['geometry_msgs/msg/Transform'](moved, turn)
    stamped = TYPES['geometry_msgs/msg/TransformStamped'](
        make_header(seconds, 'map'), child, transform
    )
    return pack('/tf', TF, seconds + late, TYPES[TF]([stamped]))


def make_image(seconds: float, bright: bool) -> Message:
    pixels = np.tile(np.array([20, 220] if bright else [220, 20], np.uint8), (32, 16)).reshape(-1)
    if bright:
        pixels = np.repeat(np.array([10, 240], np.uint8), 512)
    image = TYPES[IMAGE](make_header(seconds, 'tool0'), 32, 32, 'mono8', 0, 32, pixels)
    return pack('/camera', IMAGE, seconds, image)


def make_text(seconds: float, text: str) -> Message:
    return pack('/task', TEXT, seconds, TYPES[TEXT](text))


def make_joints(until: float) -> list[Message]:
    """Return an arm at 50 Hz that rests, moves from 2 s to 4 s, and rests."""
    found = []
    for at in range(round(until * 50)):
        seconds = at / 50
        angle = np.array([0.5 * min(max(seconds - 2.0, 0.0), 2.0)])
        speed = np.array([0.5 if 2.0 <= seconds < 4.0 else 0.0])
        state = TYPES[JOINTS](make_header(seconds, ''), ['elbow'], angle, speed, np.zeros(1))
        found.append(pack('/joint_states', JOINTS, seconds, state))
    return found


def run(
    robot: Robot,
    messages: list[Message],
    sizes: tuple[int, ...] = (),
    place: PoseSourceSettings = PLACE,
) -> list[Any]:
    """Return what a pipeline makes of messages in the order in which they come."""
    taps: dict[str, dict[str, Any]] = {
        'camera': {'topic': '/camera', 'type': IMAGE},
        'task': {'topic': '/task', 'type': TEXT, 'use': 'learned'},
        'joints': {'topic': '/joint_states', 'type': JOINTS},
    }
    made: list[Any] = []
    pipeline = Pipeline(
        [make_tap(name, values) for name, values in taps.items()],
        place,
        '',
        lambda tap, item: made.append(item),
        made.append,
        str,
        robot.memory.extensions,
        LOGGED,
    )
    feed(pipeline, messages, sizes)
    pipeline.finish()
    return [one for one in made if hasattr(one, 'description') or hasattr(one, 'insight')]


def list_places(made: list[Any]) -> list[float | None]:
    """Return the x of the events that have a frame, by their turn; None where it is unknown."""
    events = [one for one in made if hasattr(one, 'description')]
    return [None if one.pose is None else one.pose['position'][0] for one in events]


def make_pictures(late: float, until: float = 6.0) -> list[Message]:
    """Return a view that changes at 3.05 s, and tf at 5 Hz that is heard late."""
    tf = [make_transform(at / 5, late) for at in range(round(until * 5))]
    images = [make_image(0.05, False), make_image(1.05, False)]
    return [*tf, *images, make_image(3.05, True), make_image(5.05, True)]


@pytest.mark.parametrize('late', [0.0, 0.05, 0.09])
def test_a_place_is_between_the_poses_however_late_they_come(robot: Robot, late: float) -> None:
    places = list_places(run(robot, make_pictures(late)))
    assert places and None not in places
    stamps = [one.stamp for one in run(robot, make_pictures(late))]
    assert places == pytest.approx([(stamp - START_NS) / SECOND for stamp in stamps])


def test_a_place_that_never_comes_is_unknown_after_the_tolerance(robot: Robot) -> None:
    made = run(robot, [*make_pictures(0.0, 2.0), make_text(3.1, 'wipe the shelf')])
    assert list_places(made)[-1] is None
    kept = [one for one in made if hasattr(one, 'description')][-1]
    assert kept.data['place'].startswith('unknown: ')


def test_what_comes_behind_an_event_that_waits_keeps_its_turn(robot: Robot) -> None:
    texts = [make_text(at + 0.06, f'wipe shelf {at}') for at in range(6)]
    pictures = [one for one in make_pictures(0.0) if one[0] != '/tf']
    orders = [
        [(one.stamp, getattr(one, 'insight', 'event')) for one in made]
        for made in (
            run(robot, [*pictures, *texts], place=PoseSourceSettings()),
            run(robot, [*make_pictures(0.09), *texts]),
        )
    ]
    assert orders[0] == orders[1]
    assert 'event' in dict(orders[0]).values() and 'wipe shelf 5' in dict(orders[0]).values()


def test_a_motion_has_the_pose_of_the_tool_however_late_tf_is(robot: Robot) -> None:
    tf = [make_transform(at / 5, 0.09) for at in range(40)]
    motions = [one for one in run(robot, [*make_joints(7.0), *tf]) if hasattr(one, 'description')]
    assert motions
    for one in motions:
        assert one.pose['frame_id'] == 'map'
        assert one.pose['position'][0] == pytest.approx((one.stamp - START_NS) / SECOND)


def test_a_motion_without_tf_of_the_tool_has_no_place_and_not_the_origin(robot: Robot) -> None:
    made = run(robot, make_joints(7.0))
    motions = [one for one in made if hasattr(one, 'description')]
    assert motions
    for one in motions:
        assert one.pose is None and 'spatial' not in one.context
        assert one.data['place'].startswith('unknown: ')


def test_what_is_made_does_not_depend_on_how_many_messages_come_at_once(robot: Robot) -> None:
    texts = [make_text(at + 0.06, f'wipe shelf {at}') for at in range(6)]
    messages = [*make_pictures(0.09), *make_joints(6.0), *texts]
    found = [
        run(robot, messages, sizes)
        for sizes in ((), (1,) * len(messages), (17,) * 200, (150, 3, 100, 40))
    ]
    assert len(found[0]) > 6
    assert found[1:] == found[:1] * 3


def test_without_a_source_of_poses_nothing_waits(robot: Robot) -> None:
    pictures = [one for one in make_pictures(0.0) if one[0] != '/tf']
    made = run(robot, pictures, place=PoseSourceSettings())
    assert made and all(one.pose is None and 'place' not in one.data for one in made)
