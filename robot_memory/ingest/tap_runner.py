"""One tap at work: messages are counted, decoded where needed, and fed to its detector."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from robot_memory.ingest import messages
from robot_memory.ingest.fast_readings import make_fast_reader
from robot_memory.ingest.stamps import STAMPED_ON_ARRIVAL, ArrivalClock, MessageStamper
from robot_memory.ingest.tap import Tap, make_detector
from robot_memory.plugins.registry import ExtensionRegistry

_LATE_S = 1.0
"""Messages may come this much later than their stamps say."""
_EARLY = 0.9
"""Messages come unevenly: one that is early by a tenth of its period is not above the rate."""


class TapRunner:
    """
    Take the serialized messages of one tap, in any pace, and hand on what its detector makes.

    `warn` is told why a message cannot be read. Nothing in a message can raise. `stamps` dates
    the messages, by their arrival where they have no stamp of their own.
    """

    def __init__(
        self,
        tap: Tap,
        warn: Callable[[str], object],
        arrival: ArrivalClock,
        extensions: ExtensionRegistry,
    ) -> None:
        """Begin with no message; raise InvalidArgument where a plug-in's detector fails."""
        self.tap = tap
        self.detector, self._kind = make_detector(tap, extensions)
        known = self._kind is messages.TYPES.get(tap.settings.type)
        self._read_fast = make_fast_reader(tap.settings.type) if known else None
        self.counts: Counter[str] = Counter()
        self.stamps = MessageStamper(self._kind.stamped, arrival)
        self._warn = warn
        self._period_ns = round(1e9 / tap.max_rate_hz) if tap.max_rate_hz else 0
        self._last_ns = 0
        self._arrived_ns = self._received_ns = 0
        self._max_silence_ns = round(
            (getattr(tap.detector_settings, 'gap_s', 0.0) + _LATE_S) * 1e9
        )

    def receive(self, raw: bytes | memoryview, arrival_ns: int) -> list[Any]:
        """Take a message that came at `arrival_ns`; return events, or text events."""
        self.counts['received'] += 1
        self._arrived_ns, self._received_ns = arrival_ns, time.monotonic_ns()
        try:
            stamp_ns = self.stamps.date(raw, arrival_ns)
            if self._period_ns and self._is_above_rate(stamp_ns):
                self.counts['rate'] += 1
                return []
            return list(self.detector.feed(self._read(raw, stamp_ns)))
        except Exception as error:  # the decoder raises whatever broken bytes lead it to
            self.counts['unreadable'] += 1
            self._warn(f'{self.tap.settings.topic}: cannot read a message: {error!r}')
        return []

    def _read(self, raw: bytes | memoryview, stamp_ns: int) -> Any:
        """Return the reading in a message."""
        if self._read_fast is not None:
            try:
                return self._read_fast(raw, stamp_ns)
            except (ValueError, IndexError, struct.error):
                pass  # the general reader takes it, or says what is wrong
        message = messages.decode(raw, self.tap.settings.type)
        return self._kind.read(message, stamp_ns, messages.read_frame(message))

    def _is_above_rate(self, stamp_ns: int) -> bool:
        early = 0 < stamp_ns - self._last_ns < self._period_ns * _EARLY
        if not early:
            self._last_ns = stamp_ns
        return early

    def flush_silent(self, now_ns: int) -> list[Any]:
        """
        Return what is under way where the messages have stopped: it need not wait for more.

        They have where neither the robot's time nor that on the wall has seen one: a recording
        may be played many times as fast, and a simulation may stand still.
        """
        if not self.since_ns:
            return []
        silent_ns = min(now_ns - self._arrived_ns, time.monotonic_ns() - self._received_ns)
        if silent_ns <= self._max_silence_ns:
            return []
        return list(self.detector.pause())

    def finish(self) -> list[Any]:
        """End the stream and return what was under way."""
        return list(self.detector.finish())

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event that is not handed on yet; 0: there is none."""
        return self.detector.since_ns

    def report(self) -> dict[str, int]:
        """Return how many messages came, and by reason how many were not used or not kept."""
        replaced = Counter({STAMPED_ON_ARRIVAL: self.stamps.replaced})
        return dict(self.counts + replaced + self.detector.ignored)
