"""What a node holds while it is active: the taps, and what writes their events."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Sequence

from rclpy.node import Node

from robot_memory.core.no_record import find_nothing
from robot_memory.ingest import (
    IngestSettings,
    Pipeline,
    PoseSourceSettings,
    QueuedEventWriter,
    SessionFinder,
    StoredRuns,
)
from robot_memory.ingest.no_record import NoRecordPolicy
from robot_memory.ingest.pose_source import NO_PLACES
from robot_memory.ingest.stamps import LIVE
from robot_memory.ingest.tap import Tap
from robot_memory.memory import Memory
from robot_memory.ros.taps import TapSubscriber, is_time_simulated


class Listening:
    """Hold the subscriptions of taps and the thread that writes their events."""

    def __init__(
        self,
        node: Node,
        memory: Memory,
        settings: IngestSettings,
        place: PoseSourceSettings,
        taps: Sequence[Tap],
    ) -> None:
        """
        Subscribe to the topics of the taps.

        Raise NotFound for the session of a tap that does not exist, Unavailable for a type whose
        package is not there, InvalidArgument where the detector of a plug-in cannot be made.
        """
        finder = SessionFinder(memory, settings.source, settings.session_hours)
        with contextlib.ExitStack() as closers:
            self.writer = QueuedEventWriter(memory, taps, finder)
            closers.callback(self.writer.close)
            pipeline = Pipeline(
                taps,
                place,
                settings.source,
                self.writer.enqueue,
                functools.partial(node.get_logger().warning, throttle_duration_sec=5.0),
                node.resolve_topic_name,
                memory.extensions,
                dataclasses.replace(LIVE, replaces_zero=lambda: not is_time_simulated(node)),
                StoredRuns(finder),
                no_record=NoRecordPolicy(memory, is_live=True),
                threaded=True,
            )
            self.taps = TapSubscriber(node, pipeline)
            closers.callback(self.taps.close)
            memory.locate = self.taps.locate
            closers.callback(setattr, memory, 'locate', find_nothing)
            self._closers = closers.pop_all()
        if memory.no_record.zones and not (place.pose_topic or place.fixed_frame):
            node.get_logger().warning(NO_PLACES)
        if settings.demonstration:
            now_ns = node.get_clock().now().nanoseconds
            self.taps.set_demonstration(settings.demonstration, now_ns)

    def change_tap(self, tap: Tap) -> None:
        """Take other settings of a tap; raise NotFound for a session that does not exist."""
        self.writer.change_session(tap.name, tap.session)
        self.taps.change_tap(tap)

    def close(self) -> None:
        """Stop listening; what is under way is handed on and written."""
        self._closers.close()
