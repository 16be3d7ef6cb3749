"""One memory: its signal by unit, its extent, its peak, and what was seen meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_memory.plot.curves import FORCES, Curves, curves_of, limits, peaking, thinned
from robot_memory.plot.drawn import Drawn, instant_words, length_words
from robot_memory.plot.frame import BELOW, EDGE, LEFT, Head, footer, seconds_axis
from robot_memory.plot.page import (
    EXTENT,
    EXTENT_EDGE,
    INK,
    PEAK,
    QUIET,
    SERIES,
    Page,
    Panel,
    figures,
    spread,
)
from robot_memory.plot.strip import GAP, LEADER, Strip
from robot_memory.plot.words import lines_of, width_of

BETWEEN = 30
LABEL = 15
MOST_LABELS = 12
HEIGHTS = (280, 200, 150)
"""Of a panel alone, of the first of many, and of the others."""
BARE = 40


def draw_one(event: Drawn, width: int) -> bytes:
    """Return the PNG of one memory."""
    if event.signal is None and event.span_ns[0] == event.span_ns[1]:
        return _draw_instant(event, width)
    found = curves_of(event.signal, event.stamp_ns, event.baseline)
    moving = [curves for curves in found if curves.size[np.isfinite(curves.size)].any()]
    still = [curves for curves in found if curves not in moving]
    labels = [_labels(curves) for curves in moving]
    right = width - EDGE - max([_label_width(names) for names in labels], default=0)
    strip = Strip.of(event.pictures, right - LEFT, 108 if moving else 160, event.peak_ns)
    head = Head(event.title, _facts(event), width)
    top = head.height + 30 + (strip.height + LEADER if strip.thumbnails else 0)
    panels = _panels(event, moving, top, right)
    page = Page(width, round(panels[-1].bottom) + BELOW)
    head.draw(page)
    _extent(page, event, panels)
    strip.draw(page, panels[0], event.stamp_ns)
    for panel, curves, names in zip(panels, moving, labels, strict=False):
        _curves(page, panel, curves, names)
    if moving:
        _peak(page, event, panels, moving)
    seconds_axis(page, panels[-1])
    notes = [f'{curves.name or curves.unit} zero throughout' for curves in still]
    if moving and event.baseline:
        notes.append('against the baseline')
    zero = f'0 s: {instant_words(event.stamp_ns)}'
    footer(page, zero, ', '.join(filter(None, [*notes, strip.note])))
    return page.png()


def _draw_instant(event: Drawn, width: int) -> bytes:
    """Return the PNG of a memory without any extent in time: its picture, if there is one."""
    strip = Strip.of(event.pictures, width - 2 * EDGE, 320)
    head = Head(event.title, _facts(event), width)
    page = Page(width, head.height + (strip.height + 20 if strip.thumbnails else 0) + 44)
    head.draw(page)
    left = EDGE
    for _, pixels in strip.thumbnails:
        page.picture(left, head.height + 10, pixels)
        left += pixels.shape[1] + GAP
    footer(page, instant_words(event.stamp_ns), strip.note)
    return page.png()


def _facts(event: Drawn) -> list[str]:
    lasted = (event.end_ns - event.stamp_ns) / 1e9
    facts = [event.kind, f'memory {event.memory_id}']
    return [*facts, f'{length_words(lasted)} long'] if lasted else facts


def _panels(event: Drawn, found: Sequence[Curves], top: float, right: float) -> list[Panel]:
    first, last = ((stamp - event.stamp_ns) / 1e9 for stamp in event.span_ns)
    air = 0.01 * (last - first) or 0.5
    times = (first - air, last + air)
    panels: list[Panel] = []
    for curves in found:
        height = HEIGHTS[0] if len(found) == 1 else HEIGHTS[2 if panels else 1]
        shown = [curves.values, *([curves.size] if curves.is_vector else [])]
        values = limits(shown, curves.unit in FORCES)
        panels.append(Panel(LEFT, top, right, top + height, times, values))
        top += height + BETWEEN
    return panels or [Panel(LEFT, top, right, top + BARE, times)]


def _extent(page: Page, event: Drawn, panels: Sequence[Panel]) -> None:
    """Shade the time from onset to end through all panels, and mark the moment of the peak."""
    top, bottom = panels[0].top, panels[-1].bottom
    begin, at, end = (panels[0].x(seconds) for seconds in _moments(event))
    page.shade(begin, top, end, bottom, EXTENT if end - begin > 2 else EXTENT_EDGE)
    page.rule(at, top, at, bottom, PEAK)


def _moments(event: Drawn) -> tuple[float, float, float]:
    """Return onset, peak and end in s after the onset."""
    onset = event.stamp_ns
    return 0.0, (event.peak_ns - onset) / 1e9, (event.end_ns - onset) / 1e9


def _labels(curves: Curves) -> dict[int, str]:
    """Return which columns are named at their ends, those that move most, and how."""
    spans = np.nanmax(curves.values, axis=0) - np.nanmin(curves.values, axis=0)
    most = sorted(np.argsort(-spans, kind='stable')[:MOST_LABELS].tolist())
    return {i: ''.join(lines_of(curves.labels[i], 8, 150, 1)) for i in most}


def _label_width(labels: dict[int, str]) -> float:
    return 14 + max(width_of(text, 8) for text in (*labels.values(), '|force|'))


def _curves(page: Page, panel: Panel, curves: Curves, labels: dict[int, str]) -> None:
    """Draw the curves of one unit, each with its name at its end."""
    page.scale(panel, 4)
    words = f'{curves.name}, {curves.unit}' if curves.name else curves.unit
    page.text(EDGE, panel.top - 10, ''.join(lines_of(words, 9, 160, 1)), 9, QUIET)
    colours = SERIES if len(curves.labels) > 1 else (INK,)
    drawn = [
        (values, colours[i % len(colours)], 0.9 if curves.is_vector else 1.3, labels.get(i, ''))
        for i, values in enumerate(curves.values.T)
    ]
    if curves.is_vector:
        drawn.append((curves.size, INK, 2.0, f'|{curves.name}|'))
    ends = []
    for values, color, thick, text in drawn:
        seconds, thin = thinned(curves.seconds, values, round(panel.right - panel.left))
        page.curve(panel.x(seconds), panel.y(thin), color, thick)
        if text:
            last = float(values[np.isfinite(values)][-1])
            ends.append((panel.y(last), text, color))
    ends.sort()
    middles = [end[0] for end in ends]
    tops = spread(middles, [LABEL] * len(ends), panel.top - 8, panel.bottom + 8)
    for begin, (_, text, color) in zip(tops, ends, strict=True):
        page.text(panel.right + 8, begin + LABEL - 4, text, 8, color)


def _peak(page: Page, event: Drawn, panels: Sequence[Panel], found: Sequence[Curves]) -> None:
    """Mark the peak with its value, on the curve that peaks there."""
    curves = peaking(found, *_moments(event))
    panel = panels[found.index(curves)]
    seconds, value, label = curves.peak(_moments(event)[1])
    x, y = panel.x(seconds), panel.y(value)
    words = f'{label} {figures(value, curves.unit)}'.strip()
    page.dot(x, y)
    fits = x + 12 + width_of(words, 10, 'bold') < panel.right
    page.text(
        x + 9 if fits else x - 9,
        max(y, panel.top + 6) + 4,
        words,
        10,
        PEAK,
        'bold',
        'left' if fits else 'right',
    )
