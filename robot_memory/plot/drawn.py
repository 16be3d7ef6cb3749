"""What is drawn of a memory, and its time in words."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.clock import format_instant
from robot_memory.detectors.event import Picture
from robot_memory.detectors.signal import Signal

YEAR_2001_NS = 978_307_200 * 10**9


@dataclass(frozen=True)
class Drawn:
    """
    Hold what is drawn of a memory; `kind` is its perception type, stamps are in ns.

    `baseline` is what the sensor showed at rest, for the signal's first columns: it is drawn
    against that.
    """

    memory_id: int
    title: str
    kind: str
    stamp_ns: int
    peak_ns: int
    end_ns: int
    signal: Signal | None = None
    pictures: tuple[Picture, ...] = ()
    baseline: tuple[float, ...] = ()

    @property
    def span_ns(self) -> tuple[int, int]:
        """Return the first and the last stamp of all that is drawn of it."""
        stamps = [self.stamp_ns, self.peak_ns, self.end_ns]
        stamps += [picture.stamp_ns for picture in self.pictures]
        if self.signal is not None and len(self.signal.stamps_ns):
            stamps += [int(self.signal.stamps_ns[0]), int(self.signal.stamps_ns[-1])]
        return min(stamps), max(stamps)


def is_simulated(stamp_ns: int) -> bool:
    """Say whether a stamp is of a clock that began at zero: no robot is as old as 2001."""
    return stamp_ns < YEAR_2001_NS


def format_stamp(stamp_ns: int) -> str:
    """Return a stamp as UTC with microseconds, or as seconds of simulated time."""
    if is_simulated(stamp_ns):
        return f'{stamp_ns / 1e9:.6f} s of simulated time'
    return f'{format_instant(stamp_ns // 1000)[:-1].replace("T", " ")} UTC'


def format_span(first_ns: int, last_ns: int) -> str:
    """Return two stamps to the second as UTC, or as seconds of simulated time."""
    if is_simulated(last_ns):
        return f'{first_ns / 1e9:.1f} to {last_ns / 1e9:.1f} s of simulated time'
    first, last = (
        format_instant(stamp // 1000)[:19].replace('T', ' ') for stamp in (first_ns, last_ns)
    )
    return f'{first} to {last[11:] if last[:10] == first[:10] else last} UTC'


def format_length(seconds: float) -> str:
    """Return a length of time with three figures, or in minutes, hours and days."""
    if seconds < 100:
        return f'{seconds:.3g} s'
    whole = round(seconds)
    parts = ((whole // 86400, 'd'), (whole // 3600 % 24, 'h'), (whole // 60 % 60, 'min'))
    words = [f'{number} {unit}' for number, unit in (*parts, (whole % 60, 's')) if number]
    return ' '.join(words[:2])
