"""A tap of pictures at work in a thread of its own: however long one takes, no other tap waits."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from robot_memory.detectors.event import Detector
from robot_memory.ingest.fast_readings import Raw
from robot_memory.ingest.handlers import Sensed
from robot_memory.ingest.pictures_ahead import PicturesAhead
from robot_memory.ingest.stamps import ArrivalClock
from robot_memory.ingest.tap import Tap
from robot_memory.ingest.tap_runner import Detection, TapRunner
from robot_memory.plugins.registry import ExtensionRegistry

PICTURES = ('sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage')
MAX_WAITING = 30
MAX_WAITING_BYTES = 256_000_000
"""What may wait for the thread; the first that waits may be larger."""
BUSY = 'decoder busy'
"""The count of pictures that came while as many as may wait did."""
FINISH_S = 2.0
"""At the end of a stream, pictures that still wait after this are left out."""


@dataclass(frozen=True)
class _Step:
    """Hold what is to be done; of a picture its stamp, and its size in bytes."""

    act: Callable[[], Sequence[Detection]]
    stamp_ns: int = 0
    size: int = 0
    is_picture: bool = False


class ThreadedRunner:
    """
    Run a TapRunner in a thread: what is asked of it is done in order, and comes later.

    Detections are returned by `flush_silent` and `finish`. What is done, and in which order, is
    as without the thread, but for pictures that come while too many wait: they are counted.
    """

    def __init__(self, runner: TapRunner, warn: Callable[[str], object]) -> None:
        """Begin with nothing to do; the thread starts with the first message."""
        self._runner = runner
        self._warn = warn
        self.counts: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._steps: deque[_Step] = deque()
        self._current: _Step | None = None
        self._found: list[Detection] = []
        self._detector_since_ns = runner.since_ns
        self._reported = runner.report()
        self._give_up_at = float('inf')
        self._thread: threading.Thread | None = None
        self._is_ending = False

    @property
    def tap(self) -> Tap:
        """Return the settings."""
        return self._runner.tap

    @property
    def detector(self) -> Detector:
        """Return the detector, which only this thread may use once a message has come."""
        return self._runner.detector

    @property
    def takes_blocks(self) -> bool:
        """Say that messages are taken in their turn."""
        return False

    def sense(self, raw: Raw, arrival_ns: int) -> Sensed:
        """Return where and when a message was measured, as far as its bytes can be read."""
        return self._runner.sense(raw, arrival_ns)

    def receive(self, raws: Sequence[Raw], arrivals_ns: Sequence[int]) -> list[Detection]:
        """Have messages taken in their turn, or count them; return nothing yet."""
        for raw, arrival_ns in zip(raws, arrivals_ns, strict=True):
            self.counts['received'] += 1
            stamp_ns = self._runner.sense(raw, arrival_ns).stamp_ns
            self._add(self._take_later(raw, arrival_ns, stamp_ns))
        return []

    def _take_later(self, raw: Raw, arrival_ns: int, stamp_ns: int) -> _Step:
        def take() -> Sequence[Detection]:
            return self._runner.receive([raw], [arrival_ns])

        return _Step(take, stamp_ns, len(raw), is_picture=True)

    def expect(self, stamp_ns: int) -> None:
        """Have the first good picture from that stamp on kept, of those that come from now on."""
        self._do_later(lambda: self._runner.expect(stamp_ns))

    def change(self, tap: Tap) -> None:
        """Take other settings from the next event on; one that is under way ends by its own."""
        self._do_later(lambda: self._runner.change(tap))

    def wipe(self, prepare: Callable[[], object]) -> None:
        """Drop all that the detector holds of what came until now, then prepare the new one."""
        self._do_later(lambda: self._runner.wipe(prepare))

    def _do_later(self, act: Callable[[], object]) -> None:
        def do() -> Sequence[Detection]:
            act()
            return ()

        self._add(_Step(do))

    def flush_silent(self, now_ns: int) -> list[Detection]:
        """Return what has been found, and have what is under way ended where nothing comes."""
        with self._changed:
            found, self._found = self._found, []
            is_idle = not self._steps and self._current is None
        if is_idle and self._detector_since_ns:
            self._add(_Step(lambda: self._runner.flush_silent(now_ns)))
        return found

    def finish(self) -> list[Detection]:
        """End the stream: return what has been found and what was under way."""
        self._add(_Step(self._runner.finish))
        with self._changed:
            self._give_up_at = time.monotonic() + FINISH_S
            self._is_ending = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        with self._changed:
            found, self._found = self._found, []
        return found

    @property
    def since_ns(self) -> int:
        """Return the stamp of the oldest picture or event not handed on yet; 0: there is none."""
        with self._changed:
            steps = (*self._steps, *filter(None, [self._current]))
            stamps = [one.stamp_ns for one in steps] + [one.event.stamp_ns for one in self._found]
            return min(filter(None, [self._detector_since_ns, *stamps]), default=0)

    def report(self) -> dict[str, int]:
        """Return how many messages came, and by reason how many were not used or not kept."""
        with self._changed:
            return {**self._reported, **self.counts}

    def _add(self, step: _Step) -> None:
        with self._changed:
            waiting = [one.size for one in self._steps if one.is_picture]
            is_full = len(waiting) >= MAX_WAITING or sum(waiting) + step.size > MAX_WAITING_BYTES
            if step.is_picture and waiting and is_full:
                self.counts[BUSY] += 1
                return
            self._steps.append(step)
            if self._thread is None:
                self._is_ending, self._give_up_at = False, float('inf')
                name = f'tap {self.tap.name}'
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._current = None
                self._changed.wait_for(lambda: self._steps or self._is_ending)
                if not self._steps:
                    self._thread = None
                    return
                step = self._current = self._steps.popleft()
                if step.is_picture and time.monotonic() > self._give_up_at:
                    self.counts[BUSY] += 1
                    continue
            found: Iterable[Detection] = ()
            try:
                found = step.act()
            except Exception as error:
                self._warn(f'{self.tap.settings.topic}: a step failed: {error!r}')
            reported, since_ns = self._runner.report(), self._runner.since_ns
            with self._changed:
                self._found += found
                self._reported, self._detector_since_ns = reported, since_ns


def make_runner(
    tap: Tap,
    warn: Callable[[str], object],
    arrival: ArrivalClock,
    extensions: ExtensionRegistry,
    pictures: PicturesAhead | None,
    *,
    threaded: bool,
) -> TapRunner | ThreadedRunner:
    """Return what runs a tap; `threaded`, that of pictures in a thread of its own."""
    runner = TapRunner(tap, warn, arrival, extensions, pictures)
    is_threaded = threaded and tap.settings.type in PICTURES
    return ThreadedRunner(runner, warn) if is_threaded else runner


def list_cameras(runners: Mapping[str, TapRunner | ThreadedRunner]) -> dict[str, TapRunner]:
    """Return the taps whose pictures may be decoded ahead, by name."""
    return {
        name: one
        for name, one in runners.items()
        if isinstance(one, TapRunner) and one.is_decoded_ahead
    }
