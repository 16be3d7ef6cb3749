"""Scene: a picture worth keeping, because what the camera sees has changed and settled."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from robot_memory.core.fields import arg, validate
from robot_memory.detectors.clip import ClipRecorder
from robot_memory.detectors.confidence import rate_evidence
from robot_memory.detectors.earlier_view import EarlierView
from robot_memory.detectors.event import STOPPED, UNUSABLE, WENT_BACK, Event, Picture, StampOrder
from robot_memory.detectors.formatting import format_duration
from robot_memory.detectors.image_change import (
    CELLS_ACROSS,
    CellGrid,
    find_changes,
    measure_sharpness,
)
from robot_memory.detectors.images import PICTURE_SIDE, encode_jpeg, hash_image
from robot_memory.detectors.readings import ImageReading
from robot_memory.detectors.regions import describe_regions, find_regions, name_colours

MINUTE_NS = 60 * 10**9
MIN_SIDE = 16
MAX_EXPECTED = 64
QUALITY = 85
FIRST = 'first'
EXPECTED = 'expected'
SILENCE = 'silence'
CHANGED = 'changed'
RESTARTED = 'restarted'


@dataclass(frozen=True)
class SceneSettings:
    """
    Settings of the scene detector.

    The scene has changed when `min_area` of the image differs from the last stored image by
    `min_level`, after compensation for exposure and noise; it has settled when nothing has moved
    for `settle_s`. The first image after a gap is stored without waiting for the scene to settle.
    After a restart the last stored image is that of the topic from before.
    """

    min_area: float = arg(
        'Fraction of the image that must differ.', default=0.002, minimum=1e-6, maximum=1.0
    )
    min_level: float = arg(
        'Minimum brightness difference of a changed pixel, 0 to 255.',
        default=12.0,
        minimum=0.1,
        maximum=255.0,
    )
    settle_s: float = arg(
        'Time without motion after which the scene has settled, in seconds.',
        default=0.5,
        minimum=0.0,
        maximum=60.0,
    )
    min_brightness: float = arg(
        'Minimum mean brightness, 0 to 255; darker images are discarded.',
        default=12.0,
        minimum=0.0,
        maximum=255.0,
    )
    min_sharpness: float = arg(
        'Minimum edge sharpness; more blurred images are discarded. 1: full contrast '
        'within 1/160 of the image (or within one pixel of a smaller image).',
        default=0.13,
        minimum=0.0,
        maximum=1.0,
    )
    max_per_minute: int = arg(
        'Maximum images stored per minute, not counting requested ones.',
        default=12,
        minimum=1,
        maximum=600,
    )
    gap_s: float = arg(
        'Gap in the readings after which the scene counts as new, in seconds.',
        default=3.0,
        minimum=0.1,
        maximum=3600.0,
    )
    pre_s: float = arg(
        'Length of the clip before the image, in seconds.',
        default=2.0,
        minimum=0.0,
        maximum=30.0,
    )
    post_s: float = arg(
        'Length of the clip after the image, in seconds.',
        default=1.0,
        minimum=0.0,
        maximum=30.0,
    )
    film_hz: float = arg(
        'Frame rate of the clip, in images per second.', default=2.0, minimum=0.1, maximum=10.0
    )

    def __post_init__(self) -> None:
        """Refuse settings that no picture can meet."""
        validate(self)


class SceneDetector:
    """Find the pictures worth keeping in the stream of one camera."""

    def __init__(self, settings: SceneSettings = SceneSettings()) -> None:
        """Start with nothing seen; `ignored` counts by reason what was not used or not kept."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._order = StampOrder(settings.gap_s, self.ignored)
        self._recorder = ClipRecorder(settings.pre_s, settings.post_s, settings.film_hz)
        self._kept: deque[int] = deque(maxlen=settings.max_per_minute)
        self._expected: deque[int] = deque(maxlen=MAX_EXPECTED)
        self._find_earlier: Callable[[int], EarlierView | None] = _find_nothing
        self._has_begun = False
        self._reset()
        self.retune(settings)

    def retune(self, settings: SceneSettings) -> None:
        """Take other settings; what was seen, and when, is known as before."""
        self.settings = settings
        self._order.retune(settings.gap_s)
        self._settle_ns = round(settings.settle_s * 1e9)
        self._kept = deque(self._kept, maxlen=settings.max_per_minute)

    def compare_with(self, find_earlier: Callable[[int], EarlierView | None]) -> None:
        """Have the first view compared with the last one that was stored before its stamp."""
        self._find_earlier = find_earlier

    def _reset(self) -> None:
        """Know no scene yet."""
        self._reference: CellGrid | None = None
        self._reference_ns = 0
        self._still: CellGrid | None = None
        self._still_ns = 0
        self._judged = False
        self._silence_s = 0.0
        self._is_restart = False

    @property
    def since_ns(self) -> int:
        """Return the stamp of the oldest picture whose clip is not complete; 0: there is none."""
        return self._recorder.since_ns

    def expect(self, stamp_ns: int) -> None:
        """Have the first good picture from that stamp on kept, even if nothing has changed."""
        self._expected.append(stamp_ns)

    def feed(self, reading: ImageReading) -> list[Event]:
        """Take the next picture; return the events whose clip is complete with it."""
        source, stamp_ns = reading.view.source, reading.stamp_ns
        if source.mode not in ('RGB', 'L') or min(source.size) < MIN_SIDE:
            self.ignored['not a picture'] += 1
            return []
        before_ns = self._order.last_ns
        verdict = self._order.judge(stamp_ns)
        events: list[Event] = []
        if verdict is UNUSABLE:
            return []
        if verdict is STOPPED:
            events = self._recorder.flush()
            self._judged = False
            self._silence_s = (stamp_ns - before_ns) / 1e9
        elif verdict is WENT_BACK:
            events = self._recorder.flush()
            self._kept.clear()
            self._has_begun = False
            self._reset()
        cells = CellGrid(reading.view.average(CELLS_ACROSS))
        events += self._recorder.add_picture(stamp_ns, cells.to_image)
        if cells.brightness < self.settings.min_brightness:
            self.ignored['too dark'] += 1
            return events
        why = self._choose_reason(cells, stamp_ns)
        return events + self._capture(reading, cells, why) if why else events

    def pause(self) -> list[Event]:
        """Return the pictures whose clip is not complete: no more will come into it."""
        return self._recorder.flush()

    def finish(self) -> list[Event]:
        """
        End the stream: return the pictures whose clip is not complete, and forget all.

        They are marked as broken off: a stream that goes on gives them a longer film.
        """
        events = [replace(event, broken_off=True) for event in self._recorder.flush()]
        self._kept.clear()
        self._expected.clear()
        self._order.last_ns = 0
        self._has_begun = False
        self._reset()
        return events

    def _begin(self, cells: CellGrid, stamp_ns: int) -> None:
        """Take the last stored view, where it can be compared with the first, for the scene."""
        self._has_begun = True
        earlier = self._find_earlier(stamp_ns)
        reference = None if earlier is None else earlier.to_cells(cells)
        if earlier is not None and reference is not None:
            self._reference, self._reference_ns = reference, earlier.stamp_ns
            self._is_restart = True

    def _choose_reason(self, cells: CellGrid, stamp_ns: int) -> str:
        """Return what speaks for keeping this picture; empty: nothing."""
        if self._still is None or self._still.levels.shape != cells.levels.shape:
            self._reset()
        if not self._has_begun:
            self._begin(cells, stamp_ns)
        if self._still is None or self._is_different(cells, self._still):
            self._still, self._still_ns, self._judged = cells, stamp_ns, False
        if self._reference is None:
            return FIRST
        if any(expected <= stamp_ns for expected in self._expected):
            return EXPECTED
        settled = self._silence_s or stamp_ns - self._still_ns >= self._settle_ns
        if not settled or self._judged:
            return ''
        if self._is_different(cells, self._reference):
            if self._is_restart:
                return RESTARTED
            return SILENCE if self._silence_s else CHANGED
        self._settle()
        return ''

    def _is_different(self, cells: CellGrid, earlier: CellGrid) -> bool:
        mask = find_changes(cells, earlier, self.settings.min_level)
        return bool(np.count_nonzero(mask) / mask.size >= self.settings.min_area)

    def _capture(self, reading: ImageReading, cells: CellGrid, why: str) -> list[Event]:
        """Make an event of a picture, if it is sharp and not one too many."""
        sharp = measure_sharpness(cells)
        if sharp < self.settings.min_sharpness:
            self.ignored['not sharp'] += 1
            return []
        stamp_ns = reading.stamp_ns
        if why != EXPECTED:
            full = len(self._kept) == self._kept.maxlen
            if full and stamp_ns - self._kept[0] < MINUTE_NS:
                self.ignored['too many a minute'] += 1
                self._silence_s = 0.0
                return []
            self._kept.append(stamp_ns)
        event = self._make_event(reading, cells, why, sharp)
        self._expected = deque((ns for ns in self._expected if ns > stamp_ns), MAX_EXPECTED)
        self._reference = self._still = cells
        self._reference_ns = self._still_ns = stamp_ns
        self._settle()
        return self._recorder.hold(event)

    def _settle(self) -> None:
        """Take it that the scene is as in the last stored image."""
        self._judged, self._silence_s, self._is_restart = True, 0.0, False

    def _make_event(self, reading: ImageReading, cells: CellGrid, why: str, sharp: float) -> Event:
        view, stamp_ns = reading.view, reading.stamp_ns
        colours = name_colours(cells)
        data: dict[str, Any] = {
            'kept_because': why,
            'width': view.width,
            'height': view.height,
            'brightness': round(cells.brightness, 1),
            'sharpness': round(sharp, 3),
            'colours': colours,
            'look': hash_image(cells.to_image()),
        }
        margin = sharp / max(self.settings.min_sharpness, 1e-3)
        words = f'The camera ({reading.frame_id}) sees' if reading.frame_id else 'The camera sees'
        if self._reference is None:
            words += f' for the first time: mostly {" and ".join(colours)}'
        else:
            mask = find_changes(cells, self._reference, self.settings.min_level)
            share = float(mask.mean())
            found = find_regions(mask, cells, self._reference, view.width, view.height)
            data['changed_share'] = round(share, 5)
            if share >= self.settings.min_area:
                margin = min(margin, share / max(self.settings.min_area, 1e-6))
            data['changed_since_ns'] = self._reference_ns
            data['settled_since_ns'] = self._still_ns
            data['regions'] = found
            if self._is_restart:
                since_s = (stamp_ns - self._reference_ns) / 1e9
                words += f' after a restart, compared with {format_duration(since_s)} before'
            elif self._silence_s:
                words += f' after {self._silence_s:.1f} s without a picture'
            words += f': {describe_regions(found, share, colours)}'
        picture = Picture(stamp_ns, encode_jpeg(view.image, PICTURE_SIDE, QUALITY))
        metadata = {
            'detector': 'scene',
            'units': {'bbox': 'pixels: left, top, width, height', 'brightness': '0 to 255'},
            'settings': asdict(self.settings),
        }
        return Event(
            'visual',
            words,
            stamp_ns=stamp_ns,
            peak_ns=stamp_ns,
            end_ns=stamp_ns,
            frame_id=reading.frame_id,
            subject='scene',
            data=data,
            metadata=metadata,
            picture=picture,
            confidence=rate_evidence(margin),
        )


def _find_nothing(_: int) -> None:
    return None
