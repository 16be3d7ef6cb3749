"""Contact: a force or torque that rises above what the sensor shows when nothing is touched."""

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass
from math import exp, sqrt

from robot_memory.capture.event import (
    ENDED,
    GOES_ON,
    UNUSABLE,
    WENT_BACK,
    Event,
    StampOrder,
    require_positive,
    rounded,
)
from robot_memory.capture.readings import WrenchReading, floats, usable
from robot_memory.errors import InvalidArgument

Vector = tuple[float, float, float]

ZERO: Vector = (0.0, 0.0, 0.0)
RELEASED = 'the contact was released'
LASTED = 'it lasted too long and became the new baseline'
NOISE_S = 2.0
LEARNING = 20
SLOWED = 0.1
RISE_NS = 10**9


@dataclass(frozen=True)
class ContactSettings:
    """
    Say what a contact is; forces in N, torques in N m, times in s.

    A contact starts when the force exceeds `onset_n` or the torque `onset_nm` against the
    baseline, and ends when both have stayed under `release_ratio` of that for `quiet_s`. One that
    does not last `min_duration_s` is not kept. The baseline (gravity, bias, drift) follows with
    the time constant `baseline_s`, so a drift of up to about `onset_n` / `baseline_s` is none; it
    stands still during a contact, and takes over whatever lasts `max_duration_s`. Silence of
    `gap_s` breaks a contact off, and `max_points` bounds its curve.

    Kinds, in this order: collision, `collision_n` reached within `collision_rise_s`; tap, up to
    `tap_s` long; slide, the force turned so that its mean vector is under `slide_straightness` of
    its mean size; hold, at least `hold_s` and as steady as the sensor's noise or `hold_steadiness`
    (spread of the middle half over the median); else push. `light_n`, `hard_n` and `place`, the
    part of the robot that carries the sensor, are only words of the description.
    """

    onset_n: float = 3.0
    onset_nm: float = 1.0
    release_ratio: float = 0.5
    quiet_s: float = 0.3
    min_duration_s: float = 0.015
    baseline_s: float = 5.0
    max_duration_s: float = 60.0
    gap_s: float = 1.0
    max_points: int = 256
    collision_n: float = 25.0
    collision_rise_s: float = 0.05
    tap_s: float = 0.3
    slide_straightness: float = 0.9
    hold_s: float = 2.0
    hold_steadiness: float = 0.01
    light_n: float = 5.0
    hard_n: float = 15.0
    place: str = ''

    def __post_init__(self) -> None:
        """Refuse settings that no contact can meet."""
        require_positive(self, *(name for name in asdict(self) if name != 'place'))
        for name in ('release_ratio', 'slide_straightness'):
            if getattr(self, name) > 1:
                raise InvalidArgument(f'{name} is {getattr(self, name)}; accepted: up to 1')
        if self.max_points < 8:
            raise InvalidArgument(f'max_points is {self.max_points}; accepted: 8 or more')


class ContactDetector:
    """Find contacts in a stream of wrench readings."""

    def __init__(self, settings: ContactSettings = ContactSettings()) -> None:
        """Start without a baseline; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._order = StampOrder(settings.gap_s, self.ignored)
        self._quiet_ns = round(settings.quiet_s * 1e9)
        self._max_ns = round(settings.max_duration_s * 1e9)
        self._contact: _Contact | None = None
        self._drifting = False
        self._former: _Baseline | None = None
        self._former_ns = 0
        self._baseline = _Baseline(settings)

    def feed(self, reading: WrenchReading) -> list[Event]:
        """Take the next reading and return the contact that is over with it."""
        force, torque = floats(reading.force), floats(reading.torque)
        if len(force) != 3 or len(torque) != 3:
            self.ignored['force or torque is not three numbers'] += 1
            return []
        if not usable(force) or not usable(torque):
            self.ignored['force or torque is not a number'] += 1
            return []
        before_ns = self._order.last_ns
        verdict = self._order.judge(reading.stamp_ns)
        events: list[Event] = []
        if verdict is not GOES_ON:
            if verdict is UNUSABLE:
                return []
            events = self._close(verdict)
            before_ns = 0
            if verdict is WENT_BACK:
                self._baseline, self._former = _Baseline(self.settings), None
        elapsed = (reading.stamp_ns - before_ns) / 1e9 if before_ns else 0.0
        return events + self._follow(reading, force, torque, elapsed)

    def _follow(
        self, reading: WrenchReading, force: list[float], torque: list[float], elapsed: float
    ) -> list[Event]:
        baseline, contact = self._baseline, self._contact
        f, t, level = baseline.against(force, torque)
        if self._former is not None and (contact is None or not contact.confirmed):
            former = self._former.against(force, torque)
            if former[2] < level * self.settings.release_ratio:
                baseline = self._baseline = self._former
                self._former = None
                f, t, level = former
        above = level >= self.settings.release_ratio
        self._drifting = above and self._drifting
        if contact is None or not contact.confirmed:
            rising = above and not self._drifting
            baseline.follow(force, torque, elapsed, f, SLOWED if rising else 1.0)
        if above:
            stale = contact is not None and not contact.confirmed and contact.lasted_ns > RISE_NS
            if stale and not self._drifting:
                self._drifting = True
                if self._former is None or reading.stamp_ns - self._former_ns > self._max_ns:
                    self._former, self._former_ns = copy(baseline), reading.stamp_ns
            if contact is None or stale:
                contact = self._contact = _Contact(reading, baseline, self.settings)
            contact.add(reading.stamp_ns, f, t, elapsed)
            contact.confirmed = contact.confirmed or level >= 1.0
            if contact.confirmed and contact.lasted_ns >= self._max_ns:
                events = self._close(LASTED)
                self._former, self._former_ns = baseline, reading.stamp_ns
                self._baseline = _Baseline(self.settings)
                return events
        elif contact is not None:
            if not contact.confirmed:
                self._contact = None
            elif reading.stamp_ns - contact.last_ns >= self._quiet_ns:
                return self._close(RELEASED)
        return []

    def finish(self) -> list[Event]:
        """Return the contact that was under way, marked as broken off, and forget the rest."""
        events = self._close(ENDED)
        self._baseline, self._former = _Baseline(self.settings), None
        self._order.last_ns = 0
        return events

    def _close(self, reason: str) -> list[Event]:
        contact, self._contact = self._contact, None
        if contact is None or not contact.confirmed:
            return []
        if contact.lasted_ns < self.settings.min_duration_s * 1e9:
            self.ignored['contact too short'] += 1
            return []
        return [contact.event(reason)]


class _Baseline:
    """Follow what the sensor shows untouched, and how much that trembles (N squared)."""

    def __init__(self, settings: ContactSettings) -> None:
        self.force = ZERO
        self.torque = ZERO
        self.tremble = 0.0
        self._readings = 0
        self._settings = settings

    def against(
        self, force: Sequence[float], torque: Sequence[float]
    ) -> tuple[Vector, Vector, float]:
        """Return force and torque without the baseline, and their level: 1 is the onset."""
        if not self._readings:
            return ZERO, ZERO, 0.0
        (fx, fy, fz), (tx, ty, tz) = self.force, self.torque
        f = (force[0] - fx, force[1] - fy, force[2] - fz)
        t = (torque[0] - tx, torque[1] - ty, torque[2] - tz)
        level = max(_size(f) / self._settings.onset_n, _size(t) / self._settings.onset_nm)
        return f, t, level

    def follow(
        self,
        force: Sequence[float],
        torque: Sequence[float],
        elapsed: float,
        f: Vector,
        pace: float,
    ) -> None:
        """Come closer to a reading: first the mean of all, then with the time constant."""
        self._readings += 1
        mean_share = 1 / self._readings
        share = pace * max(mean_share, 1 - exp(-elapsed / self._settings.baseline_s))
        (fx, fy, fz), (tx, ty, tz) = self.force, self.torque
        self.force = (
            fx + share * (force[0] - fx),
            fy + share * (force[1] - fy),
            fz + share * (force[2] - fz),
        )
        self.torque = (
            tx + share * (torque[0] - tx),
            ty + share * (torque[1] - ty),
            tz + share * (torque[2] - tz),
        )
        square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2]
        if self._readings > LEARNING:
            square = min(square, 16 * self.tremble + 1e-6)
        self.tremble += max(mean_share, 1 - exp(-elapsed / NOISE_S)) * (square - self.tremble)


class _Contact:
    """Gather one contact while it lasts."""

    def __init__(
        self, reading: WrenchReading, baseline: _Baseline, settings: ContactSettings
    ) -> None:
        self.confirmed = False
        self.last_ns = self._onset_ns = reading.stamp_ns
        self._frame_id = reading.frame_id
        self._baseline = baseline
        self._noise = sqrt(baseline.tremble / 3)
        self._settings = settings
        self._readings = 0
        self._peak = self._early_peak = self._peak_torque = 0.0
        self._peak_ns = reading.stamp_ns
        self._seconds = self._impulse = 0.0
        self._sum = [0.0, 0.0, 0.0]
        self._early_ns = reading.stamp_ns + round(settings.collision_rise_s * 1e9)
        self._curve: list[tuple[int, float, Vector, Vector]] = []

    @property
    def lasted_ns(self) -> int:
        return self.last_ns - self._onset_ns

    def add(self, stamp_ns: int, f: Vector, t: Vector, elapsed: float) -> None:
        """Take a reading above the release level; `elapsed` s passed since the one before."""
        self._readings += 1
        self.last_ns = stamp_ns
        size = _size(f)
        if size > self._peak:
            self._peak, self._peak_ns = size, stamp_ns
            if stamp_ns <= self._early_ns:
                self._early_peak = size
        self._peak_torque = max(self._peak_torque, _size(t))
        self._seconds += elapsed
        self._impulse += size * elapsed
        total = self._sum
        total[0] += f[0] * elapsed
        total[1] += f[1] * elapsed
        total[2] += f[2] * elapsed
        self._curve.append((stamp_ns, size, f, t))
        if len(self._curve) >= 2 * self._settings.max_points:
            pairs = zip(self._curve[::2], self._curve[1::2], strict=True)
            self._curve = [max(pair, key=lambda point: point[1]) for pair in pairs]

    def _kind(self, straightness: float) -> str:
        settings = self._settings
        if self._early_peak >= settings.collision_n:
            return 'collision'
        if self.lasted_ns <= settings.tap_s * 1e9:
            return 'tap'
        if straightness < settings.slide_straightness:
            return 'slide'
        sizes = sorted(size for _, size, _, _ in self._curve)
        count = len(sizes)
        spread = sizes[3 * count // 4] - sizes[count // 4]
        steady = max(2 * self._noise, settings.hold_steadiness * sizes[count // 2])
        return 'hold' if self.lasted_ns >= settings.hold_s * 1e9 and spread <= steady else 'push'

    def event(self, reason: str) -> Event:
        """Return the contact as an event that ended because of `reason`."""
        settings = self._settings
        duration = self.lasted_ns / 1e9
        mean = self._impulse / self._seconds if self._seconds else self._peak
        length = _size(self._sum)
        straightness = length / self._impulse if self._impulse else 1.0
        direction = [component / length if length else 0.0 for component in self._sum]
        kind = self._kind(straightness)
        has_torque = self._peak_torque > 0
        data = {
            'kind': kind,
            'duration_s': round(duration, 4),
            'peak_force': round(self._peak, 4),
            'mean_force': round(mean, 4),
            'impulse': round(self._impulse, 4),
            'peak_torque': round(self._peak_torque, 4),
            'time_to_peak_s': round((self._peak_ns - self._onset_ns) / 1e9, 4),
            'peak_stamp_ns': self._peak_ns,
            'direction': rounded(direction),
            'straightness': round(straightness, 4),
            'baseline_force': rounded(self._baseline.force),
            'baseline_torque': rounded(self._baseline.torque),
            'broken_off': reason is not RELEASED,
            'ended_because': reason,
            'curve': {
                't_s': rounded(((point[0] - self._onset_ns) / 1e9 for point in self._curve), 3),
                'force': [rounded(point[2], 3) for point in self._curve],
                **({'torque': [rounded(p[3], 3) for p in self._curve]} if has_torque else {}),
            },
        }
        metadata = {
            'detector': 'contact',
            'units': {'force': 'N', 'torque': 'N m', 'impulse': 'N s', 'time': 's'},
            'settings': asdict(settings),
            'readings': self._readings,
            'rate_hz': round((self._readings - 1) / duration, 2) if duration else 0.0,
            'noise': round(self._noise, 4),
        }
        words = self._words(kind, duration, mean, axis_words(direction))
        if reason is not RELEASED:
            words += f', broken off: {reason}'
        stamps = (self._onset_ns, self.last_ns)
        return Event('tactile', words, *stamps, self._frame_id, data, metadata)

    def _words(self, kind: str, duration: float, mean: float, along: str) -> str:
        settings = self._settings
        strength = 'Contact'
        if self._peak >= settings.hard_n:
            strength = 'Hard contact'
        elif self._peak < settings.light_n:
            strength = 'Light contact'
        place = f'on {settings.place} ({self._frame_id})' if settings.place else ''
        if not place and self._frame_id:
            place = f'on {self._frame_id}'
        lasting = f'{duration:.1f} s' if duration >= 0.95 else f'{duration:.2f} s'
        words = (
            f'{strength} for {lasting}{" " + place if place else ""}: {kind}, '
            f'peak {self._peak:.1f} N, mean {mean:.1f} N, along {along}, '
            f'impulse {self._impulse:.1f} N s'
        )
        if self._peak_torque >= settings.onset_nm:
            words += f', peak torque {self._peak_torque:.1f} N m'
        return words


def axis_words(direction: Sequence[float]) -> str:
    """Name a unit vector by the axes of its frame: '-z', or '-z and +x' where it is oblique."""
    order = sorted(range(3), key=lambda axis: -abs(direction[axis]))
    named = [f'{"-" if direction[axis] < 0 else "+"}{"xyz"[axis]}' for axis in order]
    return ' and '.join(named[: 1 + (abs(direction[order[1]]) > 0.38)])


def _size(vector: Sequence[float]) -> float:
    x, y, z = vector
    return sqrt(x * x + y * y + z * z)
