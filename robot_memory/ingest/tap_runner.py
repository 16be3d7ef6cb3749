"""One tap at work: messages are counted, decoded where needed, and fed to its detector."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from robot_memory.detectors import JointReading, MotionDetector, SceneDetector
from robot_memory.detectors.readings import JointBlock
from robot_memory.ingest import messages
from robot_memory.ingest.fast_readings import (
    UNUSUAL,
    Block,
    Raw,
    make_block_reader,
    read_image,
)
from robot_memory.ingest.handlers import Sensed
from robot_memory.ingest.pictures_ahead import PicturesAhead
from robot_memory.ingest.stamps import STAMPED_ON_ARRIVAL, ArrivalClock, Dating, MessageStamper
from robot_memory.ingest.tap import Tap, make_detector
from robot_memory.plugins.registry import ExtensionRegistry

_LATE_S = 1.0
"""Messages may come this much later than their stamps say."""
_EARLY = 0.9
"""Messages come unevenly: one that is early by a tenth of its period is not above the rate."""


@dataclass(frozen=True)
class Detection:
    """Hold an event, or a text event: which message completes it, and how it is dated."""

    position: int
    event: Any
    dating: Dating


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
        pictures: PicturesAhead | None = None,
    ) -> None:
        """Begin with no message; raise InvalidArgument where a plug-in's detector fails."""
        self.tap = tap
        self.detector, self._kind = make_detector(tap, extensions)
        known = self._kind is messages.TYPES.get(tap.settings.type)
        self._is_image = known and tap.settings.type == 'sensor_msgs/msg/Image'
        self._blocks = make_block_reader(tap.settings.type) if known else None
        self._pictures = pictures
        self.counts: Counter[str] = Counter()
        self.stamps = MessageStamper(self._kind.stamped, arrival)
        self._warn = warn
        self._extensions = extensions
        self._ignored_before: Counter[str] = Counter()
        self._last_ns = 0
        self._arrived_ns = self._received_ns = 0
        self._next: Tap | None = None
        self._take_settings(tap)

    def change(self, tap: Tap) -> None:
        """Take other settings from the next event on; one that is under way ends by its own."""
        self._next = tap

    def wipe(self, prepare: Callable[[], object]) -> None:
        """Drop all that the detector holds, what is under way too; then prepare the new one."""
        self._ignored_before += self.detector.ignored
        self.tap, self._next = self._next or self.tap, None
        self._take_settings(self.tap)
        self.detector, self._kind = make_detector(self.tap, self._extensions)
        prepare()

    def expect(self, stamp_ns: int) -> None:
        """Have the first good picture from that stamp on kept, where it is a tap of pictures."""
        if isinstance(self.detector, SceneDetector):
            self.detector.expect(stamp_ns)

    def sense(self, raw: Raw, arrival_ns: int) -> Sensed:
        """Return where and when a message was measured, as far as its bytes can be read."""
        stamp_ns, frame = 0, ''
        try:
            stamp_ns = messages.read_stamp(raw) if self._kind.stamped else 0
            frame = messages.read_header_frame(raw) if self._has_header else ''
        except Exception:  # broken bytes are counted where the message is read
            pass
        return Sensed(frame, stamp_ns or arrival_ns, isinstance(self.detector, MotionDetector))

    @cached_property
    def _has_header(self) -> bool:
        return messages.has_header(self.tap.settings.type)

    def _take_settings(self, tap: Tap) -> None:
        self.tap = tap
        self._period_ns = round(1e9 / tap.max_rate_hz) if tap.max_rate_hz else 0
        silence_s = getattr(tap.detector_settings, 'gap_s', 0.0) + _LATE_S
        self._max_silence_ns = round(silence_s * 1e9)

    def _take_changes(self) -> None:
        if self._next is None or self.since_ns:
            return
        self._take_settings(self._next)
        retune = getattr(self.detector, 'retune', None)
        if retune is not None:  # of the others only what all taps have can be changed
            retune(self._next.detector_settings)
        self._next = None

    def receive(self, raws: Sequence[Raw], arrivals_ns: Sequence[int]) -> list[Detection]:
        """
        Take messages and when they came, at least one; return what is complete with which.

        What comes of messages does not depend on how many are given at once.
        """
        self._take_changes()
        self.counts['received'] += len(raws)
        self._arrived_ns, self._received_ns = arrivals_ns[-1], time.monotonic_ns()
        parts = [] if self._blocks is None else self._blocks.read(raws)
        is_plain = all(block is not None and block.stamps_ns.all() for _, block in parts)
        if not parts or (self._period_ns and not is_plain):
            numbers = range(len(raws))
            return [one for at in numbers for one in self._receive_one(at, raws, arrivals_ns)]
        found: list[Detection] = []
        wanted = self._choose_by_rate(parts) if self._period_ns else None
        for positions, block in parts:
            if block is None or not block.stamps_ns.all():
                found += [d for at in positions for d in self._receive_one(at, raws, arrivals_ns)]
                continue
            last_ns, last = int(block.stamps_ns[-1]), positions[-1]
            if wanted is not None:
                chosen = np.array([at in wanted for at in positions])
                positions = [at for at in positions if at in wanted]
                block = block.select(chosen)
            if positions:
                found += self._receive_block(positions, block, arrivals_ns)
            self.stamps.note(last_ns, arrivals_ns[last])
        return sorted(found, key=attrgetter('position'))

    def _choose_by_rate(self, parts: Sequence[tuple[Sequence[int], Block | None]]) -> set[int]:
        """Return which messages are not above the rate, and count the others."""
        stamps = sorted(
            (at, stamp_ns)
            for positions, block in parts
            if block is not None
            for at, stamp_ns in zip(positions, block.stamps_ns.tolist(), strict=True)
        )
        wanted = {at for at, stamp_ns in stamps if not self._is_above_rate(stamp_ns)}
        self.counts['rate'] += len(stamps) - len(wanted)
        return wanted

    def _receive_one(
        self, at: int, raws: Sequence[Raw], arrivals_ns: Sequence[int]
    ) -> list[Detection]:
        raw = raws[at]
        try:
            stamp_ns = self.stamps.date(raw, arrivals_ns[at])
            if self._period_ns and self._is_above_rate(stamp_ns):
                self.counts['rate'] += 1
                return []
            events = self._feed(self._read(raw, stamp_ns))
            return [self._date(event, at) for event in events]
        except Exception as error:  # the decoder raises whatever broken bytes lead it to
            self._tell_unreadable(error)
        return []

    def _feed(self, reading: Any) -> Sequence[Any]:
        detector = self.detector
        if isinstance(detector, MotionDetector) and isinstance(reading, JointReading):
            return [one for _, one in detector.feed_block(JointBlock.from_reading(reading))]
        return detector.feed(reading)

    def _receive_block(
        self, positions: Sequence[int], block: Block, arrivals_ns: Sequence[int]
    ) -> list[Detection]:
        detector: Any = self.detector
        found = []
        try:
            for number, event in detector.feed_block(block):
                at = positions[number]
                self.stamps.note(int(block.stamps_ns[number]), arrivals_ns[at])
                found.append(self._date(event, at))
        except Exception as error:
            self._tell_unreadable(error, len(positions))
        return found

    def _date(self, event: Any, position: int = 0) -> Detection:
        end_ns = getattr(event, 'end_ns', event.stamp_ns)
        return Detection(position, event, self.stamps.describe(event.stamp_ns, end_ns))

    def _tell_unreadable(self, error: Exception, messages: int = 1) -> None:
        self.counts['unreadable'] += messages
        self._warn(f'{self.tap.settings.topic}: cannot read a message: {error!r}')

    @property
    def is_decoded_ahead(self) -> bool:
        """
        Say whether its readings are compressed pictures, which a thread may decode meanwhile.

        Raw ones are read in many short calls, each of which would wait for Python's lock.
        """
        return isinstance(self.detector, SceneDetector) and not self._is_image

    def choose_wanted(self, raws: Sequence[Raw]) -> list[Raw]:
        """Return those of the next messages that are likely not above the rate."""
        if not (self._period_ns and self._kind.stamped):
            return list(raws)
        found, last_ns = [], self._last_ns
        for raw in raws:
            try:
                stamp_ns = messages.read_stamp(raw)
            except UNUSUAL:
                continue
            if not self._is_early(stamp_ns, last_ns):
                found.append(raw)
                last_ns = stamp_ns
        return found

    def _read(self, raw: Raw, stamp_ns: int) -> Any:
        """Return the reading in a message, which may have been begun to be read."""
        ahead = self._pictures.take(raw) if self._pictures is not None else None
        return self.read(raw, stamp_ns) if ahead is None else replace(ahead, stamp_ns=stamp_ns)

    def read(self, raw: Raw, stamp_ns: int) -> Any:
        """Return the reading in a message; whatever is wrong with the bytes raises."""
        if self._is_image:
            try:
                return read_image(raw, stamp_ns)
            except UNUSUAL:
                pass  # the general reader takes it, or says what is wrong
        message = messages.decode(raw, self.tap.settings.type)
        return self._kind.read(message, stamp_ns, messages.read_frame(message))

    def _is_above_rate(self, stamp_ns: int) -> bool:
        early = self._is_early(stamp_ns, self._last_ns)
        if not early:
            self._last_ns = stamp_ns
        return early

    def _is_early(self, stamp_ns: int, last_ns: int) -> bool:
        return 0 < stamp_ns - last_ns < self._period_ns * _EARLY

    def flush_silent(self, now_ns: int) -> list[Detection]:
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
        return [self._date(event) for event in self.detector.pause()]

    def finish(self) -> list[Detection]:
        """End the stream and return what was under way."""
        return [self._date(event) for event in self.detector.finish()]

    @property
    def takes_blocks(self) -> bool:
        """Say whether messages may be given ahead of those of other taps that came before."""
        return self._blocks is not None

    @property
    def since_ns(self) -> int:
        """Return the onset of the oldest event that is not handed on yet; 0: there is none."""
        return self.detector.since_ns

    def report(self) -> dict[str, int]:
        """Return how many messages came, and by reason how many were not used or not kept."""
        replaced = Counter({STAMPED_ON_ARRIVAL: self.stamps.replaced})
        return dict(self.counts + replaced + self._ignored_before + self.detector.ignored)
