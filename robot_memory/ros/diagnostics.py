"""What became of the messages, on /diagnostics once a second and in the log at the end."""

from __future__ import annotations

import logging

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from robot_memory.ros.taps import Taps
from robot_memory.senses import PatientKeeper

logger = logging.getLogger(__name__)
_SECONDS = 1.0
_BAD = ('unreadable', 'lost', 'failed', 'refused')
"""Counts that an operator should look into when they grow."""


class Diagnostics:
    """Publish a status for each tap; it warns while messages are lost, unreadable or refused."""

    def __init__(self, node: Node, taps: Taps, keeper: PatientKeeper) -> None:
        """Publish from now on."""
        self._node = node
        self._taps = taps
        self._keeper = keeper
        self._bad: dict[str, int] = {}
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        group = MutuallyExclusiveCallbackGroup()
        self._timer = node.create_timer(_SECONDS, self._publish, callback_group=group)

    def _publish(self) -> None:
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        for title, counts in self._taps.report(self._keeper.counts).items():
            bad = sum(counts.get(name, 0) for name in _BAD)
            grown = bad - self._bad.get(title, 0)
            self._bad[title] = bad
            message.status.append(
                DiagnosticStatus(
                    level=DiagnosticStatus.WARN if grown else DiagnosticStatus.OK,
                    name=f'{self._node.get_name()}: {title}',
                    message=_words(counts) or 'no message yet',
                    hardware_id=self._node.get_fully_qualified_name(),
                    values=[
                        KeyValue(key=name, value=str(number)) for name, number in counts.items()
                    ],
                )
            )
        self._publisher.publish(message)

    def tell_all(self) -> None:
        """Log what became of the messages of each topic."""
        self._node.destroy_timer(self._timer)
        for title, counts in self._taps.report(self._keeper.counts).items():
            logger.info('%s: %s', title, _words(counts) or 'no message')


def _words(counts: dict[str, int]) -> str:
    return ', '.join(f'{name} {number}' for name, number in counts.items() if number)
