"""Taps on the robot's topics: messages in, readings to the detectors, events to the memory."""

from __future__ import annotations

import base64
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import CompressedImage, Image, JointState

from robot_memory import capture
from robot_memory.errors import RobotMemoryError
from robot_memory.fields import NANOSECONDS
from robot_memory.memory import Memory, caller
from robot_memory.settings import SenseSettings
from robot_memory.tools.save_perception import save_perception

_LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Sense:
    """Join a topic to a detector; `read` makes a reading of a message, its stamp and frame."""

    topic: str
    type: type
    depth: int
    read: Callable[[Any, int, str], Any]
    detector: Any


def senses(settings: SenseSettings) -> list[Sense]:
    """Return what the settings ask to listen to."""
    wrench = WrenchStamped if settings.wrench_type.endswith('Stamped') else Wrench
    compressed = settings.image_type.endswith('CompressedImage')
    wanted = [
        Sense(
            settings.joint_states_topic,
            JointState,
            1000,
            _joints,
            capture.MotionDetector(
                capture.MotionSettings(
                    start_speed=settings.motion_start_speed,
                    stop_speed=settings.motion_start_speed * 0.375,
                )
            ),
        ),
        Sense(
            settings.wrench_topic,
            wrench,
            1000,
            _wrench,
            capture.ContactDetector(capture.ContactSettings(onset_n=settings.contact_onset)),
        ),
        Sense(
            settings.image_topic,
            CompressedImage if compressed else Image,
            30,
            _compressed if compressed else _image,
            capture.SceneDetector(
                capture.SceneSettings(max_per_minute=settings.pictures_per_minute)
            ),
        ),
    ]
    return [sense for sense in wanted if sense.topic]


class Tap:
    """
    Subscribe as the publishers offer, feed a detector and keep what it notices.

    Reliable where all publishers are, best effort where one is not, never more than is offered;
    it follows when they come and go. `counts` says what became of the messages.
    """

    def __init__(self, node: Node, memory: Memory, sense: Sense, collection: str) -> None:
        """Listen from now on; the node's executor calls."""
        self._node = node
        self._memory = memory
        self._sense = sense
        self._collection = collection
        self._group = MutuallyExclusiveCallbackGroup()
        self._topic = node.resolve_topic_name(sense.topic)
        self.counts: Counter[str] = Counter()
        self._unsaved: deque[capture.Event] = deque()
        self._reliability = ReliabilityPolicy.BEST_EFFORT
        self._subscription = self._subscribe()
        self._timer = node.create_timer(_LOOK_SECONDS, self._follow, callback_group=self._group)

    def _subscribe(self) -> Subscription:
        qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=self._sense.depth,
            reliability=self._reliability,
            durability=DurabilityPolicy.VOLATILE,
        )
        return self._node.create_subscription(
            self._sense.type, self._topic, self._hear, qos, callback_group=self._group
        )

    def _follow(self) -> None:
        """Change to what the publishers of the topic offer now; save what could not be before."""
        self._save()
        offered = {
            info.qos_profile.reliability
            for info in self._node.get_publishers_info_by_topic(self._topic)
        }
        reliable = offered == {ReliabilityPolicy.RELIABLE}
        wanted = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        if wanted != self._reliability:
            self._reliability = wanted
            old, self._subscription = self._subscription, self._subscribe()
            self._node.destroy_subscription(old)

    def _hear(self, message: Any) -> None:
        """
        Take a message, and those that have come since: one wake-up of the executor for many.

        The executor wakes up a few hundred times a second, sensors send more often.
        """
        subscription = self._subscription
        self._take(message)
        for _ in range(self._sense.depth):
            with subscription.handle:
                taken = subscription.handle.take_message(self._sense.type, False)
            if taken is None:
                break
            self._take(taken[0])
        self._save()

    def _take(self, message: Any) -> None:
        """Feed one message to the detector; nothing in it can end the node."""
        try:
            stamp, frame = self._header(message)
            reading = self._sense.read(message, stamp, frame)
            self._unsaved.extend(self._sense.detector.feed(reading))
            self.counts['used'] += 1
        except RobotMemoryError as error:
            self._refuse('unreadable', error)
        except Exception as error:
            self._refuse('failed', error)

    def _refuse(self, reason: str, error: Exception) -> None:
        self.counts[reason] += 1
        self._node.get_logger().warning(
            f'{self._topic}: a message is not used ({reason}): {error}',
            throttle_duration_sec=5.0,
        )

    def _header(self, message: Any) -> tuple[int, str]:
        """Return stamp and frame: a message without a header came now, in no known frame."""
        header = getattr(message, 'header', None)
        if header is None:
            return self._node.get_clock().now().nanoseconds, ''
        return header.stamp.sec * NANOSECONDS + header.stamp.nanosec, header.frame_id

    def _save(self) -> None:
        """Keep what was noticed, in order; what the store cannot take now waits for it."""
        caller.set(f'ros:{self._topic}')
        while self._unsaved:
            try:
                self._keep(self._unsaved[0])
            except RobotMemoryError as error:
                self._node.get_logger().warning(
                    f'{self._topic}: {len(self._unsaved)} events wait to be kept: {error}',
                    throttle_duration_sec=5.0,
                )
                return
            self._unsaved.popleft()

    def _keep(self, event: capture.Event) -> None:
        data = dict(event.data)
        if event.thumbnail is not None:
            data['thumbnail_jpeg_base64'] = base64.b64encode(event.thumbnail).decode()
        save_perception.run(
            self._memory,
            {
                'description': event.description,
                'perception_type': event.perception_type,
                'data': data,
                'metadata': {**event.metadata, 'topic': self._topic, 'end_ns': event.end_ns},
                'collection': self._collection,
                'stamp': event.stamp_ns,
                'frame_id': event.frame_id or None,
            },
        )
        self.counts['events'] += 1
        self._node.get_logger().info(f'noticed: {event.description}')

    def close(self) -> None:
        """Stop listening, keep what is still going on, and say what became of the messages."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_subscription(self._subscription)
        self._unsaved.extend(self._sense.detector.finish())
        self._save()
        self.counts['not kept'] += len(self._unsaved)
        self.counts.update(self._sense.detector.ignored)
        told = ', '.join(f'{reason} {n}' for reason, n in sorted(self.counts.items()) if n)
        self._node.get_logger().info(f'{self._topic}: {told or "no message"}')


def _joints(message: JointState, stamp: int, frame: str) -> capture.JointReading:
    return capture.JointReading(
        stamp, frame, tuple(message.name), message.position, message.velocity, message.effort
    )


def _wrench(message: Any, stamp: int, frame: str) -> capture.WrenchReading:
    wrench = getattr(message, 'wrench', message)
    force, torque = wrench.force, wrench.torque
    return capture.WrenchReading(
        stamp, frame, (force.x, force.y, force.z), (torque.x, torque.y, torque.z)
    )


def _image(message: Image, stamp: int, frame: str) -> capture.ImageReading:
    pixels = capture.decode_image(
        message.encoding,
        message.height,
        message.width,
        message.step,
        bool(message.is_bigendian),
        bytes(message.data),
    )
    return capture.ImageReading(stamp, frame, pixels)


def _compressed(message: CompressedImage, stamp: int, frame: str) -> capture.ImageReading:
    return capture.ImageReading(stamp, frame, capture.decode_compressed(bytes(message.data)))
