"""Memories as a PNG: signal, extent, peak and thumbnails on one time line."""

from collections.abc import Sequence

from robot_memory.errors import InvalidArgument, Unavailable
from robot_memory.json_text import shown
from robot_memory.plot.drawn import Drawn

__all__ = ['Drawn', 'draw']

MIN_WIDTH, MAX_WIDTH = 480, 8000


def draw(events: Sequence[Drawn], width_px: int = 1200) -> bytes:
    """
    Return a PNG of so many pixels across: one event with its signal, or a span with many.

    Equal events give equal bytes. Raise InvalidArgument without an event or for a width that is
    none, and Unavailable where matplotlib is not installed.
    """
    if not events:
        raise InvalidArgument('there is no memory to draw; at least one with a stamp is needed')
    if not isinstance(width_px, int) or not MIN_WIDTH <= width_px <= MAX_WIDTH:
        raise InvalidArgument(
            f'width_px must be {MIN_WIDTH} to {MAX_WIDTH} pixels, not {shown(width_px)}'
        )
    try:
        from robot_memory.plot.many import draw_many
        from robot_memory.plot.one import draw_one
    except ImportError as error:
        raise Unavailable(
            f'a plot needs matplotlib, which cannot be loaded ({error}): '
            'pip install "matplotlib>=3.8,<4"'
        ) from error
    return draw_one(events[0], width_px) if len(events) == 1 else draw_many(events, width_px)
