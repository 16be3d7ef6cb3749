"""What a pipeline makes of messages does not depend on how many come at once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amounts import few_or_many
from recordings import Messages, messages_of
from robots import Robot
from rosbags.typesys import Stores, get_typestore

from robot_memory.detectors.readings import JointBlock
from robot_memory.ingest.fast_readings import BlockReader
from robot_memory.ingest.handlers import ReceivedMessage, RecordingOrigin
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import DEFAULTS, make_tap

TASK = {'task': {'topic': '/task', 'type': 'std_msgs/msg/String', 'lasts_s': 1.0}}
JOINTS = 'sensor_msgs/msg/JointState'
POSE = 'geometry_msgs/msg/PoseStamped'


@pytest.fixture(scope='module')
def messages(made: Path) -> Messages:
    """The demonstration's recording, half of its joint states with a finger's in between."""
    recorded = messages_of(made)
    store = get_typestore(Stores.LATEST)
    types = store.types
    more: Messages = []
    for number, (topic, _, at, _) in enumerate(recorded):
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
    return sorted([*recorded, *more], key=lambda one: one[2])


def run(
    robot: Robot, messages: Messages, sizes: list[int], rate_hz: float = 0.0
) -> tuple[list[Any], Any]:
    """Return what a pipeline makes of messages that come so many at once, and its report."""
    taps = [
        make_tap(name, {**values, 'max_rate_hz': rate_hz})
        for name, values in (*DEFAULTS.items(), *TASK.items())
    ]
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


@pytest.mark.parametrize(('offset_ns', 'rate_hz'), [(0, 0.0), (10**15, 0.0), (0, 60.0)])
def test_what_comes_of_messages_does_not_depend_on_how_they_are_cut(
    robot: Robot, messages: Messages, offset_ns: int, rate_hz: float
) -> None:
    late = [
        (topic, kind, at + offset_ns + 1000 * (number % 7), raw)
        for number, (topic, kind, at, raw) in enumerate(messages)
    ]
    one_by_one = run(robot, late, [1] * len(late), rate_hz)
    taps = [tap for tap, _ in one_by_one[0]]
    assert {'joint_states', 'wrench', 'camera', 'task'} == set(taps) and len(taps) > 10
    drawn = [draw_sizes(len(late), seed) for seed in range(1, few_or_many(2, 6))]
    for sizes in ([len(late)], *drawn):
        assert run(robot, late, sizes, rate_hz) == one_by_one


@pytest.mark.parametrize(('late_ns', 'kind'), [(0, 'turn'), (10**9, 'push')])
def test_a_contact_is_judged_by_the_joint_states_that_came_before_it(
    robot: Robot, turned: Path, late_ns: int, kind: str
) -> None:
    late = [
        (topic, form, at + (late_ns if topic == '/joint_states' else 0), raw)
        for topic, form, at, raw in messages_of(turned)
    ]
    messages = sorted(late, key=lambda one: one[2])
    one_by_one = run(robot, messages, [1] * len(messages))
    assert [item.data['kind'] for tap, item in one_by_one[0] if tap == 'wrench'] == [kind]
    for sizes in ([len(messages)], draw_sizes(len(messages), 1)):
        assert run(robot, messages, sizes) == one_by_one


def write_joints(names: list[str], number: int, frame: str = 'base') -> bytes:
    store = get_typestore(Stores.LATEST)
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    values = np.arange(len(names)) + 10.0 * number
    message = store.types[JOINTS](header(time(5, number), frame), names, values, values, values)
    return bytes(store.serialize_cdr(message, JOINTS))


def test_joints_of_publishers_that_take_turns_are_put_apart_at_equal_length() -> None:
    names = [['left'], ['rite'], ['rite', 'left']]
    raws = [write_joints(names[number % 3], number) for number in range(30)]
    assert len(raws[0]) == len(raws[1]) < len(raws[2])
    reader = BlockReader(JOINTS)
    for _ in range(2):
        found = reader.read(raws)
        assert [list(positions) for positions, _ in found] == [
            list(range(first, 30, 3)) for first in range(3)
        ]
        for first, (_, block) in enumerate(found):
            assert isinstance(block, JointBlock)
            assert list(block.names) == names[first]
            assert block.position[:, 0].tolist() == [10.0 * at for at in range(first, 30, 3)]
            assert (block.stamps_ns - 5 * 10**9).tolist() == list(range(first, 30, 3))


def test_the_same_joints_in_another_order_or_frame_stay_in_the_order_of_their_messages() -> None:
    names = [['left', 'rite'], ['rite', 'left']]
    raws = [write_joints(names[number // 4 % 2], number) for number in range(12)]
    raws[9] = write_joints(names[0], 9, 'tool')
    raws[10] = b'nothing'
    found = BlockReader(JOINTS).read(raws)
    assert [list(positions) for positions, _ in found] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8],
        [9],
        [10],
        [11],
    ]
    blocks = [block for _, block in found]
    assert blocks[4] is None
    assert [block.frame_id for block in blocks if block] == ['base'] * 3 + ['tool', 'base']


def test_messages_of_many_layouts_are_all_read() -> None:
    names = [f'joint_{number:02}' for number in range(40)]
    raws = [write_joints([names[number % 40]], number) for number in range(120)]
    reader = BlockReader(JOINTS)
    for _ in range(2):
        found = reader.read(raws)
        assert sorted(at for positions, _ in found for at in positions) == list(range(120))
        assert len(found) == 40
        assert {block.names[0] for _, block in found if isinstance(block, JointBlock)} == {*names}
