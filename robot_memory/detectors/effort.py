"""Effort: a collision or a stall, as the joints alone show it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import NamedTuple

from robot_memory.detectors.confidence import rate_evidence
from robot_memory.detectors.event import (
    ENDED,
    GOES_ON,
    UNUSABLE,
    Event,
    StampOrder,
    round_all,
)
from robot_memory.detectors.formatting import format_number
from robot_memory.detectors.motion_event import UNITS, MotionSettings
from robot_memory.detectors.readings import JointReading, is_usable, to_floats
from robot_memory.detectors.ring_buffer import RingBuffer, Row, to_signal
from robot_memory.detectors.signal import Signal
from robot_memory.detectors.usual_effort import UsualEffort, UsualRange

RELEASED = 'the effort is usual again'
LASTED = 'it lasted so long that it became usual'
MIN_READINGS = 3
MIN_NS = 30_000_000
QUIET_NS = 300_000_000
MAX_NS = 10 * 10**9
MOVED_NS = 500_000_000
SMOOTH_S = 0.1


class EffortDetector:
    """Find efforts that are unusual of a joint at its speed, of the joints of one publisher."""

    def __init__(
        self, names: tuple[str, ...], settings: MotionSettings, ignored: Counter[str]
    ) -> None:
        """Begin to learn; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored = ignored
        self.names = names
        self._order = StampOrder(settings.gap_s, Counter())
        self._usual = [UsualEffort(settings.stop_speed) for _ in names]
        self._buffer = RingBuffer(settings.pre_s + 1.0, settings.pre_s, settings.post_s)
        self._learned_s = 0.0
        self._speeds = [0.0] * len(names)
        self._position: list[float] = []
        self._strain: _Strain | None = None

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event not handed on yet; 0: there is none."""
        strain = self._strain
        return self._buffer.since_ns or (strain.rows[0][0] if strain is not None else 0)

    def feed(self, reading: JointReading) -> list[Event]:
        """Take the next reading, with an effort of each joint or none."""
        effort = to_floats(reading.effort)
        if len(effort) != len(self.names) or not self.settings.effort_learning_s:
            return []
        if not is_usable(effort):
            self.ignored['effort is not a number'] += 1
            return []
        stamp_ns, before_ns = reading.stamp_ns, self._order.last_ns
        verdict = self._order.judge(stamp_ns)
        if verdict is UNUSABLE:
            return []
        events: list[Event] = []
        elapsed = (stamp_ns - before_ns) / 1e9 if before_ns and verdict is GOES_ON else 0.0
        if verdict is not GOES_ON:
            events = self.break_off(verdict)
            self._buffer.clear()
        self._learned_s += elapsed
        self._follow_speeds(reading, elapsed)
        row = (stamp_ns, [*effort, max(map(abs, self._speeds))])
        self._buffer.push(row)
        self._judge(row, effort)
        return events + self._buffer.take_ready()

    def break_off(self, reason: str = ENDED) -> list[Event]:
        """Hand on what there is, because of `reason`; what was learned stays."""
        self._close(reason)
        self._position = []
        return self._buffer.flush()

    def _follow_speeds(self, reading: JointReading, elapsed: float) -> None:
        """Take the speeds that are reported, or those of the positions over some 0.1 s."""
        velocity, position = to_floats(reading.velocity), to_floats(reading.position)
        if len(velocity) == len(self.names) and is_usable(velocity) and any(velocity):
            self._speeds = velocity
        elif len(position) == len(self.names) and is_usable(position):
            if self._position and elapsed:
                share = elapsed / (elapsed + SMOOTH_S)
                self._speeds = [
                    old + share * ((now - then) / elapsed - old)
                    for old, now, then in zip(self._speeds, position, self._position, strict=True)
                ]
        elif len(velocity) == len(self.names):
            self._speeds = [0.0] * len(velocity)
        self._position = position

    def _judge(self, row: Row, effort: list[float]) -> None:
        """Compare a reading with the usual, or learn from it."""
        is_learning = self._learned_s < self.settings.effort_learning_s
        top, found = 0.0, None
        for joint, usual in enumerate(self._usual):
            speed_bin = usual.sort_speed(self._speeds[joint])
            known = None if is_learning else usual.find(speed_bin)
            level = known.measure(effort[joint]) if known is not None else 0.0
            if level < self.settings.effort_margin:
                usual.add(speed_bin, effort[joint])
            elif known is not None and level > top:
                top, found = level, _Excess(joint, effort[joint], known, level)
        strain = self._strain
        if found is not None:
            if strain is None:
                moved = self._buffer.select(row[0] - MOVED_NS, row[0])
                speed = max(one[1][-1] for one in moved)
                strain = self._strain = _Strain(speed, self._buffer.select_before(row[0]))
            strain.add(row, found)
            if strain.duration_ns >= MAX_NS:
                self._close(LASTED)
                self._usual[strain.top.joint].forget()
        elif strain is not None and row[0] - strain.rows[-1][0] >= QUIET_NS:
            self._close(RELEASED)

    def _close(self, reason: str) -> None:
        strain, self._strain = self._strain, None
        if strain is None:
            return
        if len(strain.rows) < MIN_READINGS or strain.duration_ns < MIN_NS:
            self.ignored['unusual effort too short'] += 1
            return
        event = strain.make_event(reason, self.names, self.settings)
        self._buffer.hold(event, lambda after: strain.make_signal(after, self.names, event))


class _Excess(NamedTuple):
    """Hold an effort that is unusual, and what is usual."""

    joint: int
    effort: float
    usual: UsualRange
    level: float


class _Strain:
    """Gather one stretch of unusual effort."""

    top: _Excess

    def __init__(self, speed: float, before: list[Row]) -> None:
        """Begin with the greatest speed of the last half second, and the rows that led here."""
        self.rows: list[Row] = []
        self._joints: set[int] = set()
        self._speed = speed
        self._before = before
        self._peak_ns = 0

    @property
    def duration_ns(self) -> int:
        """Return the time from the first unusual reading to the last, in ns."""
        return self.rows[-1][0] - self.rows[0][0]

    def add(self, row: Row, excess: _Excess) -> None:
        """Take an unusual reading."""
        self.rows.append(row)
        self._joints.add(excess.joint)
        if not self._peak_ns or excess.level > self.top.level:
            self._peak_ns, self.top = row[0], excess

    def make_signal(self, after: list[Row], names: tuple[str, ...], event: Event) -> Signal:
        """Return the efforts, with what led to them and what followed."""
        units = [event.metadata['units']['effort']] * len(names)
        speed = event.metadata['units']['speed']
        rows = [*self._before, *self.rows, *after]
        return to_signal(rows, [], [*names, 'speed'], [*units, speed])

    def make_event(self, reason: str, names: tuple[str, ...], settings: MotionSettings) -> Event:
        """Return it, without its signal, as an event that ended because of `reason`."""
        top, usual = self.top, self.top.usual
        duration = self.duration_ns / 1e9
        kind = 'collision' if self._speed >= settings.start_speed else 'stall'
        broken_off = reason not in (RELEASED, LASTED)
        _, speed, unit = UNITS[settings.unit]
        unit = settings.effort_unit or unit
        low, high = (format_number(value) for value in (usual.low, usual.high))
        words = (
            f'Unusual effort for {format_number(duration)} s, as of a {kind}: {names[top.joint]} '
            f'{format_number(top.effort)} {unit}'.rstrip()
            + f', usual at that speed are {low} to {high}'
        )
        if broken_off:
            words += f', broken off: {reason}'
        return Event(
            'proprioceptive',
            words,
            self.rows[0][0],
            self._peak_ns,
            self.rows[-1][0],
            '',
            f'effort of {", ".join(names)}',
            {
                'kind': kind,
                'joint': names[top.joint],
                'joints': [names[joint] for joint in sorted(self._joints)],
                'duration_s': round(duration, 4),
                'peak_effort': round(abs(top.effort), 4),
                'residual': round(abs(top.effort - usual.median), 4),
                'effort': round(top.effort, 4),
                'usual': round_all(usual),
                'peak_speed': round(self._speed, 4),
                'broken_off': broken_off,
                'ended_because': reason,
            },
            {
                'detector': 'effort',
                'units': {'effort': unit, 'speed': speed, 'time': 's'},
                'settings': asdict(settings),
                'readings': len(self.rows),
            },
            broken_off=broken_off,
            confidence=rate_evidence(
                top.level / settings.effort_margin, len(self.rows), broken_off
            ),
        )
