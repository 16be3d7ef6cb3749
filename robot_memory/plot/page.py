"""A figure on matplotlib's constrained layout: title, facts, images, rows of axes, and notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import ConnectionPatch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors.event import Picture
from robot_memory.detectors.images import decode_compressed
from robot_memory.plot.text import DPI, MISSING, fit_figure, wrap_text
from robot_memory.plot.time_axis import TimeAxis

INK, QUIET, HAIR = '#222222', '#606060', '#d4d4d4'
EDGE, LINE, BREAKS, TICKS, FOOT = 24, 30, 60, 60, 40
"""Pixels: margin, a line of the title, the labels of breaks and of times, and the notes."""
GAP = 0.06
"""Between images, as a share of their height."""


class Row(Protocol):
    """What is drawn on one axes of a page, `height` in pixels."""

    @property
    def height(self) -> float:
        """Return the height in pixels."""

    def draw(self, axes: Axes, times: TimeAxis) -> None:
        """Draw all that needs no place in pixels."""

    def label(self, axes: Axes, times: TimeAxis) -> None:
        """Write what needs room, on axes that have their place."""


@dataclass(frozen=True)
class Strip:
    """Images of which as many are shown as have room side by side, `height` in pixels."""

    pictures: Iterable[Picture]
    height: float
    main_ns: int | None = None

    def select(self, width: float) -> tuple[list[tuple[int, Any]], str]:
        """Return stamps and images evenly, the one nearest to `main_ns` too, and a note."""
        ordered = sorted({(one.stamp_ns, one.jpeg) for one in self.pictures})
        decoded = [(stamp, _decode(jpeg)) for stamp, jpeg in ordered]
        readable = [one for one in decoded if one[1] is not None]
        widest = max((image.width / image.height for _, image in readable), default=1.0)
        most = max(1, int((width / self.height + GAP) // (min(widest, 3.0) + GAP)))
        steps = np.linspace(0, len(readable) - 1, min(most, len(readable))).round().astype(int)
        if self.main_ns is not None and len(steps):
            main = np.argmin([abs(stamp - self.main_ns) for stamp, _ in readable])
            steps[np.argmin(abs(steps - main))] = main
        notes = [f'{len(steps)} of {len(readable)} images shown'] * (len(steps) < len(readable))
        notes += [f'{len(ordered) - len(readable)} unreadable'] * (len(readable) < len(ordered))
        return [readable[step] for step in steps], ', '.join(notes)


def _decode(jpeg: bytes) -> Any:
    """Return an image; None where it cannot be read."""
    try:
        return decode_compressed(jpeg).image.convert('RGB')
    except InvalidArgument:
        return None


@dataclass(frozen=True)
class Page:
    """Rows that share a time axis, with title, facts and images above them and notes below."""

    width: int
    title: str
    facts: Sequence[str]
    times: TimeAxis
    rows: Sequence[Row]
    notes: Sequence[str]
    strip: Strip

    def to_png(self) -> bytes:
        """Return the page as a PNG of `width` pixels."""
        images, note = self.strip.select(self.width - 2 * EDGE)
        above = self.strip.height if images else 0.0
        below = sum(row.height for row in self.rows) + TICKS * bool(self.rows)
        below += BREAKS * (len(self.times.stretches) > 1)
        figure = self._make_figure(above + below)
        canvas: Any = FigureCanvasAgg(figure)
        heights = [one for one in (above, below) if one] or [1.0]
        grid = figure.add_gridspec(len(heights), height_ratios=heights)
        axes = self._draw_rows(grid[-1, 0]) if self.rows else []
        if images:
            self._draw_images(grid[0, 0], images, axes)
        fit_figure(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine('none')
        for one in figure.axes:
            # The solver of the layout has its last digits by chance.
            one.set_position(np.round(one.get_position(True).bounds, 9).tolist())
        for one, row in zip(axes, self.rows, strict=True):
            row.label(one, self.times)
        if axes:
            self.times.set_ticks(axes[-1])
        missing = '' if fit_figure(figure) else f'{MISSING}: no installed font has this character'
        self._write(figure, -14, (*self.notes, note, missing), 7)
        fit_figure(figure)
        buffer = io.BytesIO()
        canvas.print_png(buffer)
        return buffer.getvalue()

    def _make_figure(self, content: float) -> Figure:
        """Return a figure with title and facts, and room for a content of a height in pixels."""
        title = wrap_text(self.title, 12, self.width - 2 * EDGE, 2)
        head = EDGE + LINE * (title.count('\n') + bool(title) + 1)
        height = round(head + content + FOOT)
        # A hundredth of a pixel more, for matplotlib rounds down.
        size = (self.width + 0.01) / DPI, (height + 0.01) / DPI
        figure = Figure(size, DPI, layout='constrained')
        layout: Any = figure.get_layout_engine()
        layout.set(rect=(0.01, FOOT / height, 0.98, 1 - (head + FOOT) / height))
        style: Any = {'size': 12, 'color': INK, 'va': 'top', 'in_layout': False}
        figure.text(EDGE / self.width, 1 - EDGE / height, title, **style)
        self._write(figure, head - 14, self.facts, 8)
        return figure

    def _draw_rows(self, place: SubplotSpec) -> list[Axes]:
        """Draw axes one above the other that share their times."""
        heights = [row.height for row in self.rows]
        grid: Any = place.subgridspec(len(heights), 1, height_ratios=heights)
        found = grid.subplots(sharex=True, squeeze=False)
        for axes, row in zip(found.flat, self.rows, strict=True):
            axes.set(facecolor='none', ymargin=0.08)
            axes.spines[['left', 'top', 'right']].set_visible(False)
            axes.spines.bottom.set_color(HAIR)
            axes.tick_params(labelsize=7, color=HAIR, labelcolor=QUIET)
            axes.tick_params(axis='x', bottom=row is self.rows[-1])
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        self.times.apply(found[:, 0])
        for axes, row in zip(found.flat, self.rows, strict=True):
            row.draw(axes, self.times)
        return [*found.flat]

    def _draw_images(
        self, place: SubplotSpec, images: Sequence[Any], rows: Sequence[Axes]
    ) -> None:
        """Draw images side by side; lines lead to their times on the axes below."""
        grid: Any = place.subgridspec(1, len(images), wspace=GAP)
        found = grid.subplots(squeeze=False)
        for axes, (stamp, image) in zip(found.flat, images, strict=True):
            axes.imshow(np.asarray(image), interpolation='antialiased')
            axes.set_axis_off()
            axes.set_anchor('C' if rows else 'W')
            if rows:
                ends = (0.5, -0.02), (self.times.to_x(stamp), 1.0)
                frames = axes.transAxes, rows[0].get_xaxis_transform()
                line = ConnectionPatch(*ends, *frames, color='#b0b0b0', linewidth=0.6)
                line.set_in_layout(False)
                grid.figure.add_artist(line)

    def _write(self, figure: Figure, y: float, parts: Iterable[str], size: float) -> None:
        """Write a line y pixels below the upper edge, or above the lower one."""
        line = wrap_text(' · '.join(filter(None, parts)), size, self.width - 2 * EDGE)
        y = -y / figure.bbox.height + (y > 0)
        figure.text(EDGE / self.width, y, line, size=size, color=QUIET, in_layout=False)


def annotate(axes: Axes, text: str, at: Any, offset: Any, **style: Any) -> Any:
    """Write a line beside a point of the axes, the offset in points; return it."""
    effects = [withStroke(linewidth=2.0, foreground='white')]
    style = {'size': 7, 'zorder': 6, 'in_layout': False, 'path_effects': effects, **style}
    return axes.annotate(text, at, offset, 'data', 'offset points', annotation_clip=False, **style)


def plot(axes: Axes, x: Any, y: Any, width: float, **style: Any) -> Any:
    """Draw curves with gaps where they are NaN, as a dot where they are one point; return them."""
    mark = '' if len(x) > 1 else 'o'
    return axes.plot(x, y, linewidth=width, marker=mark, markersize=2 + width, **style)
