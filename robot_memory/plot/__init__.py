"""A PNG of an event with its signal and images, of many on a time line, or of a skill."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from zoneinfo import ZoneInfo

from robot_memory.core.errors import InvalidArgument, RobotMemoryError, Unavailable
from robot_memory.core.json_text import format_value
from robot_memory.core.settings import find_cache_folder
from robot_memory.plot.drawn import Curve, Drawn, Outcome, SkillDrawing

__all__ = ['Curve', 'Drawn', 'Outcome', 'SkillDrawing', 'draw', 'draw_skill']

MIN_WIDTH, MAX_WIDTH = 480, 8000
UTC = ZoneInfo('UTC')


def draw(
    events: Sequence[Drawn], width_px: int = 1200, zone: ZoneInfo = UTC, notes: Sequence[str] = ()
) -> bytes:
    """
    Return a PNG of so many pixels across: one event with its signal, or many on a time line.

    Times are of the zone; `notes` are written at the bottom. Equal events give equal bytes. Raise
    InvalidArgument without an event or for a width that is none, and Unavailable where matplotlib
    is not installed.
    """
    if not events:
        raise InvalidArgument('no event to plot; at least one is required')
    _check_width(width_px)
    with _load_matplotlib():
        from robot_memory.plot.figures import draw_one
        from robot_memory.plot.time_line import draw_many
    if len(events) == 1:
        return draw_one(events[0], width_px, zone, notes)
    return draw_many(events, width_px, zone, notes)


def draw_skill(drawing: SkillDrawing, width_px: int = 1200, notes: Sequence[str] = ()) -> bytes:
    """
    Return a PNG of how the success of a skill goes over its trials, with Wilson intervals.

    Raise InvalidArgument where no outcome is known or for a width that is none, and Unavailable
    where matplotlib is not installed.
    """
    if not any(curve.outcomes for curve in drawing.curves):
        raise InvalidArgument('no trial to plot; at least one whose success is known is required')
    _check_width(width_px)
    with _load_matplotlib():
        from robot_memory.plot import skill_curve
    return skill_curve.draw_skill(drawing, width_px, notes)


def _check_width(width_px: int) -> None:
    if not isinstance(width_px, int) or not MIN_WIDTH <= width_px <= MAX_WIDTH:
        raise InvalidArgument(
            f'width_px must be {MIN_WIDTH} to {MAX_WIDTH} pixels, not {format_value(width_px)}'
        )


@contextmanager
def _load_matplotlib() -> Iterator[None]:
    """Say what plots require where it cannot be imported."""
    try:
        with _lend_folder():
            yield
    except ImportError as error:
        raise Unavailable(
            f'plot requires matplotlib, which cannot be loaded ({error}): pip install '
            '"matplotlib>=3.8,<4"'
        ) from error


@contextmanager
def _lend_folder() -> Iterator[None]:
    """
    Have matplotlib keep its list of fonts beside the model while it is imported.

    Where that cannot be written it is lent a temporary folder: it would make one itself and leave
    it behind, or fail where no home is known.
    """
    with ExitStack() as stack:
        if 'MPLCONFIGDIR' not in os.environ:
            os.environ['MPLCONFIGDIR'] = _find_folder() or stack.enter_context(_make_folder())
            stack.callback(os.environ.pop, 'MPLCONFIGDIR', None)
        yield


def _find_folder() -> str:
    """Return the folder beside the model; empty where it cannot be written."""
    with suppress(OSError, RobotMemoryError):
        folder = find_cache_folder() / 'matplotlib'
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder) if os.access(folder, os.W_OK | os.X_OK) else ''
    return ''


def _make_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix='robot_memory_plot_')
    except OSError as error:
        raise Unavailable(
            f'plot requires a folder for the font cache: {error}; set MPLCONFIGDIR, HOME or '
            'TMPDIR to a writable folder'
        ) from error
