"""Images in a row above the time axis, each joined to its time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import ConnectionPatch

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors.event import Picture
from robot_memory.detectors.images import decode_compressed

_GAP = 0.06
"""Between images, as a share of their height."""


@dataclass(frozen=True)
class Pictures:
    """Hold the images that fit, with their stamps, and a note about the others."""

    images: tuple[tuple[int, Any], ...]
    note: str

    @classmethod
    def select(
        cls, pictures: Iterable[Picture], room: float, main_ns: int | None = None
    ) -> Pictures:
        """
        Choose evenly what fits, with the one nearest to `main_ns`.

        `room` is the width of the row in heights of the row.
        """
        ordered = sorted(set(pictures), key=lambda picture: (picture.stamp_ns, picture.jpeg))
        decoded = [(one.stamp_ns, _decode(one.jpeg)) for one in ordered]
        readable = [(stamp, image) for stamp, image in decoded if image is not None]
        widest = max((image.width / image.height for _, image in readable), default=1.0)
        most = max(1, int((room + _GAP) // (min(widest, 3.0) + _GAP)))
        chosen = readable
        if len(readable) > most:
            steps = np.linspace(0, len(readable) - 1, most).round().astype(int)
            if main_ns is not None:
                main = min(range(len(readable)), key=lambda i: abs(readable[i][0] - main_ns))
                steps[np.argmin(abs(steps - main))] = main
            chosen = [readable[step] for step in steps]
        notes = []
        if len(chosen) < len(readable):
            notes.append(f'{len(chosen)} of {len(readable)} images shown')
        if len(readable) < len(ordered):
            notes.append(f'{len(ordered) - len(readable)} unreadable')
        return cls(tuple(chosen), ', '.join(notes))

    def draw(self, row: SubplotSpec, below: Axes | None, to_x: Callable[[int], float]) -> None:
        """Draw the images into a row; lines lead to their times on the axes below."""
        grid = row.subgridspec(1, len(self.images), wspace=_GAP)
        figure = grid.figure
        assert figure is not None
        for column, (stamp, image) in enumerate(self.images):
            axes = figure.add_subplot(grid[0, column])
            axes.imshow(np.asarray(image), aspect='equal', interpolation='antialiased')
            axes.set_axis_off()
            axes.set_anchor('W' if below is None else 'C')
            if below is not None:
                ends = (0.5, -0.02), (to_x(stamp), 1.0)
                frames = axes.transAxes, below.get_xaxis_transform()
                line = ConnectionPatch(*ends, *frames, color='#b0b0b0', linewidth=0.6)
                line.set_in_layout(False)
                figure.add_artist(line)


def _decode(jpeg: bytes) -> Any:
    """Return an image; None where it cannot be read."""
    try:
        return decode_compressed(jpeg).image.convert('RGB')
    except InvalidArgument:
        return None
