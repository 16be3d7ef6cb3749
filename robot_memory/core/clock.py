"""Instants: microseconds since 1970-01-01 UTC inside, ISO 8601 outside; durations in seconds."""

from __future__ import annotations

import ctypes
import functools
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

Clock = Callable[[], int]
"""Return the present instant in microseconds since 1970-01-01 UTC."""
SteadyClock = Callable[[], float]
"""Return seconds since some instant; setting the system's time does not change them."""

DAY = 86_400_000_000
RELEASED = 1_735_689_600_000_000
"""2025-01-01 UTC: no release of this package is older, so an earlier time was never right."""
LAST = 253_402_300_799_999_999
"""The end of the year 9999: the last instant that ISO 8601 can say."""
MAX_STEP = 2_000_000
"""A wall clock that moves further than this against CLOCK_BOOTTIME has been set."""
_TIME_ERROR = 5
_Timex = ctypes.c_char * 512
"""At least as large as the kernel's structure."""
_FIRST = -62_135_596_800_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def wall_clock() -> int:
    """Return the system's time."""
    return min(time.time_ns() // 1000, LAST)


steady_clock: SteadyClock = functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME)
"""Return seconds since the machine was started, those of its sleep included."""


def milliseconds_since(start: float) -> float:
    """Return the time since a `time.perf_counter()`, in milliseconds."""
    return round((time.perf_counter() - start) * 1000, 3)


@dataclass(frozen=True)
class ClockReading:
    """
    What the machine's clocks say at one moment, in microseconds.

    `wall` is the system's time, `boot` CLOCK_BOOTTIME, which no setting of the time changes and
    which counts on in suspend; two values of `boot` compare only within one `boot_id` and
    `time_namespace`. `synchronised`: the kernel says that the wall clock is right. That it does
    not is no evidence: a virtual machine may have the right time from its host.
    """

    wall: int
    boot: int
    boot_id: str = ''
    time_namespace: str = ''
    synchronised: bool = False

    @property
    def lead(self) -> int:
        """Return by how much the wall clock is ahead of CLOCK_BOOTTIME."""
        return self.wall - self.boot

    def same_boot(self, other: ClockReading) -> bool:
        """Say whether CLOCK_BOOTTIME of two readings is of the same boot and namespace."""
        return (self.boot_id, self.time_namespace) == (other.boot_id, other.time_namespace)

    def continues(self, earlier: ClockReading) -> bool:
        """Say whether the clocks ran on since an earlier reading: no reboot, and no step."""
        return (
            self.same_boot(earlier)
            and self.boot >= earlier.boot
            and abs(self.lead - earlier.lead) <= MAX_STEP
        )


@functools.cache
def read_boot_id() -> str:
    """Return the identifier of the machine's present boot; of the process where there is none."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        import uuid  # here: it asks what machine this is, which few need

        return f'process-{uuid.uuid4()}'


@functools.cache
def read_time_namespace() -> str:
    """Return the identifier of the process's time namespace, empty where there is none."""
    try:
        return os.readlink('/proc/self/ns/time')
    except OSError:
        return ''


def is_synchronised() -> bool:
    """Say whether the kernel says that the clock is synchronised (adjtimex(2), STA_UNSYNC)."""
    adjtimex = _load_adjtimex()
    if adjtimex is None:
        return False
    state = int(adjtimex(_Timex()))  # modes = 0: nothing is set
    return 0 <= state < _TIME_ERROR


@functools.cache
def _load_adjtimex() -> Callable[[object], int] | None:
    return getattr(ctypes.CDLL(None), 'adjtimex', None)


class Clocks:
    """The machine's clocks; a subclass is another machine's, as of a simulation or a test."""

    def wall(self) -> int:
        """Return the system's time, in microseconds since 1970 UTC."""
        return wall_clock()

    steady = staticmethod(steady_clock)
    """Return seconds that setting the system's time does not change."""

    def read(self) -> ClockReading:
        """Read all clocks at one moment, and what the machine knows of them."""
        return ClockReading(
            self.wall(),
            round(self.steady() * 1e6),
            read_boot_id(),
            read_time_namespace(),
            is_synchronised(),
        )


SYSTEM_CLOCKS = Clocks()


def format_instant(instant: int) -> str:
    """
    Return an instant as UTC, ISO 8601 with microseconds and a Z.

    What lies before the year 1 or after 9999 is told as the first or the last instant.
    """
    moment = _EPOCH + min(max(instant, _FIRST), LAST) * _MICROSECOND
    return f'{moment.replace(tzinfo=None).isoformat(timespec="microseconds")}Z'


def format_instants(instants: Iterable[int]) -> dict[int, str]:
    """Return each of some instants as `format_instant` does, by the instant."""
    return {instant: format_instant(instant) for instant in instants}


def parse_instant(text: str) -> int:
    """
    Return the instant that an ISO 8601 text names; without a zone it is UTC.

    Raise ValueError for text that is not a date or a time.
    """
    moment = datetime.fromisoformat(text.strip().replace('Z', '+00:00'))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - _EPOCH) // _MICROSECOND
