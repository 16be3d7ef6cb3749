"""What led to an event, and what follows it: the last readings of a stream."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from robot_memory.detectors.event import Event
from robot_memory.detectors.signal import Signal

Row: TypeAlias = tuple[int, list[float]]
"""A reading as a signal keeps it: its stamp in ns and its values, one for each column."""

Completion: TypeAlias = Callable[[list[Row]], Signal]
"""What makes the signal of an event that has ended out of the rows that followed it."""

MAX_ROWS = 16_384
NEVER_NS = 2**63 - 1


class RingBuffer:
    """
    Remember the rows of the last `keep_s` seconds, at most 16384, and hold ended events back.

    An event that waits is handed on with its signal as soon as a row is `post_s` seconds or more
    past its end; meanwhile others may begin and end.
    """

    def __init__(self, keep_s: float, pre_s: float, post_s: float) -> None:
        """Take times in seconds; what any event reaches back must be within `keep_s`."""
        self._rows: deque[Row] = deque(maxlen=MAX_ROWS)
        self._waiting: deque[tuple[Event, Completion]] = deque()
        self.retune(keep_s, pre_s, post_s)

    def retune(self, keep_s: float, pre_s: float, post_s: float) -> None:
        """Remember for other times from now on."""
        self._pre_ns, self._post_ns = round(pre_s * 1e9), round(post_s * 1e9)
        self._keep_ns = round(max(keep_s, post_s) * 1e9)

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event that waits, 0 where none does."""
        return self._waiting[0][0].stamp_ns if self._waiting else 0

    @property
    def ready_ns(self) -> int:
        """Return the stamp from which on the next waiting event is ready; far off: none waits."""
        return self._waiting[0][0].end_ns + self._post_ns if self._waiting else NEVER_NS

    def push(self, row: Row) -> None:
        """Take the next row; those too old for the one before it go."""
        rows = self._rows
        if rows:
            oldest_ns = rows[-1][0] - self._keep_ns
            while rows[0][0] < oldest_ns:
                rows.popleft()
        rows.append(row)

    def extend(self, rows: Sequence[Row]) -> None:
        """Take the next rows, at least one."""
        self._rows.extend(rows[:-1])
        self.push(rows[-1])

    def select(self, first_ns: int, last_ns: int) -> list[Row]:
        """Return the rows from one stamp to another, both included."""
        found = []
        for row in reversed(self._rows):
            if row[0] < first_ns:
                break
            if row[0] <= last_ns:
                found.append(row)
        return found[::-1]

    def select_before(self, onset_ns: int) -> list[Row]:
        """Return the rows that lead to an onset, without the one at it."""
        return self.select(onset_ns - self._pre_ns, onset_ns - 1)

    def hold(self, event: Event, complete: Completion) -> None:
        """Hold an event that has ended back until its post-roll is there."""
        self._waiting.append((event, complete))

    def take_ready(self) -> list[Event]:
        """Return the events whose post-roll is complete with the last row."""
        events = []
        while self._waiting and self._rows[-1][0] >= self.ready_ns:
            events.append(self._complete_first())
        return events

    def flush(self) -> list[Event]:
        """Return all events that wait, with as much post-roll as there is."""
        return [self._complete_first() for _ in range(len(self._waiting))]

    def clear(self) -> None:
        """Forget the rows."""
        self._rows.clear()

    def _complete_first(self) -> Event:
        event, complete = self._waiting.popleft()
        after = self.select(event.end_ns + 1, event.end_ns + self._post_ns)
        return replace(event, signal=complete(after))


def to_signal(
    rows: Iterable[Row], marks: Iterable[Row], columns: Sequence[str], units: Sequence[str]
) -> Signal:
    """Return rows in time as a signal that holds the marked ones, too."""
    unique = sorted(dict([*rows, *marks]).items())
    return Signal(
        tuple(columns),
        tuple(units),
        np.array([stamp_ns for stamp_ns, _ in unique], np.int64),
        np.array([values for _, values in unique], np.float32),
    )
