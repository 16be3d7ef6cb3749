"""Where a frame was in another at a stamp, from the transforms of /tf and /tf_static."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Sequence

from robot_memory.core.json_text import format_value
from robot_memory.detectors.poses import (
    IDENTITY,
    TOLERANCE_S,
    Pose,
    PoseHistory,
    PoseLookup,
    check_tolerance,
    normalise_pose,
    strip_slash,
)

MAX_FRAMES = 10_000
SILENT_NS = 60 * 10**9


class TransformTree:
    """
    Keep the transforms of a robot, and chain them at a stamp.

    Each moving transform is looked up by PoseHistory's rules; a static one is valid always. The
    newest message says whether a frame is static, and, as in tf2, the parent of a frame is the one
    that it had at the stamp. `ignored` counts by reason what was not used or not kept.
    """

    def __init__(self, tolerance_s: float = TOLERANCE_S) -> None:
        """Start without a frame."""
        self.ignored: Counter[str] = Counter()
        self._tolerance_s = check_tolerance(tolerance_s)
        self._static: dict[str, PoseLookup] = {}
        self._moving: dict[str, PoseHistory] = {}

    def add(
        self,
        stamp_ns: int,
        parent: str,
        child: str,
        translation: Sequence[float],
        rotation: Sequence[float],
        static: bool,
    ) -> None:
        """Take the pose of `child` in `parent`: x, y, z in m; a quaternion x, y, z, w."""
        parent, child = strip_slash(parent), strip_slash(child)
        if not parent or not child:
            self.ignored['no frame name'] += 1
            return
        if parent == child:
            self.ignored['frame is its own parent'] += 1
            return
        known = child in self._static or child in self._moving
        if not known and len(self._static) + len(self._moving) >= MAX_FRAMES:
            self.ignored['too many frames'] += 1
            return
        pose = normalise_pose(translation, rotation, self.ignored)
        if pose is None:
            return
        if static:
            self._static[child] = PoseLookup(pose, parent)
            self._moving.pop(child, None)
            return
        history = self._moving.get(child) or PoseHistory(
            'tf', self._tolerance_s, f'transform of {format_value(child)}', self.ignored
        )
        history.insert(stamp_ns, parent, pose)
        if history:
            self._moving[child] = history
            self._static.pop(child, None)

    def look_up(self, fixed_frame: str, frame: str, stamp_ns: int) -> PoseLookup:
        """Return the place of `frame` in `fixed_frame`, which may lie above, below or beside."""
        fixed_frame, frame = strip_slash(fixed_frame), strip_slash(frame)
        below, broken = self._climb(frame, stamp_ns, {fixed_frame})
        above, broken_above = self._climb(fixed_frame, stamp_ns, below)
        common = next(reversed(above))
        if common in below and frame != fixed_frame:
            return PoseLookup(above[common].invert() @ below[common], fixed_frame)
        for name in (frame, fixed_frame):
            if not self.has_frame(name):
                return PoseLookup(None, fixed_frame, f'unknown tf frame {format_value(name)}')
        if frame == fixed_frame:
            return PoseLookup(IDENTITY, fixed_frame)
        apart = (
            f'tf frames {format_value(frame)} and {format_value(fixed_frame)} are not connected'
        )
        return PoseLookup(None, fixed_frame, broken or broken_above or apart)

    def is_settled(self, fixed_frame: str, frame: str, stamp_ns: int) -> bool:
        """Say whether what `look_up` answers of a stamp is between transforms that have come."""
        above = self._list_ages(strip_slash(fixed_frame), stamp_ns)
        below = self._list_ages(strip_slash(frame), stamp_ns)
        common = next((name for name in below if name in above), None)
        return common is not None and min(below[common], above[common]) >= stamp_ns

    def _list_ages(self, start: str, stamp_ns: int) -> dict[str, float]:
        """Return the frames from one upward, and the oldest of the newest stamps on the way."""
        name, age = start, math.inf
        passed = {start: age}
        while (edge := self._static.get(name)) is not None or name in self._moving:
            if edge is None:
                age = min(age, self._moving[name].newest_ns)
                edge = self._moving[name].look_up(stamp_ns)
            name = edge.frame_id
            if name in passed:
                break
            passed[name] = age
        return passed

    def list_edges(self, stamp_ns: int) -> list[tuple[str, str, Pose, bool]]:
        """Return (frame, its parent, its pose there, whether it is static) as known at a stamp."""
        static = [
            (child, edge.frame_id, edge.pose, True)
            for child, edge in self._static.items()
            if edge.pose is not None
        ]
        moving = [(child, history.look_up(stamp_ns)) for child, history in self._moving.items()]
        return static + [
            (child, edge.frame_id, edge.pose, False)
            for child, edge in moving
            if edge.pose is not None
        ]

    def drop_before(self, stamp_ns: int) -> None:
        """Drop what is not needed from this stamp on, and frames silent since a minute before."""
        for child, history in list(self._moving.items()):
            history.drop_before(stamp_ns)
            if history.newest_ns < stamp_ns - SILENT_NS:
                del self._moving[child]

    def _climb(
        self, start: str, stamp_ns: int, goal: Container[str]
    ) -> tuple[dict[str, Pose], str]:
        """
        Go from a frame to its parent, and so on, until one is in `goal` or there is no more.

        Return the frames passed, each with the pose of `start` in it, and why it broke off where
        it did: no transform at this stamp, or a loop.
        """
        name, pose = start, IDENTITY
        passed = {start: IDENTITY}
        while name not in goal:
            edge = self._static.get(name)
            if edge is None:
                if name not in self._moving:
                    return passed, ''
                edge = self._moving[name].look_up(stamp_ns)
            if edge.pose is None:
                return passed, edge.reason
            name, pose = edge.frame_id, edge.pose @ pose
            if name in passed:
                return passed, f'tf has a cycle at {format_value(name)}'
            passed[name] = pose
        return passed, ''

    def has_frame(self, frame: str) -> bool:
        """Say whether tf has told of a frame."""
        frame = strip_slash(frame)
        if frame in self._static or frame in self._moving:
            return True
        edges: list[PoseLookup | PoseHistory] = [*self._static.values(), *self._moving.values()]
        return any(edge.frame_id == frame for edge in edges)
