"""Play recorded messages as live topics, with a clock, at many times the speed."""

from __future__ import annotations

import time
from importlib import import_module

from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

TICK = 0.01
SILENCE = 2 * 10**9


def publishers_of(robot, messages):
    """Return a publisher for each topic; each has a listener that is as reliable."""
    found = {}
    for topic, kind, _, _ in messages:
        if topic not in found:
            package, _, name = kind.split('/')
            kind = getattr(import_module(f'{package}.msg'), name)
            found[topic] = robot.node.create_publisher(kind, topic, QoSProfile(depth=2000))
    for topic, publisher in found.items():

        def listened(topic=topic, publisher=publisher):
            return any(
                info.qos_profile.reliability == publisher.qos_profile.reliability
                for info in robot.node.get_subscriptions_info_by_topic(topic)
            )

        robot.until(listened, f'a listener to {topic}')
        robot.until(publisher.get_subscription_count, f'a match on {topic}')
    return found


def play(robot, messages, rate, until=lambda: False, linger=0.1):
    """
    Publish serialized messages with /clock, `rate` times as fast as they were recorded.

    Silences of more than two seconds are cut to two. Stops early where `until` says so. The clock
    goes on for `linger` seconds, ten in one, after the last message.
    """
    publishers = publishers_of(robot, messages)
    clock = robot.node.create_publisher(Clock, '/clock', 10)
    now_ns = messages[0][2]
    due = begin = time.monotonic()
    ticked = 0.0
    for topic, _, at_ns, raw in messages:
        due += min(max(at_ns - now_ns, 0), SILENCE) / 1e9 / rate
        now_ns = at_ns
        while (left := due - time.monotonic()) > 0:
            robot.executor.spin_once(timeout_sec=min(left, TICK))
            if until():
                return
        if time.monotonic() - ticked > TICK:
            ticked = time.monotonic()
            tick(clock, now_ns)
        publishers[topic].publish(raw)
    for step in range(round(linger / (5 * TICK))):
        robot.executor.spin_once(timeout_sec=5 * TICK)
        tick(clock, now_ns + round(step * 50 * TICK * 1e9))
    assert time.monotonic() - begin < 600


def tick(clock, at_ns):
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(at_ns, 10**9)
    clock.publish(message)
