"""What a live node notices on real topics."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import detector_packages
import numpy as np
import pytest
import rclpy
from amounts import LONG
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, Wrench, WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from replay import wait_until_heard
from robots import check_file
from sensor_msgs.msg import BatteryState, Image, JointState
from std_msgs.msg import Bool, String
from waiting import HANG_SECONDS

from robot_memory.detectors import Signal
from robot_memory.ros.executor import DispatchOnceExecutor
from robot_memory.ros.taps import choose_period

START = 1_700_000_000
QOS = [
    pytest.param(
        QoSProfile(depth=500, reliability=reliability, durability=durability),
        id=f'{reliability.name.lower()}-{durability.name.lower()}',
    )
    for reliability, durability in itertools.product(
        (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT),
        (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL),
    )
]

EITHER = QOS if LONG else QOS[::2]
"""Reliable and best effort; with what is kept for late comers in `make test-long`."""


def stamped(message: Any, i: Any, frame: Any, rate: int = 100) -> Any:
    message.header.stamp.sec = START + i // rate
    message.header.stamp.nanosec = i % rate * (1_000_000_000 // rate) + 7
    message.header.frame_id = frame
    return message


def push() -> Iterator[Any]:
    """Yield one push of 10 N that lasts 0.4 s, at 100 Hz, between rests."""
    for i in range(200):
        message = stamped(WrenchStamped(), i, 'tool0')
        message.wrench.force.z = -10.0 if 60 <= i < 100 else 0.0
        yield message


def later(messages: Iterator[Any], seconds: int) -> Iterator[Any]:
    """Yield messages with stamps that many seconds later."""
    for message in messages:
        message.header.stamp.sec += seconds
        yield message


def move() -> Iterator[Any]:
    """Yield one movement of the elbow from rest to rest, at 100 Hz."""
    for i in range(300):
        message = stamped(JointState(), i, 'base_link')
        message.name = ['shoulder', 'elbow']
        phase = min(max((i - 60) / 100, 0.0), 1.0)
        message.position = [0.1, 0.5 - 0.5 * math.cos(math.pi * phase)]
        moving = 0.0 < phase < 1.0
        message.velocity = [0.0, 0.5 * math.pi * math.sin(math.pi * phase) if moving else 0.0]
        yield message


def scene() -> Iterator[Any]:
    """Yield a tiled table at 10 Hz, on which a box appears."""
    tiles = np.random.default_rng(1).integers(60, 160, (12, 16, 3))
    table = np.kron(tiles, np.ones((10, 10, 1))).astype(np.uint8)
    box = table.copy()
    box[40:90, 60:110] = (220, 30, 30)
    for i in range(40):
        message = stamped(Image(), i, 'camera', rate=10)
        message.height, message.width, message.step = 120, 160, 480
        message.encoding = 'rgb8'
        message.data = (table if i < 15 else box).tobytes()
        yield message


def events(robot: Any, kind: Any, count: Any, node: str = '/robot_memory') -> list[Any]:
    """Wait until so many perceptions of a kind are kept; return them, the oldest first."""

    def kept() -> Any:
        conditions = json.dumps({'perception_type': kind})
        reply = robot.call('query_records', node, where=conditions, limit=100)
        return reply.records if reply.total_count >= count else None

    found = robot.poll(kept, f'{count} {kind} perceptions')
    assert len(found) == count
    return [robot_view(robot, node, record) for record in reversed(found)]


def robot_view(robot: Any, node: Any, record: Any) -> Any:
    found = robot.call('recall', node, query=record.record_content, n=100, min_confidence=0.0)
    return next(item for item in found.memories if item.id == record.memory_id)


@pytest.mark.parametrize('qos', QOS)
def test_faults_01_and_09_a_contact_is_felt_as_it_was_measured_whatever_the_publisher_offers(
    start: Callable[..., Any], robot: Any, qos: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', qos)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    (event,) = events(robot, 'tactile', 1)
    assert '10' in event.content and 'N' in event.content
    assert event.frame_id == 'tool0'
    assert (event.stamp.sec, event.stamp.nanosec) == (START, 600_000_007)


@pytest.mark.parametrize('qos', EITHER)
def test_fault_01_a_movement_is_noticed_whatever_the_publisher_offers(
    start: Callable[..., Any], robot: Any, qos: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(JointState, '/joint_states', qos)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, move())
    (event,) = events(robot, 'proprioceptive', 1)
    assert 'elbow' in event.content


@pytest.mark.parametrize('qos', EITHER)
def test_fault_01_a_change_is_seen_whatever_the_publisher_offers(
    start: Callable[..., Any], robot: Any, qos: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(Image, '/camera/image_raw', qos)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, scene(), period=0.01)
    assert len(events(robot, 'visual', 2)) == 2


def test_the_signal_of_an_event_is_shown_whole_with_what_led_to_it(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    (event,) = events(robot, 'tactile', 1)
    shown = robot.call('show', memory_id=event.id)
    assert shown.success and json.loads(shown.data)['peak_force'] == pytest.approx(10.0)
    (part,) = shown.parts
    signal = Signal.from_npz(bytes(part.content))
    seconds = (signal.stamps_ns - signal.stamps_ns[0]) / 1e9
    # 0.6 s lead to the push, which lasts 0.4 s; half a second follows.
    assert seconds[-1] == pytest.approx(1.5, abs=0.02)
    assert signal.values[:, signal.columns.index('force.z')].min() == pytest.approx(-10.0)


def test_what_is_under_way_when_a_topic_falls_silent_is_kept(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, itertools.islice(push(), 90))
    (event,) = events(robot, 'tactile', 1)
    assert event.content.endswith('broken off: the readings stopped')


@pytest.mark.parametrize('qos', EITHER)
def test_faults_04_and_14_each_push_is_a_memory_also_after_the_node_was_killed(
    start: Callable[..., Any], robot: Any, qos: Any
) -> None:
    node = start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', qos)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    robot.publish(publisher, later(push(), 60))
    felt = events(robot, 'tactile', 2)
    assert felt[1].stamp.sec - felt[0].stamp.sec == 60
    node.stop(signal.SIGKILL)
    check_file(node.db)
    # Under another name: the killed one is discovered to be gone only after seconds.
    start('-r', '__node:=again', db_path=node.db)
    again = events(robot, 'tactile', 2, '/again')
    assert [(one.id, one.content) for one in again] == [(one.id, one.content) for one in felt]


CONFIG = Path(__file__).parents[2] / 'config'


def test_the_parameters_for_a_ur5e_fit_the_topics_of_its_driver(
    start: Callable[..., Any], robot: Any
) -> None:
    start('--params-file', CONFIG / 'ur5e.yaml')
    wrench = '/force_torque_sensor_broadcaster/wrench'
    publisher = robot.node.create_publisher(WrenchStamped, wrench, 500)
    joints = robot.node.create_publisher(JointState, '/joint_states', 500)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    program = '/io_and_status_controller/robot_program_running'
    running = robot.node.create_publisher(Bool, program, latched)
    for one in (publisher, joints, running):
        wait_until_heard(robot, one)
    robot.publish(publisher, push())
    robot.publish(joints, move())
    running.publish(Bool(data=True))
    running.publish(Bool(data=False))
    (contact,) = events(robot, 'tactile', 1)
    assert 'tool flange' in contact.content
    found = events(robot, 'proprioceptive', 2)
    assert any('o program controls the arm' in one.content for one in found)


def test_the_parameters_for_a_mobile_base_give_events_the_pose_of_its_odometry(
    start: Callable[..., Any], robot: Any
) -> None:
    start('--params-file', CONFIG / 'mobile_base.yaml')
    odometry = robot.node.create_publisher(Odometry, '/odom', 500)
    joints = robot.node.create_publisher(JointState, '/joint_states', 500)
    for one in (odometry, joints):
        wait_until_heard(robot, one)
    for number in range(300):
        message = stamped(Odometry(), number, 'odom')
        message.child_frame_id = 'base_link'
        message.pose.pose.position.x = 2.5
        message.pose.pose.orientation.w = 1.0
        odometry.publish(message)
    diagnosed(robot, '/odom', received=300)
    robot.publish(joints, move())
    (motion,) = events(robot, 'proprioceptive', 1)
    assert json.loads(motion.pose)['position'] == [2.5, 0.0, 0.0]


def test_settings_of_a_tap_change_from_its_next_event_on(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    set_them = robot.node.create_client(SetParameters, '/robot_memory/set_parameters')
    robot.until(set_them.service_is_ready, 'the parameter services')

    def put(name: str, value: Any) -> Any:
        message = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[message])
        return robot.answer(set_them.call_async(request)).results[0]

    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', QOS[0].values[0])
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    events(robot, 'tactile', 1)
    assert put('wrench.onset_n', 15.0).successful
    robot.publish(publisher, later(push(), 60))
    diagnosed(robot, 'wrench (/wrench)', received=400)
    assert put('wrench.onset_n', 4.0).successful and put('wrench.place', 'left hand').successful
    robot.publish(publisher, later(push(), 120))
    first, third = events(robot, 'tactile', 2)
    assert third.stamp.sec - first.stamp.sec == 120
    assert 'left hand' in third.content and 'left hand' not in first.content


def test_settings_of_a_tap_that_cannot_be_are_refused_in_words(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    set_them = robot.node.create_client(SetParameters, '/robot_memory/set_parameters')
    robot.until(set_them.service_is_ready, 'the parameter services')
    refused: list[tuple[str, Any, str]] = [
        ('wrench.onset_n', -1.0, 'onset_n'),
        ('wrench.topic', '/elsewhere', 'read-only'),
        ('wrench.session', 'gone', 'gone'),
        ('joint_states.stop_speed', 0.01, 'read-only'),
        ('joint_states.start_speed', 0.001, 'start_speed'),
    ]
    for name, value, words in refused:
        message = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[message])
        (result,) = robot.answer(set_them.call_async(request)).results
        assert not result.successful and words in result.reason, name


def test_a_wrench_without_a_header_is_stamped_when_it_comes(
    start: Callable[..., Any], robot: Any
) -> None:
    start(**{'wrench.type': 'geometry_msgs/msg/Wrench'})
    publisher = robot.node.create_publisher(Wrench, '/wrench', 500)
    wait_until_heard(robot, publisher)
    before = robot.node.get_clock().now().nanoseconds // 10**9
    robot.publish(publisher, (message.wrench for message in push()), period=0.01)
    (event,) = events(robot, 'tactile', 1)
    assert event.stamp.sec >= before and event.frame_id == ''


def test_the_tap_follows_publishers_that_come_and_go(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    reliable, best_effort = QOS[0].values[0], QOS[2].values[0]
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', reliable)
    wait_until_heard(robot, publisher)
    robot.node.destroy_publisher(publisher)
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', best_effort)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    events(robot, 'tactile', 1)


def test_unreadable_messages_are_counted_and_end_nothing(
    start: Callable[..., Any], robot: Any
) -> None:
    # A busy machine may take pictures later than they come; none is to be lost here.
    node = start(**{'qos_overrides./camera/image_raw.subscription.depth': 500})
    publisher = robot.node.create_publisher(Image, '/camera/image_raw', 500)
    wait_until_heard(robot, publisher)
    small = {'encoding': 'rgb8', 'height': 4, 'width': 4, 'step': 12}
    bad = [stamped(Image(**small), i, 'camera', rate=10) for i in range(5)]
    robot.publish(publisher, bad, period=0.01)
    robot.publish(publisher, scene(), period=0.01)
    events(robot, 'visual', 2)
    assert node.stop() == 0
    assert 'unreadable 5' in node.said()


def test_topics_and_collection_come_from_the_parameters(
    start: Callable[..., Any], robot: Any
) -> None:
    start(
        **{
            'taps': '[wrench, grip]',
            'wrench.topic': '/left/wrench',
            'wrench.collection': 'left_arm',
            'grip.topic': '/gripper/joint_states',
            'grip.type': 'sensor_msgs/msg/JointState',
        }
    )
    publisher = robot.node.create_publisher(WrenchStamped, '/left/wrench', 500)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    where = json.dumps({'collection': 'left_arm', 'kind': 'perception'})
    robot.poll(lambda: robot.call('query_records', where=where).total_count == 1, 'the perception')
    assert robot.node.count_subscribers('/gripper/joint_states') == 1
    assert robot.node.count_subscribers('/camera/image_raw') == 0


def test_an_event_has_the_pose_of_its_stamp(start: Callable[..., Any], robot: Any) -> None:
    start(pose_topic='/tcp_pose', taps='[wrench]')
    wrenches = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    poses = robot.node.create_publisher(PoseStamped, '/tcp_pose', 500)
    wait_until_heard(robot, wrenches)
    wait_until_heard(robot, poses)
    for i in range(200):
        pose = stamped(PoseStamped(), i, 'map')
        pose.pose.position.x = i / 100
        poses.publish(pose)
    diagnosed(robot, '/tcp_pose', received=200)
    robot.publish(wrenches, push())
    (event,) = events(robot, 'tactile', 1)
    pose = json.loads(event.pose)
    assert pose['frame_id'] == 'map' and event.frame_id == 'tool0'
    assert pose['position'] == pytest.approx([0.6, 0.0, 0.0])


def set_map(robot: Any, **request: Any) -> Any:
    """Call ~/set_map, which has a name of its own beside that of the node."""
    client = robot.client('set_map')
    return robot.answer(client.call_async(client.srv_type.Request(**request)))


def test_an_event_is_of_the_map_that_the_node_has(start: Callable[..., Any], robot: Any) -> None:
    wrenches = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    poses = robot.node.create_publisher(PoseWithCovarianceStamped, '/amcl', 500)
    kind = 'geometry_msgs/msg/PoseWithCovarianceStamped'
    start(pose_topic='/amcl', pose_type=kind, taps='[wrench]', map_name='kitchen')
    wait_until_heard(robot, wrenches)
    wait_until_heard(robot, poses)
    seconds = (
        robot.node.get_clock().now().nanoseconds // 10**9 + 1 - START
    )  # what was measured before is of no named map
    for pose in later(
        (stamped(PoseWithCovarianceStamped(), i, 'map') for i in range(200)), seconds
    ):
        pose.pose.covariance[0] = 0.01
        poses.publish(pose)
    diagnosed(robot, '/amcl', received=200)
    robot.publish(wrenches, later(push(), seconds))
    (event,) = events(robot, 'tactile', 1)
    pose = json.loads(event.pose)
    assert (pose['map'], pose['map_revision']) == ('kitchen', 1)
    assert pose['covariance'][0] == pytest.approx(0.01) and len(pose['covariance']) == 36
    assert event.of_map == ''
    done = set_map(robot, name='')
    assert not done.success and done.error_code == 'invalid_argument'
    near = json.dumps({'frame': 'map', 'position': [0, 0, 0], 'within': 1, 'probability': 0.9})
    assert robot.call('recall', near=near).total == 1
    assert set_map(robot, name='kitchen').revision == 2
    answer = robot.call('recall', near=near)
    assert (
        answer.total == 0
        and 'of map kitchen r1' in json.loads(answer.near)['not_compared'][0]['reason']
    )
    (event,) = events(robot, 'tactile', 1)
    assert event.of_map == 'of map kitchen r1'
    moved = json.dumps({'position': [0.5, 0, 0]})
    assert set_map(robot, name='kitchen', revision=2, transform=moved, old_revision=1).anchored
    assert robot.call('recall', near=near).total == 1


def diagnosed(robot: Any, title: Any, received: int = 0) -> Any:
    """Return what /diagnostics says of a tap once it has received so many messages."""
    heard = {}
    subscription = robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: heard.update({status.name: status for status in message.status}),
        10,
    )

    def counted() -> Any:
        status = heard.get(f'robot_memory: {title}')
        values = status.values if status else ()
        rated = [item for item in values if not item.key.endswith(' Hz')]
        counts = {item.key: int(item.value) for item in rated}
        return status and counts.get('received', 0) >= received and (status.level, counts)

    found = robot.until(counted, f'a status of {title} with {received} received')
    robot.node.destroy_subscription(subscription)
    return found


def test_what_became_of_every_message_is_on_diagnostics(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher)
    messages = list(push())
    without_stamp = [WrenchStamped() for _ in range(3)]
    # A good one is last: the level is that of what came since the diagnostics before.
    *first, last = messages
    robot.publish(publisher, [*first, first[-1], *without_stamp, last])
    events(robot, 'tactile', 1)
    level, counts = diagnosed(robot, 'wrench (/wrench)', received=204)
    assert counts == {
        'received': 204,
        'no stamp': 3,
        'late or repeated stamp': 1,
        'events': 1,
    }
    assert level == DiagnosticStatus.OK


def test_messages_that_overflow_the_reader_are_counted_as_lost(
    start: Callable[..., Any], robot: Any
) -> None:
    start(**{'qos_overrides./wrench.subscription.depth': '1'})
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 2000)
    wait_until_heard(robot, publisher)
    messages = [stamped(WrenchStamped(), i, 'tool0', rate=1000) for i in range(1001)]

    def counted() -> tuple[Any, ...]:
        counts = diagnosed(robot, 'wrench (/wrench)')[1]
        return counts.get('received', 0), counts.get('lost', 0)

    publisher.publish(messages[0])
    robot.until(lambda: counted() == (1, 0), 'the first message')
    for message in messages[1:]:
        publisher.publish(message)
    received, lost = robot.until(
        lambda: sum(counted()) == len(messages) and counted(), 'all to be counted'
    )
    assert lost > 0 and received + lost == len(messages)


def test_what_is_above_the_rate_is_counted_and_left(start: Callable[..., Any], robot: Any) -> None:
    overrides = {'qos_overrides./camera/image_raw.subscription.depth': '50'}
    start(**{'camera.max_rate_hz': '5.0', **overrides})
    publisher = robot.node.create_publisher(Image, '/camera/image_raw', 50)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, scene(), period=0.01)
    events(robot, 'visual', 2)
    _, counts = diagnosed(robot, 'camera (/camera/image_raw)', received=40)
    assert counts['received'] == 40 and counts['rate'] == 20


def test_the_qos_can_be_overridden(start: Callable[..., Any], robot: Any) -> None:
    start(**{'qos_overrides./wrench.subscription.reliability': 'best_effort'})
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher, reliability=ReliabilityPolicy.BEST_EFFORT)
    robot.publish(publisher, push(), period=0.002)
    events(robot, 'tactile', 1)
    (info,) = robot.node.get_subscriptions_info_by_topic('/wrench')
    assert info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT


@pytest.mark.parametrize(
    ('parameters', 'said'),
    [
        ({'qos_overrides./wrench.subscription.reliability': 'sure'}, 'reliable, best_effort'),
        ({'taps': '[wrench, hand]'}, 'hand.topic is not set'),
        ({'taps': '[wrench, wrench]'}, 'taps contains wrench twice'),
        ({'wrench.onset': '2.0'}, 'unknown parameter wrench.onset; wrench accepts baseline_s'),
        ({'wrench.type': 'sensor_msgs/msg/Imu'}, 'WrenchStamped'),
        ({'wrench.release_ratio': '7.0'}, 'release_ratio'),
        ({'wrench.session_id': 'no-such-session'}, 'no-such-session'),
        ({'camera.detector': 'contact'}, 'accepted: scene'),
        pytest.param(
            {'fixed_frame': 'map'},
            'tf2_msgs',
            marks=pytest.mark.skipif(
                find_spec('tf2_msgs') is not None, reason='tf can be listened to here'
            ),
        ),
    ],
)
def test_a_node_with_wrong_taps_says_what_is_wrong_and_does_not_start(
    start: Callable[..., Any], parameters: dict[str, Any], said: str
) -> None:
    node = start(**parameters)
    assert node.process.wait(timeout=HANG_SECONDS) == 1
    assert said in node.said() and 'Traceback' not in node.said()


def test_two_taps_listen_to_one_topic_and_unknown_parameters_are_told(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(
        **{
            'taps': '[wrench, strong]',
            'strong.topic': '/wrench',
            'strong.type': 'geometry_msgs/msg/WrenchStamped',
            'strong.onset_n': '8.0',
            'strong.collection': 'strong',
            'strng.onset_n': '9.0',
        }
    )
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher, count=2)
    robot.publish(publisher, push())
    count = json.dumps({'kind': 'perception'})
    robot.poll(lambda: robot.call('query_records', where=count).total_count >= 2, 'the push')
    assert 'ignoring unknown parameter strng.onset_n' in node.said()
    assert node.stop() == 0
    assert node.said().count('received 200') == 2


def test_an_instruction_that_was_given_before_is_heard(
    start: Callable[..., Any], robot: Any
) -> None:
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = robot.node.create_publisher(String, '/task', qos)
    publisher.publish(String(data='wipe the table'))
    start(
        **{
            'taps': '[wrench, task]',
            'task.topic': '/task',
            'task.type': 'std_msgs/msg/String',
            'wrench.type': 'geometry_msgs/msg/Wrench',
        }
    )
    facts = json.dumps({'kind': 'fact'})
    robot.poll(lambda: robot.call('query_records', where=facts).total_count == 1, 'the text')
    wrenches = robot.node.create_publisher(Wrench, '/wrench', 500)
    wait_until_heard(robot, wrenches)
    robot.publish(wrenches, (message.wrench for message in push()), period=0.01)
    (event,) = events(robot, 'tactile', 1)
    assert event.content.endswith('meanwhile: wipe the table')
    assert json.loads(event.task) == {'instruction': 'wipe the table'}


def test_a_warning_in_the_log_is_learned_and_nothing_below_it(
    start: Callable[..., Any], robot: Any
) -> None:
    start(**{'taps': '[log]', 'log.topic': '/rosout', 'log.type': 'rcl_interfaces/msg/Log'})
    publisher = robot.node.create_publisher(Log, '/rosout', 10)
    wait_until_heard(robot, publisher)
    stamp = robot.node.get_clock().now().to_msg()
    for level, text in ((20, 'all is well'), (30, 'the gripper slipped')):
        publisher.publish(Log(stamp=stamp, level=level, name='gripper', msg=text))
    facts = json.dumps({'kind': 'fact'})
    found = robot.poll(lambda: robot.call('query_records', where=facts).records, 'the warning')
    assert [record.record_content for record in found] == ['gripper: the gripper slipped']


def now(robot: Any, messages: Any, ahead: Any) -> Iterator[Any]:
    """Yield messages with stamps that begin some seconds from now."""
    begin = robot.node.get_clock().now().nanoseconds // 10**9 + ahead
    for message in messages:
        message.header.stamp.sec += begin - START
        yield message


def set_parameter(robot: Any, name: Any, value: Any) -> None:
    client = robot.node.create_client(SetParameters, '/robot_memory/set_parameters')
    robot.until(client.service_is_ready, 'the parameter service')
    change = Parameter(name, value=value).to_parameter_msg()
    request = SetParameters.Request(parameters=[change])
    (result,) = robot.answer(client.call_async(request)).results
    assert result.successful, result.reason


def test_a_demonstration_is_recorded_while_the_parameter_names_one(
    start: Callable[..., Any], robot: Any
) -> None:
    start(taps='[joint_states]')
    publisher = robot.node.create_publisher(JointState, '/joint_states', 500)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, now(robot, move(), 0))
    events(robot, 'proprioceptive', 1)
    set_parameter(robot, 'demonstration', 'pour tea')
    robot.publish(publisher, now(robot, move(), 100))
    (shown,) = events(robot, 'procedural', 1)
    assert shown.content.startswith('Demonstration of pour tea: ')
    set_parameter(robot, 'demonstration', '')
    robot.publish(publisher, now(robot, move(), 200))
    events(robot, 'proprioceptive', 2)


class Counting(DispatchOnceExecutor):
    """Count the callbacks that are handed out."""

    handed = 0

    def wait_for_ready_callbacks(self, *arguments: Any, **named: Any) -> Any:
        found = super().wait_for_ready_callbacks(*arguments, **named)
        self.handed += 1
        return found


def test_a_slow_topic_costs_little_of_the_processor(robot: Any) -> None:
    """rclpy's own executor hands one callback out again and again, see ros/executor.py."""
    listener = rclpy.create_node('listener', context=robot.context)
    taken: list[Any] = []
    listener.create_subscription(WrenchStamped, '/wrench', taken.append, 500)
    executor = Counting(num_threads=2, context=robot.context)
    executor.add_node(listener)
    spinner = threading.Thread(target=executor.spin)
    spinner.start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    robot.until(publisher.get_subscription_count, 'a match')
    robot.publish(publisher, itertools.islice(push(), 150))
    robot.until(lambda: len(taken) == 150, 'every message')
    executor.shutdown()
    spinner.join()
    listener.destroy_node()
    assert executor.handed <= len(taken) + 10


def test_a_detector_of_a_package_becomes_a_tap_with_its_settings(
    start: Callable[..., Any], robot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = detector_packages.install(tmp_path / 'site')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, (str(site), _path()))))
    file = tmp_path / 'params.yaml'
    file.write_text(
        '/**:\n  ros__parameters:\n    taps: [power]\n    power:\n      topic: /battery\n'
        '      detector: battery\n      low: 0.2\n'
    )
    start('--params-file', file)
    statuses = {}
    robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: statuses.update({one.name: one for one in message.status}),
        10,
    )
    publisher = robot.node.create_publisher(BatteryState, '/battery', 100)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, (_state(*one) for one in enumerate(detector_packages.CHARGES)))
    found = robot.poll(
        lambda: robot.call('recall', query='battery low', n=1).memories, 'the event'
    )
    assert found[0].content == 'Battery low: down to 12 %'
    assert found[0].stamp.sec == 1_700_000_002
    title = 'robot_memory: power (/battery)'

    def is_counted() -> Any:
        status = statuses.get(title)
        return status and {one.key: one.value for one in status.values}.get('events') == '1'

    robot.until(is_counted, 'the event in the diagnostics')
    assert statuses[title].level == DiagnosticStatus.OK


def _path() -> Any:
    return os.environ.get('PYTHONPATH', '')


def _state(second: Any, charge: Any) -> Any:
    message = BatteryState(percentage=charge, voltage=20.0)
    message.header.stamp.sec = 1_700_000_000 + second
    message.header.frame_id = 'base'
    return message


@pytest.mark.parametrize(
    ('period_s', 'fullest', 'next_s'),
    [
        (0.02, 0.0, 0.04),
        (0.04, 0.02, 0.08),
        (0.1, 0.0, 0.1),
        (0.1, 0.5, 0.05),
        (0.1, 1.0, 0.025),
        (0.02, 1.0, 0.02),
    ],
)
def test_turns_get_shorter_as_queues_fill_and_longer_again(
    period_s: float, fullest: float, next_s: float
) -> None:
    assert choose_period(period_s, fullest) == pytest.approx(next_s)
