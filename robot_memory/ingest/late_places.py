"""Hold events back until the poses that enclose their stamps have come: tf is often late."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from robot_memory.detectors import PoseLookup
from robot_memory.ingest.pose_source import PoseSource
from robot_memory.ingest.results import Result


@dataclass(frozen=True)
class PlacedEvent:
    """
    Hold an event of a tap that has no place yet, and what makes a result of it with one.

    `arrival_ns` is when the message came that completed it; `is_motion` is of joints, whose place
    is the tool's.
    """

    tap: str
    arrival_ns: int
    stamp_ns: int
    frame: str
    is_motion: bool
    make: Callable[[PoseLookup | None], Result]


class LatePlaces:
    """
    Hand on what taps make, in order; an event waits until its place is settled, and all behind it.

    It waits at most `wait_ns` after it came, by when later messages came; then its place is what
    is known. So what is handed on depends on the messages alone, not on how many come at once.
    """

    def __init__(
        self, source: PoseSource, emit: Callable[[str, Result], None], wait_ns: int
    ) -> None:
        """Begin with nothing held."""
        self._source = source
        self._emit = emit
        self._wait_ns = wait_ns
        self._held: deque[PlacedEvent | tuple[str, Result]] = deque()

    @property
    def stamps_ns(self) -> list[int]:
        """Return the stamps of the events that wait."""
        return [one.stamp_ns for one in self._held if isinstance(one, PlacedEvent)]

    def hand_on(self, tap: str, result: Result) -> None:
        """Hand on what needs no place, behind the events that wait."""
        if self._held:
            self._held.append((tap, result))
        else:
            self._emit(tap, result)

    def place(self, event: PlacedEvent) -> None:
        """Hand on an event once its place is settled."""
        self._held.append(event)
        self.release(event.arrival_ns)

    def release(self, now_ns: int) -> None:
        """Hand on what is settled by now, or has waited long enough."""
        while self._held:
            first = self._held[0]
            if isinstance(first, PlacedEvent):
                is_late = not 0 <= now_ns - first.arrival_ns <= self._wait_ns
                if not (is_late or self._is_settled(first)):
                    return
            self._hand_on_first()

    def release_all(self) -> None:
        """Hand on all that is left: no pose comes any more."""
        while self._held:
            self._hand_on_first()

    def _is_settled(self, event: PlacedEvent) -> bool:
        return self._source.is_place_settled(event.frame, event.stamp_ns, event.is_motion)

    def _hand_on_first(self) -> None:
        first = self._held.popleft()
        if isinstance(first, PlacedEvent):
            look_up = self._source.look_up_tool if first.is_motion else self._source.look_up
            self._emit(first.tap, first.make(look_up(first.frame, first.stamp_ns)))
        else:
            self._emit(*first)
