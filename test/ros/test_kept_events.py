"""What is kept is told on ~/events, and shown on ~/markers while somebody looks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from replay import wait_until_heard
from visualization_msgs.msg import Marker, MarkerArray

from robot_memory.msg import KeptEvent

LATCHED = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


def listen(robot: Any, kind: Any, topic: str) -> list[Any]:
    """Return a list that what comes on a topic is added to."""
    heard: list[Any] = []
    robot.node.create_subscription(kind, f'/robot_memory/{topic}', heard.append, LATCHED)
    return heard


def push() -> Any:
    """Yield a push of 10 N at 100 Hz."""
    for number in range(200):
        message = WrenchStamped()
        message.header.stamp.sec = 1_700_000_000 + number // 100
        message.header.stamp.nanosec = number % 100 * 10_000_000 + 7
        message.header.frame_id = 'tool0'
        message.wrench.force.z = -10.0 if 60 <= number < 100 else 0.0
        yield message


def test_what_is_kept_is_told_whoever_kept_it(start: Callable[..., Any], robot: Any) -> None:
    start(taps='["wrench"]')
    heard = listen(robot, KeptEvent, 'events')
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    wait_until_heard(robot, publisher)
    robot.publish(publisher, push())
    robot.until(lambda: len(heard) == 1, 'the contact')
    stated = robot.call('learn', insight='The left bin is full')
    saved = robot.call(
        'save_perception',
        description='The door squeaks',
        perception_type='auditory',
        frame_id='mic',
        pose=json.dumps(
            {'position': [1, 2, 3], 'frame_id': 'map', 'covariance': [0.25] + [0] * 35}
        ),
    )
    assert stated.success and saved.success
    robot.until(lambda: len(heard) == 3, 'all three')
    contact, fact, sound = heard
    assert (contact.kind, contact.label, contact.frame_id) == ('contact', 'push', 'tool0')
    assert contact.has_stamp and contact.stamp.sec == 1_700_000_000 and not contact.has_pose
    figures = {one.name: (one.value, one.unit) for one in contact.figures}
    assert 9.0 < figures['peak_force'][0] < 11.0 and figures['peak_force'][1] == 'N'
    assert contact.text.startswith('Contact')
    assert (fact.memory_id, fact.kind, fact.text) == (stated.memory_id, 'fact', stated_text())
    assert not fact.has_stamp and fact.stamp.sec > 1_700_000_000
    assert (sound.memory_id, sound.frame_id, sound.has_pose) == (saved.memory_id, 'map', True)
    assert (sound.pose.position.x, sound.pose.position.z, sound.pose.orientation.w) == (1, 3, 1)
    stamped = sound.pose_stamped
    assert (stamped.header.frame_id, stamped.header.stamp) == ('map', sound.stamp)
    assert stamped.pose.pose == sound.pose and not sound.has_orientation
    assert sound.has_covariance and stamped.pose.covariance[0] == 0.25


def stated_text() -> str:
    return 'The left bin is full'


def test_who_comes_late_is_told_the_latest_fifty(start: Callable[..., Any], robot: Any) -> None:
    start(taps='[""]')
    early = listen(robot, KeptEvent, 'events')
    for number in range(60):
        robot.call('learn', insight=f'Shelf {number} holds {number + 100} screws')
    robot.until(lambda: len(early) == 60, lambda: f'60 events, not {len(early)}')
    late = listen(robot, KeptEvent, 'events')
    robot.until(lambda: len(late) >= 50, lambda: f'50 events, not {len(late)}')
    assert [one.memory_id for one in late] == [one.memory_id for one in early[-50:]]


def test_memories_with_a_place_are_markers_coloured_by_kind(
    start: Callable[..., Any], robot: Any
) -> None:
    start(taps='[""]')
    robot.call('learn', insight='A fact without a place')
    for number, kind in enumerate(('visual', 'tactile')):
        robot.call(
            'save_perception',
            description=f'Something {kind}',
            perception_type=kind,
            pose=json.dumps({'position': [number, 0, 0.5], 'frame_id': 'map'}),
        )
    heard = listen(robot, MarkerArray, 'markers')
    robot.until(lambda: heard, 'the markers')
    first, *others = heard[0].markers
    assert first.action == Marker.DELETEALL and len(others) == 2
    assert {one.header.frame_id for one in others} == {'map'}
    assert sorted(one.pose.position.x for one in others) == [0.0, 1.0]
    assert {one.ns for one in others} == {'perception'} and others[0].color.a > 0
    robot.call(
        'save_perception',
        description='One more',
        perception_type='visual',
        pose=json.dumps({'position': [5, 0, 0], 'frame_id': 'map'}),
    )
    robot.until(lambda: len(heard[-1].markers) == 4, 'one marker more')
