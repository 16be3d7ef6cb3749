"""How memory and taps are, on /diagnostics once a second and in the log at the end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from robot_memory.core.errors import RobotMemoryError
from robot_memory.ingest import QueuedEventWriter
from robot_memory.ingest.pose_source import TF_TYPE
from robot_memory.ingest.tap_problems import DropMonitor
from robot_memory.ingest.threaded_runner import BUSY
from robot_memory.lifecycle.maintenance import measure_file
from robot_memory.lifecycle.no_record import get_withheld
from robot_memory.memory import Memory
from robot_memory.ros.publishers import SubscriptionStatus
from robot_memory.ros.taps import TapSubscriber
from robot_memory.status.node_state import NodeState, StateTeller, TapState
from robot_memory.status.summary import describe_damage, measure_free_bytes
from robot_memory.storage.tables import sizes
from robot_memory.storage.tables.audit import get_head

logger = logging.getLogger(__name__)
_SECONDS = 1.0
_BAD = ('unreadable', 'lost', BUSY, 'failed', 'refused')
"""Counts that an operator should look into when they grow."""


class Diagnostics:
    """
    Publish a status for the memory, and one for each tap.

    A tap's warns while messages are lost, unreadable or refused, while all of them are dropped,
    while a publisher does not match or is gone, and while there was none yet of a topic that
    somebody named; why nothing comes is in the log, too, once until it is
    mended. The memory's has the
    level of the worst error of the last second, and warns while its model is left alone.

    What is published is told through a socket beside the store, too, for processes without ROS.
    """

    def __init__(self, node: Node) -> None:
        """Publish from now on; of what is not open, that it is not."""
        self._node = node
        self._lock = threading.Lock()
        self._failure = ''
        self._memory: Memory | None = None
        self._taps: TapSubscriber | None = None
        self._writer: QueuedEventWriter | None = None
        self._teller: StateTeller | None = None
        self._reported: tuple[float, tuple[TapState, ...]] = (time.monotonic(), ())
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        group = MutuallyExclusiveCallbackGroup()
        self._timer = node.create_timer(_SECONDS, self._publish, callback_group=group)

    def note_failure(self, reason: str) -> None:
        """Say why the last transition of the node failed; empty: it did not."""
        with self._lock:
            self._failure = reason

    def attach(self, memory: Memory) -> None:
        """Publish how an open memory is."""
        with self._lock:
            self._memory = memory
            self._errors = memory.registry.get_error_counts()
        self._teller = StateTeller(memory.db.path, self.describe)

    def detach(self) -> None:
        """Look at the memory no more: it will be closed."""
        if self._teller is not None:
            self._teller.close()
            self._teller = None
        with self._lock:
            self._memory = None

    def describe(self) -> NodeState:
        """Return how the node is, as it was published last."""
        then, taps = self._reported
        name = self._node.get_fully_qualified_name()
        if self._taps is None:
            return NodeState(name, 'inactive', self._failure)
        return NodeState(name, 'active', '', taps, round(time.monotonic() - then, 3))

    def listen(self, taps: TapSubscriber, writer: QueuedEventWriter) -> None:
        """Publish how the taps are, too."""
        with self._lock:
            self._taps, self._writer = taps, writer
            self._bad: dict[str, int] = {}
            self._received: dict[str, tuple[float, int]] = {}
            self._monitors = {title: DropMonitor() for title in taps.list_statuses()}
            self._logged: dict[str, set[str]] = {title: set() for title in self._monitors}

    def stop_listening(self) -> None:
        """Log what became of the messages of each topic; the taps are at their end."""
        with self._lock:
            for title, counts in self._report().items():
                logger.info('%s: %s', title, _format_counts(counts) or 'no messages')
            self._taps = self._writer = None

    def _report(self) -> dict[str, dict[str, int]]:
        if self._taps is None or self._writer is None:
            return {}
        return self._taps.report(self._writer.counts)

    def _publish(self) -> None:
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        with self._lock:
            message.status.append(self._make_status_of_memory())
            statuses = {} if self._taps is None else self._taps.list_statuses()
            taps = tuple(
                self._judge_tap(title, counts, statuses[title])
                for title, counts in self._report().items()
            )
        self._reported = time.monotonic(), taps
        message.status += [
            self._make_status(
                one.level, one.title, one.words, {**one.counts, 'received Hz': one.rate}
            )
            for one in taps
        ]
        self._publisher.publish(message)

    def _make_status_of_memory(self) -> DiagnosticStatus:
        if self._memory is not None and self._taps is not None:
            return self._make_memory_status(self._memory)
        state = 'unconfigured' if self._memory is None else 'inactive'
        level = DiagnosticStatus.ERROR if self._failure else DiagnosticStatus.WARN
        words = self._failure or f'{state}: nothing is recorded and no call is answered'
        return self._make_status(level[0], 'memory', words, {'state': state})

    def _judge_tap(
        self, title: str, counts: Mapping[str, int], status: SubscriptionStatus
    ) -> TapState:
        bad = sum(counts.get(name, 0) for name in _BAD)
        grown = bad - self._bad.get(title, 0)
        self._bad[title] = bad
        # A message of tf holds many transforms, which are counted one by one.
        unused = '' if status.handler.type == TF_TYPE else self._monitors[title].explain(counts)
        fault = status.fault or unused
        self._log_fault(title, fault)
        level = int(bool(grown or fault or (status.missing and not status.handler.optional)))
        words = [fault, _format_counts(counts) or status.missing or 'no messages yet']
        return TapState(
            title,
            status.handler.topic,
            level,
            '; '.join(filter(None, words)),
            dict(counts),
            self._measure_rate(title, counts.get('received', 0)),
            fault or status.missing,
        )

    def _measure_rate(self, title: str, received: int) -> int:
        """Return how many messages a second came since the last call."""
        now = time.monotonic()
        then, before = self._received.get(title, (now - _SECONDS, 0))
        self._received[title] = now, received
        return round((received - before) / max(now - then, 1e-3))

    def _log_fault(self, title: str, fault: str) -> None:
        """Log why nothing comes, once; and that it does again."""
        logged = self._logged[title]
        if fault and fault not in logged:
            logger.warning('%s: %s', title, fault)
            logged.add(fault)
        elif logged and not fault:
            logger.info('%s: resolved', title)
            logged.clear()

    def _make_memory_status(self, memory: Memory) -> DiagnosticStatus:
        registry, breaker = memory.registry, memory.vectorizer.breaker.state
        errors = registry.get_error_counts()
        grown = [name for name, number in errors.items() if number > self._errors.get(name, 0)]
        self._errors = errors
        read_only = memory.db.read_only_reason
        clock = memory.timekeeper.describe_suspicion()
        damaged = describe_damage(memory)
        level = max(
            [
                int(breaker != 'closed' or bool(read_only or clock)),
                DiagnosticStatus.ERROR[0] if damaged else 0,
                *(name[2].diagnostic for name in grown),
            ]
        )
        calls = registry.get_total_timing()
        values = {
            'calls': calls.count,
            'errors': sum(errors.values()),
            **registry.group_errors(lambda _, code, __: f'errors {code}'),
            'p50 ms': round(calls.p50 * 1000, 3),
            'p99 ms': round(calls.p99 * 1000, 3),
            'state': 'active',
            'model': memory.embedder.state,
            'model breaker': breaker,
            'second model': memory.second.state,
            **_describe_store(memory),
            **self._describe_queue(),
            **_describe_disk(memory),
            'damaged pages': len(memory.scrubber.damaged),
            'indexes made anew': memory.mender.made,
            'damaged parts': len(memory.part_checker.damaged),
            'clock': clock or 'trusted',
            'withheld': sum(get_withheld(memory).values()),
        }
        errors_now = ', '.join(f'{operation}: {code}' for operation, code, _ in grown)
        words = (
            errors_now
            or damaged
            or read_only
            or clock
            or f'{calls.count} calls, model {memory.embedder.state}'
        )
        return self._make_status(level, 'memory', words, values)

    def _describe_queue(self) -> dict[str, object]:
        waiting, seconds = (0, 0.0) if self._writer is None else self._writer.measure_waiting()
        return {'events waiting': waiting, 'oldest waiting s': round(seconds, 1)}

    def _make_status(
        self, level: int, title: str, words: str, values: Mapping[str, object]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([level]),
            name=f'{self._node.get_fully_qualified_name()[1:]}: {title}',
            message=words,
            hardware_id=self._node.get_fully_qualified_name(),
            values=[KeyValue(key=name, value=str(value)) for name, value in values.items()],
        )

    def close(self) -> None:
        """Publish no more."""
        self._node.destroy_timer(self._timer)


def _format_counts(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{name} {number}' for name, number in counts.items() if number)


def _describe_disk(memory: Memory) -> dict[str, object]:
    """Return the size of the store's files, and the room on their disk."""
    try:
        return {
            'store MB': round(measure_file(memory) / 1e6, 1),
            'disk free MB': round((measure_free_bytes(memory) or 0) / 1e6),
            'disk reserve MB': round(memory.disk_reserve.size / 1e6),
        }
    except OSError as error:
        return {'disk free MB': f'unknown: {error}'}


def _describe_store(memory: Memory) -> dict[str, object]:
    """Return the last line of the audit, what has a limit, and how much was folded."""
    try:
        with memory.db.read() as connection:
            head = get_head(connection)
            folded = sizes.count_folded(connection)
            payloads = sizes.get_payloads(connection)
            perceptions = sizes.get_perceptions(connection)
    except RobotMemoryError:
        return {'audit head': 'unknown'}
    return {
        'audit head': f'{head.id} {head.chain}'.strip(),
        'payloads MB': round(payloads / 1e6, 1),
        'perceptions MB': round(perceptions / 1e6, 1),
        'folded': folded,
    }
