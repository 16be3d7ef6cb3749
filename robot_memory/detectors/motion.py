"""Motion: a movement of named joints from rest to rest."""

from __future__ import annotations

from collections import Counter, deque

from robot_memory.detectors.effort import EffortDetector
from robot_memory.detectors.event import (
    ENDED,
    GOES_ON,
    STOPPED,
    UNUSABLE,
    WENT_BACK,
    Event,
    StampOrder,
)
from robot_memory.detectors.motion_event import AT_REST, MotionSettings, Movement
from robot_memory.detectors.readings import JointReading, is_usable, to_floats
from robot_memory.detectors.ring_buffer import MAX_ROWS, RingBuffer
from robot_memory.detectors.turning import JointHistory

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

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest movement not handed on yet, or of what may be one."""
        return min(filter(None, (part.since_ns for part in self._list_parts())), default=0)

    @property
    def histories(self) -> list[JointHistory]:
        """Return where the joints were lately, by group; none of joints that do not turn."""
        if self.settings.unit != 'rad':
            return []
        return [group.history for group in self._groups.values()]

    def feed(self, reading: JointReading) -> list[Event]:
        """Take the next reading; return the movements and unusual efforts complete with it."""
        return self._judge_effort(reading) + self._follow(reading)

    def _judge_effort(self, reading: JointReading) -> list[Event]:
        """Compare efforts with what is usual; positions need not be there."""
        count = len(reading.effort)
        names = tuple(reading.names) or _number_joints(count)
        if not count or len(names) != count:
            return []
        key = tuple(sorted(names))
        detector = self._efforts.get(key)
        if detector is None:
            if len(self._efforts) >= MAX_GROUPS:
                return []
            detector = self._efforts[key] = EffortDetector(names, self.settings, self.ignored)
        if reading.names and names != detector.names:
            reading = reading.reorder(detector.names)
        return detector.feed(reading)

    def _follow(self, reading: JointReading) -> list[Event]:
        """Take the positions of a reading; return the movements that are complete with it."""
        position = to_floats(reading.position)
        names = tuple(reading.names) or _number_joints(len(position))
        if not position or len(names) != len(position):
            self.ignored['no positions' if not position else 'names do not match positions'] += 1
            return []
        if not is_usable(position):
            self.ignored['position is not a number'] += 1
            return []
        key = tuple(sorted(names))
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MAX_GROUPS:
                self.ignored['too many groups of joints'] += 1
                return []
            group = self._groups[key] = _JointGroup(names, self.settings, self.ignored)
        if reading.names and names != group.names:
            reading = reading.reorder(group.names)
            position = to_floats(reading.position)
        return group.feed(reading, position)

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


class _JointGroup:
    """Detect motion of the joints that one publisher reports together."""

    def __init__(
        self, names: tuple[str, ...], settings: MotionSettings, ignored: Counter[str]
    ) -> None:
        self.history = JointHistory(names)
        self.names = names
        self._settings = settings
        self._ignored = ignored
        self._order = StampOrder(settings.gap_s, ignored)
        self._quiet_ns = round(settings.quiet_s * 1e9)
        self._difference_ns = round(settings.difference_s * 1e9)
        reach_s = max(settings.pre_s + LEAD_NS / 1e9, settings.quiet_s)
        self._buffer = RingBuffer(reach_s, settings.pre_s, settings.post_s)
        self._silent = set(range(len(names)))
        self._reset()

    def _reset(self) -> None:
        self._window: deque[tuple[int, list[float]]] = deque(maxlen=MAX_ROWS)
        self._movement: Movement | None = None
        self._rested = False
        self._known = False
        self._reported_rest_ns = self._rest_ns = self._lead_ns = self._moved_ns = (
            self._since_ns
        ) = 0

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest movement not handed on yet, or of what may be one."""
        return self._buffer.since_ns or self._since_ns

    def feed(self, reading: JointReading, position: list[float]) -> list[Event]:
        """Take a reading with its positions and return what is complete with it."""
        stamp_ns = reading.stamp_ns
        verdict = self._order.judge(stamp_ns)
        events: list[Event] = []
        if verdict is not GOES_ON:
            if verdict is UNUSABLE:
                return []
            events = self.break_off(verdict)
        self.history.add(stamp_ns, position)
        covered = self._estimate_speeds(stamp_ns, position)
        speeds = self._choose_speeds(reading, covered)
        top = max(max(speeds), -min(speeds))
        row = (stamp_ns, [*position, top])
        self._buffer.push(row)
        speed = min(top, max(max(covered), -min(covered)))
        movement = self._movement
        if movement is None:
            movement = self._watch(reading, top, speed)
        elif speed < self._settings.stop_speed:
            if movement.rest(row) >= self._quiet_ns:
                self._close(AT_REST)
                self._rested, self._reported_rest_ns, self._rest_ns = True, stamp_ns, stamp_ns
            movement = None
        else:
            if movement.rest_ns:
                movement.resume(self._buffer.select(movement.rest_ns, stamp_ns - 1))
            movement.add(row)
        if movement is not None:
            if top > movement.peak_speed:
                movement.record_peak(row, top, _find_largest(speeds))
            effort = to_floats(reading.effort)
            if len(effort) == len(position):
                strongest = max(max(effort), -min(effort))
                if strongest > movement.peak_effort and is_usable(effort):
                    movement.record_effort(strongest, _find_largest(effort))
        return events + self._buffer.take_ready() if self._buffer.since_ns else events

    def _estimate_speeds(self, stamp_ns: int, position: list[float]) -> list[float]:
        """Return the speed of each joint by its positions, 0 until two are far enough apart."""
        window = self._window
        window.append((stamp_ns, position))
        while len(window) > 2 and stamp_ns - window[1][0] >= self._difference_ns:
            window.popleft()
        since_ns, before = window[0]
        self._known = 2 * (stamp_ns - since_ns) >= self._difference_ns
        if not self._known:
            return [0.0] * len(position)
        seconds = (stamp_ns - since_ns) / 1e9
        return [(now - then) / seconds for now, then in zip(position, before, strict=True)]

    def _choose_speeds(self, reading: JointReading, covered: list[float]) -> list[float]:
        """Return the speed of each joint as it is reported, or as its positions show it."""
        velocity = to_floats(reading.velocity)
        if len(velocity) != len(covered):
            return covered
        if not is_usable(velocity):
            self._ignored['velocity is not a number'] += 1
            return covered
        silent = self._silent
        if not silent:
            return velocity
        self._silent = {joint for joint in silent if not velocity[joint]}
        for joint in self._silent:
            velocity[joint] = covered[joint]
        return velocity

    def _watch(self, reading: JointReading, top: float, speed: float) -> Movement | None:
        """Look at a reading at rest, and return the movement that begins with it, if one does."""
        stamp_ns, stop = reading.stamp_ns, self._settings.stop_speed
        self._rested = self._rested or (self._known and speed < stop)
        if self._rested or not self._rest_ns:
            if top < stop:
                self._reported_rest_ns = stamp_ns
            if speed < stop:
                self._rest_ns = stamp_ns
        # Positions tell an onset a little late; a speed that trembles at rest tells none.
        late = 0 < self._rest_ns - self._reported_rest_ns <= self._difference_ns
        onset_ns = self._reported_rest_ns if late else self._rest_ns
        if speed >= stop:
            self._lead_ns = self._lead_ns or onset_ns
            self._moved_ns = stamp_ns
        elif stamp_ns - self._moved_ns >= self._quiet_ns:
            self._lead_ns = 0
        rests = self._rested and self._reported_rest_ns == stamp_ns and not self._lead_ns
        self._since_ns = 0 if rests else max(self._lead_ns or onset_ns, stamp_ns - LEAD_NS)
        if top < self._settings.start_speed or speed < stop:
            return None
        rows = self._buffer.select(self._since_ns, stamp_ns)
        self._since_ns = rows[0][0]
        before = self._buffer.select_before(self._since_ns)
        self._movement = Movement(
            self.names, reading.frame_id, self._settings, self._rested, before, rows
        )
        return self._movement

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


def _find_largest(values: list[float]) -> int:
    return max(range(len(values)), key=lambda index: abs(values[index]))


def _number_joints(count: int) -> tuple[str, ...]:
    return tuple(f'joint_{number}' for number in range(1, count + 1))
