"""One contact: what it is, in figures and in words, and the signal of it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import asdict

import numpy as np

from robot_memory.detectors.baseline import DRIFT, Baseline, compute_norm
from robot_memory.detectors.confidence import ClippingMeter, rate_evidence
from robot_memory.detectors.contact_settings import ContactSettings
from robot_memory.detectors.downsampling import MinMaxDownsampler
from robot_memory.detectors.event import Event, round_all
from robot_memory.detectors.formatting import format_band, format_number
from robot_memory.detectors.peak import PeakEstimator
from robot_memory.detectors.rest_forces import Weight
from robot_memory.detectors.ring_buffer import Row, to_signal
from robot_memory.detectors.signal import Signal

RELEASED = 'the contact was released'
LASTED = 'it lasted so long that it became the new baseline'
TURNED = 'the tool was turned, and rests'
SMOOTH_S = 0.1
MEAN_S = 1.0
LEVELS = 1024
COLUMNS = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')
UNITS = ('N', 'N', 'N', 'N m', 'N m', 'N m')


class Contact:
    """Gather one contact while it lasts."""

    def __init__(
        self, frame_id: str, baseline: Baseline, settings: ContactSettings, before: list[Row]
    ) -> None:
        """Begin without a reading, with the rows that led to it."""
        self.is_slow = False
        self.last_high_ns = self.release_check_ns = 0
        self._high_s = self._high_sum = 0.0
        self._frame_id = frame_id
        self._baseline = copy(baseline)
        self._settings = settings
        self._rows = MinMaxDownsampler(settings.max_points)
        for row in before:
            self._rows.add(baseline.compare(row)[2], row)
        self._onset: Row = (0, [])
        self._peak_row = self._twist_row = self._end = self._onset
        self._readings = 0
        self._peak = self._early_peak = self._twist = 0.0
        self._seconds = self._impulse = 0.0
        self._sum = [0.0, 0.0, 0.0]
        self._peaks = PeakEstimator()
        self._clipping = ClippingMeter()
        self._levels: list[float] = []
        self._stride = 1

    @property
    def onset_ns(self) -> int:
        """Return the stamp of the first reading."""
        return self._onset[0]

    @property
    def end_ns(self) -> int:
        """Return the stamp of the last reading that was taken."""
        return self._end[0]

    @property
    def duration_ns(self) -> int:
        """Return the time from the first reading to the last, in ns."""
        return self._end[0] - self._onset[0]

    @property
    def peak_level(self) -> float:
        """Return the level of the peak, noise aside; 1 is the onset."""
        baseline = self._baseline
        top = compute_norm(self._peaks.estimate(baseline.noise))
        return max(top / baseline.onset_n, self._twist / baseline.onset_nm)

    def measure_level(self, row: Row, smooth: list[float], elapsed: float) -> tuple[float, bool]:
        """
        Return the level of the next reading, and whether it is over half of the mean so far.

        It is as high as the reading and `smooth`, the mean of the last tenth of a second, both
        are: a fall shows at once, and noise does not count.
        """
        force, _, level = self._baseline.compare((row[0], smooth))
        level = min(level, self._baseline.compare(row)[2])
        is_high = 2 * level * max(self._high_s, MEAN_S) >= self._high_sum
        is_high = is_high and not self._may_have_drifted(row[0], force)
        if is_high:
            self._high_s += elapsed
            self._high_sum += level * elapsed
        return level, is_high

    def _may_have_drifted(self, stamp_ns: int, force: Sequence[float]) -> bool:
        """Tell whether the force left is across the peak, and no more than the rest may drift."""
        size, peak = compute_norm(force), self._peaks.greatest
        if 2 * size >= peak or size > DRIFT * self._baseline.measure_age(stamp_ns):
            return False
        top = self._peaks.top
        return 2 * abs(sum(a * b for a, b in zip(force, top, strict=True))) < size * peak

    def add(self, row: Row) -> None:
        """Take the next reading; while it is under the release level it only is in the signal."""
        f, t, level = self._baseline.compare(row)
        self._rows.add(level, row)
        if not self._onset[0]:
            self._onset = self._peak_row = self._twist_row = self._end = row
        elapsed, self._end = (row[0] - self._end[0]) / 1e9, row
        self._peaks.add(f)
        self._clipping.add(row[1])
        if level < self._settings.release_ratio:
            return
        self._readings += 1
        force, twist = compute_norm(f), compute_norm(t)
        if force > self._peak:
            self._peak, self._peak_row = force, row
            if row[0] - self._onset[0] <= self._settings.collision_rise_s * 1e9:
                self._early_peak = force
        if twist > self._twist:
            self._twist, self._twist_row = twist, row
        self._seconds += elapsed
        self._impulse += force * elapsed
        total = self._sum
        total[0] += f[0] * elapsed
        total[1] += f[1] * elapsed
        total[2] += f[2] * elapsed
        if self._readings % self._stride == 0:
            self._levels.append(level)
            if len(self._levels) >= LEVELS:
                self._levels = self._levels[::2]
                self._stride *= 2

    def _classify(self, straightness: float) -> str:
        settings = self._settings
        if self._early_peak >= settings.collision_n:
            return 'collision'
        if self.duration_ns <= settings.tap_s * 1e9:
            return 'tap'
        if straightness < settings.slide_straightness:
            return 'slide'
        levels = sorted(self._levels)
        count = len(levels)
        spread = levels[3 * count // 4] - levels[count // 4]
        noise = 2 * self._baseline.noise / self._baseline.onset_n
        steady = max(noise, settings.hold_steadiness * levels[count // 2])
        return 'hold' if self.duration_ns >= settings.hold_s * 1e9 and spread <= steady else 'push'

    def measure_turn(
        self, weight: Weight | None, more: Sequence[Row] = ()
    ) -> tuple[float, float] | None:
        """
        Return by how much a tool turned, in rad, and its weight in N, where that is all it was.

        `more` are readings after those that it took.
        """
        if weight is None:
            return None
        rows = [row for row in self._rows.collect_rows() if row[0] >= self.onset_ns]
        forces = [self._baseline.force, *(values[:3] for _, values in (*rows, *more))]
        turned = weight.measure_turn(np.array(forces), self._baseline.noise)
        return (turned, weight.weight) if turned else None

    def make_signal(self, after: list[Row]) -> Signal:
        """Return the readings, as the sensor gave them, with what led to them and followed."""
        for row in after:
            self._rows.add(self._baseline.compare(row)[2], row)
        marks = (self._onset, self._peak_row, self._twist_row, self._end)
        return to_signal(self._rows.collect_rows(), marks, COLUMNS, UNITS)

    def make_event(self, reason: str) -> Event:
        """Return the contact, without its signal, as an event that ended because of `reason`."""
        settings, baseline = self._settings, self._baseline
        duration = self.duration_ns / 1e9
        mean = self._impulse / self._seconds if self._seconds else self._peak
        length = compute_norm(self._sum)
        top = self._peaks.estimate(baseline.noise)
        peak = compute_norm(top)
        soft = self._peak < baseline.onset_n
        twisted = soft and self._twist / baseline.onset_nm > self._peak / baseline.onset_n
        straightness = 1.0 if twisted or not self._impulse else length / self._impulse
        direction = [component / length if length else 0.0 for component in self._sum]
        kind = self._classify(straightness)
        peak_row = self._twist_row if twisted else self._peak_row
        broken_off = reason not in (RELEASED, LASTED, TURNED)
        is_clipped = self._clipping.is_clipped(baseline.noise, baseline.force, baseline.onset_n)
        data = {
            'kind': kind,
            'duration_s': round(duration, 4),
            'peak_force': round(peak, 4),
            'raw_peak_force': round(self._peak, 4),
            'mean_force': round(mean, 4),
            'impulse': round(self._impulse, 4),
            'peak_torque': round(self._twist, 4),
            'time_to_peak_s': round((peak_row[0] - self._onset[0]) / 1e9, 4),
            'direction': round_all(direction),
            'peak_direction': round_all(part / peak if peak else 0.0 for part in top),
            'straightness': round(straightness, 4),
            'baseline_force': round_all(baseline.force),
            'baseline_torque': round_all(baseline.torque),
            'broken_off': broken_off,
            'ended_because': reason,
        }
        if is_clipped:
            data['clipped'] = True
        flaws = broken_off + is_clipped + (not baseline.is_settled)
        metadata = {
            'detector': 'contact',
            'units': {'force': 'N', 'torque': 'N m', 'impulse': 'N s', 'time': 's'},
            'settings': asdict(settings),
            'readings': self._readings,
            'rate_hz': round((self._readings - 1) / duration, 2) if duration else 0.0,
            'noise': round(baseline.noise, 4),
            'onset_n': round(baseline.onset_n, 4),
            'onset_nm': round(baseline.onset_nm, 4),
        }
        words = self._describe(kind, duration, peak, mean, direction, twisted)
        if is_clipped:
            words += ', clipped by the sensor'
        if broken_off:
            words += f', broken off: {reason}'
        elif reason is LASTED:
            words += f', ended because {reason}'
        return Event(
            'tactile',
            words,
            self._onset[0],
            peak_row[0],
            self.end_ns,
            self._frame_id,
            'contact',
            data,
            metadata,
            broken_off=broken_off,
            confidence=rate_evidence(self.peak_level, self._readings, flaws),
        )

    def _describe(
        self,
        kind: str,
        duration: float,
        peak_force: float,
        mean: float,
        direction: list[float],
        twisted: bool,
    ) -> str:
        """Say how hard, how long, where, what, and which way; by the torque where only it rose."""
        settings = self._settings
        strength = 'Contact'
        if peak_force >= settings.hard_n:
            strength = 'Hard contact'
        elif peak_force < settings.light_n and not twisted:
            strength = 'Light contact'
        place = self._frame_id
        if settings.place:
            place = f'{settings.place} ({place})' if place else settings.place
        words = f'{strength} for {format_number(duration)} s{" on " * bool(place)}{place}: {kind}'
        peak, twist = (
            f'peak {format_number(peak_force)} N',
            f'peak torque {format_number(self._twist)} N m',
        )
        if twisted:
            _, torque, _ = self._baseline.compare(self._twist_row)
            about = describe_axes([component / self._twist for component in torque])
            return f'{words}{format_band(self._twist, "N m")}, {twist} about {about}, {peak}'
        words += f'{format_band(peak_force, "N")}, {peak}, mean {format_number(mean)} N'
        words += f', along {describe_axes(direction)}, impulse {format_number(self._impulse)} N s'
        return f'{words}, {twist}' if self._twist >= self._baseline.onset_nm else words


def describe_axes(direction: Sequence[float]) -> str:
    """Name a unit vector by the axes of its frame: '-z', or '-z and +x' where it is oblique."""
    order = sorted(range(3), key=lambda axis: -abs(direction[axis]))
    named = [f'{"-" if direction[axis] < 0 else "+"}{"xyz"[axis]}' for axis in order]
    return ' and '.join(named[: 1 + (abs(direction[order[1]]) > 0.38)])
