"""What a force and torque sensor shows while nothing is touched, and how much that trembles."""

from collections.abc import Sequence
from math import sqrt
from typing import TypeAlias

Vector: TypeAlias = tuple[float, float, float]

ZERO: Vector = (0.0, 0.0, 0.0)
LEARNING = 10
TREMBLE_MEAN_S = 0.2
TREMBLE_S = 2.0
CALM = 8.0
REWIND_S = 0.25


class Baseline:
    """
    Follow a sensor at rest, and say how far a reading is from that.

    First it is the mean of all readings, then it follows with the time constant `baseline_s`.
    The level of a reading is 1 at the onset: `onset_n` in N or `onset_nm` in N m, or eight times
    the noise where the sensor is noisier than that.
    """

    def __init__(self, onset_n: float, onset_nm: float, baseline_s: float) -> None:
        """Start without knowing anything: no level before ten readings."""
        self.force = ZERO
        self.torque = ZERO
        self._asked = (onset_n, onset_nm)
        self.onset_n, self.onset_nm = onset_n, onset_nm
        self._slow_s = baseline_s
        self._readings = 0
        self._force_mean, self._torque_mean = ZERO, ZERO
        self._force_rate, self._torque_rate = ZERO, ZERO
        self._force_square = self._torque_square = 0.0
        self._newer = self._older = (ZERO, ZERO, ZERO, ZERO)
        self._since = 0.0

    @property
    def noise(self) -> float:
        """Return the standard deviation of the force on one axis, in N."""
        return sqrt(self._force_square / 3)

    @property
    def ready(self) -> bool:
        """Tell whether it has learnt enough."""
        return self._readings >= LEARNING

    def against(self, values: list[float]) -> tuple[Vector, Vector, float]:
        """Return the force and the torque above the baseline, and their level."""
        fx, fy, fz = self.force
        tx, ty, tz = self.torque
        f = (values[0] - fx, values[1] - fy, values[2] - fz)
        t = (values[3] - tx, values[4] - ty, values[5] - tz)
        if self._readings < LEARNING:
            return f, t, 0.0
        return f, t, max(size(f) / self.onset_n, size(t) / self.onset_nm)

    def doubt(self) -> None:
        """Let what is learnt count no more than ten readings, as after a silence."""
        self._readings = min(self._readings, LEARNING)
        self._force_rate = self._torque_rate = ZERO
        self._newer = self._older = (self.force, self.torque, ZERO, ZERO)
        self._since = 0.0

    def rewind(self) -> None:
        """Forget the last quarter of a second or more, in which a force may have begun to rise."""
        self.force, self.torque, self._force_rate, self._torque_rate = self._older
        self.coast(self._since + REWIND_S)
        self._newer, self._since = self._older, self._since + REWIND_S

    def coast(self, elapsed: float) -> None:
        """Go on drifting for `elapsed` seconds in which nothing is known of the rest."""
        (fx, fy, fz), (rx, ry, rz) = self.force, self._force_rate
        self.force = fx + elapsed * rx, fy + elapsed * ry, fz + elapsed * rz
        (fx, fy, fz), (rx, ry, rz) = self.torque, self._torque_rate
        self.torque = fx + elapsed * rx, fy + elapsed * ry, fz + elapsed * rz

    def fade(self, elapsed: float) -> None:
        keep = self._slow_s / (self._slow_s + elapsed)
        rx, ry, rz = self._force_rate
        self._force_rate = keep * rx, keep * ry, keep * rz
        rx, ry, rz = self._torque_rate
        self._torque_rate = keep * rx, keep * ry, keep * rz

    def follow(self, values: list[float], elapsed: float) -> None:
        """Come closer to a reading, `elapsed` seconds after the one before."""
        force, torque = values[:3], values[3:]
        self._readings += 1
        self._since += elapsed
        if self._since >= REWIND_S or self._readings <= LEARNING:
            self._older, self._since = self._newer, 0.0
            self._newer = (self.force, self.torque, self._force_rate, self._torque_rate)
        learning = 1 / self._readings
        self.coast(elapsed)
        slow = max(learning, 2 * elapsed / (2 * elapsed + self._slow_s))
        turn = elapsed / self._slow_s**2
        self._force_rate = _by(self._force_rate, force, self.force, turn)
        self._torque_rate = _by(self._torque_rate, torque, self.torque, turn)
        self.force = _towards(self.force, force, slow)
        self.torque = _towards(self.torque, torque, slow)
        quick = max(learning, elapsed / (elapsed + TREMBLE_MEAN_S))
        share = max(learning, elapsed / (elapsed + TREMBLE_S))
        self._force_square += share * self._tremble(force, self._force_mean, self._force_square)
        self._torque_square += share * self._tremble(
            torque, self._torque_mean, self._torque_square
        )
        self._force_mean = _towards(self._force_mean, force, quick)
        self._torque_mean = _towards(self._torque_mean, torque, quick)
        asked_n, asked_nm = self._asked
        self.onset_n = max(asked_n, CALM * sqrt(self._force_square / 3))
        self.onset_nm = max(asked_nm, CALM * sqrt(self._torque_square / 3))

    def _tremble(self, now: Sequence[float], mean: Vector, square: float) -> float:
        """Return how much more a reading trembles than usual, outliers cut, in units squared."""
        x, y, z = now[0] - mean[0], now[1] - mean[1], now[2] - mean[2]
        found = x * x + y * y + z * z
        if self._readings == 1:
            return 0.0
        if self._readings > LEARNING:
            found = min(found, 16 * square + 1e-6)
        return found - square


def _towards(mean: Vector, now: Sequence[float], share: float) -> Vector:
    x, y, z = mean
    return x + share * (now[0] - x), y + share * (now[1] - y), z + share * (now[2] - z)


def _by(rate: Vector, now: Sequence[float], then: Sequence[float], share: float) -> Vector:
    x, y, z = rate
    return (
        x + share * (now[0] - then[0]),
        y + share * (now[1] - then[1]),
        z + share * (now[2] - then[2]),
    )


def size(vector: Sequence[float]) -> float:
    """Return the length of a vector of three."""
    x, y, z = vector
    return sqrt(x * x + y * y + z * z)
