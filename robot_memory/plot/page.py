"""A page in pixels from its upper left corner, with text, lines, shades and pictures on it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from robot_memory.plot.curves import Numbers
from robot_memory.plot.words import DPI, fitted

INK = '#222222'
QUIET = '#767676'
HAIR = '#d4d4d4'
EXTENT = '#f6ecd6'
EXTENT_EDGE = '#d9b15e'
PEAK = '#c0392b'
SERIES = ('#4374a8', '#638f35', '#9566a5', '#b87628', '#34908a', '#96594c', '#737373')

Pixels = NDArray[np.uint8]
AtTime = TypeVar('AtTime', float, Numbers)


@dataclass(frozen=True)
class Panel:
    """Hold a part of the page, in pixels, and what it shows: times in s and values."""

    left: float
    top: float
    right: float
    bottom: float
    times: tuple[float, float]
    values: tuple[float, float] = (0.0, 1.0)

    def x(self, seconds: AtTime) -> AtTime:
        """Return where a time is."""
        first, last = self.times
        return self.left + (seconds - first) * ((self.right - self.left) / (last - first))

    def y(self, value: AtTime) -> AtTime:
        """Return where a value is."""
        low, high = self.values
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


class Page:
    """Draw on a white page."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        # A hundredth of a pixel more, for matplotlib rounds down.
        size = ((width + 0.01) / DPI, (height + 0.01) / DPI)
        self._figure = Figure(figsize=size, dpi=DPI, facecolor='white', edgecolor='white')
        self._canvas: Any = FigureCanvasAgg(self._figure)

    def png(self) -> bytes:
        """Return the page as a PNG."""
        buffer = io.BytesIO()
        self._canvas.print_png(buffer)
        return buffer.getvalue()

    def _add(self, artist: Artist, layer: int) -> None:
        artist.set_zorder(layer)
        artist.set_transform(IdentityTransform())
        self._figure.add_artist(artist)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 9.0,
        color: str = INK,
        weight: str = 'normal',
        align: str = 'left',
    ) -> None:
        """Write one line of a size in points, its baseline at y."""
        words, properties = fitted(words, size, weight)
        style: dict[str, Any] = {'color': color, 'horizontalalignment': align}
        style |= {'verticalalignment': 'baseline', 'parse_math': False, 'usetex': False}
        text = Text(round(x), round(self.height - y), words, fontproperties=properties, **style)
        self._add(text, 6)

    def shade(self, left: float, top: float, right: float, bottom: float, color: str) -> None:
        """Fill a rectangle behind all else, in whole pixels, at least two across."""
        begin, under = round(left), round(self.height - bottom)
        across, high = max(round(right) - begin, 2), round(self.height - top) - under
        shape = Rectangle((begin, under), across, high, facecolor=color, linewidth=0)
        shape.set_antialiased(False)
        self._add(shape, 1)

    def rule(self, x: float, y: float, to_x: float, to_y: float, color: str = HAIR) -> None:
        """Draw a thin straight line behind the curves."""
        ys = [self.height - y, self.height - to_y]
        self._add(Line2D([x, to_x], ys, color=color, linewidth=0.7, linestyle='-'), 2)

    def curve(self, x: Numbers, y: Numbers, color: str, width: float) -> None:
        """Draw a curve with gaps where it is NaN, as a dot where it is one point."""
        style = {'linewidth': width, 'linestyle': '-', 'solid_joinstyle': 'round'}
        if len(x) == 1:
            style = {'marker': 'o', 'markersize': 2 + width}
        self._add(Line2D(x, self.height - y, color=color, **style), 4)  # type: ignore[arg-type]

    def dot(self, x: float, y: float, size: float = 6.5) -> None:
        """Mark a peak."""
        style: dict[str, Any] = {'marker': 'o', 'markeredgecolor': 'white', 'markersize': size}
        self._add(Line2D([x], [self.height - y], color=PEAK, **style), 5)

    def picture(self, left: float, top: float, pixels: Pixels) -> None:
        """Put a picture (height, width, 3), pixel by pixel, into a thin frame."""
        height, width = pixels.shape[:2]
        x, y = round(left), round(self.height - top) - height
        frame = Rectangle((x - 1, y - 1), width + 2, height + 2, facecolor=HAIR, linewidth=0)
        frame.set_antialiased(False)
        self._add(frame, 3)
        self._figure.figimage(pixels, x, y, origin='upper', zorder=4)

    def scale(self, panel: Panel, count: int) -> None:
        """Write about so many values of a panel to its left, and draw its zero."""
        for value, words in ticks(*panel.values, count):
            y = panel.y(value)
            self.rule(panel.left - 5, y, panel.right if not value else panel.left - 1, y)
            self.text(panel.left - 10, y + 4, words, 8, QUIET, align='right')


def ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Return round values between two numbers, at most `count` + 1, each with its text."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= 0.999 * rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    plain = decimals <= 6 and max(abs(low), abs(high)) < 1e6
    values = [index * step for index in range(first, last + 1)]
    return [(v, signed(f'{v:.{decimals}f}' if plain else f'{v:.6g}')) for v in values]


def signed(text: str) -> str:
    """Return a number with a true minus sign, and none before a zero."""
    return (text if text.strip('-0.') else text.lstrip('-')).replace('-', '\N{MINUS SIGN}')


def figures(value: float, unit: str) -> str:
    """Return a measured value with three figures and its unit."""
    plain = 999.5 <= abs(value) < 10_000
    return f'{signed(f"{value:.0f}" if plain else f"{value:#.3g}".rstrip("."))} {unit}'.strip()


def spread(
    centres: Sequence[float], sizes: Sequence[float], low: float, high: float
) -> list[float]:
    """
    Return where things of these sizes begin, from `low` to `high`, so that none overlaps another.

    The centres ascend; together the things stay as near to them as can be.
    """
    groups: list[tuple[float, int]] = []
    offset = 0.0
    for centre, size in zip(centres, sizes, strict=True):
        mean, count = centre - size / 2 - offset, 1
        while groups and groups[-1][0] > mean:
            before, number = groups.pop()
            mean, count = (before * number + mean * count) / (number + count), number + count
        groups.append((mean, count))
        offset += size
    highest = max(low, high - offset)
    begins, offset = [], 0.0
    for mean, count in groups:
        for _ in range(count):
            begins.append(min(max(mean, low), highest) + offset)
            offset += sizes[len(begins) - 1]
    return begins
