"""A figure on matplotlib's constrained layout: title, facts, rows of axes, and notes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from robot_memory.plot.text import DPI, fit_fonts, wrap_text

INK, QUIET, HAIR, PEAK, EXTENT = '#222222', '#606060', '#d4d4d4', '#c0392b', '#f6ecd6'
EDGE, LINE, FOOT = 24, 30, 40
"""Pixels: margin, a line of the title, and the notes at the bottom."""


class Page:
    """Hold a figure of some width in pixels whose rows have heights in pixels."""

    def __init__(
        self, width: int, title: str, facts: Sequence[str], heights: Sequence[float]
    ) -> None:
        lines = wrap_text(title, 12, width - 2 * EDGE, 2)
        head = EDGE + LINE * (len(lines) + 1)
        self.width, self.height = width, round(head + sum(heights) + FOOT)
        # A hundredth of a pixel more, for matplotlib rounds down.
        size = ((width + 0.01) / DPI, (self.height + 0.01) / DPI)
        self.figure = Figure(size, DPI, facecolor='white', layout='constrained')
        layout: Any = self.figure.get_layout_engine()
        share = FOOT / self.height
        layout.set(rect=(0.01, share, 0.98, 1 - share - head / self.height))
        heights = heights or [1.0]
        self.grid = self.figure.add_gridspec(len(heights), 1, height_ratios=heights)
        for number, line in enumerate(lines):
            self._write(EDGE, EDGE + 14 + LINE * number, line, 12, INK)
        for line in wrap_text(' · '.join(facts), 8, width - 2 * EDGE, 1):
            self._write(EDGE, head - 14, line, 8)

    def _write(self, x: float, y: float, text: str, size: float, color: str = QUIET) -> None:
        """Write a line, its baseline y pixels below the upper edge; x < 0: from the right."""
        text, font = fit_fonts(text, size)
        style: dict[str, Any] = {'fontproperties': font, 'color': color, 'parse_math': False}
        style |= {'ha': 'left' if x >= 0 else 'right', 'in_layout': False}
        self.figure.text(x / self.width + (x < 0), 1 - y / self.height, text, None, **style)

    def write_notes(self, left: str, right: str) -> None:
        """Write what is to be known at the bottom."""
        for line in wrap_text(right, 7, 0.62 * self.width, 1):
            self._write(-EDGE, self.height - 14, line, 7)
        self._write(EDGE, self.height - 14, left, 7)

    def add_rows(self, first: int, count: int) -> list[Axes]:
        """Return axes in some rows of the grid that share their times."""
        found: list[Axes] = []
        for row in range(first, first + count):
            axes = self.figure.add_subplot(
                self.grid[row, 0], sharex=found[0] if found else None, facecolor='none'
            )
            axes.spines[['left', 'top', 'right']].set_visible(False)
            axes.spines.bottom.set_color(HAIR)
            axes.tick_params(labelsize=7, color=HAIR, labelcolor=QUIET)
            last = row == first + count - 1
            axes.tick_params(axis='x', bottom=last, labelbottom=last)
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            axes.set_ymargin(0.08)
            found.append(axes)
        return found

    def to_png(self) -> bytes:
        """Return the figure as a PNG."""
        buffer = io.BytesIO()
        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.print_png(buffer)
        return buffer.getvalue()


def annotate(axes: Axes, text: str, at: tuple[Any, float], offset: Any, **style: Any) -> None:
    """Write a line beside a point of the axes; the offset is in points."""
    text, font = fit_fonts(text, style.pop('size', 7.0), style.pop('weight', 'normal'))
    style |= {'fontproperties': font, 'annotation_clip': False, 'parse_math': False}
    style['path_effects'] = [withStroke(linewidth=2.0, foreground='white')]
    made = axes.annotate(text, at, offset, 'data', 'offset points', zorder=6, **style)
    made.set_in_layout(False)
