"""Whose clock a message is dated by: its own header's, or that of its arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from robot_memory.core.fields import NANOSECONDS
from robot_memory.ingest import messages

_FITS_NS = NANOSECONDS
"""Clocks that are further apart than this are not mixed in one stream."""
_LOCAL_NS = 60 * NANOSECONDS
"""A stamp within a minute of the arrival is by the same clock: if that is wrong, so is it."""
_RUNS = 64
STAMPED_ON_ARRIVAL = 'zero stamp replaced'
"""The count of messages whose zero stamp was replaced by their arrival."""


def _return_true() -> bool:
    return True


@dataclass(frozen=True)
class ArrivalClock:
    """
    Say what the time of a message's coming is called, and whether it may replace a zero stamp.

    Under simulated time it may not: a zero stamp is the beginning of the simulation there.
    `is_host`: messages come live, so that the arrival is by this host's clock.
    """

    name: str
    replaces_zero: Callable[[], bool] = _return_true
    is_host: bool = False


@dataclass(frozen=True)
class Dating:
    """
    Say by which clock an event is dated.

    `stamped_by` names the arrival where it dated a message of it; `is_local` says if that or the
    header is by this host's clock; `arrival_ns` is when the message of its onset came.
    """

    stamped_by: str
    is_local: bool
    arrival_ns: int


LIVE = ArrivalClock('arrival', is_host=True)
LOGGED = ArrivalClock('log_time')


def is_near(arrival: ArrivalClock, stamp_ns: int, arrival_ns: int) -> bool:
    """Say whether what came at `arrival_ns` was stamped by this host's clock."""
    near = abs(arrival_ns - stamp_ns) <= _LOCAL_NS
    return near and arrival.is_host and arrival.replaces_zero()


class MessageStamper:
    """Date the messages of one stream in nanoseconds, and remember which the arrival dated."""

    def __init__(self, stamped: bool, arrival: ArrivalClock) -> None:
        """Begin with no message; those of a type that is `stamped` begin with their stamp."""
        self.replaced = 0
        self._stamped = stamped
        self._arrival = arrival
        self._offset_ns: int | None = None
        self._last_ns = 0
        self._runs: deque[list[int]] = deque(maxlen=_RUNS)
        self._in_run = False

    def date(self, raw: bytes | memoryview, arrival_ns: int) -> int:
        """Return the stamp of a serialized message that came at `arrival_ns`; 0: it has none."""
        if self._stamped:
            stamp_ns = messages.read_stamp(raw)
            if stamp_ns:
                self.note(stamp_ns, arrival_ns)
                return stamp_ns
            if not self._may_replace():
                self._in_run = False
                return stamp_ns
            self.replaced += 1
        return self._date_by_arrival(arrival_ns)

    def note(self, stamp_ns: int, arrival_ns: int) -> None:
        """Take a message that came with a stamp of its own for the last one."""
        self._offset_ns = arrival_ns - stamp_ns
        self._in_run = False

    def _may_replace(self) -> bool:
        """Say whether the arrival fits the stamps that the stream has had, if it had any."""
        fits = self._offset_ns is None or abs(self._offset_ns) <= _FITS_NS
        return fits and self._arrival.replaces_zero()

    def _date_by_arrival(self, arrival_ns: int) -> int:
        """
        Return the arrival; messages that come at once are put in a row.

        0 where it is unknown: the simulated clock is at zero until somebody publishes /clock.
        """
        if arrival_ns <= 0:
            self._in_run = False
            return 0
        at_once = arrival_ns <= self._last_ns < arrival_ns + NANOSECONDS
        stamp_ns = self._last_ns + 1 if at_once else arrival_ns
        self._last_ns = stamp_ns
        if self._in_run and stamp_ns > self._runs[-1][1]:
            self._runs[-1][1] = stamp_ns
        else:
            self._runs.append([stamp_ns, stamp_ns])
        self._in_run = True
        return stamp_ns

    def describe(self, begin_ns: int, end_ns: int) -> Dating:
        """Return how an event of a span is dated, as far as the last message tells."""
        source = self.name_source(begin_ns, end_ns)
        return Dating(source, self.is_local, self.to_arrival(begin_ns))

    @property
    def is_local(self) -> bool:
        """Say whether the last message was dated by this host's clock, as far as can be told."""
        return is_near(self._arrival, 0, self._offset_ns or 0)

    def to_arrival(self, stamp_ns: int) -> int:
        """Return when a message with that stamp came, if the stamps are by another clock."""
        offset_ns = self._offset_ns or 0
        return stamp_ns if abs(offset_ns) <= _LOCAL_NS else stamp_ns + offset_ns

    def name_source(self, begin_ns: int, end_ns: int) -> str:
        """Return the name of the arrival where it dated a message of a span, else nothing."""
        covered = any(begin <= end_ns and begin_ns <= end for begin, end in self._runs)
        return self._arrival.name if covered else ''
