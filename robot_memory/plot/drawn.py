"""What is drawn of an event, and its time in words."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from robot_memory.core.zones import to_local
from robot_memory.detectors.event import Picture
from robot_memory.detectors.formatting import format_duration
from robot_memory.detectors.signal import Signal

YEAR_2001_NS = 978_307_200 * 10**9


@dataclass(frozen=True)
class Drawn:
    """
    Hold what is drawn of an event; stamps are in ns.

    `memory_id` is None of a session. `baseline` is what the sensor showed at rest, for the first
    columns of the signal: it is drawn against that. `figure` is name, value and unit of the
    strength.
    """

    memory_id: int | None
    title: str
    kind: str
    stamp_ns: int
    peak_ns: int
    end_ns: int
    signal: Signal | None = None
    pictures: tuple[Picture, ...] = ()
    baseline: tuple[float, ...] = ()
    figure: tuple[str, float, str] | None = None

    @property
    def span_ns(self) -> tuple[int, int]:
        """Return the first and the last stamp of all that is drawn of it."""
        stamps = [self.stamp_ns, self.peak_ns, self.end_ns]
        stamps += [picture.stamp_ns for picture in self.pictures]
        if self.signal is not None and len(self.signal.stamps_ns):
            stamps += [int(self.signal.stamps_ns[0]), int(self.signal.stamps_ns[-1])]
        return min(stamps), max(stamps)


@dataclass(frozen=True)
class Outcome:
    """Say how a trial went; `trial` is its number among those of the skill, from 1."""

    trial: int
    success: bool
    is_simulated: bool = False


@dataclass(frozen=True)
class Curve:
    """
    Hold outcomes in their order: of a skill, or of one situation.

    `changes` are numbers of trials since which the world was another, each with whether it was as
    before again.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    changes: tuple[tuple[int, bool], ...] = ()


@dataclass(frozen=True)
class SkillDrawing:
    """Hold what is drawn of a skill that has so many trials."""

    title: str
    facts: tuple[str, ...]
    trials: int
    curves: tuple[Curve, ...]


def is_simulated(stamp_ns: int) -> bool:
    """Say whether a stamp is of a clock that began at zero: no robot is as old as 2001."""
    return stamp_ns < YEAR_2001_NS


def format_stamp(stamp_ns: int, zone: ZoneInfo) -> str:
    """Return a stamp with microseconds and the zone, or as seconds of simulated time."""
    if is_simulated(stamp_ns):
        return f'{stamp_ns / 1e9:.6f} s of simulated time'
    return f'{to_local(stamp_ns // 1000, zone):%Y-%m-%d %H:%M:%S.%f} {zone.key}'


def format_span(first_ns: int, last_ns: int, zone: ZoneInfo) -> str:
    """Return two stamps to the second with the zone, or as seconds of simulated time."""
    if is_simulated(last_ns):
        return f'{first_ns / 1e9:.1f} to {last_ns / 1e9:.1f} s of simulated time'
    first, last = (to_local(stamp // 1000, zone) for stamp in (first_ns, last_ns))
    end = f'{last:%H:%M:%S}' if last.date() == first.date() else f'{last:%Y-%m-%d %H:%M:%S}'
    return f'{first:%Y-%m-%d %H:%M:%S} to {end} {zone.key}'


def format_length(length_ns: int) -> str:
    """Return a length of time with three figures, or in minutes, hours or days."""
    seconds = length_ns / 1e9
    return f'{seconds:.3g} s' if seconds < 120 else format_duration(seconds)
