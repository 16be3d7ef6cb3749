"""Where a picture has changed and what it looks like there, as figures and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.image_change import CellGrid, Levels, Mask, count_neighbours
from robot_memory.detectors.light import measure_light

Region = dict[str, Any]

APPEARED = 'appeared'
GONE = 'gone'
CHANGED = 'changed'
BRIGHTER = 'brighter'
DARKER = 'darker'
MAX_REGIONS = 5
MAX_DESCRIBED = 3
MOST = 0.3
BLOCK = 2
EDGIER = 1.4
WHERE = (
    ('upper left', 'upper middle', 'upper right'),
    ('middle left', 'centre', 'middle right'),
    ('lower left', 'lower middle', 'lower right'),
)
HUES = (
    (70, 'yellow'),
    (165, 'green'),
    (200, 'cyan'),
    (260, 'blue'),
    (320, 'purple'),
    (345, 'pink'),
    (361, 'red'),
)


def find_regions(
    mask: Mask, now: CellGrid, then: CellGrid, width: int, height: int
) -> list[Region]:
    """
    Return the largest connected changes of a picture of `width` x `height` pixels, largest first.

    `what` is brighter or darker where light explains the change, appeared where the edges around
    the region are new, gone where they are no more, else changed. `where` is in words, `bbox`
    [left, top, width, height] in pixels, `share` of the picture (of 1); `colour_now` and
    `colour_before` are names. Where most of the picture differs for another reason than light
    there are none: it is another view.
    """
    rows, columns = mask.shape
    is_view = bool(mask.mean() > MOST)
    light = measure_light(mask, now, then, is_view=True) if is_view else 0.0
    if is_view and not light:
        return []
    parts = [mask]
    if not is_view:
        parts = sorted(_split_regions(mask), key=np.count_nonzero, reverse=True)[:MAX_REGIONS]
    edges_now, edges_then = _measure_edges(now.levels), _measure_edges(then.levels)
    found = []
    for region in parts:
        ys, xs = np.nonzero(region)
        left, right = (int(x * width / columns) for x in (xs.min(), xs.max() + 1))
        top, bottom = (int(y * height / rows) for y in (ys.min(), ys.max() + 1))
        neighbours = count_neighbours(region)
        rim = (neighbours > 0) & (neighbours < 9)
        found.append(
            {
                'what': _name_light(light if is_view else measure_light(region, now, then))
                or _classify_change(float(edges_now[rim].mean()), float(edges_then[rim].mean())),
                'where': WHERE[int(3 * ys.mean() / rows)][int(3 * xs.mean() / columns)],
                'bbox': [left, top, right - left, bottom - top],
                'share': round(len(ys) / mask.size, 5),
                'colour_now': name_colour(np.median(now.levels[:, ys, xs], axis=1)),
                'colour_before': name_colour(np.median(then.levels[:, ys, xs], axis=1)),
            }
        )
    return found


def describe_regions(found: list[Region], share: float, colours: list[str]) -> str:
    """Say in words what changed and where; what is seen, where that is nothing or most of it."""
    seen = f'mostly {" and ".join(colours)}'
    percent = f'{100 * share:.1f} % of the picture changed'
    if share > MOST and not found:
        return f'another view, {seen} ({percent})'
    if not found:
        return f'no change, {seen}'
    parts = [
        _describe_region(region)
        for region in sorted(found, key=lambda one: one['what'] == CHANGED)
    ]
    size = ''
    if len(found) == 1:
        _, _, wide, high = found[0]['bbox']
        size = f'{wide} x {high} pixels; '
    more = f' and {len(parts) - MAX_DESCRIBED} more' if len(parts) > MAX_DESCRIBED else ''
    return f'{"; ".join(parts[:MAX_DESCRIBED])}{more} ({size}{percent})'


def name_colours(cells: CellGrid) -> list[str]:
    """Name the colours of a picture, up to three: the commonest, and those a third as common."""
    sample = cells.levels[:, ::8, ::8].reshape(len(cells.levels), -1).T
    names = Counter(map(name_colour, sample)).most_common(3)
    return [name for name, count in names if count > names[0][1] / 3]


def _describe_region(region: Region) -> str:
    now, before = (_add_article(region[name]) for name in ('colour_now', 'colour_before'))
    where = region['where']
    place = f'in the {where}' if where == 'centre' else f'at the {where}'
    if region['what'] in (BRIGHTER, DARKER):
        return f'the light changed, {region["what"]} {place}'
    if region['what'] == APPEARED:
        return f'{now} object appeared {place}'
    if region['what'] == GONE:
        return f'{before} object disappeared from the {where}'
    if now != before:
        return f'something {region["colour_before"]} turned {region["colour_now"]} {place}'
    return f'something {region["colour_now"]} changed {place}'


def _add_article(name: str) -> str:
    return f'an {name}' if name[0] in 'aeiou' else f'a {name}'


def name_colour(levels: NDArray[np.number[Any]]) -> str:
    """Name a colour (RGB or grey, 0 to 255) in one plain word."""
    values = [float(value) for value in levels.tolist()]
    red, green, blue = values if len(values) == 3 else 3 * values
    high, low = max(red, green, blue), min(red, green, blue)
    spread = high - low
    if high < 40:
        return 'black'
    if spread < 0.22 * high:
        return 'white' if high > 200 else 'grey'
    if high == red:
        hue = 60 * ((green - blue) / spread % 6)
    elif high == green:
        hue = 60 * ((blue - red) / spread + 2)
    else:
        hue = 60 * ((red - green) / spread + 4)
    if hue < 12 + 14 * spread / high:
        return 'red'
    if hue < 45:
        return 'orange' if high > 180 and spread > 0.55 * high else 'brown'
    return next(name for limit, name in HUES if hue < limit)


def _name_light(ratio: float) -> str:
    """Return what light did that is brighter by the logarithm of a ratio; empty: nothing."""
    return '' if not ratio else BRIGHTER if ratio > 0 else DARKER


def _classify_change(edges_now: float, edges_then: float) -> str:
    if edges_now + 1 > EDGIER * (edges_then + 1):
        return APPEARED
    return GONE if edges_then + 1 > EDGIER * (edges_now + 1) else CHANGED


def _measure_edges(levels: Levels) -> NDArray[np.float32]:
    """Return the step from each cell to the next, to the right or down."""
    cells = levels.astype(np.float32)
    across = np.abs(np.diff(cells, axis=2, append=cells[:, :, -1:]))
    down = np.abs(np.diff(cells, axis=1, append=cells[:, -1:]))
    steps: NDArray[np.float32] = np.maximum(across, down).max(axis=0)
    return steps


def _split_regions(mask: Mask) -> Iterator[Mask]:
    """Yield the marked cells in groups that are a few cells apart from each other."""
    rows, columns = mask.shape
    padded = np.pad(mask, ((0, -rows % BLOCK), (0, -columns % BLOCK)))
    cut = padded.reshape(padded.shape[0] // BLOCK, BLOCK, padded.shape[1] // BLOCK, BLOCK)
    blocks = cut.any(axis=(1, 3))
    left = {(int(y), int(x)) for y, x in np.argwhere(blocks)}
    while left:
        group = [left.pop()]
        for y, x in group:
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            group.extend(near)
        region = np.zeros_like(blocks)
        region[tuple(np.array(group).T)] = True
        grown = region.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
        yield mask & grown[:rows, :columns]
