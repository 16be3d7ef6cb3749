"""
Where something was at a stamp: poses in time, and what lies between two of them.

No tf2: it needs rclpy, and a live node and an import of a recording must give the same answer.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.detectors.event import REWIND_S, WENT_BACK
from robot_memory.detectors.readings import is_usable, to_floats

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

TOLERANCE_S = 0.25
MAX_TOLERANCE_S = 3600
LIMIT = 20_000
"""Poses in a history; with their stamps 1.6 MB."""
NUMBERS = 7


class Pose(NamedTuple):
    """Hold a position (x, y, z in m) and an orientation (unit quaternion x, y, z, w)."""

    position: Vector
    orientation: Quaternion

    def __matmul__(self, other: Pose) -> Pose:
        """Return `other`, which is given in the frame that has this pose, where this one is."""
        x, y, z = self.position
        dx, dy, dz = _rotate(self.orientation, other.position)
        orientation = _multiply(self.orientation, other.orientation)
        return Pose((x + dx, y + dy, z + dz), orientation)

    def invert(self) -> Pose:
        """Return the pose of what this pose is given in, seen from here."""
        x, y, z, w = self.orientation
        back = (-x, -y, -z, w)
        dx, dy, dz = _rotate(back, self.position)
        return Pose((-dx, -dy, -dz), back)

    @property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        """Return the rows of the matrix that turns what is given here as this pose is turned."""
        x, y, z, w = self.orientation
        return (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )

    def interpolate(self, other: Pose, share: float) -> Pose:
        """Return the pose at a share (0 to 1) of the straight way and the shortest turn."""
        (ax, ay, az), (bx, by, bz) = self.position, other.position
        position = (ax + share * (bx - ax), ay + share * (by - ay), az + share * (bz - az))
        return Pose(position, _slerp(self.orientation, other.orientation, share))


IDENTITY = Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass(frozen=True)
class PoseLookup:
    """
    Hold a pose in `frame_id`, or None and the reason in words why it is not known.

    `covariance` are 36 numbers row by row in ROS's order, None where it has none.
    """

    pose: Pose | None
    frame_id: str
    reason: str = ''
    covariance: tuple[float, ...] | None = None


class PoseHistory:
    """
    Keep the poses of one thing, and say where it was in between.

    A pose between two that lie at most 2 * `tolerance_s` apart is interpolated; otherwise it is
    the nearest one where that is at most `tolerance_s` away, and else unknown. Nothing is
    extrapolated, nor interpolated between different frames.

    It is bounded: from `LIMIT` poses on, the older half keeps but one every quarter of the
    tolerance, or every second one where that is fewer. `ignored` counts by reason what was not
    used or not kept.
    """

    def __init__(
        self,
        topic: str,
        tolerance_s: float = TOLERANCE_S,
        noun: str = 'pose',
        ignored: Counter[str] | None = None,
    ) -> None:
        """Start empty; `noun` and `topic` name in a reason what came, and where."""
        self._tolerance_ns = round(check_tolerance(tolerance_s) * 1e9)
        self._topic = topic
        self._noun = noun
        self.ignored: Counter[str] = Counter() if ignored is None else ignored
        self._clear()

    def __len__(self) -> int:
        return len(self._stamps)

    @property
    def newest_ns(self) -> int:
        """Return the latest stamp; 0: there is no pose."""
        return self._stamps[-1] if self._stamps else 0

    @property
    def frame_id(self) -> str:
        """Return the frame of the latest pose; empty: there is none."""
        return self._frames[-1] if self._frames else ''

    def add(
        self, stamp_ns: int, frame_id: str, position: Sequence[float], orientation: Sequence[float]
    ) -> None:
        """
        Take a pose in a frame, in any order of time: x, y, z in m; a quaternion x, y, z, w.

        The first one of a stamp counts. One that is more than a second older than the newest
        starts the history anew, as when a recording starts over.
        """
        pose = normalise_pose(position, orientation, self.ignored)
        if pose is not None:
            self.insert(stamp_ns, strip_slash(frame_id), pose)

    def insert(self, stamp_ns: int, frame_id: str, pose: Pose) -> None:
        """Take a pose that is `checked`, as `add` does."""
        if not 0 < stamp_ns < 2**63:
            self.ignored['no stamp'] += 1
            return
        if self.newest_ns - stamp_ns > REWIND_S * 1e9:
            self.ignored[WENT_BACK] += 1
            self._clear()
        at = len(self)
        if stamp_ns <= self.newest_ns:
            at = bisect_left(self._stamps, stamp_ns)
            if self._stamps[at] == stamp_ns:
                self.ignored['repeated stamp'] += 1
                return
        self._stamps.insert(at, stamp_ns)
        self._frames.insert(at, frame_id)
        numbers = array('d', (*pose.position, *pose.orientation))
        self._numbers[at * NUMBERS : at * NUMBERS] = numbers
        if len(self) >= LIMIT:
            self._thin_out()

    def look_up(self, stamp_ns: int) -> PoseLookup:
        """Return the place at a stamp."""
        stamps = self._stamps
        if not stamps:
            return PoseLookup(None, '', f'no {self._noun} received on {self._topic} yet')
        after = bisect_left(stamps, stamp_ns)
        before = after - 1
        if after == len(stamps):
            after = before
        elif stamps[after] == stamp_ns or before < 0:
            before = after
        gap = stamps[after] - stamps[before]
        same_frame = self._frames[before] == self._frames[after]
        if 0 < gap <= 2 * self._tolerance_ns and same_frame:
            share = (stamp_ns - stamps[before]) / gap
            pose = self._read_pose(before).interpolate(self._read_pose(after), share)
            return PoseLookup(pose, self._frames[before])
        nearest = min(before, after, key=lambda at: abs(stamps[at] - stamp_ns))
        away = abs(stamps[nearest] - stamp_ns)
        if away <= self._tolerance_ns:
            return PoseLookup(self._read_pose(nearest), self._frames[nearest])
        words = f'the nearest {self._noun} on {self._topic} is {_format_seconds(away)} away'
        return PoseLookup(None, self._frames[nearest], words)

    def drop_before(self, stamp_ns: int) -> None:
        """Drop what is not needed to answer for this stamp and later ones."""
        needless = bisect_right(self._stamps, stamp_ns) - 1
        if needless > 0:
            del self._stamps[:needless]
            del self._frames[:needless]
            del self._numbers[: needless * NUMBERS]

    def _clear(self) -> None:
        self._stamps = array('q')
        self._frames: list[str] = []
        self._numbers = array('d')

    def _read_pose(self, at: int) -> Pose:
        x, y, z, qx, qy, qz, qw = self._numbers[at * NUMBERS : (at + 1) * NUMBERS]
        return Pose((x, y, z), (qx, qy, qz, qw))

    def _thin_out(self) -> None:
        stamps, frames, numbers = self._stamps, self._frames, self._numbers
        half = len(stamps) // 2
        spacing = max(self._tolerance_ns // 4, 2 * (stamps[half] - stamps[0]) // half)
        kept = [0]
        for at in range(1, half):
            if stamps[at] - stamps[kept[-1]] >= spacing:
                kept.append(at)
        self.ignored['thinned out, the history was full'] += half - len(kept)
        self._stamps = array('q', (stamps[at] for at in kept)) + stamps[half:]
        self._frames = [frames[at] for at in kept] + frames[half:]
        rows = (numbers[at * NUMBERS : (at + 1) * NUMBERS] for at in kept)
        self._numbers = array('d', chain.from_iterable(rows)) + numbers[half * NUMBERS :]


def check_tolerance(tolerance_s: float) -> float:
    """Return a tolerance in seconds, or raise InvalidArgument."""
    tolerance = parse_finite(tolerance_s)
    if tolerance is None or not 0 <= tolerance <= MAX_TOLERANCE_S:
        raise InvalidArgument(
            f'tolerance_s must be 0 to {MAX_TOLERANCE_S} seconds, not {format_value(tolerance_s)}'
        )
    return tolerance


def normalise_pose(
    position: Sequence[float], orientation: Sequence[float], ignored: Counter[str]
) -> Pose | None:
    """Return a pose with a quaternion of length 1, or None and count why there is none."""
    place, turn = to_floats(position), to_floats(orientation)
    if len(place) != 3 or len(turn) != 4:
        ignored['position is not three or orientation not four numbers'] += 1
        return None
    if not is_usable(place) or not is_usable(turn):
        ignored['position or orientation is not a number'] += 1
        return None
    length = math.hypot(*turn)
    if length < 1e-6:
        ignored['orientation is zero'] += 1
        return None
    (x, y, z), (qx, qy, qz, qw) = place, turn
    return Pose((x, y, z), (qx / length, qy / length, qz / length, qw / length))


def turn_covariance(
    spread: Sequence[float], turn: Sequence[Sequence[float]]
) -> NDArray[np.float64]:
    """
    Return the covariance of a position in a turned frame, as a matrix of 3 x 3.

    `spread` is its upper triangle (xx, xy, xz, yy, yz, zz), `turn` are the rows of a rotation.
    """
    xx, xy, xz, yy, yz, zz = spread
    rotation = np.asarray(turn, dtype=np.float64)
    turned: NDArray[np.float64] = (
        rotation @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ rotation.T
    )
    return turned


def strip_slash(frame_id: str) -> str:
    """Return a frame's name as tf2 has it, without the slash that tf put before it."""
    return frame_id.lstrip('/')


def _format_seconds(span_ns: int) -> str:
    seconds = span_ns / 1e9
    return f'{seconds:.3g} s' if seconds < 100 else f'{seconds:.0f} s'


def _multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _rotate(turn: Quaternion, vector: Vector) -> Vector:
    (x, y, z, w), (vx, vy, vz) = turn, vector
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def _slerp(a: Quaternion, b: Quaternion, share: float) -> Quaternion:
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    cosine = ax * bx + ay * by + az * bz + aw * bw
    sign = -1.0 if cosine < 0 else 1.0
    cosine = abs(cosine)
    if cosine > 0.999999:
        p, q = 1 - share, sign * share
    else:
        angle = math.acos(cosine)
        p = math.sin((1 - share) * angle) / math.sin(angle)
        q = sign * math.sin(share * angle) / math.sin(angle)
    x, y, z, w = p * ax + q * bx, p * ay + q * by, p * az + q * bz, p * aw + q * bw
    length = math.hypot(x, y, z, w)
    return x / length, y / length, z / length, w / length
