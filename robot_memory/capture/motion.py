"""Motion: a movement of named joints from rest to rest."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from robot_memory.capture.event import (
    ENDED,
    GOES_ON,
    UNUSABLE,
    Event,
    StampOrder,
    require_positive,
    rounded,
)
from robot_memory.capture.readings import JointReading, floats, usable
from robot_memory.errors import InvalidArgument

Point = tuple[int, list[float]]

BLOCK = 1024
LEAD = 200
MAX_GROUPS = 16
AT_REST = 'the joints came to rest'


@dataclass(frozen=True)
class MotionSettings:
    """
    Say when joints move; angles in rad, or in m for joints that slide.

    A movement starts when a joint is faster than `start_speed` (rad/s) and ends when all have
    stayed below `stop_speed` for `quiet_s`. One shorter than `min_duration_s`, or in which no
    joint covers `min_travel` (rad), is not kept. Where the readings have no speed it is taken
    over `difference_s`. The trajectory keeps its shape within `tolerance` (rad) in at most
    `max_points`; more than those double the tolerance. Silence of `gap_s` breaks a movement off.
    `slow_speed` and `fast_speed` (rad/s) are only words of the description, as is `unit`.
    """

    start_speed: float = 0.04
    stop_speed: float = 0.015
    quiet_s: float = 0.5
    min_duration_s: float = 0.2
    min_travel: float = 0.02
    difference_s: float = 0.1
    tolerance: float = 0.01
    max_points: int = 256
    gap_s: float = 2.0
    slow_speed: float = 0.2
    fast_speed: float = 1.0
    unit: str = 'rad'

    def __post_init__(self) -> None:
        """Refuse settings that no movement can meet."""
        require_positive(self, *(name for name in asdict(self) if name != 'unit'))
        if self.stop_speed > self.start_speed:
            raise InvalidArgument(
                f'stop_speed is {self.stop_speed}; accepted: up to start_speed {self.start_speed}'
            )
        if self.max_points < 8:
            raise InvalidArgument(f'max_points is {self.max_points}; accepted: 8 or more')


class MotionDetector:
    """Find movements in a stream of joint readings; joints with other names are another group."""

    def __init__(self, settings: MotionSettings = MotionSettings()) -> None:
        """Start with every joint at rest; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._groups: dict[tuple[str, ...], _Group] = {}

    def feed(self, reading: JointReading) -> list[Event]:
        """Take the next reading and return the movements that are over with it."""
        position = floats(reading.position)
        names = tuple(reading.names) or _numbered(len(position))
        if not position or len(names) != len(position):
            self.ignored['no positions' if not position else 'names do not match positions'] += 1
            return []
        if not usable(position):
            self.ignored['position is not a number'] += 1
            return []
        group = self._groups.get(names)
        if group is None:
            if len(self._groups) >= MAX_GROUPS:
                self.ignored['too many groups of joints'] += 1
                return []
            group = self._groups[names] = _Group(names, self.settings, self.ignored)
        return group.feed(reading, position)

    def finish(self) -> list[Event]:
        """Return the movements that were under way, marked as broken off, and forget the rest."""
        events = [event for group in self._groups.values() for event in group.close(ENDED)]
        self._groups.clear()
        return events


class _Group:
    """Follow the joints that one publisher reports together."""

    def __init__(
        self, names: tuple[str, ...], settings: MotionSettings, ignored: Counter[str]
    ) -> None:
        self._names = names
        self._settings = settings
        self._ignored = ignored
        self._order = StampOrder(settings.gap_s, ignored)
        self._quiet_ns = round(settings.quiet_s * 1e9)
        self._difference_ns = round(settings.difference_s * 1e9)
        self._has_velocity = False
        self._forget()

    def _forget(self) -> None:
        self._recent: deque[Point] = deque()
        self._lead: deque[Point] = deque(maxlen=LEAD)
        self._rested = False
        self._movement: _Movement | None = None

    def feed(self, reading: JointReading, position: list[float]) -> list[Event]:
        stamp_ns = reading.stamp_ns
        verdict = self._order.judge(stamp_ns)
        events: list[Event] = []
        if verdict is not GOES_ON:
            if verdict is UNUSABLE:
                return []
            events = self.close(verdict)
        speeds = self._speeds(reading, position)
        speed = max(max(speeds), -min(speeds))
        point = (stamp_ns, position)
        movement = self._movement
        if movement is None:
            if speed < self._settings.stop_speed:
                self._lead.clear()
                self._rested = True
            self._lead.append(point)
            if speed < self._settings.start_speed:
                return events
            movement = self._movement = _Movement(self._lead, self._rested, self._settings)
            movement.frame_id = reading.frame_id
        elif speed < self._settings.stop_speed:
            movement.rest.append(point)
            if stamp_ns - movement.rest[0][0] >= self._quiet_ns:
                last = movement.rest[-1]
                events += self.close(AT_REST)
                self._rested = True
                self._lead.append(last)
            return events
        else:
            movement.moves(point)
        if speed > movement.peak_speed:
            movement.peak_speed = speed
            movement.peak_speed_joint = _largest(speeds)
        effort = floats(reading.effort)
        if len(effort) == len(position):
            strongest = max(max(effort), -min(effort))
            if strongest > movement.peak_effort and usable(effort):
                movement.peak_effort = strongest
                movement.peak_effort_joint = _largest(effort)
        return events

    def _speeds(self, reading: JointReading, position: list[float]) -> list[float]:
        velocity = floats(reading.velocity)
        if len(velocity) == len(position):
            if not usable(velocity):
                self._ignored['velocity is not a number'] += 1
            elif self._has_velocity or any(velocity):
                self._has_velocity = True
                if self._recent:
                    self._recent.clear()
                return velocity
        recent = self._recent
        recent.append((reading.stamp_ns, position))
        while len(recent) > 2 and reading.stamp_ns - recent[1][0] >= self._difference_ns:
            recent.popleft()
        since_ns, before = recent[0]
        if since_ns == reading.stamp_ns:
            return [0.0] * len(position)
        seconds = (reading.stamp_ns - since_ns) / 1e9
        return [(now - then) / seconds for now, then in zip(position, before, strict=True)]

    def close(self, reason: str) -> list[Event]:
        """End what is under way; forget the past unless the joints simply came to rest."""
        movement, recent = self._movement, self._recent
        self._forget()
        if reason is AT_REST:
            self._recent = recent
        if movement is None:
            return []
        event = movement.event(self._names, reason, self._settings)
        if event is None:
            self._ignored['movement too short or too small'] += 1
            return []
        return [event]


class _Movement:
    """Gather one movement while it is under way."""

    def __init__(self, lead: Sequence[Point], from_rest: bool, settings: MotionSettings) -> None:
        self.frame_id = ''
        self.peak_speed = 0.0
        self.peak_speed_joint = 0
        self.peak_effort = 0.0
        self.peak_effort_joint = 0
        self.rest: list[Point] = []
        self._from_rest = from_rest
        self._start = lead[0]
        self._readings = 0
        self._trajectory = _Trajectory(settings)
        for point in lead:
            self._add(point)

    def _add(self, point: Point) -> None:
        self._readings += 1
        self._trajectory.add(point)

    def moves(self, point: Point) -> None:
        """Take a reading in motion, with those of a rest that was too short to end it."""
        if self.rest:
            for resting in self.rest:
                self._add(resting)
            self.rest.clear()
        self._add(point)

    def event(self, names: Sequence[str], reason: str, settings: MotionSettings) -> Event | None:
        """Return the event, or None where the movement is too short or too small."""
        if self.rest:
            self._add(self.rest[0])
        points = self._trajectory.finish()
        start, end = self._start, points[-1]
        duration = (end[0] - start[0]) / 1e9
        extent = self._trajectory.extent()
        if duration < settings.min_duration_s or max(extent) < settings.min_travel:
            return None
        order = sorted(range(len(names)), key=lambda joint: -self._trajectory.travel[joint])
        moved = [joint for joint in order if extent[joint] >= settings.min_travel]
        broken_off = reason is not AT_REST
        data = {
            'joints': list(names),
            'moved': [names[joint] for joint in moved],
            'duration_s': round(duration, 4),
            'start': rounded(start[1], 5),
            'end': rounded(end[1], 5),
            'travel': rounded(self._trajectory.travel),
            'peak_speed': round(self.peak_speed, 4),
            'peak_speed_joint': names[self.peak_speed_joint],
            'peak_effort': round(self.peak_effort, 3),
            'peak_effort_joint': names[self.peak_effort_joint] if self.peak_effort else '',
            'from_rest': self._from_rest,
            'broken_off': broken_off,
            'ended_because': reason,
            'trajectory': {
                't_s': rounded(((stamp - start[0]) / 1e9 for stamp, _ in points), 3),
                'position': [rounded(position) for _, position in points],
            },
        }
        unit = settings.unit
        metadata = {
            'detector': 'motion',
            'units': {
                'position': unit,
                'speed': f'{unit}/s',
                'effort': 'N m' if unit == 'rad' else 'N',
                'time': 's',
            },
            'settings': asdict(settings),
            'readings': self._readings,
            'rate_hz': round((self._readings - 1) / duration, 2),
            'trajectory_error': round(self._trajectory.error, 4),
        }
        words = self._words(names, moved, duration, settings)
        if broken_off:
            words += f', broken off: {reason}'
        return Event('proprioceptive', words, start[0], end[0], self.frame_id, data, metadata)

    def _words(
        self, names: Sequence[str], moved: list[int], duration: float, settings: MotionSettings
    ) -> str:
        pace = 'Motion'
        if self.peak_speed >= settings.fast_speed:
            pace = 'Fast motion'
        elif self.peak_speed < settings.slow_speed:
            pace = 'Slow motion'
        unit = settings.unit
        travel = self._trajectory.travel
        parts = [f'{names[joint]} {travel[joint]:.2f} {unit}' for joint in moved[:3]]
        more = f' and {len(moved) - 3} more' if len(moved) > 3 else ''
        words = (
            f'{pace} for {duration:.1f} s: moved {", ".join(parts)}{more}, '
            f'peak speed {self.peak_speed:.2f} {unit}/s ({names[self.peak_speed_joint]})'
        )
        if self.peak_effort:
            effort = 'N m' if unit == 'rad' else 'N'
            words += f', peak effort {self.peak_effort:.1f} {effort}'
            words += f' ({names[self.peak_effort_joint]})'
        return words


class _Trajectory:
    """Keep the shape of a movement, however long, in a bounded number of its own readings."""

    def __init__(self, settings: MotionSettings) -> None:
        self.error = settings.tolerance
        self.travel: list[float] = []
        self._tolerance = self._coarse = settings.tolerance
        self._max_points = settings.max_points
        self._kept: list[Point] = []
        self._block: list[Point] = []
        self._low: list[float] = []
        self._high: list[float] = []

    def add(self, point: Point) -> None:
        self._block.append(point)
        if len(self._block) >= BLOCK:
            self._reduce()

    def extent(self) -> list[float]:
        """Return how far apart the extreme positions of each joint are."""
        return [high - low for low, high in zip(self._low, self._high, strict=True)]

    def finish(self) -> list[Point]:
        self._reduce()
        return self._kept + self._block

    def _reduce(self) -> None:
        chosen = simplify(self._block, self._tolerance)
        positions = np.array([position for _, position in chosen])
        steps = np.abs(np.diff(positions, axis=0)).sum(axis=0)
        extremes = [positions.min(axis=0), positions.max(axis=0)]
        if self.travel:
            steps += self.travel
            extremes = [np.minimum(extremes[0], self._low), np.maximum(extremes[1], self._high)]
        self.travel = steps.tolist()
        self._low, self._high = extremes[0].tolist(), extremes[1].tolist()
        self._kept += chosen[:-1]
        self._block = chosen[-1:]
        while len(self._kept) >= self._max_points:
            self._coarse *= 2
            self.error += self._coarse
            thinned = simplify(self._kept + self._block, self._coarse)
            self._kept = thinned[:-1]


def simplify(points: list[Point], tolerance: float) -> list[Point]:
    """
    Return the points that straight lines in time need to come within `tolerance` of all others.

    Ramer (1972), Douglas and Peucker (1973), with the error of a point measured at its time and
    on its worst joint.
    """
    if len(points) < 3:
        return points[:]
    times = np.array([stamp - points[0][0] for stamp, _ in points], float)
    positions = np.array([position for _, position in points])
    keep = np.zeros(len(points), bool)
    keep[0] = keep[-1] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        share = (times[first + 1 : last] - times[first]) / (times[last] - times[first])
        line = positions[first] + share[:, None] * (positions[last] - positions[first])
        errors = np.abs(positions[first + 1 : last] - line).max(axis=1)
        worst = int(errors.argmax())
        if errors[worst] > tolerance:
            split = first + 1 + worst
            keep[split] = True
            spans += [(first, split), (split, last)]
    return [points[index] for index in np.flatnonzero(keep)]


def _largest(values: list[float]) -> int:
    return max(range(len(values)), key=lambda index: abs(values[index]))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f'joint_{number}' for number in range(1, count + 1))
