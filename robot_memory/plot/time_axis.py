"""The time axis of a plot: local time or seconds, stretches without events compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from robot_memory.plot.drawn import format_length

MOST_BREAKS = 12
_WORTH = 0.5
"""Gaps that are longer than this share of what is left without them are compressed."""
_BREAK = 0.03
_MARGIN = 0.015
"""What a break, and the margin beside each stretch, take of what is shown."""
_SHORTEST_NS = 200_000_000
_DAY_NS = 86_400 * 10**9
_DATES: Any = dates  # which has no types
_FORMATS = ['%Y', '%Y-%m', '%m-%d', '%H:%M', '%H:%M', '%H:%M:%S.%f']
_AT_ZERO = ['', '%Y', '%Y-%m', '%m-%d', '%H:%M', '%H:%M:%S.%f']
"""Labels of ticks each year, month, day, hour, minute and second, and where that is zero."""
_LABEL_PX = 95


@dataclass(frozen=True)
class TimeAxis:
    """
    Map stamps in ns to an axis that shows `stretches` of them.

    With a zone the axis is of matplotlib's dates, without of seconds after `zero_ns`.
    """

    stretches: tuple[tuple[int, int], ...]
    zero_ns: int
    zone: ZoneInfo | None = None

    @classmethod
    def fit(
        cls, spans: Sequence[tuple[int, int]], zero_ns: int, zone: ZoneInfo | None = None
    ) -> TimeAxis:
        """Return the axis that shows spans of stamps, and compresses long gaps between them."""
        begins, ends = np.array(sorted(spans), np.int64).T
        ends = np.maximum.accumulate(ends)
        gaps = begins[1:] - ends[:-1]
        longest = np.argsort(-gaps, kind='stable')[:MOST_BREAKS]
        whole = ends[-1] - begins[0]
        left = whole - np.cumsum(gaps[longest])
        broken = max(
            np.flatnonzero(gaps[longest] > _WORTH * left + 2 * _SHORTEST_NS) + 1, default=0
        )
        shown = left[broken - 1] if broken else whole
        margin = max(int(_MARGIN * shown), 10**7 if zone is None else 10**8)
        chosen = np.sort(longest[:broken])
        firsts = np.append(begins[0], begins[chosen + 1]) - margin
        lasts = np.append(ends[chosen], ends[-1]) + margin
        return cls(tuple(zip(firsts.tolist(), lasts.tolist(), strict=True)), zero_ns, zone)

    def to_x(self, stamps_ns: Any) -> Any:
        """Return stamps as coordinates of the axis."""
        stamps = np.asarray(stamps_ns, np.int64)
        return (stamps - self.zero_ns) / 1e9 if self.zone is None else stamps / _DAY_NS

    def apply(self, axes: Sequence[Axes]) -> None:
        """Set scale, limits and ticks of axes that share their x, and draw the breaks."""
        knots = self.to_x(self.stretches).ravel()
        lengths = np.diff(knots)
        lengths[1::2] = _BREAK * lengths[::2].sum()
        places = np.concatenate(([0.0], np.cumsum(lengths)))
        scale = (lambda x: np.interp(x, knots, places)), (lambda x: np.interp(x, places, knots))
        axes[0].set_xscale('function', functions=scale)
        axes[0].set_xlim(knots[0], knots[-1])
        self.set_ticks(axes[-1])
        for (_, begin), (end, _) in zip(self.stretches, self.stretches[1:], strict=False):
            self._draw_break(axes, begin, end)

    def set_ticks(self, axes: Axes) -> None:
        """Set ticks that have room where the axes now is: before all, one of each stretch."""
        found = []
        for ends in self.to_x(self.stretches):
            left, right = axes.transData.transform([(x, 0.0) for x in ends])[:, 0]
            for place, tick in enumerate(self._list_ticks(ends, int((right - left) / _LABEL_PX))):
                found.append((place > 0, axes.transData.transform((tick[0], 0.0))[0], tick))
        chosen: dict[float, tuple[float, str]] = {}
        for _, at, tick in sorted(found):
            if all(abs(at - other) >= _LABEL_PX for other in chosen):
                chosen[at] = tick
        labels, day = {}, ''
        for x, label in sorted(chosen.values()):
            date = f'{_DATES.num2date(x, self.zone):%Y-%m-%d}' if self.zone else ''
            labels[x] = label if date == day or label in date else f'{label}\n{date}'
            day = date
        axes.set_xticks([*labels], [*labels.values()])

    def _list_ticks(self, ends: Any, most: int) -> list[tuple[float, str]]:
        locator: Any = MaxNLocator(max(2, most), steps=[1, 2, 5, 10])
        formatter: Any = StrMethodFormatter('{x:g} s')
        begin, end = ends
        if self.zone is not None:
            locator = _DATES.AutoDateLocator(self.zone, max(1, most // 2), max(3, most + 1))
            zeros = {'zero_formats': _AT_ZERO}
            formatter = _DATES.ConciseDateFormatter(locator, self.zone, _FORMATS, **zeros)
            ends = _DATES.num2date(ends, self.zone)
        found = [x for x in locator.tick_values(*ends) if begin <= x <= end]
        return list(zip(found, formatter.format_ticks(found), strict=True)) if found else []

    def _draw_break(self, axes: Sequence[Axes], begin: int, end: int) -> None:
        first, last = self.to_x((begin, end))
        for one in axes:
            one.axvspan(
                first, last, fc='white', ec='#dcdcdc', hatch='/////', linewidth=0, zorder=4
            )
        axes[0].annotate(
            format_length(end - begin),
            (first, 1.0),
            (0, 4),
            axes[0].get_xaxis_transform(),
            'offset points',
            size=6.5,
            color='#707070',
            rotation=45,
            rotation_mode='anchor',
        )
