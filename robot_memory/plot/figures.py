"""One event with its signal: an axes for each unit, its extent, its peak and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from robot_memory.plot.curves import FORCES, Curves, find_peaking, split_by_unit
from robot_memory.plot.drawn import Drawn, format_length, format_stamp
from robot_memory.plot.page import EDGE, EXTENT, HAIR, INK, PEAK, QUIET, Page, annotate
from robot_memory.plot.pictures import Pictures
from robot_memory.plot.text import describe_missing, fit_fonts, format_quantity, wrap_text

SERIES = ('#4374a8', '#638f35', '#9566a5', '#b87628', '#34908a', '#96594c', '#737373')
DASHES = ('-', '--', '-.', ':')
"""Colours and, for print, dashes of the columns of a signal."""
MAX_LABELS = 12
HEIGHT, MORE, BARE, IMAGES, IMAGE = 400.0, 260.0, 90.0, 170.0, 330.0
"""Pixels: axes alone and among others, without a signal; images above axes and alone."""


def draw_one(event: Drawn, width: int, zone: ZoneInfo, notes: Sequence[str] = ()) -> bytes:
    """Return the PNG of one event: its signal by unit, extent, peak and pictures."""
    length = (event.end_ns - event.stamp_ns) / 1e9
    facts = [event.kind, *([f'memory {event.memory_id}'] if event.memory_id else [])]
    facts += [f'{format_length(length)} long'] if length else []
    found = split_by_unit(event.signal, event.stamp_ns, event.baseline)
    moving = [curves for curves in found if curves.size[np.isfinite(curves.size)].any()]
    is_instant = event.signal is None and event.span_ns[0] == event.span_ns[1]
    tall = IMAGE if is_instant else IMAGES
    pictures = Pictures.select(event.pictures, (width - 2 * EDGE) / tall, event.peak_ns)
    heights = [MORE if len(moving) > 1 else HEIGHT] * len(moving) or [BARE] * (not is_instant)
    top = [tall] if pictures.images else []
    page = Page(width, event.title, facts, [*top, *heights])
    rows = page.add_rows(len(top), len(heights))
    if rows:
        _draw_extent(rows, event, length)
    if pictures.images:
        below = rows[0] if rows else None
        pictures.draw(page.grid[0, 0], below, lambda at: (at - event.stamp_ns) / 1e9)
    for axes, curves in zip(rows, moving, strict=False):
        _draw_curves(axes, curves)
    if moving:
        peak = (event.peak_ns - event.stamp_ns) / 1e9
        curves = find_peaking(moving, 0.0, peak, length)
        _mark_peak(rows[moving.index(curves)], curves, peak)
    said = [f'{c.name or c.unit} is zero throughout' for c in found if c not in moving]
    said += ['relative to the baseline'] * bool(moving and event.baseline)
    said += [pictures.note, *notes, describe_missing([event.title])]
    start = format_stamp(event.stamp_ns, zone)
    page.write_notes(start if is_instant else f'0 s: {start}', ', '.join(filter(None, said)))
    return page.to_png()


def _draw_extent(rows: Sequence[Axes], event: Drawn, length: float) -> None:
    """Set the time axis; shade the extent, and draw a line at the peak."""
    first, last = ((stamp - event.stamp_ns) / 1e9 for stamp in event.span_ns)
    margin = 0.01 * (last - first) or 0.5
    rows[0].set_xlim(first - margin, last + margin)
    rows[0].xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 5, 10]))
    rows[0].xaxis.set_major_formatter(StrMethodFormatter('{x:g} s'))
    for axes in rows:
        shown = max(length, 0.002 * (last - first)) or 0.01
        axes.axvspan(0.0, shown, facecolor=EXTENT, zorder=0)
        axes.axvline((event.peak_ns - event.stamp_ns) / 1e9, color=PEAK, linewidth=0.7)
        if event.signal is None:
            axes.set_yticks([])


def _draw_curves(axes: Axes, curves: Curves) -> None:
    """Draw the curves of one unit, with their names beside the axes."""
    axes.axhline(0, color=HAIR, linewidth=0.7, zorder=1) if curves.unit in FORCES else None
    colors = SERIES if len(curves.labels) > 1 else (INK,)
    drawn: list[tuple[Any, str]] = []
    spans = np.nanmax(curves.values, axis=0) - np.nanmin(curves.values, axis=0)
    named = set(np.argsort(-spans, kind='stable')[:MAX_LABELS].tolist())
    for i, values in enumerate(curves.values.T):
        dash = DASHES[i % len(DASHES)] if len(curves.labels) > 1 else '-'
        line = plot(axes, curves.seconds, values, colors[i % len(colors)], 1.1, dash)
        drawn += [(line, curves.labels[i])] if i in named else []
    if curves.is_vector:
        line = plot(axes, curves.seconds, curves.size, INK, 1.8)
        drawn.append((line, f'|{curves.name}|'))
    texts = [''.join(wrap_text(label, 7, 220, 1)) for _, label in drawn]
    if any(texts):
        legend = axes.legend([line for line, _ in drawn], ['x'] * len(drawn), frameon=False)
        legend.set_loc('upper left')
        legend.set_bbox_to_anchor((1.0, 1.02))
        for entry, text in zip(legend.get_texts(), texts, strict=True):
            words, font = fit_fonts(text, 7)
            entry.set(text=words, fontproperties=font, parse_math=False, color=QUIET)
    name = f'{curves.name} [{curves.unit}]' if curves.name else curves.unit
    words, font = fit_fonts(''.join(wrap_text(name, 7, 240, 1)), 7)
    axes.set_ylabel(words, fontproperties=font, parse_math=False, color=QUIET)


def plot(axes: Axes, x: Any, y: Any, color: str, width: float, dash: str = '-') -> Any:
    """Draw a curve with gaps where it is NaN, as a dot where it is one point; return it."""
    marker = 'o' if len(x) == 1 else ''
    style: dict[str, Any] = {'marker': marker, 'markersize': 2 + width, 'linestyle': dash}
    return axes.plot(x, y, color=color, linewidth=width, **style)[0]


def _mark_peak(axes: Axes, curves: Curves, at: float) -> None:
    seconds, value, label = curves.find_peak(at)
    text = f'{label} {format_quantity(value, curves.unit)}'.strip()
    axes.plot([seconds], [value], 'o', color=PEAK, markeredgecolor='white', markersize=6.5)
    low, high = axes.get_xlim()
    is_late = seconds > low + 0.8 * (high - low)
    offset, side = (-7, 'right') if is_late else (7, 'left')
    annotate(axes, text, (seconds, value), (offset, 3), ha=side, size=9, color=PEAK, weight='bold')
