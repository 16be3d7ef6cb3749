"""Where the robot was: fed by a pose topic or by tf, asked by stamp."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.fields import NANOSECONDS, arg
from robot_memory.core.no_record import SensorPlace
from robot_memory.core.places import read_spread
from robot_memory.core.topic_names import check_topic
from robot_memory.detectors import PoseHistory, PoseLookup, TransformTree
from robot_memory.detectors.poses import strip_slash
from robot_memory.ingest import messages
from robot_memory.ingest.handlers import Sensed
from robot_memory.ingest.pose_spreads import CovarianceHistory
from robot_memory.ingest.stamps import STAMPED_ON_ARRIVAL, ArrivalClock, MessageStamper
from robot_memory.storage.tables.transforms import Edge

POSE_TYPES = (
    'geometry_msgs/msg/PoseStamped',
    'geometry_msgs/msg/PoseWithCovarianceStamped',
    'nav_msgs/msg/Odometry',
)
TF_TYPE = 'tf2_msgs/msg/TFMessage'
_MARGIN_NS = 10 * NANOSECONDS
_PRUNE_EVERY = 1000

NO_COVARIANCE = 'covariance is none'
"""What a pose that an event got is counted under, where its covariance is not kept."""

NO_PLACES = (
    'there are no-record zones, and neither pose_topic nor fixed_frame is set: no place is known, '
    'so nothing will be recorded'
)
"""What is said where zones are set and no poses are listened to."""


@dataclass(frozen=True)
class PoseSourceSettings:
    """Settings for the poses of events."""

    pose_topic: str = arg('Topic with the pose of the robot or its tool; empty: none.', default='')
    pose_type: str = arg('Message type of pose_topic.', default=POSE_TYPES[0], choices=POSE_TYPES)
    fixed_frame: str = arg(
        'Fixed frame in which tf poses are resolved if there is no pose_topic; empty: none.',
        default='',
    )
    tool_frame: str = arg(
        'tf frame whose pose the motions of joints get; where tf does not have it, that of their '
        'own frame, unless that is fixed_frame.',
        default='tool0',
    )
    robot_frame: str = arg(
        'tf frame whose place is that of messages and calls without a frame, for no-record zones.',
        default='base_link',
    )
    pose_tolerance_s: float = arg(
        'Maximum time difference between an event and its pose, in seconds.',
        default=0.25,
        minimum=0.001,
        maximum=60.0,
    )


def list_pose_topics(settings: PoseSourceSettings) -> tuple[tuple[str, str, bool], ...]:
    """
    Return the topics to listen to, their types, and whether they are latched.

    Raise InvalidArgument for a pose_topic that is no name of a topic.
    """
    check_topic('pose_topic', settings.pose_topic)
    if settings.pose_topic:
        return ((settings.pose_topic, settings.pose_type, False),)
    if settings.fixed_frame:
        return (('/tf', TF_TYPE, False), ('/tf_static', TF_TYPE, True))
    return ()


class PoseSource:
    """
    Follow the poses of one topic, or the tree of tf, and tell the place of a frame at a stamp.

    `topics` says what to listen to, as `place_topics` does; `counts` what became of the messages.
    """

    def __init__(
        self, settings: PoseSourceSettings, warn: Callable[[str], object], arrival: ArrivalClock
    ) -> None:
        """Begin with no pose known."""
        self._settings = settings
        self._warn = warn
        self._history = PoseHistory(settings.pose_topic, settings.pose_tolerance_s)
        self._tree = TransformTree(settings.pose_tolerance_s)
        self._covariances = CovarianceHistory()
        self._since_pruned = 0
        self.topics = list_pose_topics(settings)
        self.counts: dict[str, Counter[str]] = {topic: Counter() for topic, _, _ in self.topics}
        self._stamps = MessageStamper(True, arrival)

    def receive(
        self, topic: str, kind: str, latched: bool, raw: bytes | memoryview, arrival_ns: int
    ) -> int:
        """Take a serialized message; return its newest stamp, 0 where it has none."""
        counts = self.counts[topic]
        counts['received'] += 1
        self._since_pruned += 1
        try:
            message = messages.decode(raw, kind)
            if kind == TF_TYPE:
                return max(self._add_transforms(message, latched), default=0)
            return self._add_pose(message, self._stamps.date(raw, arrival_ns))
        except Exception as error:  # the decoder raises whatever broken bytes lead it to
            counts['unreadable'] += 1
            self._warn(f'{topic}: cannot read a message: {error!r}')
        return 0

    def _add_pose(self, message: Any, stamp_ns: int) -> int:
        self._covariances.add(stamp_ns, getattr(message.pose, 'covariance', None))
        pose = getattr(message.pose, 'pose', message.pose)
        self._history.add(
            stamp_ns, message.header.frame_id, to_xyz(pose.position), to_xyzw(pose.orientation)
        )
        return stamp_ns

    def _add_transforms(self, message: Any, latched: bool) -> Iterator[int]:
        for item in message.transforms:
            stamp_ns = messages.to_nanoseconds(item.header.stamp)
            self._tree.add(
                stamp_ns,
                item.header.frame_id,
                item.child_frame_id,
                to_xyz(item.transform.translation),
                to_xyzw(item.transform.rotation),
                latched,
            )
            yield stamp_ns

    def look_up(self, frame: str, stamp_ns: int) -> PoseLookup | None:
        """Return where a frame was, or why that is unknown; None where nobody asked for places."""
        if self._settings.pose_topic:
            return self._add_covariance(self._history.look_up(stamp_ns), stamp_ns)
        if self._settings.fixed_frame:
            return self._tree.look_up(self._settings.fixed_frame, frame, stamp_ns)
        return None

    def _add_covariance(self, found: PoseLookup, stamp_ns: int) -> PoseLookup:
        """Return a pose with its covariance; count one that came with what is none."""
        tolerance_ns = round(self._settings.pose_tolerance_s * NANOSECONDS)
        covariance = self._covariances.estimate(stamp_ns, tolerance_ns)
        if found.pose is None or covariance is None:
            return found
        if not covariance:
            self.counts[self._settings.pose_topic][NO_COVARIANCE] += 1
            return found
        return replace(found, covariance=covariance)

    def look_up_tool(self, frame: str, stamp_ns: int) -> PoseLookup | None:
        """Return where the tool was, else what has the joints; the fixed frame is no place."""
        fixed, tool = self._settings.fixed_frame, self._settings.tool_frame
        if self._settings.pose_topic or not fixed or not tool:
            return self.look_up(frame, stamp_ns)
        return self._tree.look_up(fixed, self._choose_motion_frame(frame), stamp_ns)

    def _choose_motion_frame(self, frame: str) -> str:
        """Return the tool's frame where tf has it, else that of the joints."""
        tool = self._settings.tool_frame
        is_fixed = strip_slash(frame) == strip_slash(self._settings.fixed_frame)
        return tool if tool and (is_fixed or self._tree.has_frame(tool)) else frame

    def is_place_settled(self, frame: str, stamp_ns: int, is_motion: bool) -> bool:
        """Say whether the poses have come that enclose the stamp of an event, or none will."""
        fixed = self._settings.fixed_frame
        if self._settings.pose_topic:
            return self._history.newest_ns >= stamp_ns
        if is_motion:
            frame = self._choose_motion_frame(frame)
        return not fixed or self._tree.is_settled(fixed, frame, stamp_ns)

    def is_settled(self, target: str, sensed: Sensed) -> bool:
        """Say whether the poses have come that enclose what was measured, up to a target frame."""
        if self._settings.pose_topic:
            return self._history.newest_ns >= sensed.stamp_ns
        frame = self._choose_frame(sensed)
        is_same = frame == strip_slash(target)
        return is_same or self._tree.is_settled(target, frame, sensed.stamp_ns)

    def list_places(self, target: str, sensed: Sensed) -> list[SensorPlace | None]:
        """
        Return where the sensor was in a target frame, at least one; None: that is unknown.

        There are two where the covariances before and after differ.
        """
        if self._settings.pose_topic:
            found = self._history.look_up(sensed.stamp_ns)
            if found.pose is None or found.frame_id != strip_slash(target):
                return [None]
            covariances = self._covariances.look_up(sensed.stamp_ns)
            if not all(covariances):
                return [None]
            spreads = [read_spread(list(one)) for one in covariances] or [None]
            return [
                SensorPlace(found.pose.position, found.pose.axes, spread) for spread in spreads
            ]
        return [self.find_frame(target, self._choose_frame(sensed), sensed.stamp_ns)]

    def find_frame(self, target: str, frame: str, stamp_ns: int) -> SensorPlace | None:
        """Return where the origin of a frame was in a target frame, by tf; None: unknown."""
        if self._settings.pose_topic:
            return None
        if strip_slash(frame) == strip_slash(target):
            return SensorPlace((0.0, 0.0, 0.0))
        found = self._tree.look_up(target, frame, stamp_ns)
        return None if found.pose is None else SensorPlace(found.pose.position, found.pose.axes)

    def _choose_frame(self, sensed: Sensed) -> str:
        """Return the frame whose place stands for that of a sensor."""
        tool = self._settings.tool_frame
        if sensed.is_joints and tool and self._tree.has_frame(tool):
            return strip_slash(tool)
        return strip_slash(sensed.frame) or strip_slash(self._settings.robot_frame)

    def list_edges(self, stamp_ns: int) -> tuple[Edge, ...]:
        """Return the tree of tf at a stamp, as the store keeps it; nothing without tf."""
        if not self._settings.fixed_frame or self._settings.pose_topic:
            return ()
        return tuple(
            Edge(child, parent, pose, is_static)
            for child, parent, pose, is_static in self._tree.list_edges(stamp_ns)
        )

    @property
    def is_full(self) -> bool:
        """Say whether enough has come since the last time to forget some."""
        return self._since_pruned >= _PRUNE_EVERY

    def drop_before(self, stamp_ns: int) -> None:
        """Drop the poses that no event still under way will ask for."""
        self._since_pruned = 0
        self._history.drop_before(stamp_ns - _MARGIN_NS)
        self._covariances.drop_before(stamp_ns - _MARGIN_NS)
        self._tree.drop_before(stamp_ns - _MARGIN_NS)

    def report(self) -> dict[str, dict[str, int]]:
        """Return what became of the messages of each topic."""
        found = {topic: dict(counts) for topic, counts in self.counts.items()}
        for topic in list(found)[:1]:  # of tf and its static part, the first stands for the tree
            replaced = Counter({STAMPED_ON_ARRIVAL: self._stamps.replaced})
            found[topic].update(self._history.ignored + self._tree.ignored + replaced)
        return found


def to_xyz(vector: Any) -> tuple[float, float, float]:
    """Return the numbers of a Point or a Vector3."""
    return vector.x, vector.y, vector.z


def to_xyzw(quaternion: Any) -> tuple[float, float, float, float]:
    """Return the numbers of a Quaternion."""
    return quaternion.x, quaternion.y, quaternion.z, quaternion.w
