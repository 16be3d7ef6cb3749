"""What a pipeline makes of messages does not depend on how many come at once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recordings
from recordings import Messages, messages_of, weigh
from robots import Robot
from rosbags.typesys import Stores, get_typestore

from robot_memory.ingest.pipeline import Pipeline, ReceivedMessage, RecordingOrigin
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import DEFAULTS, make_tap

TASK = {'task': {'topic': '/task', 'type': 'std_msgs/msg/String', 'lasts_s': 1.0}}
JOINTS = 'sensor_msgs/msg/JointState'
POSE = 'geometry_msgs/msg/PoseStamped'


@pytest.fixture(scope='module')
def messages(tmp_path_factory: pytest.TempPathFactory) -> Messages:
    """The demonstration's recording, half of its joint states with a finger's in between."""
    made = messages_of(recordings.RECORD(tmp_path_factory.mktemp('made') / 'ur5e'))
    store = get_typestore(Stores.LATEST)
    types = store.types
    more: Messages = []
    for number, (topic, _, at, _) in enumerate(made):
        if topic != '/wrench' or number % 3:
            continue
        stamp = types['builtin_interfaces/msg/Time'](*divmod(at, 10**9))
        header = types['std_msgs/msg/Header'](stamp, 'base_link')
        place = types['geometry_msgs/msg/Point'](number / 100, 0.0, 1.0)
        turn = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
        pose = types[POSE](header, types['geometry_msgs/msg/Pose'](place, turn))
        more.append(('/tcp_pose', POSE, at + 1, bytes(store.serialize_cdr(pose, POSE))))
        if number % 300 == 0:
            text = types['std_msgs/msg/String'](f'wipe table {number}')
            raw = bytes(store.serialize_cdr(text, 'std_msgs/msg/String'))
            more.append(('/task', 'std_msgs/msg/String', at + 2, raw))
        finger = types[JOINTS](header, ['finger'], *[np.array([number / 1000])] * 3)
        raw = bytes(store.serialize_cdr(finger, JOINTS))
        more.append(('/joint_states', JOINTS, at + 3, raw))
    return sorted([*made, *more], key=lambda one: one[2])


def run(robot: Robot, messages: Messages, sizes: list[int]) -> tuple[list[Any], Any]:
    """Return what a pipeline makes of messages that come so many at once, and its report."""
    taps = [make_tap(name, values) for name, values in (*DEFAULTS.items(), *TASK.items())]
    made: list[Any] = []
    pipeline = Pipeline(
        taps,
        PoseSourceSettings(pose_topic='/tcp_pose'),
        '',
        lambda tap, item: made.append((tap, item)),
        made.append,
        str,
        robot.memory.extensions,
        LOGGED,
        recording=RecordingOrigin('ur5e', messages[0][2]),
    )
    handlers = {(one.topic, one.type): one for one in pipeline.list_handlers()}
    received = [
        ReceivedMessage(handlers[topic, kind], raw, at)
        for topic, kind, at, raw in messages
        if (topic, kind) in handlers
    ]
    at = 0
    for size in sizes:
        pipeline.receive(received[at : at + size])
        at += size
    assert at >= len(received)
    pipeline.finish()
    return made, pipeline.report({})


def draw_sizes(total: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    sizes: list[int] = []
    while sum(sizes) < total:
        sizes.append(generator.choice([0, 1, 2, 17, 150, 1000]))
    return sizes


@pytest.mark.parametrize('offset_ns', [0, 10**15])
def test_what_comes_of_messages_does_not_depend_on_how_they_are_cut(
    robot: Robot, messages: Messages, offset_ns: int
) -> None:
    late = [
        (topic, kind, at + offset_ns + 1000 * (number % 7), raw)
        for number, (topic, kind, at, raw) in enumerate(messages)
    ]
    one_by_one = run(robot, late, [1] * len(late))
    taps = [tap for tap, _ in one_by_one[0]]
    assert {'joint_states', 'wrench', 'camera', 'task'} == set(taps) and len(taps) > 10
    for sizes in ([len(late)], draw_sizes(len(late), 1), draw_sizes(len(late), 2)):
        assert run(robot, late, sizes) == one_by_one


@pytest.mark.parametrize(('late_ns', 'kind'), [(0, 'turn'), (10**9, 'push')])
def test_a_contact_is_judged_by_the_joint_states_that_came_before_it(
    robot: Robot, tmp_path: Path, late_ns: int, kind: str
) -> None:
    made = messages_of(weigh(recordings.RECORD(tmp_path / 'made'), tmp_path / 'turned'))
    late = [
        (topic, form, at + (late_ns if topic == '/joint_states' else 0), raw)
        for topic, form, at, raw in made
    ]
    messages = sorted(late, key=lambda one: one[2])
    one_by_one = run(robot, messages, [1] * len(messages))
    assert [item.data['kind'] for tap, item in one_by_one[0] if tap == 'wrench'] == [kind]
    for sizes in ([len(messages)], draw_sizes(len(messages), 1)):
        assert run(robot, messages, sizes) == one_by_one
