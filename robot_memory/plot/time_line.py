"""Many events on one time axis: a lane a kind, bars for what lasts, the strongest named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from robot_memory.plot.curves import Curves, find_peaking, split_by_unit
from robot_memory.plot.drawn import Drawn, format_length, format_span, format_stamp, is_simulated
from robot_memory.plot.page import INK, Page, Strip, annotate, plot
from robot_memory.plot.text import format_quantity, wrap_text
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
LANE, THIN, IMAGES = 100.0, 32.0, 150.0
"""Pixels: a lane with values, a row of bars, the images."""
_MOST_ROWS = 4
_NAMED = 5
"""Events that are named on a lane with values."""
_MIN_CLOCK_NS = 10 * 10**9
_MANY = 200
"""Events of a lane whose markers are small, and of which the strongest may be named."""
_ROOM_PX = 160


def draw_many(
    events: Sequence[Drawn], width: int, zone: ZoneInfo, notes: Sequence[str] = ()
) -> bytes:
    """Return the PNG of events on a time line."""
    ordered = sorted(events, key=lambda event: (event.stamp_ns, event.memory_id or 0))
    zero, latest = ordered[0].stamp_ns, max(event.end_ns for event in ordered)
    facts = [format_span(zero, latest, zone), f'{format_length(latest - zero)} long']
    facts += [f'{kind} {n:,}' for kind, n in Counter(event.kind for event in ordered).items()]
    busy: list[tuple[int, int]] = []
    for event in ordered:
        begin, end = event.span_ns
        busy += [(begin, begin), (end, end)] if event.kind in _PATIENT else [(begin, end)]
    shown = max(end for _, end in busy) - min(begin for begin, _ in busy)
    is_clock = not is_simulated(zero) and shown >= _MIN_CLOCK_NS
    start = f'times in {zone.key}' if is_clock else f'0 s: {format_stamp(zero, zone)}'
    page = Page(
        width=width,
        title=f'{len(ordered):,} events',
        facts=facts,
        times=TimeAxis.fit(busy, zero, zone if is_clock else None),
        rows=_sort_into_lanes(ordered),
        notes=(start, *notes),
        strip=Strip([one for event in ordered for one in event.pictures], IMAGES),
    )
    return page.to_png()


def _sort_into_lanes(events: Sequence[Drawn]) -> list[Lane]:
    lanes: dict[tuple[str, str | None], Lane] = {}
    for event in events:
        found = split_by_unit(event)
        curves = find_peaking(found, event) if found else None
        name, value, unit = event.figure or ('', 0.0, None)
        at = event.peak_ns
        if curves:
            name, unit = name if curves.unit == unit else curves.name, curves.unit
            row = curves.find_row(at)
            at, value = int(curves.stamps_ns[row]), float(curves.size[row])
        lane = lanes.setdefault((event.kind, unit), Lane(event.kind, name, unit))
        lane.events.append(event)
        lane.curves += [curves] if curves else []
        lane.peaks.append((at, value))
    order = {kind: place for place, kind in enumerate(STYLES)}
    return sorted(lanes.values(), key=lambda lane: order.get(lane.kind, len(order)))


@dataclass
class Lane:
    """
    The events of a kind whose strengths have one unit; None: they have none.

    `peaks` are when each was strongest, in ns, and how strong.
    """

    kind: str
    name: str
    unit: str | None
    events: list[Drawn] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    peaks: list[tuple[int, float]] = field(default_factory=list)

    @property
    def rows(self) -> list[int]:
        """Return in which row each bar is drawn, so that none covers another."""
        ends: list[int] = []
        found = []
        for event in self.events:
            free = [row for row, end in enumerate(ends) if end <= event.stamp_ns]
            row = free[0] if free else len(ends) if len(ends) < _MOST_ROWS else 0
            ends[row : row + 1] = [event.end_ns + 1]
            found.append(row)
        return found

    @property
    def height(self) -> float:
        """Return the height in pixels."""
        return LANE if self.unit is not None else THIN * (max(self.rows) + 1.2)

    @property
    def style(self) -> tuple[str, str]:
        """Return colour and marker of the kind."""
        return STYLES.get(self.kind) or _OTHERS[sum(map(ord, self.kind)) % len(_OTHERS)]

    def draw(self, axes: Axes, times: TimeAxis) -> None:
        """Draw bars of what lasts, signals and markers, with the name of the lane."""
        x = times.to_x([(e.stamp_ns, e.peak_ns, e.end_ns) for e in self.events])
        bars = np.column_stack((x[:, 0], x[:, 2] - x[:, 0]))
        name, color = wrap_text(self.kind, 8, 180), self.style[0]
        if self.unit is None:
            self._draw_bars(axes, bars, x[:, 1])
        else:
            self._draw_values(axes, bars, times)
            unit = f' [{self.unit}]' if self.unit else ''
            name += '\n' + wrap_text(self.name.replace('_', ' ') + unit, 8, 180)
        axes.set_ylabel(name, size=7.5, rotation=0, ha='right', va='center', color=color)

    def _draw_bars(self, axes: Axes, bars: Any, peaks: Any) -> None:
        """Draw bars of what lasts, and markers of instants."""
        rows, is_bar, (color, marker) = np.array(self.rows), bars[:, 1] > 0, self.style
        axes.set(yticks=[], ylim=(rows.max() + 0.6, -0.6))
        for row in {*self.rows}:
            shown, face = bars[is_bar & (rows == row)], to_rgba(color, 0.45)
            axes.broken_barh(shown, (row - 0.35, 0.7), fc=face, ec=color, linewidth=0.8)
        axes.plot(peaks[~is_bar], rows[~is_bar], marker, color=color, markersize=4.5)

    def _draw_values(self, axes: Axes, bars: Any, times: TimeAxis) -> None:
        """Draw signals over their extents; of what has none, a stem as high as it was strong."""
        (color, marker), frame = self.style, axes.get_xaxis_transform()
        shade = to_rgba(color, 0.25)
        axes.broken_barh(bars, (0, 1), transform=frame, fc=shade, zorder=0, snap=False)
        for curves in self.curves:
            plot(axes, times.to_x(curves.stamps_ns), curves.size, 0.8, color=INK)
        stamps, values = zip(*self.peaks, strict=True)
        at, size = times.to_x(stamps), 4.0 if len(values) < _MANY else 2.0
        axes.vlines(at, 0.0, values, color=color, linewidth=0.8)
        axes.plot(at, values, marker, color=color, markersize=size)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.0), high + 0.25 * (high - low))

    def label(self, axes: Axes, times: TimeAxis) -> None:
        """Name the bars, or the strongest events, that have room."""
        self._name_bars(axes, times) if self.unit is None else self._name_strongest(axes, times)

    def _name_strongest(self, axes: Axes, times: TimeAxis) -> None:
        found = zip(self.peaks, self.events, strict=True)
        taken: list[Any] = []
        for (stamp, value), event in sorted(found, key=lambda one: -abs(one[0][1]))[:_MANY]:
            at = times.to_x(stamp), value
            place = (axes.transData - axes.transAxes).transform(at)[0]
            side = 'left' if place < 0.1 else 'right' if place > 0.9 else 'center'
            text = f'#{event.memory_id}  {format_quantity(value, self.unit or "")}'
            made = annotate(axes, text, at, (0, 4), ha=side, color=self.style[0])
            box = made.get_window_extent().padded(6)
            if any(box.x0 < other.x1 and other.x0 < box.x1 for other in taken):
                made.remove()
            else:
                taken.append(box)
            if len(taken) == _NAMED:
                break

    def _name_bars(self, axes: Axes, times: TimeAxis) -> None:
        """Write into bars, or behind them, as much of the titles as has room."""
        spans = times.to_x([(event.stamp_ns, event.end_ns) for event in self.events])
        pixels = axes.transData.transform([(x, 0.0) for x in spans.flat])[:, 0].reshape(-1, 2)
        following = [axes.get_window_extent().x1] * _MOST_ROWS
        for event, row, x, (left, right) in [
            *zip(self.events, self.rows, spans, pixels, strict=True)
        ][::-1]:
            at, gap, room = x[1], 5, following[row] - right
            if right - left > _ROOM_PX:
                at, gap, room = x[0], 3, right - left
            if room > _ROOM_PX:
                number = '' if event.memory_id is None else f'#{event.memory_id}  '
                text = wrap_text(number + event.title, 7, room - 16)
                annotate(axes, text, (at, row), (gap, -2.5), color=INK)
            following[row] = left
