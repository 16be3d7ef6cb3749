"""Many events on one time axis: a lane a kind, bars for what lasts, the strongest named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from robot_memory.plot.curves import Curves, find_peaking, split_by_unit
from robot_memory.plot.drawn import Drawn, format_length, format_span, format_stamp, is_simulated
from robot_memory.plot.figures import plot
from robot_memory.plot.page import EDGE, INK, Page, annotate
from robot_memory.plot.pictures import Pictures
from robot_memory.plot.text import (
    DPI,
    describe_missing,
    fit_fonts,
    format_quantity,
    measure_width,
    wrap_text,
)
from robot_memory.plot.time_axis import TimeAxis

STYLES = {
    'session': ('#9a9a9a', '|'),
    'task': ('#4d9dc9', '|'),
    'trial': ('#a85a86', '^'),
    'contact': ('#c8502a', 'o'),
    'motion': ('#1f5f99', 's'),
    'scene': ('#1c7d5d', 'D'),
    'state': ('#c58a12', 'v'),
    'fault': ('#111111', 'X'),
}
"""Colours that the colour-blind can tell apart and a print keeps apart, and markers, by kind."""
_OTHERS = (('#5b4a9c', 'P'), ('#7d6a3f', '*'), ('#3f7d7d', 'p'), ('#9c4a4a', 'h'))
_PATIENT = ('session', 'task', 'trial')
"""Kinds whose extent may be empty of events: it does not keep a gap from being compressed."""
LANE, THIN, IMAGES = 120.0, 32.0, 150.0
"""Pixels: a lane with values, a row of bars, the images."""
_MOST_ROWS = 4
_NAMED = 5
_APART = 0.01
"""Peaks that are named on a lane, and what is between their names, as a share of the axis."""
_MIN_CLOCK_S = 10.0
_MANY = 200
"""Events of a lane whose markers are small."""


@dataclass
class Lane:
    """Hold the events of a kind whose strengths have one unit; None: they have none."""

    kind: str
    name: str
    unit: str | None
    events: list[tuple[Drawn, Curves | None]]

    @property
    def rows(self) -> list[int]:
        """Return in which row each event is drawn, so that none covers another."""
        if self.unit is not None:
            return [0] * len(self.events)
        ends: list[int] = []
        found = []
        for event, _ in self.events:
            free = [row for row, end in enumerate(ends) if end <= event.stamp_ns]
            row = free[0] if free else len(ends) if len(ends) < _MOST_ROWS else 0
            ends[row : row + 1] = [event.end_ns + 1]
            found.append(row)
        return found


def draw_many(
    events: Sequence[Drawn], width: int, zone: ZoneInfo, notes: Sequence[str] = ()
) -> bytes:
    """Return the PNG of events on a time line."""
    ordered = sorted(events, key=lambda event: (event.stamp_ns, event.memory_id or 0))
    zero, latest = ordered[0].stamp_ns, max(event.end_ns for event in ordered)
    lanes = _sort_into_lanes(ordered, zero)
    pictures = Pictures.select(
        (one for event in ordered for one in event.pictures), (width - 2 * EDGE) / IMAGES
    )
    kinds = Counter(event.kind for event in ordered)
    facts = [format_span(zero, latest, zone), f'{format_length((latest - zero) / 1e9)} long']
    facts += [f'{kind} {number:,}' for kind, number in kinds.items()]
    top = [IMAGES] if pictures.images else []
    rows = [lane.rows for lane in lanes]
    heights = [
        THIN * (max(row) + 1.2) if lane.unit is None else LANE
        for lane, row in zip(lanes, rows, strict=True)
    ]
    page = Page(width, f'{len(ordered):,} events', facts, [*top, 24, *heights, 40])
    axes = page.add_rows(len(top) + 1, len(lanes))
    extents = [_to_extent(event, zero) for event in ordered]
    shown = max(end for _, end in extents) - min(begin for begin, _ in extents)
    clock = not is_simulated(zero) and shown >= _MIN_CLOCK_S
    times = TimeAxis.fit(_list_busy(ordered, zero), zero, zone if clock else None)
    times.apply(axes, 0.85 * width)
    if pictures.images:
        pictures.draw(page.grid[0, 0], axes[0], lambda at: times.to_x((at - zero) / 1e9))
    for one, lane, row in zip(axes, lanes, rows, strict=True):
        _name_lane(one, lane)
        if lane.unit is None:
            _draw_bars(one, lane, row, times)
        else:
            _draw_values(one, lane, times)
    page.figure.draw_without_rendering()
    for one, lane, row in zip(axes, lanes, rows, strict=True):
        if lane.unit is None:
            _name_bars(one, lane, row, times)
        else:
            _name_strongest(one, lane, times)
    missing = describe_missing(event.title for event in ordered)
    start = f'times in {zone.key}' if clock else f'0 s: {format_stamp(zero, zone)}'
    page.write_notes(start, ', '.join(filter(None, [pictures.note, *notes, missing])))
    return page.to_png()


def _sort_into_lanes(events: Sequence[Drawn], zero_ns: int) -> list[Lane]:
    lanes: dict[tuple[str, str | None], Lane] = {}
    for event in events:
        begin, end = ((at - zero_ns) / 1e9 for at in (event.stamp_ns, event.end_ns))
        found = split_by_unit(event.signal, zero_ns, event.baseline)
        curves = None
        if found:
            curves = find_peaking(found, begin, (event.peak_ns - zero_ns) / 1e9, end)
        figure = event.figure
        unit = curves.unit if curves else figure[2] if figure else None
        name = figure[0] if figure and figure[2] == unit else curves.name if curves else ''
        lane = lanes.setdefault((event.kind, unit), Lane(event.kind, name, unit, []))
        lane.events.append((event, curves))
    order = [*STYLES]
    return sorted(
        lanes.values(), key=lambda lane: order.index(lane.kind) if lane.kind in order else 99
    )


def _to_extent(event: Drawn, zero_ns: int) -> tuple[float, float]:
    first, last = event.span_ns
    return (first - zero_ns) / 1e9, (last - zero_ns) / 1e9


def _list_busy(events: Sequence[Drawn], zero_ns: int) -> list[tuple[float, float]]:
    """Return the extents that are to be shown: of what may be empty, the beginning and the end."""
    busy = []
    for event in events:
        begin, end = _to_extent(event, zero_ns)
        busy += [(begin, begin), (end, end)] if event.kind in _PATIENT else [(begin, end)]
    return busy


def _choose_style(kind: str) -> tuple[str, str]:
    return STYLES.get(kind) or _OTHERS[sum(map(ord, kind)) % len(_OTHERS)]


def _name_lane(axes: Axes, lane: Lane) -> None:
    name = ''.join(wrap_text(lane.kind, 8, 180, 1))
    if lane.unit is not None:
        figure = ''.join(wrap_text(lane.name.replace('_', ' '), 8, 180, 1))
        name += '\n' + (f'{figure} [{lane.unit}]' if lane.unit else figure)
    words = [fit_fonts(line, 7.5) for line in name.split('\n')]
    axes.set_ylabel(
        '\n'.join(text for text, _ in words),
        fontproperties=words[0][1],
        rotation=0,
        ha='right',
        va='center',
        color=_choose_style(lane.kind)[0],
        parse_math=False,
    )


def _draw_bars(axes: Axes, lane: Lane, rows: Sequence[int], times: TimeAxis) -> None:
    """Draw bars of what lasts, and a marker for what is an instant."""
    color, marker = _choose_style(lane.kind)
    axes.set_yticks([])
    axes.set_ylim(max(rows) + 0.6, -0.6)
    spans = times.to_x([_to_seconds(event, times) for event, _ in lane.events])
    for row in sorted(set(rows)):
        bars = [
            (begin, end - begin)
            for (begin, _, end), of in zip(spans, rows, strict=True)
            if of == row and end > begin
        ]
        edge = to_rgba(color)
        face = (*edge[:3], 0.45)
        axes.broken_barh(bars, (row - 0.35, 0.7), facecolor=face, edgecolor=edge, linewidth=0.8)
    at_once = spans[:, 2] <= spans[:, 0]
    axes.plot(spans[at_once, 1], np.array(rows)[at_once], marker, color=color, markersize=4.5)


def _draw_values(axes: Axes, lane: Lane, times: TimeAxis) -> None:
    """Draw signals over their extents; of what has none, a stem as high as it was strong."""
    color, marker = _choose_style(lane.kind)
    shade = (*to_rgba(color)[:3], 0.25)
    spans = times.to_x([_to_seconds(event, times) for event, _ in lane.events])
    bars = [(begin, end - begin) for begin, _, end in spans]
    axes.broken_barh(
        bars, (0, 1), transform=axes.get_xaxis_transform(), facecolor=shade, zorder=0, snap=False
    )
    for _event, curves in lane.events:
        if curves is not None:
            plot(axes, times.to_x(curves.seconds), curves.size, INK, 0.8)
    peaks = [_find_strength(event, curves, times) for event, curves in lane.events]
    at, values = times.to_x([peak[0] for peak in peaks]), [peak[1] for peak in peaks]
    axes.vlines(at, 0.0, values, color=color, linewidth=0.8)
    size = 4.0 if len(peaks) < _MANY else 2.0
    axes.plot(at, values, marker, color=color, markersize=size, linestyle='')
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.0), high + 0.25 * (high - low))


def _to_seconds(event: Drawn, times: TimeAxis) -> list[float]:
    stamps = event.stamp_ns, event.peak_ns, event.end_ns
    return [(stamp - times.zero_ns) / 1e9 for stamp in stamps]


def _find_strength(event: Drawn, curves: Curves | None, times: TimeAxis) -> tuple[float, float]:
    """Return when an event was strongest, and how strong."""
    peak = _to_seconds(event, times)[1]
    if curves is not None:
        row = curves.find_row(peak)
        return float(curves.seconds[row]), float(curves.size[row])
    return peak, event.figure[1] if event.figure else 0.0


def _name_strongest(axes: Axes, lane: Lane, times: TimeAxis) -> None:
    """Name the strongest events that have room."""
    found = [(*_find_strength(event, curves, times), event) for event, curves in lane.events]
    width = axes.get_window_extent().width
    taken: list[tuple[float, float]] = []
    for seconds, value, event in sorted(found, key=lambda one: -abs(one[1])):
        if len(taken) == _NAMED:
            break
        at = times.to_x(seconds), value
        share = float(axes.transAxes.inverted().transform(axes.transData.transform(at))[0])
        text = f'#{event.memory_id}  {format_quantity(value, lane.unit or "")}'
        half = 0.5 * measure_width(text, 7) / width
        middle = min(max(share, half), 1 - half)
        if all(abs(middle - m) > half + h + _APART for m, h in taken):
            taken.append((middle, half))
            offset = (middle - share) * width * 72 / DPI
            style = {'ha': 'center', 'color': _choose_style(lane.kind)[0]}
            annotate(axes, text, at, (offset, 4), **style)


def _name_bars(axes: Axes, lane: Lane, rows: Sequence[int], times: TimeAxis) -> None:
    """Write into bars, or behind them, as much of the titles as has room."""
    spans = times.to_x([_to_seconds(event, times) for event, _ in lane.events])
    edge = axes.get_window_extent().x1
    pixels = axes.transData.transform([(x, 0.0) for x in np.ravel(spans)])[:, 0].reshape(-1, 3)
    for place, ((event, _), row) in enumerate(zip(lane.events, rows, strict=True)):
        left, _, right = pixels[place]
        later = next((pixels[n][0] for n in range(place + 1, len(rows)) if rows[n] == row), edge)
        text = event.title if event.memory_id is None else f'#{event.memory_id}  {event.title}'
        inside = right - left > 110
        begin = left + 6 if inside else right + 10
        room = (right if inside else min(later, edge)) - begin - 6
        line = ''.join(wrap_text(text, 7, room, 1)) if room > 60 else ''
        if line and measure_width(line, 7) <= room:
            x = axes.transData.inverted().transform((begin, 0.0))[0]
            annotate(axes, line, (x, row), (0, -2.5), color=INK)
