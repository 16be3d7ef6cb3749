"""Text in a figure: fonts that have its characters, its width in pixels, and line breaks."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from typing import Any

from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font

from robot_memory.text.tokenizer import cut

DPI = 150
BASE = 'DejaVu Sans'
MISSING = '\N{WHITE SQUARE}'
MAX_CHARACTERS = 4000

# It would tell standard error of font caches that it builds, in the middle of a command's answer.
logging.getLogger('matplotlib').setLevel(logging.ERROR)


def fit_fonts(text: str, size: float, weight: str = 'normal') -> tuple[str, FontProperties]:
    """
    Return a text in one line, and fonts of a size in points that have all its characters.

    A character that no installed font has becomes a white square.
    """
    text = ' '.join(text[:MAX_CHARACTERS].split())
    found = {character: _find_family(character, weight) for character in dict.fromkeys(text)}
    words = ''.join(character if found[character] else MISSING for character in text)
    families = list(dict.fromkeys((BASE, *filter(None, found.values()))))
    return words, FontProperties(family=families, size=size, weight=weight)


def describe_missing(texts: Iterable[str]) -> str:
    """Say that characters of some texts are in no installed font; empty: all are in one."""
    found = ''.join(' '.join(text[:MAX_CHARACTERS].split()) for text in texts)
    missing = [one for one in dict.fromkeys(found) if not _find_family(one, 'normal')]
    if not missing:
        return ''
    return f'{MISSING}: {len(missing)} characters that no installed font has'


@functools.cache
def _find_family(character: str, weight: str) -> str:
    """Return the first font family that has a glyph for a character; empty if none has."""
    for family in (BASE, *_list_families()):
        if ord(character) in _read_characters(family, weight):
            return family
    return ''


@functools.cache
def _list_families() -> tuple[str, ...]:
    names = {entry.name for entry in font_manager.fontManager.ttflist}
    return tuple(sorted(name for name in names if not name.startswith(('.', 'Last Resort'))))


@functools.cache
def _read_characters(family: str, weight: str) -> frozenset[int]:
    path = font_manager.findfont(FontProperties(family=family, weight=weight))
    return frozenset(FT2Font(path).get_charmap())


@functools.cache
def _make_renderer() -> Any:
    untyped: Any = RendererAgg
    return untyped(1, 1, DPI)


def measure_width(text: str, size: float, weight: str = 'normal') -> float:
    """Return the width of a line in pixels."""
    words, properties = fit_fonts(text, size, weight)
    return float(_make_renderer().get_text_width_height_descent(words, properties, False)[0])


def wrap_text(
    text: str, size: float, width: float, most: int, weight: str = 'normal'
) -> list[str]:
    """Return a text in at most so many lines of a width in pixels, with … where it was cut."""
    left = ' '.join(text[:MAX_CHARACTERS].split())
    lines: list[str] = []
    while left:
        if measure_width(left, size, weight) <= width:
            return [*lines, left]
        mark = '…' if len(lines) == most - 1 else ''
        low, high = 1, len(left)
        while low < high:
            middle = (low + high + 1) // 2
            fits = measure_width(cut(left, middle)[0] + mark, size, weight) <= width
            low, high = (middle, high) if fits else (low, middle - 1)
        line, gone = cut(left, low)
        lines.append(line + mark)
        if mark:
            break
        left = left[len(left) - gone :].strip()
    return lines


def format_quantity(value: float, unit: str) -> str:
    """Return a measured value with three figures, a true minus sign and its unit."""
    text = f'{value:.0f}' if 999.5 <= abs(value) < 10_000 else f'{value:#.3g}'.rstrip('.')
    text = text if text.strip('-0.') else text.lstrip('-')
    return f'{text} {unit}'.strip().replace('-', '\N{MINUS SIGN}', text.count('-'))
