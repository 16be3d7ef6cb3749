"""What is kept, as messages on ~/events, and memories with a place, as markers for RViz."""

from __future__ import annotations

import colorsys
import logging
import threading
import zlib
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Pose
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_memory import msg
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.ros import convert
from robot_memory.ros.kept_event import KeptEvent, describe_kept
from robot_memory.ros.typed_values import fill_pose
from robot_memory.storage.events.pages import find_newest_each
from robot_memory.storage.tables import memories
from robot_memory.storage.tables.news import find_newest, list_kept, list_placed

try:
    from visualization_msgs.msg import Marker, MarkerArray
except ImportError:  # an installation of ROS without its viewers
    Marker = MarkerArray = None

logger = logging.getLogger(__name__)
_SECONDS = 0.25
_DEPTH = 50
_AT_ONCE = 200
"""Memories that one look at the store publishes; the rest follow with the next."""
_MARKERS = 500
_SIZE_M = 0.03
_COLOURS = {
    'contact': (0.84, 0.15, 0.16),
    'motion': (0.12, 0.47, 0.71),
    'scene': (0.17, 0.63, 0.17),
    'fault': (0.58, 0.0, 0.83),
    'perception': (1.0, 0.5, 0.05),
    'fact': (0.7, 0.7, 0.7),
}


class KeptEventPublisher:
    """
    Publish each memory that is kept, by whomever, and markers of those with a place.

    The store is looked at four times a second, in a thread: a timer would wake the executor, which
    looks at all entities of the node each time. Markers are made while a subscriber is matched,
    and anew when something was kept.
    """

    def __init__(self, node: Node) -> None:
        """Offer the topics; nothing is published yet."""
        self._node = node
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._last = self._marked = 0
        self._events = _create_publisher(node, msg.KeptEvent, '~/events', _DEPTH)
        self._markers: Publisher[Any] | None = None
        if MarkerArray is not None:
            self._markers = _create_publisher(node, MarkerArray, '~/markers', 1)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, memory: Memory) -> None:
        """Publish what is kept from now on."""
        with self._lock:
            with memory.db.read() as connection:
                self._last = find_newest(connection)
            self._memory, self._marked = memory, -1
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name='kept-events', daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Publish what was kept until now, and no more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._look()
        with self._lock:
            self._memory = None

    def _run(self) -> None:
        while not self._stop.wait(_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._lock:
            if self._memory is None:
                return
            try:
                while self._publish_events(self._memory) == _AT_ONCE:
                    pass
                self._publish_markers(self._memory)
            except RobotMemoryError as error:
                logger.warning('what was kept cannot be published now: %s', error)
            except Exception:  # whatever it is, the next look may succeed
                logger.exception('what was kept cannot be published now')

    def _publish_events(self, memory: Memory) -> int:
        with memory.db.read() as connection:
            ids = list_kept(connection, self._last, _AT_ONCE)
            if not ids:
                return 0
            records = memories.get(connection, ids)
            events = find_newest_each(connection, ids)
        for one in ids:
            if one in records:
                kept = describe_kept(records[one], events.get(one))
                self._events.publish(_make_message(kept, records[one]))
        self._last = max([self._last, *ids])
        return len(ids)

    def _publish_markers(self, memory: Memory) -> None:
        if self._markers is None:
            return
        if not self._markers.get_subscription_count():
            self._marked = -1
            return
        if self._marked == self._last:
            return
        with memory.db.read() as connection:
            ids = list_placed(connection, _MARKERS)
            records = memories.get(connection, ids)
            events = find_newest_each(connection, ids)
        kinds = {one: event.names['kind'] for one, event in events.items()}
        found = [
            (records[one], kinds.get(one) or records[one].type) for one in ids if one in records
        ]
        self._markers.publish(_make_markers(found))
        self._marked = self._last


def _create_publisher(node: Node, kind: Any, topic: str, depth: int) -> Publisher[Any]:
    """Create a publisher that keeps its latest messages for late comers."""
    profile = QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )
    return node.create_publisher(kind, topic, profile)


def _make_message(kept: KeptEvent, record: Record) -> Any:
    message = convert.fill(msg.KeptEvent(), kept)
    fill_pose(message, record.pose, kept.frame_id, kept.stamp)
    message.pose = message.pose_stamped.pose.pose
    return message


def _make_pose(record: Record) -> Pose | None:
    """Return the pose of a memory; one without a turn has the identity, None: there is none."""
    place = (record.pose or {}).get('position')
    turn = (record.pose or {}).get('orientation') or [0.0, 0.0, 0.0, 1.0]
    if not place:
        return None
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, (*place, 0.0)[:3])
    values = map(float, turn)
    rotation = pose.orientation
    rotation.x, rotation.y, rotation.z, rotation.w = values
    return pose


def _make_markers(found: Sequence[tuple[Record, str]]) -> Any:
    """Return one sphere for each memory, in its frame; those before it are removed."""
    array = MarkerArray()
    array.markers.append(Marker(action=Marker.DELETEALL))
    for record, kind in found:
        pose = _make_pose(record)
        kept = describe_kept(record, None)
        if pose is None or not kept.frame_id:
            continue
        marker = Marker(ns=kind, id=record.id % 2**31, type=Marker.SPHERE, action=Marker.ADD)
        marker.header.frame_id = kept.frame_id
        marker.pose = pose
        marker.scale.x = marker.scale.y = marker.scale.z = _SIZE_M
        marker.color.r, marker.color.g, marker.color.b = _choose_colour(kind)
        marker.color.a = 0.8
        marker.text = record.content[:200]
        array.markers.append(marker)
    return array


def _choose_colour(kind: str) -> tuple[float, float, float]:
    """Return the colour of a kind, the same in every run."""
    if kind in _COLOURS:
        return _COLOURS[kind]
    return colorsys.hsv_to_rgb(zlib.crc32(kind.encode()) % 360 / 360, 0.8, 0.8)
