"""One movement: what it is, in figures and in words, and the trajectory of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, validate
from robot_memory.detectors.confidence import rate_evidence
from robot_memory.detectors.downsampling import Trajectory
from robot_memory.detectors.event import Event, round_all
from robot_memory.detectors.formatting import join_words
from robot_memory.detectors.ring_buffer import Row, to_signal
from robot_memory.detectors.signal import Signal

AT_REST = 'the joints came to rest'
MAX_WITH_TRAVEL = 3
MAX_NAMED = 12
UNITS = {'rad': ('rad', 'rad/s', 'N m'), 'm': ('m', 'm/s', 'N'), 'none': ('', '1/s', '')}
"""Units of position, speed and effort."""


@dataclass(frozen=True)
class MotionSettings:
    """
    Settings of the motion detector.

    A motion starts when a joint exceeds `start_speed`, dated to the last reading at rest but at
    most 2 s back, and ends when all joints have stayed below `stop_speed` for `quiet_s`. The
    reported speed is used, and counts only if the positions over `difference_s` also show
    movement; a joint that never reports a speed has its speed computed from positions.

    An effort is unusual if it is `effort_margin` widths beyond the range in which 98 of 100
    efforts of the joint at that speed lie, for three readings or more. That range is learned from
    the stream, for `effort_learning_s` before anything is reported, and on; a restarted node, and
    the next recording, go on from it.
    """

    start_speed: float = arg(
        'Joint speed that starts a motion, in rad/s (prismatic joints: m/s).',
        default=0.04,
        minimum=1e-6,
        maximum=1000.0,
    )
    stop_speed: float = arg(
        'Joint speed below which a joint is at rest, in rad/s (m/s).',
        default=0.016,
        minimum=1e-6,
        maximum=1000.0,
    )
    quiet_s: float = arg(
        'Time at rest that ends a motion, in seconds.', default=0.5, minimum=0.001, maximum=60.0
    )
    min_duration_s: float = arg(
        'Minimum duration of a motion, in seconds; shorter ones are discarded.',
        default=0.2,
        minimum=0.0,
        maximum=3600.0,
    )
    min_travel: float = arg(
        'Minimum travel of at least one joint, in rad (m); smaller motions are discarded.',
        default=0.02,
        minimum=0.0,
        maximum=1000.0,
    )
    difference_s: float = arg(
        'Time window for computing speed from positions, in seconds.',
        default=0.1,
        minimum=0.001,
        maximum=10.0,
    )
    tolerance: float = arg(
        'Maximum error of the simplified trajectory, in rad (m).',
        default=0.01,
        minimum=1e-6,
        maximum=1000.0,
    )
    max_points: int = arg(
        'Maximum points of a trajectory; the tolerance is doubled until it fits.',
        default=512,
        minimum=16,
        maximum=100_000,
    )
    gap_s: float = arg(
        'Gap in the readings that ends a motion as truncated, in seconds.',
        default=2.0,
        minimum=0.01,
        maximum=3600.0,
    )
    pre_s: float = arg(
        'Trajectory stored before the onset, in seconds.',
        default=1.0,
        minimum=0.0,
        maximum=10.0,
    )
    post_s: float = arg(
        'Trajectory stored after the end, in seconds.',
        default=0.5,
        minimum=0.0,
        maximum=10.0,
    )
    slow_speed: float = arg(
        'Peak speed below which a motion is described as slow, in rad/s (m/s).',
        default=0.2,
        minimum=0.0,
        maximum=1000.0,
    )
    fast_speed: float = arg(
        'Peak speed from which a motion is described as fast, in rad/s (m/s).',
        default=1.0,
        minimum=0.0,
        maximum=1000.0,
    )
    unit: str = arg(
        'Unit of the positions: rad, m for prismatic joints, none for a ratio or a percentage.',
        default='rad',
        choices=('rad', 'm', 'none'),
    )
    effort_unit: str = arg(
        'Unit of the efforts; empty: N m, or N of prismatic joints. A for currents.',
        default='',
        choices=('', 'N m', 'N', 'A'),
    )
    effort_learning_s: float = arg(
        'Time for which the usual effort of each joint is learned before unusual ones are '
        'reported, in seconds; 0: efforts are not judged, and the node removes what it stored of '
        'this topic.',
        default=600.0,
        minimum=0.0,
        maximum=1e6,
    )
    effort_margin: float = arg(
        'How far an unusual effort is beyond the usual range of the joint at that speed, in '
        'widths of that range.',
        default=1.0,
        minimum=0.01,
        maximum=1000.0,
    )

    def __post_init__(self) -> None:
        """Refuse settings that no movement can meet."""
        validate(self)
        for low, high in (('stop_speed', 'start_speed'), ('slow_speed', 'fast_speed')):
            if getattr(self, low) > getattr(self, high):
                raise InvalidArgument(f'{low} must be at most {high} {getattr(self, high):g}')


class Movement:
    """Gather one movement while it is under way."""

    def __init__(
        self,
        names: tuple[str, ...],
        frame_id: str,
        settings: MotionSettings,
        from_rest: bool,
        before: list[Row],
        rows: list[Row],
    ) -> None:
        """Begin with the rows of the movement so far, and those that led to it."""
        self.peak_speed = 0.0
        self.peak_effort = 0.0
        self._names = names
        self._frame_id = frame_id
        self._settings = settings
        self._from_rest = from_rest
        self._before = before
        self._start = self._last = self._peak = rows[0]
        self._rest: Row | None = None
        self._fastest = self._strongest = 0
        self._readings = 0
        self._trajectory = self._make_trajectory(settings.max_points)
        self.extend(rows)

    def _make_trajectory(self, limit: int) -> Trajectory:
        settings = self._settings
        tolerances = [settings.tolerance] * len(self._names)
        return Trajectory([*tolerances, settings.tolerance / settings.difference_s], limit)

    @property
    def rest_ns(self) -> int:
        """Return since when the joints rest, 0 while they move."""
        return self._rest[0] if self._rest else 0

    def rest(self, row: Row) -> None:
        """Take a reading at rest."""
        self._rest = self._rest or row

    def resume(self, rows: list[Row]) -> None:
        """Take the readings of a rest that was too short to be one."""
        self._rest = None
        self.extend(rows)

    def extend(self, rows: list[Row]) -> None:
        """Take readings of the movement, at least one."""
        self._last = rows[-1]
        self._readings += len(rows)
        self._trajectory.extend(rows)

    def record_peak(self, row: Row, speed: float, joint: int) -> None:
        """Take the fastest reading so far."""
        self.peak_speed, self._peak, self._fastest = speed, row, joint

    def record_effort(self, effort: float, joint: int) -> None:
        """Take the greatest effort so far."""
        self.peak_effort, self._strongest = effort, joint

    def make_signal(self, after: list[Row]) -> Signal:
        """Return the trajectory, with up to half as many points before and after."""
        rows = self._trajectory.collect_rows()
        for roll in (self._before, after):
            if roll:
                shape = self._make_trajectory(max(2, self._settings.max_points // 4))
                shape.extend(roll)
                rows = rows + shape.collect_rows()
        position, speed, _ = UNITS[self._settings.unit]
        units = [position] * len(self._names) + [speed]
        marks = (self._start, self._peak, self._last)
        return to_signal(rows, marks, [*self._names, 'speed'], units)

    def make_event(self, reason: str) -> Event | None:
        """Return it, without its signal, as an event; None where it is too short or too small."""
        if self._rest:
            self.extend([self._rest])
        names, settings = self._names, self._settings
        start, end = self._start, self._last
        self._trajectory.collect_rows()
        duration = (end[0] - start[0]) / 1e9
        extent, travel = self._trajectory.extent[:-1], self._trajectory.travel[:-1]
        if duration < settings.min_duration_s or max(extent) < settings.min_travel:
            return None
        order = sorted(range(len(names)), key=lambda joint: -travel[joint])
        moved = [joint for joint in order if extent[joint] >= settings.min_travel]
        broken_off = reason is not AT_REST
        least = max(settings.min_travel, settings.tolerance)
        data = {
            'joints': list(names),
            'moved': [names[joint] for joint in moved],
            'duration_s': round(duration, 4),
            'start': round_all(start[1][:-1], 5),
            'end': round_all(end[1][:-1], 5),
            'travel': round_all(travel),
            'peak_speed': round(self.peak_speed, 4),
            'peak_speed_joint': names[self._fastest],
            'peak_effort': round(self.peak_effort, 3),
            'peak_effort_joint': names[self._strongest] if self.peak_effort else '',
            'from_rest': self._from_rest,
            'broken_off': broken_off,
            'ended_because': reason,
        }
        units = dict(zip(('position', 'speed', 'effort'), UNITS[settings.unit], strict=True))
        units['effort'] = settings.effort_unit or units['effort']
        metadata = {
            'detector': 'motion',
            'units': {**units, 'time': 's'},
            'settings': asdict(settings),
            'readings': self._readings,
            'rate_hz': round((self._readings - 1) / duration, 2) if duration else 0.0,
            'trajectory_error': round(self._trajectory.error * settings.tolerance, 4),
        }
        words = self._describe(duration, moved, travel)
        if broken_off:
            words += f', broken off: {reason}'
        return Event(
            'proprioceptive',
            words,
            start[0],
            self._peak[0],
            end[0],
            self._frame_id,
            f'motion of {", ".join(names)}',
            data,
            metadata,
            broken_off=broken_off,
            confidence=rate_evidence(
                min(max(extent) / least, self.peak_speed / settings.start_speed),
                self._readings,
                broken_off + (not self._from_rest),
            ),
        )

    def _describe(self, duration: float, moved: list[int], travel: list[float]) -> str:
        """Say how fast, how long, which joints and how far, and which was the fastest."""
        names, settings = self._names, self._settings
        units = list(UNITS[settings.unit])
        units[2] = settings.effort_unit or units[2]
        position, speed, effort = ('/s' if u == '1/s' else f' {u}' if u else '' for u in units)
        pace = 'Motion'
        if self.peak_speed >= settings.fast_speed:
            pace = 'Fast motion'
        elif self.peak_speed < settings.slow_speed:
            pace = 'Slow motion'
        parts = [
            f'{names[joint]} {travel[joint]:.2f}{position}' for joint in moved[:MAX_WITH_TRAVEL]
        ]
        parts += [names[joint] for joint in moved[MAX_WITH_TRAVEL:MAX_NAMED]]
        if len(moved) > MAX_NAMED:
            parts.append(f'{len(moved) - MAX_NAMED} more')
        words = (
            f'{pace} for {duration:.1f} s: moved {join_words(parts)}, '
            f'peak speed {self.peak_speed:.2f}{speed} ({names[self._fastest]})'
        )
        if self.peak_effort:
            words += f', peak effort {self.peak_effort:.1f}{effort}'
            words += f' ({names[self._strongest]})'
        return words
