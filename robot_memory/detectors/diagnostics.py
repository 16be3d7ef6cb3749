"""Diagnostics: the faults that the statuses of /diagnostics report, each with its duration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.core.fields import arg, validate
from robot_memory.detectors.event import Event
from robot_memory.detectors.state import StateDetector, StateReading, StateSettings

LEVELS = ('ok', 'warn', 'error', 'stale')
"""Names of the levels of diagnostic_msgs/DiagnosticStatus, from 0."""


@dataclass(frozen=True, slots=True)
class DiagnosticReading:
    """Hold name, level (0 to 3) and message of the statuses of one message."""

    stamp_ns: int
    statuses: Sequence[tuple[str, int, str]]


@dataclass(frozen=True)
class DiagnosticsSettings:
    """Settings of the diagnostics detector."""

    min_level: str = arg(
        'Minimum level of a status that is stored.', default='error', choices=LEVELS[1:]
    )
    min_duration_s: float = arg(
        'Shorter faults are ignored, in seconds.', default=0.0, minimum=0.0, maximum=3600.0
    )
    max_names: int = arg(
        'Maximum number of statuses that are followed; others are counted.',
        default=1000,
        minimum=1,
        maximum=100_000,
    )

    def __post_init__(self) -> None:
        """Refuse levels that there are not."""
        validate(self)


class DiagnosticsDetector:
    """Find the stretches in which a status is at `min_level` or above; each name has its own."""

    def __init__(self, settings: DiagnosticsSettings = DiagnosticsSettings()) -> None:
        """Start without a status; `ignored` counts by reason what was not used."""
        self.settings = settings
        self._names: dict[str, StateDetector] = {}
        self._rest = LEVELS[: LEVELS.index(settings.min_level)]
        self._ignored: Counter[str] = Counter()

    @property
    def ignored(self) -> Counter[str]:
        """Return by reason how many statuses were not used."""
        return sum((one.ignored for one in self._names.values()), self._ignored.copy())

    def feed(self, reading: DiagnosticReading) -> list[Event]:
        """Take the statuses of a message; return the faults that begin or end with it."""
        found: list[Event] = []
        for name, level, message in reading.statuses:
            detector = self._find(name)
            if detector is None or not 0 <= level < len(LEVELS):
                self._ignored['too many names' if detector is None else 'unknown level'] += 1
                continue
            value = LEVELS[level]
            said = f'{name}: {message}' if message else f'{name} {value}'
            found += detector.feed(StateReading(reading.stamp_ns, value, said))
        return found

    def pause(self) -> list[Event]:
        """Return nothing: a fault lasts while nothing is heard of it."""
        return []

    def finish(self) -> list[Event]:
        """End the stream: return the faults that last, as broken off, and forget them."""
        return [event for one in self._names.values() for event in one.finish()]

    @property
    def since_ns(self) -> int:
        """Return 0: a fault is handed on as it begins."""
        return 0

    def _find(self, name: str) -> StateDetector | None:
        known = self._names.get(name)
        if known is None and len(self._names) < self.settings.max_names:
            known = self._names[name] = StateDetector(
                StateSettings(
                    name=name[:100],
                    rest=self._rest,
                    faults=LEVELS[1:],
                    min_duration_s=self.settings.min_duration_s,
                )
            )
        return known
