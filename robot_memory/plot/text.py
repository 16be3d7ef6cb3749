"""Text in a figure: fonts that have its characters, its width in pixels, and line breaks."""

from __future__ import annotations

import bisect
import functools
import logging
from typing import Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from robot_memory.text.tokenizer import cut

DPI = 150
BASE = 'DejaVu Sans'
MISSING = '\N{WHITE SQUARE}'
MAX_CHARACTERS = 4000

# It would tell standard error of font caches that it builds, in the middle of a command's answer.
logging.getLogger('matplotlib').setLevel(logging.ERROR)


def fit_fonts(text: str) -> tuple[str, list[str]]:
    """Return a text, a white square for each character without a font, and its font families."""
    found = {character: _find_family(character) for character in {*text} - {'\n'}}
    words = ''.join(one if found.get(one, BASE) else MISSING for one in text)
    return words, [BASE, *sorted({*found.values()} - {BASE, ''})]


def fit_figure(figure: Figure) -> bool:
    """Fit the fonts of all texts of a figure; say whether they have all characters."""
    texts: Any = figure.findobj(Text)
    for text in texts:
        words, families = fit_fonts(text.get_text())
        text.set(text=words, family=families, parse_math=False)
    return not any(MISSING in text.get_text() for text in texts)


@functools.cache
def _find_family(character: str) -> str:
    """Return the first font family that has a glyph for a character; empty if none has."""
    names = {entry.name for entry in fontManager.ttflist}
    others = sorted(name for name in names if not name.startswith(('.', 'Last Resort')))
    families = (name for name in (BASE, *others) if ord(character) in _read_characters(name))
    return next(families, '')


@functools.cache
def _read_characters(family: str) -> frozenset[int]:
    return frozenset(FT2Font(findfont(FontProperties(family=family))).get_charmap())


@functools.cache
def _make_renderer() -> Any:
    untyped: Any = RendererAgg
    return untyped(1, 1, DPI)


def measure_width(text: str, size: float) -> float:
    """Return the width in pixels of a line of a size in points."""
    words, families = fit_fonts(text)
    font = FontProperties(family=families, size=size)
    return float(_make_renderer().get_text_width_height_descent(words, font, False)[0])


def wrap_text(text: str, size: float, width: float, most: int = 1) -> str:
    """Return a text in at most so many lines of a width in pixels, with … where it was cut."""
    left = ' '.join(text[:MAX_CHARACTERS].split())
    lines: list[str] = []
    while left and measure_width(left, size) > width and len(lines) < most:
        mark = '…' if len(lines) == most - 1 else ''

        def measure_begin(length: int, text: str = left, mark: str = mark) -> float:
            return measure_width(cut(text, length)[0] + mark, size)

        fitting = bisect.bisect(range(2, len(left)), width, key=measure_begin) + 1
        line, gone = cut(left, fitting)
        lines.append(line + mark)
        left = left[len(left) - gone :].strip()
    return '\n'.join([*lines, left] if len(lines) < most else lines)


def format_quantity(value: float, unit: str) -> str:
    """Return a measured value with three figures, a true minus sign and its unit."""
    text = f'{value:.0f}' if 999.5 <= abs(value) < 10_000 else f'{value:#.3g}'.rstrip('.')
    text = text if text.strip('-0.') else text.lstrip('-')
    return f'{text} {unit}'.strip().replace('-', '\N{MINUS SIGN}', text.count('-'))
