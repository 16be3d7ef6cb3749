"""Effort: a collision or a stall, as the joints alone show it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from robot_memory.detectors.confidence import rate_evidence
from robot_memory.detectors.event import (
    ENDED,
    GOES_ON,
    Event,
    StampOrder,
    round_all,
)
from robot_memory.detectors.formatting import format_number
from robot_memory.detectors.motion_event import UNITS, MotionSettings
from robot_memory.detectors.readings import JointBlock, find_usable
from robot_memory.detectors.recent_speeds import RecentSpeeds
from robot_memory.detectors.ring_buffer import NEVER_NS, RingBuffer, Row, to_signal
from robot_memory.detectors.signal import Signal
from robot_memory.detectors.usual_effort import (
    Floats,
    Numbers,
    Unusual,
    UsualEffort,
    UsualRange,
    sort_speeds,
)

RELEASED = 'the effort is usual again'
LASTED = 'it lasted so long that it became usual'
MIN_READINGS = 3
MIN_NS = 30_000_000
QUIET_NS = 300_000_000
MAX_NS = 10 * 10**9
MOVED_NS = 500_000_000


@dataclass(frozen=True)
class LearnedEffort:
    """
    Hold what a run has learned of the joints of one publisher, to go on from it in the next run.

    `conditions` are the settings by which readings were sorted: by others it means nothing.
    `since_ns` and `until_ns` are the stamps of the run's first and last reading, `learned_s` how
    long was learned in all runs, `joints` what was learned of each, as plain JSON.
    """

    names: tuple[str, ...]
    conditions: tuple[float | str, ...]
    since_ns: int
    until_ns: int
    learned_s: float
    joints: dict[str, Any]


FindLearned = Callable[[tuple[str, ...], tuple[float | str, ...], int], LearnedEffort | None]
"""What was learned of joints, by their names in order and the conditions, before a stamp."""


def find_nothing(*_: object) -> None:
    """Know of nothing that was learned."""


class EffortDetector:
    """Find efforts that are unusual of a joint at its speed, of the joints of one publisher."""

    def __init__(
        self,
        names: tuple[str, ...],
        settings: MotionSettings,
        ignored: Counter[str],
        find_learned: FindLearned = find_nothing,
    ) -> None:
        """Begin to learn, or go on from before; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored = ignored
        self.names = names
        self._order = StampOrder(settings.gap_s, Counter())
        self._usual = [UsualEffort() for _ in names]
        self._find_learned = find_learned
        self._since_ns = 0
        self._buffer = RingBuffer(settings.pre_s + 1.0, settings.pre_s, settings.post_s)
        self._learned_s = 0.0
        self._speeds = RecentSpeeds(len(names))
        self._strain: _Strain | None = None

    def retune(self, settings: MotionSettings) -> None:
        """Take other settings; what is usual stays learned."""
        self.settings = settings
        self._order.retune(settings.gap_s)
        self._buffer.retune(settings.pre_s + 1.0, settings.pre_s, settings.post_s)

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event not handed on yet; 0: there is none."""
        strain = self._strain
        return self._buffer.since_ns or (strain.rows[0][0] if strain is not None else 0)

    def feed(self, block: JointBlock) -> list[tuple[int, Event]]:
        """Take readings, with an effort of each joint; return what is complete with which."""
        numbers, usable = find_usable(block.effort)
        if len(numbers) < len(usable):
            self.ignored['effort is not a number'] += len(usable) - len(numbers)
            block = block.select(usable)
        events: list[tuple[int, Event]] = []
        for verdict, before_ns, at, end in self._order.split(block.stamps_ns):
            if not self._since_ns:
                self._begin(int(block.stamps_ns[at]))
            if verdict is not GOES_ON:
                events += [(numbers[at], event) for event in self.break_off(verdict)]
                self._buffer.clear()
                before_ns = 0
            found = self._follow(block.select(slice(at, end)), before_ns)
            events += [(numbers[at + number], event) for number, event in found]
        return events

    def _begin(self, stamp_ns: int) -> None:
        """Go on from what was learned before the first reading."""
        self._since_ns = stamp_ns
        learned = self._find_learned(tuple(sorted(self.names)), self._conditions, stamp_ns)
        if learned is None:
            return
        self._learned_s = learned.learned_s
        for name, usual in zip(self.names, self._usual, strict=True):
            usual.restore(learned.joints.get(name, {}))

    @property
    def _conditions(self) -> tuple[float | str, ...]:
        settings = self.settings
        return settings.stop_speed, settings.unit, settings.effort_unit

    def list_learned(self) -> LearnedEffort | None:
        """Return what was learned so far; None before the first reading."""
        if not self._since_ns:
            return None
        joints = {name: usual.dump() for name, usual in zip(self.names, self._usual, strict=True)}
        return LearnedEffort(
            tuple(sorted(self.names)),
            self._conditions,
            self._since_ns,
            max(self._since_ns, self._order.last_ns),
            self._learned_s,
            joints,
        )

    def break_off(self, reason: str = ENDED) -> list[Event]:
        """Hand on what there is, because of `reason`; what was learned stays."""
        self._close(reason)
        self._speeds.forget_position()
        return self._buffer.flush()

    def _follow(self, block: JointBlock, before_ns: int) -> list[tuple[int, Event]]:
        """Take readings in a row; go through them by stretches in which nothing changes."""
        stamps_ns: list[int] = block.stamps_ns.tolist()
        elapsed = (np.diff(block.stamps_ns, prepend=before_ns or stamps_ns[0]) / 1e9).tolist()
        learned = np.add.accumulate([self._learned_s, *elapsed])[1:]
        self._learned_s = float(learned[-1])
        learns_to = int(learned.searchsorted(self.settings.effort_learning_s))
        speeds = self._speeds.estimate(block, elapsed)
        table = np.column_stack((block.effort, np.abs(speeds).max(axis=1))).tolist()
        rows: list[Row] = list(zip(stamps_ns, table, strict=True))
        speed_bins = sort_speeds(speeds, self.settings.stop_speed)

        def learn(joint: int, begin: int) -> list[Unusual]:
            efforts = block.effort[:, joint]
            return self._learn(joint, speed_bins[:, joint], efforts, begin, learns_to)

        unusual = [learn(joint, 0) for joint in range(len(self.names))]
        excesses = _find_greatest(unusual)
        order = list(excesses)
        events: list[tuple[int, Event]] = []
        at, last = 0, len(rows) - 1
        while at <= last:
            change_ns = min(self._quiet_ns, self._buffer.ready_ns)
            end = min(last, bisect_left(stamps_ns, change_ns, at))
            following = bisect_left(order, at)
            end = min([end, *order[following : following + 1]])
            self._buffer.extend(rows[at : end + 1])
            at = end + 1
            if end in excesses:
                top = self._strain_on(rows[end], excesses[end])
                if top is not None:
                    self._usual[top].forget()
                    unusual[top] = learn(top, at)
                    excesses = _find_greatest(unusual)
                    order = list(excesses)
            elif stamps_ns[end] >= self._quiet_ns:
                self._close(RELEASED)
            events += [(end, event) for event in self._buffer.take_ready()]
        return events

    def _learn(
        self, joint: int, speed_bins: Numbers, efforts: Floats, begin: int, learns_to: int
    ) -> list[Unusual]:
        """Compare the readings of a joint from `begin` on with the usual, or learn from them."""
        usual, first = self._usual[joint], max(begin, learns_to)
        if begin < first:
            usual.take(speed_bins[begin:first], efforts[begin:first], inf)
        margin = self.settings.effort_margin
        found = usual.take(speed_bins[first:], efforts[first:], margin)
        return [one._replace(reading=first + one.reading) for one in found]

    @property
    def _quiet_ns(self) -> int:
        """Return from which stamp on an effort that is usual ends the strain; far off: none is."""
        return self._strain.rows[-1][0] + QUIET_NS if self._strain is not None else NEVER_NS

    def _strain_on(self, row: Row, excess: _Excess) -> int | None:
        """Take an unusual reading; return the joint of which it lasted too long, if one did."""
        strain = self._strain
        if strain is None:
            moved = self._buffer.select(row[0] - MOVED_NS, row[0])
            speed = max(one[1][-1] for one in moved)
            strain = self._strain = _Strain(speed, self._buffer.select_before(row[0]))
        strain.add(row, excess)
        if strain.duration_ns < MAX_NS:
            return None
        self._close(LASTED)
        return strain.top.joint

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


def _find_greatest(unusual: list[list[Unusual]]) -> dict[int, _Excess]:
    """Return by reading, in their order, which joint is furthest beyond the usual."""
    found: dict[int, _Excess] = {}
    for joint, ones in enumerate(unusual):
        for number, effort, usual, level in ones:
            if number not in found or level > found[number].level:
                found[number] = _Excess(joint, effort, usual, level)
    return dict(sorted(found.items()))


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
            kind='effort',
        )
