"""One event with its signal: an axes for each unit, its extent, its peak and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib.axes import Axes

from robot_memory.plot.curves import FORCES, Curves, find_peaking, split_by_unit
from robot_memory.plot.drawn import Drawn, format_length, format_stamp
from robot_memory.plot.page import HAIR, INK, QUIET, Page, Strip, annotate, plot
from robot_memory.plot.text import format_quantity, wrap_text
from robot_memory.plot.time_axis import TimeAxis

SERIES = ('#4374a8', '#638f35', '#9566a5', '#b87628', '#34908a', '#96594c', '#737373')
DASHES = ('-', '--', '-.', ':')
"""Colours and, for print, dashes of the columns of a signal."""
PEAK, EXTENT = '#c0392b', '#f6ecd6'
MAX_LABELS = 12
ALONE, MORE, BARE, IMAGES, IMAGE = 350.0, 240.0, 90.0, 170.0, 330.0
"""Pixels: axes alone and among others, without a signal; images above axes and alone."""


def draw_one(event: Drawn, width: int, zone: ZoneInfo, notes: Sequence[str] = ()) -> bytes:
    """Return the PNG of one event: its signal by unit, extent, peak and pictures."""
    facts = [event.kind, *([f'memory {event.memory_id}'] if event.memory_id else [])]
    if event.end_ns > event.stamp_ns:
        facts.append(f'{format_length(event.end_ns - event.stamp_ns)} long')
    found = split_by_unit(event)
    moving = [curves for curves in found if np.nanmax(curves.size) > 0]
    peaking = find_peaking(moving, event) if moving else None
    is_instant = event.signal is None and event.span_ns[0] == event.span_ns[1]
    height = MORE if len(moving) > 1 else ALONE
    rows = [Trace(event, height, curves, curves is peaking) for curves in moving]
    if not (rows or is_instant):
        rows = [Trace(event, BARE)]
    start = format_stamp(event.stamp_ns, zone)
    said = [start if is_instant else f'0 s: {start}']
    said += [f'{c.name or c.unit} is zero throughout' for c in found if c not in moving]
    said += ['relative to the baseline'] * bool(moving and event.baseline)
    page = Page(
        width=width,
        title=event.title,
        facts=facts,
        times=TimeAxis.fit([event.span_ns], event.stamp_ns),
        rows=rows,
        notes=(*said, *notes),
        strip=Strip(event.pictures, IMAGES if rows else IMAGE, event.peak_ns),
    )
    return page.to_png()


@dataclass
class Trace:
    """The curves of one unit over the extent of an event, with their names beside them."""

    event: Drawn
    height: float
    curves: Curves | None = None
    is_peaking: bool = False

    def draw(self, axes: Axes, times: TimeAxis) -> None:
        """Shade the extent, draw a line at the peak, and the curves."""
        event, curves = self.event, self.curves
        begin, peak, end = times.to_x([event.stamp_ns, event.peak_ns, event.end_ns])
        axes.axvspan(begin, end, color=EXTENT, zorder=0)
        axes.axvline(peak, color=PEAK, linewidth=0.7)
        if curves is None:
            axes.set_yticks([])
            return
        if curves.unit in FORCES:
            axes.axhline(0, color=HAIR, linewidth=0.7, zorder=1)
        is_one = len(curves.labels) == 1
        colors, dashes = ([INK], ['-']) if is_one else (SERIES * 4, DASHES * 7)
        axes.set_prop_cycle(color=colors, linestyle=dashes)
        x = times.to_x(curves.stamps_ns)
        lines = plot(axes, x, curves.values, 1.1)
        spans = np.nanmax(curves.values, axis=0) - np.nanmin(curves.values, axis=0)
        named = np.sort(np.argsort(-spans, kind='stable')[:MAX_LABELS])
        legend = [(lines[i], curves.labels[i]) for i in named]
        if curves.is_vector:
            (line,) = plot(axes, x, curves.size, 1.8, color=INK, linestyle='-')
            legend.append((line, f'|{curves.name}|'))
        if any(label for _, label in legend):
            handles = [line for line, _ in legend]
            # Matplotlib leaves out what begins with an underscore.
            labels = [' ' + wrap_text(label, 7, 220) for _, label in legend]
            beside = axes.legend(handles, labels, fontsize=7, labelcolor=QUIET, frameon=False)
            beside.set(loc='upper left', bbox_to_anchor=(1.0, 1.02))
        name = f'{curves.name} [{curves.unit}]' if curves.name else curves.unit
        axes.set_ylabel(wrap_text(name, 7, 240), size=7, color=QUIET)

    def label(self, axes: Axes, times: TimeAxis) -> None:
        """Mark the peak."""
        if self.curves is None or not self.is_peaking:
            return
        stamp, value, label = self.curves.find_peak(self.event.peak_ns)
        x = times.to_x(stamp)
        axes.plot([x], [value], 'o', color=PEAK, markeredgecolor='white', markersize=6.5)
        low, high = axes.get_xlim()
        is_late = x > low + 0.8 * (high - low)
        offset, side = ((-7, 3), 'right') if is_late else ((7, 3), 'left')
        text = f'{wrap_text(label, 9, 220)} {format_quantity(value, self.curves.unit)}'.strip()
        annotate(axes, text, (x, value), offset, ha=side, size=9, color=PEAK)
