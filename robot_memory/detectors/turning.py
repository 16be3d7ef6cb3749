"""Turning: a force that changes like the weight of a tool that the joints turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.confidence import LEAST
from robot_memory.detectors.event import Event
from robot_memory.detectors.formatting import format_number

HISTORY_NS = 120 * 10**9
PERIOD_NS = 40_000_000
LEAST_TURN = 0.3
"""The travel of a joint in rad from which its turning is told from anything else."""
LEFT_OVER = 0.15
"""What of the change of the force, as a root mean square, the weight may leave unexplained."""
NOISES = 2.0
MOST_COSINE, MOST_RATIO = 0.4, 1.6
TURN = 'turn'
"""The kind, and the label, of what may be a tool that turns: it is not counted as a contact."""
SHARED = (
    'duration_s',
    'peak_direction',
    'baseline_force',
    'baseline_torque',
    'broken_off',
    'ended_because',
)
"""What its data have of those of a contact."""

Floats = NDArray[np.float64]


class JointPlaces(NamedTuple):
    """Hold where joints are: what a history of them takes."""

    stamp_ns: int
    names: tuple[str, ...]
    position: list[float]


class JointHistory:
    """Hold the positions of joints over the last two minutes, at 25 Hz at most."""

    def __init__(self, names: Sequence[str]) -> None:
        """Begin without a reading."""
        self.names = tuple(names)
        self._rows: deque[tuple[int, list[float]]] = deque()

    def add(self, stamp_ns: int, position: list[float]) -> None:
        """Take the next reading; one that goes back in time begins anew."""
        rows = self._rows
        if rows and stamp_ns - rows[-1][0] < PERIOD_NS:
            if stamp_ns >= rows[-1][0]:
                return
            rows.clear()
        rows.append((stamp_ns, position))
        while stamp_ns - rows[0][0] > HISTORY_NS:
            rows.popleft()

    def interpolate(self, stamps_ns: NDArray[np.int64]) -> Floats | None:
        """Return the positions (n, joints) at some stamps; None where it does not reach so far."""
        if not self._rows or stamps_ns[0] < self._rows[0][0] or stamps_ns[-1] > self._end_ns:
            return None
        seconds = np.array([row[0] - stamps_ns[0] for row in self._rows]) / 1e9
        at = (stamps_ns - stamps_ns[0]) / 1e9
        found: Floats = np.stack([np.interp(at, seconds, one) for one in self._columns], axis=1)
        return found

    @property
    def _end_ns(self) -> int:
        return self._rows[-1][0] + 5 * PERIOD_NS

    @property
    def _columns(self) -> Floats:
        columns: Floats = np.array([row[1] for row in self._rows]).transpose()
        return columns


class JointHistories:
    """Hold the histories of all joints, by the tap that told of them."""

    def __init__(self) -> None:
        """Begin without a reading."""
        self._histories: dict[tuple[str, tuple[str, ...]], JointHistory] = {}

    def __iter__(self) -> Iterator[JointHistory]:
        """Give each."""
        return iter(self._histories.values())

    def add(self, tap: str, places: JointPlaces) -> None:
        """Take where a tap's joints are."""
        key = (tap, places.names)
        if key not in self._histories:
            self._histories[key] = JointHistory(places.names)
        self._histories[key].add(places.stamp_ns, places.position)

    def forget(self, tap: str) -> None:
        """Drop those of a tap."""
        for key in [key for key in self._histories if key[0] == tap]:
            del self._histories[key]


def mark_turning(event: Event, histories: Iterable[JointHistory]) -> Event:
    """
    Return a contact as it is, or as a turning tool where joints and force both show that.

    That is where a joint turned by 0.3 rad or more and the force, a constant aside, is a vector of
    constant length that turns with it: c + a cos(q) + b sin(q), a across b and as long.
    """
    if event.signal is None or event.kind:
        return event
    within = event.signal.stamps_ns <= event.end_ns
    stamps_ns, force = event.signal.stamps_ns[within], event.signal.values[within, :3]
    for history in histories:
        positions = history.interpolate(stamps_ns)
        if positions is None:
            continue
        order = np.argsort(-np.ptp(positions, axis=0))
        for joint in order[: np.count_nonzero(np.ptp(positions, axis=0) >= LEAST_TURN)]:
            weight = _fit_weight(force.astype(float), positions[:, joint], event)
            if weight:
                turned = float(np.ptp(positions[:, joint]))
                return describe_turning(event, turned, weight, history.names[joint])
    return event


def _fit_weight(force: Floats, angle: Floats, event: Event) -> float:
    """Return the length of the vector that turns with an angle, in N; 0 where none does."""
    basis = np.stack([np.ones(len(angle)), np.cos(angle), np.sin(angle)], axis=1)
    found, _, rank, _ = np.linalg.lstsq(basis, force, rcond=None)
    left = float(np.sqrt(((force - basis @ found) ** 2).sum(axis=1).mean()))
    change = float(np.sqrt(((force - force.mean(axis=0)) ** 2).sum(axis=1).mean()))
    noise = NOISES * float(event.metadata.get('noise', 0.0))
    if rank < 3 or left > max(LEFT_OVER * change, noise) or change < noise:
        return 0.0
    lengths = np.linalg.norm(found[1:], axis=1)
    low, high = float(lengths.min()), float(lengths.max())
    if not low or high > MOST_RATIO * low or abs(found[1] @ found[2]) > MOST_COSINE * low * high:
        return 0.0
    return (low + high) / 2


def describe_turning(event: Event, turned: float, weight: float, joint: str = '') -> Event:
    """
    Return a contact as a turning tool, with the least confidence; it has no figures of a contact.

    `turned` is the angle in rad of a joint, or without one of the tool; `weight` is in N.
    """
    place = f' on {event.frame_id}' if event.frame_id else ''
    peak, lasted = (format_number(event.data[name]) for name in ('peak_force', 'duration_s'))
    words = (
        f'Perhaps no contact: the force{place} changed by {peak} N for {lasted} s while '
        f'{joint or "its direction"} turned by {turned:.2f} rad, as the weight of a tool does '
        f'({format_number(weight)} N)'
    )
    data = {
        **{name: event.data[name] for name in SHARED},
        'kind': TURN,
        'turned': round(turned, 4),
        'weight': round(weight, 4),
        'force_change': event.data['peak_force'],
    }
    metadata = {**event.metadata, 'units': {'turned': 'rad', 'force': 'N', 'time': 's'}}
    return replace(
        event, description=words, data=data, metadata=metadata, confidence=LEAST, kind=TURN
    )
