"""Motion: a movement of named joints from rest to rest."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from operator import itemgetter

import numpy as np

from robot_memory.detectors.effort import (
    EffortDetector,
    FindLearned,
    LearnedEffort,
    find_nothing,
)
from robot_memory.detectors.event import (
    ENDED,
    GOES_ON,
    STOPPED,
    WENT_BACK,
    Event,
    StampOrder,
)
from robot_memory.detectors.joint_speeds import SpeedEstimator
from robot_memory.detectors.motion_event import AT_REST, MotionSettings, Movement
from robot_memory.detectors.readings import ABSURD, JointBlock, JointReading, find_usable
from robot_memory.detectors.ring_buffer import RingBuffer, Row
from robot_memory.detectors.turning import PERIOD_NS, JointPlaces

MAX_GROUPS = 16
LEAD_NS = 2 * 10**9


class MotionDetector:
    """
    Find movements in a stream of joint readings; joints with other names are another group.

    The order in which a reading names them does not count.
    """

    def __init__(self, settings: MotionSettings = MotionSettings()) -> None:
        """Start with every joint at rest; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._groups: dict[tuple[str, ...], _JointGroup] = {}
        self._efforts: dict[tuple[str, ...], EffortDetector] = {}
        self.lists_places = False
        self._find_learned: FindLearned = find_nothing

    def retune(self, settings: MotionSettings) -> None:
        """Take other settings while nothing moves; what is usual of efforts stays learned."""
        self.settings = settings
        for group in self._groups.values():
            group.retune(settings)
        for detector in self._efforts.values():
            detector.retune(settings)

    def go_on_from(self, find_learned: FindLearned) -> None:
        """Have what is usual of joints that come looked up among what was learned before."""
        self._find_learned = find_learned

    def list_learned(self) -> list[LearnedEffort]:
        """Return what is usual of the joints of each publisher, in the order of their names."""
        found = (detector.list_learned() for _, detector in sorted(self._efforts.items()))
        return [learned for learned in found if learned is not None]

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest movement not handed on yet, or of what may be one."""
        return min(filter(None, (part.since_ns for part in self._list_parts())), default=0)

    def feed(self, reading: JointReading) -> list[Event]:
        """Take the next reading; return the movements and unusual efforts complete with it."""
        found = self.feed_block(JointBlock.from_reading(reading))
        return [one for _, one in found if isinstance(one, Event)]

    def feed_block(self, block: JointBlock) -> list[tuple[int, Event | JointPlaces]]:
        """
        Take the next readings; return what is complete with which of them, in their order.

        That are movements, unusual efforts, and, of joints that turn and if `lists_places`, where
        they are. It is the same as to feed the readings one by one.
        """
        return sorted([*self._judge_efforts(block), *self._follow(block)], key=itemgetter(0))

    def _judge_efforts(self, block: JointBlock) -> list[tuple[int, Event]]:
        """Compare efforts with what is usual; positions need not be there."""
        count = block.effort.shape[1]
        names = block.names or _number_joints(count)
        if not count or len(names) != count or not self.settings.effort_learning_s:
            return []
        key = tuple(sorted(names))
        detector = self._efforts.get(key)
        if detector is None:
            if len(self._efforts) >= MAX_GROUPS:
                return []
            detector = self._efforts[key] = EffortDetector(
                names, self.settings, self.ignored, self._find_learned
            )
        if block.names and names != detector.names:
            block = block.reorder(detector.names)
        return detector.feed(block)

    def _follow(self, block: JointBlock) -> list[tuple[int, Event | JointPlaces]]:
        """Take the positions of readings; return movements, and where the joints are."""
        readings, joints = block.position.shape
        names = block.names or _number_joints(joints)
        if not joints or len(names) != joints:
            reason = 'no positions' if not joints else 'names do not match positions'
            self.ignored[reason] += readings
            return []
        numbers, usable = find_usable(block.position)
        if len(numbers) < readings:
            self.ignored['position is not a number'] += readings - len(numbers)
            block = block.select(usable)
        if not numbers:
            return []
        key = tuple(sorted(names))
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MAX_GROUPS:
                self.ignored['too many groups of joints'] += len(numbers)
                return []
            group = self._groups[key] = _JointGroup(names, self.settings, self.ignored)
        if block.names and names != group.names:
            block = block.reorder(group.names)
        found = group.feed(block, lists_places=self.lists_places)
        return [(numbers[at], one) for at, one in found]

    def pause(self) -> list[Event]:
        """
        Return what is under way, because the readings have stopped for more than `gap_s`.

        The reading that ends the silence finds the detector as if it had not been asked.
        """
        return self._break_off(STOPPED)

    def finish(self) -> list[Event]:
        """Return the movements under way, marked as broken off if moving, and forget the rest."""
        events = self._break_off(ENDED)
        self._groups.clear()
        self._efforts.clear()
        return events

    def _list_parts(self) -> list[_JointGroup | EffortDetector]:
        return [*self._groups.values(), *self._efforts.values()]

    def _break_off(self, reason: str) -> list[Event]:
        events = [event for part in self._list_parts() for event in part.break_off(reason)]
        return sorted(events, key=lambda event: event.stamp_ns)


class _Stream:
    """Hold readings in a row, with what is computed of each for all of them at once."""

    def __init__(
        self, block: JointBlock, speeds: SpeedEstimator, settings: MotionSettings
    ) -> None:
        self.frame_id = block.frame_id
        self.speeds, covered, self.known = speeds.estimate(block)
        self.tops = np.abs(self.speeds).max(axis=1)
        slowest = np.minimum(self.tops, np.abs(covered).max(axis=1))
        self.moves = slowest >= settings.stop_speed
        self.starts = self.moves & (self.tops >= settings.start_speed)
        self.trembles = self.tops >= settings.stop_speed
        self.stamps_ns: list[int] = block.stamps_ns.tolist()
        table = np.column_stack((block.position, self.tops)).tolist()
        self.rows: list[Row] = list(zip(self.stamps_ns, table, strict=True))
        self.efforts = block.effort if block.effort.shape == block.position.shape else None

    def find_change(self, at: int, end: int) -> int:
        """Return where joints that move, or rest, at a reading no longer do, at most `end`."""
        other = self.moves[at:end] != self.moves[at]
        return at + int(other.argmax()) if other.any() else end


class _JointGroup:
    """Detect motion of the joints that one publisher reports together."""

    def __init__(
        self, names: tuple[str, ...], settings: MotionSettings, ignored: Counter[str]
    ) -> None:
        self.names = names
        self._ignored = ignored
        self._order = StampOrder(settings.gap_s, ignored)
        self._difference_ns = round(settings.difference_s * 1e9)
        self._buffer = RingBuffer(0.0, settings.pre_s, settings.post_s)
        self._speeds = SpeedEstimator(len(names), settings.difference_s, ignored)
        self._turns = settings.unit == 'rad'
        self._placed_ns = 0
        self._reset()
        self.retune(settings)

    def retune(self, settings: MotionSettings) -> None:
        self._settings = settings
        self._order.retune(settings.gap_s)
        self._quiet_ns = round(settings.quiet_s * 1e9)
        reach_s = max(settings.pre_s + LEAD_NS / 1e9, settings.quiet_s)
        self._buffer.retune(reach_s, settings.pre_s, settings.post_s)

    def _reset(self) -> None:
        self._speeds.clear()
        self._movement: Movement | None = None
        self._rested = False
        self._reported_rest_ns = self._rest_ns = self._lead_ns = self._moved_ns = (
            self._since_ns
        ) = 0

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest movement not handed on yet, or of what may be one."""
        return self._buffer.since_ns or self._since_ns

    def feed(
        self, block: JointBlock, *, lists_places: bool
    ) -> list[tuple[int, Event | JointPlaces]]:
        """Take readings, and return what is complete with which of them."""
        events: list[tuple[int, Event | JointPlaces]] = []
        for verdict, _, at, end in self._order.split(block.stamps_ns):
            if verdict is not GOES_ON:
                events += [(at, event) for event in self.break_off(verdict)]
            stream = _Stream(block.select(slice(at, end)), self._speeds, self._settings)
            events += [(at + number, event) for number, event in self._follow(stream)]
            if self._turns and lists_places:
                events += [(at + number, one) for number, one in self._list_places(stream)]
        return events

    def _list_places(self, stream: _Stream) -> list[tuple[int, JointPlaces]]:
        """Return where the joints are, as seldom as a history of them takes it."""
        found, at, stamps_ns = [], 0, stream.stamps_ns
        if stamps_ns[0] < self._placed_ns:
            self._placed_ns = 0
        while (at := bisect_left(stamps_ns, self._placed_ns + PERIOD_NS, at)) < len(stamps_ns):
            self._placed_ns = stamps_ns[at]
            found.append((at, JointPlaces(stamps_ns[at], self.names, stream.rows[at][1][:-1])))
        return found

    def _follow(self, stream: _Stream) -> list[tuple[int, Event]]:
        """Go through readings by stretches in which nothing begins, ends or is complete."""
        events: list[tuple[int, Event]] = []
        at, stamps_ns = 0, stream.stamps_ns
        while at < len(stamps_ns):
            end = min(len(stamps_ns), bisect_left(stamps_ns, self._buffer.ready_ns, at) + 1)
            movement = self._movement
            if movement is None:
                at = self._watch(stream, at, end)
            elif stream.moves[at]:
                at = self._move(movement, stream, at, end)
            else:
                at = self._rest(movement, stream, at, end)
            if self._buffer.since_ns:
                events += [(at - 1, event) for event in self._buffer.take_ready()]
        return events

    def _move(self, movement: Movement, stream: _Stream, at: int, end: int) -> int:
        """Take the readings of a movement up to where the joints rest; return where that is."""
        end = stream.find_change(at, end)
        if movement.rest_ns:
            movement.resume(self._buffer.select(movement.rest_ns, stream.stamps_ns[at] - 1))
        self._buffer.extend(stream.rows[at:end])
        movement.extend(stream.rows[at:end])
        _record_extremes(movement, stream, at, end)
        return end

    def _rest(self, movement: Movement, stream: _Stream, at: int, end: int) -> int:
        """Take readings at rest up to where the movement goes on, or is over; return it."""
        end = stream.find_change(at, end)
        movement.rest(stream.rows[at])
        over = bisect_left(stream.stamps_ns, movement.rest_ns + self._quiet_ns, at, end)
        is_over = over < end
        end = over + 1 if is_over else end
        self._buffer.extend(stream.rows[at:end])
        if is_over:
            self._close(AT_REST)
            self._rested = True
            self._reported_rest_ns = self._rest_ns = stream.stamps_ns[over]
        return end

    def _watch(self, stream: _Stream, at: int, end: int) -> int:
        """
        Look at readings while no movement is under way; return up to which.

        Those at rest are looked at together, once it is known that the joints rest.
        """
        end = stream.find_change(at, end) if self._rested and not stream.moves[at] else at + 1
        last, stamp_ns = end - 1, stream.stamps_ns[end - 1]
        moves = bool(stream.moves[last])
        self._buffer.extend(stream.rows[at:end])
        self._rested = self._rested or (bool(stream.known[last]) and not moves)
        if self._rested or not self._rest_ns:
            (calm,) = (~stream.trembles[at:end]).nonzero()
            if len(calm):
                self._reported_rest_ns = stream.stamps_ns[at + int(calm[-1])]
            if not moves:
                self._rest_ns = stamp_ns
        # Positions tell an onset a little late; a speed that trembles at rest tells none.
        late = 0 < self._rest_ns - self._reported_rest_ns <= self._difference_ns
        onset_ns = self._reported_rest_ns if late else self._rest_ns
        if moves:
            self._lead_ns = self._lead_ns or onset_ns
            self._moved_ns = stamp_ns
        elif stamp_ns - self._moved_ns >= self._quiet_ns:
            self._lead_ns = 0
        rests = self._rested and self._reported_rest_ns == stamp_ns and not self._lead_ns
        self._since_ns = 0 if rests else max(self._lead_ns or onset_ns, stamp_ns - LEAD_NS)
        if stream.starts[last]:
            self._begin(stream, last)
        return end

    def _begin(self, stream: _Stream, at: int) -> None:
        """Begin a movement, which began before the reading that shows it."""
        rows = self._buffer.select(self._since_ns, stream.stamps_ns[at])
        self._since_ns = rows[0][0]
        before = self._buffer.select_before(self._since_ns)
        self._movement = Movement(
            self.names, stream.frame_id, self._settings, self._rested, before, rows
        )
        _record_extremes(self._movement, stream, at, at + 1)

    def break_off(self, reason: str) -> list[Event]:
        """Hand on what there is, because of `reason`, and forget the past."""
        self._close(reason)
        events = self._buffer.flush()
        self._reset()
        if reason is WENT_BACK:
            self._buffer.clear()
        return events

    def _close(self, reason: str) -> None:
        """End the movement, if there is one; it waits for its post-roll."""
        movement, self._movement = self._movement, None
        self._lead_ns = self._since_ns = 0
        if movement is None:
            return
        event = movement.make_event(reason)
        if event is None:
            self._ignored['movement too short or too small'] += 1
        else:
            self._buffer.hold(event, movement.make_signal)


def _record_extremes(movement: Movement, stream: _Stream, at: int, end: int) -> None:
    """Have a movement know the fastest and the strongest of some readings."""
    top = at + int(stream.tops[at:end].argmax())
    speed = float(stream.tops[top])
    if speed > movement.peak_speed:
        movement.record_peak(stream.rows[top], speed, int(np.abs(stream.speeds[top]).argmax()))
    if stream.efforts is None:
        return
    efforts = np.abs(stream.efforts[at:end])
    strongest = efforts.max(axis=1)
    strongest[~(strongest < ABSURD)] = 0.0
    top = int(strongest.argmax())
    if strongest[top] > movement.peak_effort:
        movement.record_effort(float(strongest[top]), int(efforts[top].argmax()))


def _number_joints(count: int) -> tuple[str, ...]:
    return tuple(f'joint_{number}' for number in range(1, count + 1))
