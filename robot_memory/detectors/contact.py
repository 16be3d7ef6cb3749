"""Contact: a force or torque that rises above what the sensor shows when nothing is touched."""

from __future__ import annotations

from robot_memory.detectors.baseline import DRIFT, Baseline, compute_norm
from robot_memory.detectors.contact_event import LASTED, RELEASED, SMOOTH_S, TURNED, Contact
from robot_memory.detectors.contact_settings import ContactSettings
from robot_memory.detectors.contact_tuning import RISE_NS, SUNK_NS, TunedDetector
from robot_memory.detectors.event import (
    ENDED,
    GOES_ON,
    STOPPED,
    UNUSABLE,
    WENT_BACK,
    Event,
)
from robot_memory.detectors.readings import WrenchBlock, WrenchReading, find_usable
from robot_memory.detectors.recent_levels import RecentLevels
from robot_memory.detectors.rest_forces import RestForces
from robot_memory.detectors.resting import LEAST, MOST, follow_rest, smooth
from robot_memory.detectors.ring_buffer import Row
from robot_memory.detectors.turning import describe_turning

STEADY_NS = 10**9
TEST_NS = 250_000_000
SETTLE_NS = 5 * 10**9
SLOW = 1.0
"""A change of the force by less than this, in N/s, is a contact only once it is taken back."""
BEGAN = 'the stream began in a contact'
RETURN = 1.5
STAYED = 'slow change that stayed'
_NOT_THREE = 'force or torque is not three numbers'


class ContactDetector(TunedDetector):
    """Find contacts in a stream of wrench readings."""

    def __init__(self, settings: ContactSettings = ContactSettings()) -> None:
        """Start without a baseline; `ignored` counts by reason what was not used."""
        super().__init__(settings)
        self.settings = settings
        self._smooth: list[float] = []
        self._reset()
        self.retune(settings)

    def _list_baselines(self) -> tuple[Baseline | None, ...]:
        return self._baseline, self._still, self._rival, self._steady

    @property
    def onset_n(self) -> float:
        """Return the force above the rest that starts a contact now, in N."""
        return self._baseline.onset_n

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest contact not handed on yet, or of what may be one."""
        return self._buffer.since_ns or self._rising_ns

    def feed(self, reading: WrenchReading) -> list[Event]:
        """Take the next reading and return the contacts that are complete with it."""
        if len(reading.force) != 3 or len(reading.torque) != 3:
            self.ignored[_NOT_THREE] += 1
            return []
        return [event for _, event in self.feed_block(WrenchBlock.from_reading(reading))]

    def feed_block(self, block: WrenchBlock) -> list[tuple[int, Event]]:
        """Take readings; return contacts with which completes them, as if taken one by one."""
        if block.values.shape[1] != 6:
            self.ignored[_NOT_THREE] += len(block.values)
            return []
        numbers, usable = find_usable(block.values)
        if len(numbers) < len(usable):
            self.ignored['force or torque is not a number'] += len(usable) - len(numbers)
            block = block.select(usable)
        rows = list(zip(block.stamps_ns.tolist(), block.values.tolist(), strict=True))
        events, at = [], 0
        while at < len(rows):
            at += self._follow_rest(block, rows, at)
            if at < len(rows):
                found = self._take_row(rows[at], block.frame_id)
                events += [(numbers[at], event) for event in found]
                at += 1
        return events

    def _follow_rest(self, block: WrenchBlock, rows: list[Row], at: int) -> int:
        """Take readings at rest from one on, of which nothing comes, together; return how many."""
        baseline = self._baseline
        if self._contact is not None or self._lifted_ns or self._rising_ns or not self._smooth:
            return 0
        due_ns = self._tested_ns + TEST_NS if baseline.is_still else baseline.full_ns
        end_ns = min(baseline.full_ns, self._buffer.ready_ns, due_ns)
        if len(rows) < at + LEAST or rows[at + LEAST - 1][0] >= end_ns:
            return 0
        mean, release = self._smooth, self.settings.release_ratio
        block, rows = block.select(slice(at, at + MOST)), rows[at : at + MOST]
        rest = follow_rest(block, rows, self._order, self._buffer, baseline, mean, end_ns, release)
        if rest.count:
            self._smooth = rest.mean
            self._levels.clear()
            if rest.was_low:
                self._is_resumed = self._was_cut = self._is_unsure = False
        return rest.count

    def _take_row(self, row: Row, frame_id: str) -> list[Event]:
        stamp_ns, before_ns = row[0], self._order.last_ns
        verdict = self._order.judge(stamp_ns)
        events: list[Event] = []
        elapsed = (stamp_ns - before_ns) / 1e9
        if verdict is not GOES_ON or not before_ns:
            if verdict is UNUSABLE:
                return []
            if verdict is not GOES_ON:
                events = self._break_off(verdict, elapsed)
            elapsed = 0.0
        self._buffer.push(row)
        share = elapsed / (elapsed + SMOOTH_S)
        self._smooth = smooth(self._smooth or row[1], row[1], share)
        if self._contact is None:
            self._watch(row, frame_id)
        else:
            self._track_contact(self._contact, row, elapsed)
        if self._buffer.since_ns:
            events += self._buffer.take_ready()
        return events

    def pause(self) -> list[Event]:
        """
        Return what is under way, because the readings have stopped for more than `gap_s`.

        The reading that ends the silence finds the detector as if it had not been asked.
        """
        self._close(STOPPED)
        return self._buffer.flush()

    def finish(self) -> list[Event]:
        """Return the contacts under way, those not released as broken off, and forget the rest."""
        self._close(ENDED)
        events = self._buffer.flush()
        self._reset()
        self._order.last_ns = 0
        return events

    def _reset(self) -> None:
        self._buffer.clear()
        self._rests = RestForces()
        self._contact: Contact | None = None
        self._smooth = []
        self._lifted_ns = self._rising_ns = self._tested_ns = 0
        self._levels = RecentLevels(TEST_NS)
        self._former: Baseline | None = None
        self._still: Baseline | None = None
        self._rival: Baseline | None = None
        self._steady: Baseline | None = None
        self._steady_ns = self._moved_ns = 0
        self._was_cut = self._is_resumed = self._is_unsure = False
        self._baseline: Baseline = self._make_baseline()
        self._tested = False

    def _make_baseline(self) -> Baseline:
        settings = self.settings
        return Baseline(settings.onset_n, settings.onset_nm, settings.baseline_s)

    def _watch(self, row: Row, frame_id: str) -> None:
        """Look at a reading while nothing is touched."""
        baseline, release = self._baseline, self.settings.release_ratio
        stamp_ns = row[0]
        level, mean = baseline.compare(row)[2], self._measure_mean(stamp_ns)
        lift = release / 2 if baseline.is_settled else release
        if mean < lift:
            self._lifted_ns = 0
            if mean < lift / 2:
                self._is_resumed = self._was_cut = self._is_unsure = False
        elif not self._lifted_ns:
            self._lifted_ns = self._tested_ns = stamp_ns
            self._steady = None
            baseline.rewind((stamp_ns, self._smooth))
            level, mean = baseline.compare(row)[2], self._measure_mean(stamp_ns)
        elif (self._is_due(stamp_ns) and self._restore_baseline(stamp_ns)) or self._has_settled(
            stamp_ns
        ):
            return
        self._levels.follow(stamp_ns, mean, is_lifted=bool(self._lifted_ns))
        if level < release:
            self._rising_ns = 0
        elif not self._rising_ns or stamp_ns - self._rising_ns > RISE_NS:
            self._rising_ns = stamp_ns
        if level >= 1.0 and mean >= release:
            self._begin(row, frame_id, mean)
        elif mean < lift:
            baseline.update(row)
            if baseline.is_still and self._is_due(stamp_ns):
                self._still = baseline.remember()
                self._rests.watch(stamp_ns, baseline.force, baseline.noise)

    def _has_settled(self, stamp_ns: int) -> bool:
        """
        Take the force for the rest that has been steady for long enough, and tell so.

        After a contact or a silence, which may have left the rest changed, that is at least a
        second, and as long as a slow contact takes to show itself; else `max_duration_s`, for a
        weak contact is steady, too.
        """
        steady = self._steady
        if steady is None or (
            steady.compare((stamp_ns, self._smooth))[2] >= self.settings.release_ratio / 2
        ):
            self._steady = self._baseline.move_to((stamp_ns, self._smooth))
            self._steady_ns = stamp_ns
            return False
        least_ns = self._max_ns
        if self._is_unsure or self._is_resumed or not self._baseline.is_settled:
            slow_s = self.settings.release_ratio * self._baseline.onset_n / SLOW
            least_ns = max(STEADY_NS, round(slow_s * 1e9))
        if stamp_ns - self._steady_ns < least_ns:
            return False
        self._replace_baseline(self._baseline.move_to((stamp_ns, self._smooth)))
        return True

    def _measure_mean(self, stamp_ns: int) -> float:
        """Return the level of the mean of the last tenth of a second."""
        return self._baseline.compare((stamp_ns, self._smooth))[2]

    def _begin(self, row: Row, frame_id: str, level: float) -> None:
        """Begin a contact with a reading, at which the mean has reached a level."""
        stamp_ns, baseline = row[0], self._baseline
        if not self._lifted_ns:
            baseline.rewind(row)
        rate = self._levels.measure_rate(baseline, row, level)
        if rate < DRIFT and not self._is_resumed:
            self._replace_baseline(self._learn_baseline(stamp_ns))
            return
        before = self._buffer.select_before(self._rising_ns)
        contact = self._contact = Contact(frame_id, baseline, self.settings, before)
        contact.is_slow = self._is_resumed or not baseline.is_settled or rate < SLOW
        if contact.is_slow:
            self._rival, self._moved_ns = self._learn_baseline(stamp_ns), stamp_ns
        self._tested_ns = stamp_ns
        self._take(contact, self._rising_ns, stamp_ns)

    def _take(self, contact: Contact, first_ns: int, last_ns: int) -> None:
        """Take the readings from one stamp to another into a contact."""
        for row in self._buffer.select(first_ns, last_ns):
            contact.add(row)
        contact.last_high_ns = last_ns
        contact.release_check_ns = last_ns + max(SUNK_NS, self._quiet_ns)
        self._rising_ns = contact.onset_ns

    def _track_contact(self, contact: Contact, row: Row, elapsed: float) -> None:
        """Follow a contact with a reading."""
        stamp_ns = row[0]
        level, is_high = contact.measure_level(row, self._smooth, elapsed)
        if self._rests.watch(stamp_ns, self._smooth[:3], self._baseline.noise):
            rows = self._buffer.select(contact.end_ns + 1, stamp_ns)
            if contact.measure_turn(self._rests.weight, rows):
                contact.last_high_ns = stamp_ns
                self._close(TURNED)
                self._replace_baseline(self._learn_baseline(stamp_ns))
                return
        if self._rival is not None and self._has_stayed(self._rival, row):
            self.ignored[STAYED] += 1
            self._contact = None
            self._replace_baseline(self._rival)
            return
        if level >= self.settings.release_ratio:
            contact.last_high_ns = stamp_ns
            if is_high:
                self._take(contact, contact.end_ns + 1, stamp_ns)
        if stamp_ns - contact.last_high_ns >= self._quiet_ns:
            self._tested = True
            self._close(RELEASED)
            self._is_unsure = True
        elif contact.duration_ns >= self._max_ns:
            self._close(LASTED)
            self._replace_baseline(self._make_baseline())
        elif stamp_ns >= contact.release_check_ns:
            self._check_release(contact, stamp_ns)
        elif not self._is_due(stamp_ns):
            return
        elif self._relearn_baseline(contact, stamp_ns):
            self._contact = None
        elif self._restore_baseline(stamp_ns):
            if contact.peak_level <= RETURN * level:
                self._contact = None
            else:
                self._close(RELEASED)

    def _has_stayed(self, rival: Baseline, row: Row) -> bool:
        """Tell whether a slow change has come to rest, as it does when a tool was turned."""
        if rival.compare(row)[2] >= self.settings.release_ratio:
            self._moved_ns = row[0]
        rival.update(row)
        return row[0] - self._moved_ns >= SETTLE_NS

    def _check_release(self, contact: Contact, stamp_ns: int) -> None:
        """Take what is left of a contact for the rest, if it is steady."""
        rival = self._learn_baseline(stamp_ns)
        rows = self._buffer.select(stamp_ns - SUNK_NS, stamp_ns)
        if all(rival.compare(row)[2] < self.settings.release_ratio for row in rows):
            contact.last_high_ns = contact.end_ns
            self._close(RELEASED)
            self._replace_baseline(rival)
        else:
            contact.release_check_ns = stamp_ns + TEST_NS

    def _is_due(self, stamp_ns: int) -> bool:
        """Tell whether to ask again if this is rather the rest."""
        if stamp_ns - self._tested_ns < TEST_NS:
            return False
        self._tested_ns = stamp_ns
        return True

    def _restore_baseline(self, stamp_ns: int) -> bool:
        """Go back to a baseline of before, if only that fits the last readings."""
        release = self.settings.release_ratio
        if self._measure_mean(stamp_ns) < release:
            return False
        rows = self._buffer.select(stamp_ns - TEST_NS, stamp_ns)
        for former in (self._former, self._still):
            if former and all(former.compare(row)[2] < release for row in rows):
                self._baseline, self._former = former, None
                self._still = None
                self._forget_rise()
                return True
        return False

    def _relearn_baseline(self, contact: Contact, stamp_ns: int) -> bool:
        """Learn the baseline anew, if the last readings are weaker and quieter by half."""
        if self._tested or contact.duration_ns < 2 * TEST_NS:
            return False
        self._tested = True
        rival, untried = self._learn_baseline(stamp_ns), self._baseline
        if (
            not rival.is_known
            or compute_norm(rival.force) > compute_norm(untried.force) / 2
            or rival.noise > untried.noise / 2
        ):
            return False
        self.ignored[BEGAN] += 1
        self._baseline = rival
        self._forget_rise()
        return True

    def _learn_baseline(self, stamp_ns: int) -> Baseline:
        """Return a baseline that knows the last readings alone."""
        rival = self._make_baseline()
        for row in self._buffer.select(stamp_ns - TEST_NS, stamp_ns):
            rival.update(row)
        return rival

    def _replace_baseline(self, other: Baseline) -> None:
        """Take another baseline, and keep this one for when it fits again."""
        self._former = self._baseline
        self._baseline = other
        self._tested = False
        self._forget_rise()

    def _forget_rise(self) -> None:
        self._lifted_ns = self._rising_ns = 0
        self._rival = None

    def _break_off(self, reason: str, elapsed: float) -> list[Event]:
        """Hand on what there is, because the stream stopped for `elapsed` s or went back."""
        self._close(reason)
        events = self._buffer.flush()
        self._smooth = []
        if reason is WENT_BACK:
            self._reset()
        elif reason is STOPPED and elapsed * 1e9 > self._max_ns:
            self._replace_baseline(self._make_baseline())
        else:
            self._baseline.hold_still(self._order.last_ns)
            self._is_resumed = not self._was_cut
            self._is_unsure = False
        return events

    def _close(self, reason: str) -> None:
        """End the contact, if there is one; it waits for its post-roll."""
        contact, self._contact = self._contact, None
        if contact is not None:
            self._take(contact, contact.end_ns + 1, contact.last_high_ns)
        self._forget_rise()
        if contact is None:
            return
        self._baseline.forget_course()
        self._was_cut = reason is STOPPED
        if contact.duration_ns < self.settings.min_duration_s * 1e9:
            self.ignored['contact too short'] += 1
            return
        if contact.peak_level < 1.0:
            self.ignored['contact too weak'] += 1
            return
        event = contact.make_event(reason)
        turn = contact.measure_turn(self._rests.weight)
        if turn is not None:
            event = describe_turning(event, *turn)
        self._buffer.hold(event, contact.make_signal)
