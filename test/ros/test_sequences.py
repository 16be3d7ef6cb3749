"""A subscription follows what the publishers of its topic offer, and loses nothing on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from narrowing import require
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from robot_memory.ingest import TopicHandler
from robot_memory.ingest.messages import decode
from robot_memory.ros.taps import AdaptiveSubscription

TYPE = 'std_msgs/msg/String'
TOPIC = '/followed'
HANDLER = TopicHandler(TOPIC, TOPIC, TYPE, latched=False, optional=False)
COUNTER = """
import collections, itertools, sys, threading, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node('counter')
publisher = node.create_publisher(String, '/followed', 1000)
numbers, wanted = itertools.count(), collections.deque()
def publish():
    if wanted:
        wanted.popleft()
        publisher.publish(String(data=f'{next(numbers)}'))
def read():
    for line in sys.stdin:
        wanted.extend(range(int(line)))
node.create_timer(0.001, publish)
threading.Thread(target=read, daemon=True).start()
rclpy.spin(node)
"""
"""Publishes as many numbers as it reads: never more than the queues of both sides hold."""
BATCH = 200


def test_no_message_is_lost_while_the_subscription_changes(
    robot: Any, successor: Callable[[], Any]
) -> None:
    tap = successor()
    counter = subprocess.Popen([sys.executable, '-c', COUNTER], stdin=subprocess.PIPE)
    taken: list[int] = []
    wanted = 0

    def publish(number: int) -> None:
        nonlocal wanted
        wanted += number
        require(counter.stdin).write(f'{number}\n'.encode())
        require(counter.stdin).flush()

    def take() -> list[int]:
        for message in subscription.take():
            text = decode(message.raw, TYPE).data
            if text.isdigit():
                taken.append(int(text))
        return taken

    def see_publishers(number: int) -> None:
        tap.until(lambda: tap.node.count_publishers(TOPIC) == number, f'{number} publishers')

    try:
        see_publishers(1)
        subscription = AdaptiveSubscription(tap.node, HANDLER)

        def take_first() -> list[int]:
            publish(1)
            return take()

        robot.until(take_first, 'the first message')
        publish(BATCH)
        best_effort = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
        other = robot.node.create_publisher(String, TOPIC, best_effort)
        see_publishers(2)
        # While it is stopped, the process cannot discover the new subscription.
        os.kill(counter.pid, signal.SIGSTOP)
        take()
        subscription.follow()
        subscription.follow()
        assert tap.node.count_subscribers(TOPIC) == 2
        publish(BATCH)
        os.kill(counter.pid, signal.SIGCONT)
        robot.until(lambda: take()[-1] == wanted - 1, 'messages of before and after the change')
        assert taken == list(range(taken[0], wanted)) and subscription.lost == 0

        def is_alone() -> bool:
            other.publish(String(data='other'))
            publish(1)
            take()
            subscription.follow()
            return bool(tap.node.count_subscribers(TOPIC) == 1)

        robot.until(is_alone, 'the end of the replaced subscription')
        subscription.close()
    finally:
        counter.kill()
        counter.wait()
