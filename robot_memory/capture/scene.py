"""Scene: a picture worth keeping, because what the camera sees has changed and settled."""

import io
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robot_memory.capture.event import (
    GOES_ON,
    UNUSABLE,
    WENT_BACK,
    Event,
    StampOrder,
    require_positive,
)
from robot_memory.capture.readings import ImageReading, Pixels

Cells = NDArray[np.float32]
Mask = NDArray[np.bool_]

CELLS_ACROSS = 160
THUMBNAIL = 320
MIN_SIDE = 16
NOISE_FACTOR = 5.0
NEIGHBOURS = 5
CLIPPED = 250
CLIPPED_LEEWAY = 30.0
MAX_GAIN = 2.0
MAX_REGIONS = 5
WHERE = (
    ('upper left', 'upper middle', 'upper right'),
    ('middle left', 'centre', 'middle right'),
    ('lower left', 'lower middle', 'lower right'),
)
HUES = (
    (15, 'red'),
    (70, 'yellow'),
    (165, 'green'),
    (200, 'cyan'),
    (260, 'blue'),
    (320, 'purple'),
    (345, 'pink'),
    (361, 'red'),
)


@dataclass(frozen=True)
class SceneSettings:
    """
    Say when a picture is kept.

    The scene has changed when at least `min_area` of the picture (a share of 1) differs by more
    than `min_level` (of 255) from the last picture kept, after the exposure is evened out; it has
    settled when nothing has moved for `settle_s`. Pictures with a mean brightness under
    `min_brightness` (of 255), or whose sharpest edges are softer than `min_sharpness` (a step of
    the whole contrast from one cell to the next is 1), are not kept; nor are more than
    `max_per_minute`. The first picture after a silence of `gap_s` need not wait to settle.
    """

    min_area: float = 0.002
    min_level: float = 12.0
    settle_s: float = 0.5
    min_brightness: float = 12.0
    min_sharpness: float = 0.13
    max_per_minute: int = 12
    gap_s: float = 3.0

    def __post_init__(self) -> None:
        """Refuse settings that no picture can meet."""
        require_positive(self, *asdict(self))


class SceneDetector:
    """Find the pictures worth keeping in the stream of one camera."""

    def __init__(self, settings: SceneSettings = SceneSettings()) -> None:
        """Start with nothing seen; `ignored` counts by reason what was not used or not kept."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._order = StampOrder(settings.gap_s, self.ignored)
        self._settle_ns = round(settings.settle_s * 1e9)
        self._kept: deque[int] = deque(maxlen=max(1, int(settings.max_per_minute)))
        self._forget()

    def _forget(self) -> None:
        self._reference: Cells | None = None
        self._reference_ns = 0
        self._still: Cells | None = None
        self._still_ns = 0
        self._frames = 0
        self._first_ns = 0

    def feed(self, reading: ImageReading) -> list[Event]:
        """Take the next picture and return it as an event if it is worth keeping."""
        if not _readable(reading.pixels):
            self.ignored['not a picture'] += 1
            return []
        verdict = self._order.judge(reading.stamp_ns)
        if verdict is not GOES_ON:
            if verdict is UNUSABLE:
                return []
            self._still = None
            if verdict is WENT_BACK:
                self._forget()
                self._kept.clear()
        cells = reduced(reading.pixels)
        if cells.mean() < self.settings.min_brightness:
            self.ignored['too dark'] += 1
            return []
        if self._reference is not None and self._reference.shape != cells.shape:
            self._forget()
        self._frames += 1
        self._first_ns = self._first_ns or reading.stamp_ns
        if self._reference is None:
            return self._keep(reading, cells, None)
        resumed = self._still is None
        if self._still is None or self._differs(cells, self._still):
            self._still, self._still_ns = cells, reading.stamp_ns
        settled = resumed or reading.stamp_ns - self._still_ns >= self._settle_ns
        if not settled or self._still is self._reference:
            return []
        mask = changed(cells, self._reference, self.settings.min_level)
        if mask.mean() < self.settings.min_area:
            return []
        return self._keep(reading, cells, mask)

    def finish(self) -> list[Event]:
        """Forget what was seen; a picture is never under way, so nothing is returned."""
        self._forget()
        self._kept.clear()
        self._order.last_ns = 0
        return []

    def _differs(self, cells: Cells, earlier: Cells) -> bool:
        mask = changed(cells, earlier, self.settings.min_level)
        return bool(mask.mean() >= self.settings.min_area)

    def _keep(self, reading: ImageReading, cells: Cells, mask: Mask | None) -> list[Event]:
        if sharpness(cells) < self.settings.min_sharpness:
            self.ignored['not sharp'] += 1
            return []
        full = len(self._kept) == self._kept.maxlen
        if full and reading.stamp_ns - self._kept[0] < 60 * 10**9:
            self.ignored['rate'] += 1
            return []
        event = self._event(reading, cells, mask)
        self._kept.append(reading.stamp_ns)
        self._reference = self._still = cells
        self._reference_ns = self._still_ns = reading.stamp_ns
        return [event]

    def _event(self, reading: ImageReading, cells: Cells, mask: Mask | None) -> Event:
        height, width = reading.pixels.shape[:2]
        source = f' from {reading.frame_id}' if reading.frame_id else ''
        data: dict[str, Any] = {
            'width': width,
            'height': height,
            'brightness': round(float(cells.mean()), 1),
            'sharpness': round(sharpness(cells), 3),
            'first': mask is None,
            'changed_share': 0.0,
            'regions': [],
        }
        if mask is None:
            words = f'First picture of the scene{source}, {width} x {height} pixels'
        else:
            assert self._reference is not None
            found = regions(mask, cells, self._reference, width, height)
            share = float(mask.mean())
            data['changed_share'] = round(share, 5)
            data['changed_since_ns'] = self._reference_ns
            data['settled_since_ns'] = self._still_ns
            data['regions'] = found
            words = f'The scene changed{source}: {describe(found, share)}'
        seconds = (reading.stamp_ns - self._first_ns) / 1e9
        metadata = {
            'detector': 'scene',
            'units': {'bbox': 'pixels: left, top, width, height', 'brightness': '0 to 255'},
            'settings': asdict(self.settings),
            'readings': self._frames,
            'rate_hz': round((self._frames - 1) / seconds, 2) if seconds else 0.0,
            'thumbnail': 'image/jpeg',
        }
        stamp_ns = reading.stamp_ns
        picture = thumbnail(reading.pixels)
        frame_id = reading.frame_id
        return Event('visual', words, stamp_ns, stamp_ns, frame_id, data, metadata, picture)


def reduced(pixels: Pixels) -> Cells:
    """Return the picture averaged into about 160 cells across: (rows, columns, 3 or 1)."""
    factor = max(1, round(pixels.shape[1] / CELLS_ACROSS))
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    cells = np.asarray(picture.reduce(factor) if factor > 1 else picture, dtype=np.float32)
    return cells if cells.ndim == 3 else cells[:, :, None]


def changed(cells: Cells, reference: Cells, min_level: float) -> Mask:
    """
    Return the cells that differ between two pictures, apart from exposure and noise.

    The exposure is the median ratio of each colour, which an object does not move as long as it
    covers less than half of the picture. Single cells and thin lines do not count.
    """
    scale = _exposure(cells[::4, ::4], reference[::4, ::4])
    difference = np.abs(np.minimum(cells * scale, 255) - reference)
    difference -= CLIPPED_LEEWAY * (np.maximum(cells, reference) >= CLIPPED)
    largest = difference[:, :, 0]
    for channel in range(1, difference.shape[2]):
        largest = np.maximum(largest, difference[:, :, channel])
    noise = float(np.median(largest[::2, ::2]))
    mask = largest > max(min_level, NOISE_FACTOR * noise)
    padded = np.pad(mask, 1).astype(np.uint8)
    across = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    around = across[:-2] + across[1:-1] + across[2:]
    solid: Mask = mask & (around >= NEIGHBOURS)
    return solid


def _exposure(now: Cells, then: Cells) -> Cells:
    fit = (np.minimum(now, then) > 8) & (np.maximum(now, then) < CLIPPED)
    gains = []
    for channel in range(now.shape[2]):
        kept = fit[:, :, channel]
        ratio = then[:, :, channel][kept] / now[:, :, channel][kept]
        gains.append(float(np.median(ratio)) if ratio.size else 1.0)
    return np.clip(np.array(gains, np.float32), 1 / MAX_GAIN, MAX_GAIN)


def sharpness(cells: Cells) -> float:
    """Return the steepest steps between neighbouring cells over the contrast, 0 to 1."""
    grey = cells.mean(axis=2)
    steps = np.maximum(np.abs(np.diff(grey, axis=1))[:-1], np.abs(np.diff(grey, axis=0))[:, :-1])
    low, high = np.percentile(grey, (1, 99))
    return float(np.percentile(steps, 99.5) / (high - low + 1))


def thumbnail(pixels: Pixels) -> bytes:
    """Return the picture as a JPEG of at most 320 pixels on its longer side."""
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    picture.thumbnail((THUMBNAIL, THUMBNAIL), reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, 'JPEG', quality=85)
    return buffer.getvalue()


def regions(
    mask: Mask, cells: Cells, reference: Cells, width: int, height: int
) -> list[dict[str, Any]]:
    """Return the largest connected changes, largest first: where, bbox in pixels, colours."""
    rows, columns = mask.shape
    across, down = width / columns, height / rows
    found = []
    for group in sorted(_groups(mask), key=len, reverse=True)[:MAX_REGIONS]:
        ys, xs = np.array(group).T
        left, top = int(xs.min() * across), int(ys.min() * down)
        right = min(width, round((int(xs.max()) + 1) * across))
        bottom = min(height, round((int(ys.max()) + 1) * down))
        place = WHERE[int(3 * ys.mean() / rows)][int(3 * xs.mean() / columns)]
        found.append(
            {
                'where': place,
                'bbox': [left, top, right - left, bottom - top],
                'share': round(len(group) / mask.size, 5),
                'colour_now': colour(np.median(cells[ys, xs], axis=0)),
                'colour_before': colour(np.median(reference[ys, xs], axis=0)),
            }
        )
    return found


def describe(found: list[dict[str, Any]], share: float) -> str:
    """Say in words what changed and where."""
    words = f'{100 * share:.1f} % of the picture'
    if share > 0.5 or not found:
        return words
    main = found[0]
    _, _, wide, high = main['bbox']
    words += f', {main["where"]}, {wide} x {high} pixels'
    if main['colour_now'] != main['colour_before']:
        words += f', {main["colour_before"]} before, {main["colour_now"]} now'
    others = list(dict.fromkeys(region['where'] for region in found[1:]))
    others = [place for place in others if place != main['where']]
    return f'{words}; also {", ".join(others)}' if others else words


def colour(pixel: NDArray[np.float32]) -> str:
    """Name the colour of a pixel (RGB or grey, 0 to 255) in one plain word."""
    red, green, blue = (float(value) for value in np.broadcast_to(pixel, 3))
    high, low = max(red, green, blue), min(red, green, blue)
    if high < 40:
        return 'black'
    if high - low < 0.22 * high:
        return 'white' if high > 200 else 'grey'
    spread = high - low
    if high == red:
        hue = 60 * ((green - blue) / spread % 6)
    elif high == green:
        hue = 60 * ((blue - red) / spread + 2)
    else:
        hue = 60 * ((red - green) / spread + 4)
    if 15 <= hue < 45:
        return 'orange' if high > 180 and spread > 0.55 * high else 'brown'
    return next(name for limit, name in HUES if hue < limit)


def _groups(mask: Mask) -> list[list[tuple[int, int]]]:
    """Return the marked cells in groups of those at most two cells apart."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    near = [(dy, dx) for dy in range(-2, 3) for dx in range(-2, 3)]
    groups = []
    while left:
        group = [left.pop()]
        for y, x in group:
            for dy, dx in near:
                cell = (y + dy, x + dx)
                if cell in left:
                    left.remove(cell)
                    group.append(cell)
        groups.append(group)
    return groups


def _readable(pixels: Pixels) -> bool:
    grey_or_rgb = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)
    return grey_or_rgb and pixels.dtype == np.uint8 and min(pixels.shape[:2]) >= MIN_SIDE
