"""Play recorded messages as live topics, with a clock, at many times the speed."""

from __future__ import annotations

import itertools
import re
import time
from collections import Counter
from importlib import import_module
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

TICK = 0.01
EARLY = 0.002
"""Seconds for which it is not worth while to wait."""
SILENCE = 2 * 10**9


def room_for(messages: Any) -> dict[str, Any]:
    """Return the parameters with which a node has room for all messages, be it slow or fast."""
    topics = {topic for topic, _, _, _ in messages}
    return {f'qos_overrides.{topic}.subscription.depth': len(messages) for topic in topics}


def wait_until_heard(robot: Any, publisher: Any, count: int = 1, reliability: Any = None) -> None:
    """
    Wait until `count` subscriptions are as reliable as a publisher, and all that fit are matched.

    Where parameters override that, `reliability` is the one to wait for.
    One that they replaced may still be there: it ends when they have received. What is published
    as best effort is lost until the tap, too, has found the publisher, which it says itself.
    """
    offered = publisher.qos_profile.reliability
    wanted = reliability or offered

    def is_heard() -> bool:
        infos = robot.node.get_subscriptions_info_by_topic(publisher.topic_name)
        asked = [info.qos_profile.reliability for info in infos]
        is_reliable = offered == ReliabilityPolicy.RELIABLE
        fitting = len(asked) if is_reliable else asked.count(offered)
        matched = publisher.get_subscription_count()
        return asked.count(wanted) == count and bool(matched == fitting)

    robot.until(is_heard, f'{count} subscriptions to {publisher.topic_name}')
    if offered == ReliabilityPolicy.BEST_EFFORT:
        _wait_until_found(robot, publisher.topic_name)


def _wait_until_found(robot: Any, topic: str) -> None:
    """Wait until the tap of a topic says on /diagnostics that it has found a publisher."""
    told: list[DiagnosticArray] = []
    listening = robot.node.create_subscription(DiagnosticArray, '/diagnostics', told.append, 10)

    def is_found() -> bool:
        return any(
            status.name.endswith(f'({topic})') and not status.message.startswith('no publisher')
            for message in told
            for status in message.status
        )

    robot.until(is_found, f'the tap of {topic} to find its publisher')
    robot.node.destroy_subscription(listening)


def publishers_of(robot: Any, messages: Any) -> dict[str, Any]:
    """Return a publisher for each topic; each has a listener that is as reliable."""
    found = {}
    for topic, kind, _, _ in messages:
        if topic not in found:
            package, _, name = kind.split('/')
            kind = getattr(import_module(f'{package}.msg'), name)
            qos = QoSProfile(depth=len(messages))
            found[topic] = robot.node.create_publisher(kind, topic, qos)
    for publisher in found.values():
        wait_until_heard(robot, publisher)
    return found


def play(robot: Any, messages: Any, rate: Any, enough: Any = None, linger: float = 0.1) -> None:
    """
    Publish serialized messages with /clock, at most `rate` times as fast as they were recorded.

    Silences of more than two seconds are cut to two; where the machine is busy, all takes longer.
    Stops when `enough` says so; without it when the node has received all, `linger` seconds after
    the last at the earliest. After the last message the clock goes on, ten seconds in one.
    """
    publishers = publishers_of(robot, messages)
    clock = robot.node.create_publisher(Clock, '/clock', 10)
    sent = dict(Counter(topic for topic, _, _, _ in messages))
    received = {}
    listening = robot.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda told: received.update(_received(told)), 10
    )
    now_ns = messages[0][2]
    due = time.monotonic()
    ticked = 0.0
    for topic, _, at_ns, raw in messages:
        due += min(max(at_ns - now_ns, 0), SILENCE) / 1e9 / rate
        now_ns = at_ns
        while (left := due - time.monotonic()) > EARLY:
            robot.executor.spin_once(timeout_sec=min(left, TICK))
        due = max(due, time.monotonic() - TICK)  # what is late is not made up for
        if time.monotonic() - ticked > TICK:
            ticked = time.monotonic()
            tick(clock, now_ns)
            if enough is not None and enough():
                return
        publishers[topic].publish(raw)
    steps = itertools.count()

    def is_over() -> Any:
        robot.executor.spin_once(timeout_sec=5 * TICK)
        step = next(steps)
        tick(clock, now_ns + round(step * 50 * TICK * 1e9))
        if enough is not None:
            return enough()
        return received == sent and step * 5 * TICK >= linger

    wanted = f'{sent} to be received' if enough is None else 'enough to be noticed'
    robot.until(is_over, lambda: f'{wanted}; received are {received}')
    robot.node.destroy_subscription(listening)


def _received(told: Any) -> dict[str, Any]:
    """Return how many messages of each topic came, by a message on /diagnostics."""
    return {
        found[1]: int(item.value)
        for status in told.status
        for item in status.values
        if item.key == 'received' and (found := re.search(r'\((/.*)\)$', status.name))
    }


def tick(clock: Any, at_ns: int) -> None:
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(at_ns, 10**9)
    clock.publish(message)
