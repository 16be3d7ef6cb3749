"""What a live node notices on real topics."""

import itertools
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image, JointState

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


def stamped(message, i, frame, rate=100):
    message.header.stamp.sec = START + i // rate
    message.header.stamp.nanosec = i % rate * (1_000_000_000 // rate) + 7
    message.header.frame_id = frame
    return message


def push():
    """Yield one push of 10 N that lasts 0.4 s, at 100 Hz, between rests."""
    for i in range(200):
        message = stamped(WrenchStamped(), i, 'tool0')
        message.wrench.force.z = -10.0 if 60 <= i < 100 else 0.0
        yield message


def move():
    """Yield one movement of the elbow from rest to rest, at 100 Hz."""
    for i in range(300):
        message = stamped(JointState(), i, 'base_link')
        message.name = ['shoulder', 'elbow']
        phase = min(max((i - 60) / 100, 0.0), 1.0)
        message.position = [0.1, 0.5 - 0.5 * math.cos(math.pi * phase)]
        moving = 0.0 < phase < 1.0
        message.velocity = [0.0, 0.5 * math.pi * math.sin(math.pi * phase) if moving else 0.0]
        yield message


def scene():
    """Yield a textured table at 10 Hz, on which a box appears."""
    table = np.random.default_rng(1).integers(60, 160, (120, 160, 3)).astype(np.uint8)
    box = table.copy()
    box[40:90, 60:110] = (220, 30, 30)
    for i in range(40):
        message = stamped(Image(), i, 'camera', rate=10)
        message.height, message.width, message.step = 120, 160, 480
        message.encoding = 'rgb8'
        message.data = (table if i < 15 else box).tobytes()
        yield message


def events(robot, kind, count, node='/robot_memory'):
    """Wait until so many perceptions of a kind are kept; return them, the oldest first."""

    def kept():
        conditions = json.dumps({'perception_type': kind})
        reply = robot.call('query_records', node, where=conditions, limit=100)
        return reply.records if reply.total_count >= count else None

    found = robot.until(kept, f'{count} {kind} perceptions')
    assert len(found) == count
    return [robot_view(robot, node, record) for record in reversed(found)]


def robot_view(robot, node, record):
    found = robot.call('recall', node, query=record.record_content, n=100, min_confidence=0.0)
    return next(item for item in found.memories if item.id == record.memory_id)


def heard(robot, publisher, qos):
    """Wait until the node listens, as reliably as it is spoken to."""

    def listens():
        infos = robot.node.get_subscriptions_info_by_topic(publisher.topic_name)
        return [info for info in infos if info.qos_profile.reliability == qos.reliability]

    robot.until(listens, f'a subscription to {publisher.topic_name}')
    robot.until(publisher.get_subscription_count, 'a match')


@pytest.mark.parametrize('qos', QOS)
def test_fault_01_a_contact_is_felt_whatever_the_publisher_offers(start, robot, qos):
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', qos)
    heard(robot, publisher, qos)
    robot.publish(publisher, push())
    (event,) = events(robot, 'tactile', 1)
    assert '10' in event.content and 'N' in event.content


@pytest.mark.parametrize('qos', QOS)
def test_fault_01_a_movement_is_noticed_whatever_the_publisher_offers(start, robot, qos):
    start()
    publisher = robot.node.create_publisher(JointState, '/joint_states', qos)
    heard(robot, publisher, qos)
    robot.publish(publisher, move())
    (event,) = events(robot, 'proprioceptive', 1)
    assert 'elbow' in event.content


@pytest.mark.parametrize('qos', QOS)
def test_fault_01_a_change_is_seen_whatever_the_publisher_offers(start, robot, qos):
    start()
    publisher = robot.node.create_publisher(Image, '/camera/image_raw', qos)
    heard(robot, publisher, qos)
    robot.publish(publisher, scene(), period=0.01)
    assert len(events(robot, 'visual', 2)) == 2


def test_fault_09_an_event_keeps_the_stamp_and_frame_of_the_measurement(start, robot):
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    heard(robot, publisher, QOS[0].values[0])
    robot.publish(publisher, push())
    (event,) = events(robot, 'tactile', 1)
    assert event.frame_id == 'tool0'
    assert (event.stamp.sec, event.stamp.nanosec) == (START, 600_000_007)


def test_fault_04_the_same_push_again_is_a_second_memory(start, robot):
    start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    heard(robot, publisher, QOS[0].values[0])
    robot.publish(publisher, push())
    later = []
    for message in push():
        message.header.stamp.sec += 60
        later.append(message)
    robot.publish(publisher, later)
    first, second = events(robot, 'tactile', 2)
    assert second.stamp.sec - first.stamp.sec == 60


def test_a_wrench_without_a_header_is_stamped_when_it_comes(start, robot):
    start(wrench_type='geometry_msgs/msg/Wrench')
    publisher = robot.node.create_publisher(Wrench, '/wrench', 500)
    heard(robot, publisher, QOS[0].values[0])
    before = robot.node.get_clock().now().nanoseconds // 10**9
    robot.publish(publisher, (message.wrench for message in push()), period=0.01)
    (event,) = events(robot, 'tactile', 1)
    assert event.stamp.sec >= before and event.frame_id == ''


def test_the_tap_follows_publishers_that_come_and_go(start, robot):
    start()
    reliable, best_effort = QOS[0].values[0], QOS[2].values[0]
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', reliable)
    heard(robot, publisher, reliable)
    robot.node.destroy_publisher(publisher)
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', best_effort)
    heard(robot, publisher, best_effort)
    robot.publish(publisher, push())
    events(robot, 'tactile', 1)


def test_unreadable_messages_are_counted_and_end_nothing(start, robot):
    node = start()
    publisher = robot.node.create_publisher(Image, '/camera/image_raw', 10)
    heard(robot, publisher, QOS[0].values[0])
    bad = [stamped(Image(encoding='rgb8', height=4, width=4, step=12), i, 'c') for i in range(5)]
    robot.publish(publisher, bad, period=0.01)
    robot.publish(publisher, scene(), period=0.01)
    events(robot, 'visual', 2)
    assert node.stop() == 0
    assert 'unreadable 5' in node.said()


def test_topics_and_collection_come_from_the_parameters(start, robot):
    start(wrench_topic='/left/wrench', sense_collection='left_arm', image_topic="''")
    publisher = robot.node.create_publisher(WrenchStamped, '/left/wrench', 500)
    heard(robot, publisher, QOS[0].values[0])
    robot.publish(publisher, push())
    where = json.dumps({'collection': 'left_arm', 'kind': 'perception'})
    robot.until(
        lambda: robot.call('query_records', where=where).total_count == 1, 'the perception'
    )
    assert robot.node.count_subscribers('/camera/image_raw') == 0


def test_a_slow_topic_costs_little_of_the_processor(start, robot):
    node = start()
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    heard(robot, publisher, QOS[0].values[0])

    def processor_seconds():
        fields = Path(f'/proc/{node.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    before, begun = processor_seconds(), time.monotonic()
    robot.publish(publisher, itertools.islice(push(), 150), period=0.02)
    spent = (processor_seconds() - before) / (time.monotonic() - begun)
    assert spent < 0.4, 'rclpy hands one callback out thousands of times, see ros/executor.py'
