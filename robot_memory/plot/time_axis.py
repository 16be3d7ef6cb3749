"""The time axis of many events: local time, and stretches without events compressed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from robot_memory.plot.drawn import format_length

MOST_BREAKS = 12
_WORTH = 0.5
"""Gaps that are longer than this share of what is left without them are compressed."""
_BREAK = 0.03
_MARGIN = 0.015
"""What a break, and the margin beside each stretch, take of what is shown."""
_SHORTEST_S = 0.2
_DAY_S = 86_400.0
_DATES = ['%Y', '%Y-%m', '%m-%d', '%H:%M', '%H:%M', '%H:%M:%S.%f']
"""Labels of ticks each year, month, day, hour, minute, and second or less."""
_LABEL_PX = 90


@dataclass(frozen=True)
class TimeAxis:
    """
    Map seconds after `zero_ns` to an axis that shows `stretches` of them.

    With a zone the axis is of matplotlib's dates, without of seconds.
    """

    stretches: tuple[tuple[float, float], ...]
    zero_ns: int
    zone: ZoneInfo | None

    @classmethod
    def fit(
        cls, extents: Iterable[tuple[float, float]], zero_ns: int, zone: ZoneInfo | None
    ) -> TimeAxis:
        """Return the axis that shows extents in seconds, and compresses long gaps between them."""
        merged: list[list[float]] = []
        for begin, end in sorted(extents):
            if merged and begin <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([begin, end])
        gaps = [after[0] - before[1] for before, after in itertools.pairwise(merged)]
        order = sorted(range(len(gaps)), key=lambda place: -gaps[place])[:MOST_BREAKS]
        shown, left, broken = merged[-1][1] - merged[0][0], merged[-1][1] - merged[0][0], 0
        for number, place in enumerate(order, 1):
            left -= gaps[place]
            if gaps[place] > _WORTH * left + 2 * _SHORTEST_S:
                shown, broken = left, number
        chosen = sorted(order[:broken])
        margin = max(_MARGIN * shown, _SHORTEST_S / 2)
        starts = [merged[0][0], *(merged[place + 1][0] for place in chosen)]
        ends = [*(merged[place][1] for place in chosen), merged[-1][1]]
        stretches = [(a - margin, b + margin) for a, b in zip(starts, ends, strict=True)]
        return cls(tuple(stretches), zero_ns, zone)

    def to_x(self, seconds: Any) -> Any:
        """Return seconds after the zero as coordinates of the axis."""
        if self.zone is None:
            return np.asarray(seconds)
        return self.zero_ns / (_DAY_S * 1e9) + np.asarray(seconds) / _DAY_S

    def apply(self, axes: Sequence[Axes], width_px: float) -> None:
        """Set scale, limits and ticks of axes that share their x, and draw the breaks."""
        knots = np.array([self.to_x(at) for stretch in self.stretches for at in stretch])
        lengths = np.diff(knots)
        lengths[1::2] = _BREAK * lengths[::2].sum()
        places = np.concatenate(([0.0], np.cumsum(lengths)))

        def forward(x: Any) -> Any:
            return np.interp(x, knots, places)

        def inverse(place: Any) -> Any:
            return np.interp(place, places, knots)

        axes[0].set_xscale('function', functions=(forward, inverse))
        axes[0].set_xlim(knots[0], knots[-1])
        ticks, labels = self._choose_ticks(places / places[-1] * width_px)
        axes[-1].xaxis.set_major_locator(FixedLocator(ticks))
        axes[-1].xaxis.set_major_formatter(FixedFormatter(labels))
        for begin, end in zip(self.stretches, self.stretches[1:], strict=False):
            self._draw_break(axes, begin[1], end[0])

    def _draw_break(self, axes: Sequence[Axes], begin: float, end: float) -> None:
        first, last = self.to_x(begin), self.to_x(end)
        for one in axes:
            one.axvspan(
                first,
                last,
                facecolor='white',
                edgecolor='#dcdcdc',
                hatch='/////',
                lw=0.0,
                zorder=4,
            )
        axes[0].annotate(
            format_length(end - begin),
            (self.to_x(begin), 1.0),
            (0, 4),
            ('data', 'axes fraction'),
            'offset points',
            size=6.5,
            color='#707070',
            rotation=30,
            annotation_clip=False,
        )

    def _choose_ticks(self, edges_px: Any) -> tuple[list[float], list[str]]:
        """Return ticks and labels of all stretches, with room for each label."""
        ticks: list[float] = []
        labels: list[str] = []
        day, free = '', 0.0
        for place, stretch in enumerate(self.stretches):
            left, right = edges_px[2 * place], edges_px[2 * place + 1]
            begin, end = (self.to_x(at) for at in stretch)
            for x, label in self._list_ticks(begin, end, max(1, int((right - left) / _LABEL_PX))):
                at = left + (x - begin) / (end - begin) * (right - left)
                if at < free:
                    continue
                date = '' if self.zone is None else f'{_to_local(x, self.zone):%Y-%m-%d}'
                ticks.append(x)
                labels.append(
                    label if date == day or (label and label in date) else f'{label}\n{date}'
                )
                day, free = date, at + _LABEL_PX * 0.7
        return ticks, labels

    def _list_ticks(self, begin: float, end: float, most: int) -> list[tuple[float, str]]:
        if self.zone is None:
            found = MaxNLocator(most + 1, steps=[1, 2, 5, 10]).tick_values(begin, end)
            return [(x, f'{x:g} s') for x in found if begin <= x <= end]
        untyped: Any = dates
        locator = untyped.AutoDateLocator(self.zone, minticks=1, maxticks=max(3, most + 1))
        span = [_to_local(x, self.zone) for x in (begin, end)]
        found = [x for x in locator.tick_values(*span) if begin <= x <= end]
        formatter = untyped.ConciseDateFormatter(
            locator, self.zone, _DATES, zero_formats=['', *_DATES[:3], '%H:%M', _DATES[5]]
        )
        return list(zip(found, formatter.format_ticks(found), strict=True)) if found else []


def _to_local(x: float, zone: ZoneInfo) -> datetime:
    untyped: Any = dates
    found: datetime = untyped.num2date(x, zone)
    return found
