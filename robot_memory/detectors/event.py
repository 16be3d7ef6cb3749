"""What a detector hands on, and what all detectors share: stamps, settings, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from robot_memory.detectors.signal import Signal

REWIND_S = 1.0

GOES_ON = ''
UNUSABLE = 'unusable'
WENT_BACK = 'the clock went back'
STOPPED = 'the readings stopped'
ENDED = 'the stream ended'


@dataclass(frozen=True)
class Picture:
    """Hold a picture as JPEG, at most 320 pixels on its longer side, and when it was taken."""

    stamp_ns: int
    jpeg: bytes


@dataclass(frozen=True)
class Event:
    """
    Hold one thing that happened, with the measurement's own time and frame.

    `stamp_ns` is its onset, `peak_ns` its strongest moment and `end_ns` its end, all stamps of
    readings. `subject` says which detector noticed it, and on what where that is not the topic
    alone ("motion of joint_1, joint_2"): with the topic and a stamp it is the event's identity.
    `data` is a digest: plain JSON scalars and short lists in SI units; `metadata` says the units,
    the detector and its settings. `kind` is what sort of event it is, where its detector finds
    others than those of its own name. What was measured is in `signal`, with pre-roll and
    post-roll, what was seen in `picture`, with the smaller pictures around it in `film`.
    `broken_off` tells that the stream ended before the event did. `confidence`, 0 to 1, says how
    far what was measured carries it; None: as its words do.
    """

    perception_type: str
    description: str
    stamp_ns: int
    peak_ns: int
    end_ns: int
    frame_id: str
    subject: str
    data: dict[str, Any]
    metadata: dict[str, Any]
    signal: Signal | None = None
    picture: Picture | None = None
    film: tuple[Picture, ...] = ()
    broken_off: bool = False
    confidence: float | None = None
    kind: str = ''


class Detector(Protocol):
    """
    Say what all detectors do, each with readings of its own kind.

    They return events, the one of texts text events.
    """

    @property
    def ignored(self) -> Counter[str]:
        """Return by reason how many readings or events were not used or not kept."""

    def feed(self, reading: Any) -> Sequence[Any]:
        """Take the next reading; return the events that are complete with it."""

    def pause(self) -> Sequence[Any]:
        """
        Return what is under way, because the readings have stopped for more than `gap_s`.

        The reading that ends the silence finds the detector as if it had not been asked.
        """

    def finish(self) -> Sequence[Any]:
        """End the stream: return what was under way, marked as broken off, and forget all."""

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event not handed on yet; 0: there is none."""


class StampOrder:
    """
    Judge the stamps of one stream, in nanoseconds, against the last good one.

    A stamp that is not later, or up to 1 s earlier, is unusable (a repeated or late message);
    one that is earlier by more is a clock that went back, as when a recording starts over.
    """

    def __init__(self, gap_s: float, ignored: Counter[str]) -> None:
        """Take a silence of more than `gap_s` seconds for a break in the stream."""
        self.last_ns = 0
        self._ignored = ignored
        self.retune(gap_s)

    def retune(self, gap_s: float) -> None:
        """Take a silence of more than other seconds for a break from now on."""
        self._gap_ns = round(gap_s * 1e9)

    def judge(self, stamp_ns: int) -> str:
        """Return GOES_ON, STOPPED, WENT_BACK or UNUSABLE, and count what is not in order."""
        if stamp_ns <= 0:
            self._ignored['no stamp'] += 1
            return UNUSABLE
        step = stamp_ns - self.last_ns
        if self.last_ns and step <= 0:
            if step > -REWIND_S * 1e9:
                self._ignored['late or repeated stamp'] += 1
                return UNUSABLE
            self._ignored[WENT_BACK] += 1
            self.last_ns = stamp_ns
            return WENT_BACK
        gap = self.last_ns and step > self._gap_ns
        self.last_ns = stamp_ns
        return STOPPED if gap else GOES_ON

    def count_going_on(self, stamps_ns: NDArray[np.int64]) -> int:
        """Return how many stamps in a row go on after the last one; that stays as it is."""
        if (
            not self.last_ns
            or not len(stamps_ns)
            or not 0 < stamps_ns[0] - self.last_ns <= self._gap_ns
        ):
            return 0
        steps = stamps_ns[1:] - stamps_ns[:-1]
        (breaks,) = ((steps <= 0) | (steps > self._gap_ns)).nonzero()
        return int(breaks[0]) + 1 if len(breaks) else len(stamps_ns)

    def split(self, stamps_ns: NDArray[np.int64]) -> Iterator[tuple[str, int, int, int]]:
        """
        Take stamps; yield each run that goes on, without those that are unusable.

        Of a run that are the verdict on its first stamp, the last good one before it (0: none),
        where it begins, and where it ends.
        """
        at = 0
        while at < len(stamps_ns):
            before_ns = self.last_ns
            verdict = self.judge(int(stamps_ns[at]))
            if verdict is UNUSABLE:
                at += 1
                continue
            begin, at = at, at + 1 + self.count_going_on(stamps_ns[at + 1 :])
            self.last_ns = int(stamps_ns[at - 1])
            yield verdict, before_ns, begin, at


def round_all(values: Iterable[float], digits: int = 4) -> list[float]:
    """Return plain floats of `digits` decimals, as JSON holds them."""
    return [round(float(value), digits) for value in values]
