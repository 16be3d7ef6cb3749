"""Hold messages back until it is known where their sensor was; let through what is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from robot_memory.core.fields import NANOSECONDS
from robot_memory.core.no_record import NoRecordRules, Withheld
from robot_memory.core.records import CALENDAR_FROM
from robot_memory.core.regions import Region
from robot_memory.core.zones import get_zone
from robot_memory.ingest.handlers import Received, Sensed
from robot_memory.ingest.pose_source import PoseSource
from robot_memory.lifecycle.no_record import count_withheld, judge_place, judge_time
from robot_memory.memory import Memory


class NoRecordPolicy:
    """Say what the rules of a memory withhold; live, or of a recording."""

    def __init__(self, memory: Memory, *, is_live: bool) -> None:
        """Take the rules that the memory has."""
        self.rules: NoRecordRules = memory.no_record
        self._memory = memory
        self._is_live = is_live
        self._second: int | None = None
        self._judged: Withheld | None = None

    def judge_time(self, arrival_ns: int) -> Withheld | None:
        """Return why nothing is kept of when a message came; live, of now."""
        if not self.rules.times:
            return None
        at_ns = self._memory.clock() * 1000 if self._is_live else arrival_ns
        second = at_ns // NANOSECONDS
        if second != self._second:
            self._second = second
            self._judged = judge_time(self._memory) if self._is_live else self._look_up(arrival_ns)
        return self._judged

    def _look_up(self, recorded_ns: int) -> Withheld | None:
        if recorded_ns // 1000 < CALENDAR_FROM:
            return Withheld.CLOCK_SUSPECT
        zone = get_zone(self._memory.settings.time_zone)
        return Withheld.TIME if self.rules.covers_time(recorded_ns // 1000, zone) else None

    def count(self, reason: Withheld) -> None:
        """Count a message that is withheld."""
        count_withheld(self._memory, reason)


class Judged(NamedTuple):
    """Hold a message, and why it is withheld; None: it may be kept."""

    message: Received
    withheld: Withheld | None


class NoRecordGate:
    """
    Hold messages back, in order, until the poses that enclose their stamps are there.

    What becomes of a message depends on the messages and when they came alone, not on how many
    come at once. One for which no pose comes within `wait_ns` has an unknown place.
    """

    def __init__(self, policy: NoRecordPolicy, source: PoseSource, wait_ns: int) -> None:
        """Begin with no message."""
        self._policy = policy
        self._source = source
        self._wait_ns = wait_ns
        self._held: deque[tuple[Received, Sensed, Withheld | None]] = deque()

    @property
    def stamps_ns(self) -> list[int]:
        """Return the stamps of the messages that are held back."""
        return [sensed.stamp_ns for _, sensed, _ in self._held]

    def hold(self, message: Received, sensed: Sensed) -> None:
        """Take a message; the time in which it came is judged at once."""
        self._held.append((message, sensed, self._policy.judge_time(message[2])))

    def release(self, now_ns: int) -> Iterator[Judged]:
        """Yield the messages whose place is known by now, or for whose pose nothing waits."""
        zones = self._policy.rules.zones
        while self._held:
            message, sensed, withheld = self._held[0]
            if withheld is None and zones:
                is_late = not 0 <= now_ns - message[2] <= self._wait_ns
                is_settled = all(self._source.is_settled(one.frame, sensed) for one in zones)
                if not (is_settled or is_late):
                    return
                withheld = self._judge(zones, sensed) if is_settled else Withheld.PLACE_UNKNOWN
            self._held.popleft()
            yield self._tell(message, withheld)

    def release_all(self) -> Iterator[Judged]:
        """Yield the messages that are left: no pose comes any more."""
        yield from self.release(-1)

    def _judge(self, zones: tuple[Region, ...], sensed: Sensed) -> Withheld | None:
        found, _ = judge_place(zones, lambda zone: self._source.list_places(zone.frame, sensed))
        return found

    def _tell(self, message: Received, withheld: Withheld | None) -> Judged:
        if withheld is not None:
            self._policy.count(withheld)
        return Judged(message, withheld)
