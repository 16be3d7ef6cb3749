"""Parts of what a terminal shows: tables, counts, times, rows of memories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from robot_memory.core.json_text import dump_json
from robot_memory.text.controls import blank_controls


class Paint:
    """Apply ANSI styles if the stream is a terminal that supports them."""

    def __init__(self, stream: TextIO) -> None:
        refused = os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb'
        self._on = stream.isatty() and not refused

    def bold(self, text: str) -> str:
        """Return bold text."""
        return f'\033[1m{text}\033[0m' if self._on else text

    def dim(self, text: str) -> str:
        """Return dimmed text."""
        return f'\033[2m{text}\033[0m' if self._on else text


def render_table(rows: Mapping[str, Any], paint: Paint) -> str:
    """Return names and values as two columns."""
    width = max(map(len, rows), default=0)
    return '\n'.join(
        f'{paint.dim(blank_controls(name).ljust(width))}  {_render_value(value)}'
        for name, value in rows.items()
    )


def _render_value(value: Any) -> str:
    return blank_controls(value if isinstance(value, str) else dump_json(value))


def format_count(number: int, noun: str, plural: str = '') -> str:
    """Return a number with its noun: '1 memory', '2 memories'."""
    return f'{number} {noun if number == 1 else plural or noun + "s"}'


def format_moment(iso: str) -> str:
    """Return a time to the second."""
    return iso[:19].replace('T', ' ') + ' UTC'


def explain_nothing(none: str, response: Any) -> str:
    """Return the line of an answer that is empty, with the reason."""
    return f'{none} {blank_controls(response.why_empty)}' if response.why_empty else none


def render_rows(rows: Iterable[tuple[int, str, str, str]], paint: Paint) -> list[str]:
    """Return aligned lines of id, measure and text, each with a line of details."""
    rows = list(rows)
    width = max(len(str(row[0])) for row in rows)
    measure = max(len(row[1]) for row in rows)
    gap = '  ' if measure else ''
    lines = []
    for number, figure, text, about in rows:
        head = paint.bold(str(number).rjust(width))
        lines.append(f'{head}{gap}{paint.dim(figure.rjust(measure))}  {blank_controls(text)}')
        if about:
            lines.append(' ' * (width + len(gap) + measure + 2) + paint.dim(blank_controls(about)))
    return lines


def render_observed(item: Any) -> list[str]:
    """Return how often and how well a memory was observed, where that is more than once."""
    said = [] if item.simulated is None else ['simulated']
    seen = item.observed
    if seen is None:
        return said
    for kind, count, tries, successes in (
        ('', seen.count, seen.tries, seen.successes),
        ('simulated ', seen.simulated_count, seen.simulated_tries, seen.simulated_successes),
    ):
        said += [f'{kind}{count} times'] if count > 1 else []
        said += [f'{kind}{successes} of {tries} succeeded'] if tries else []
    return said


def render_linked(response: Any, paint: Paint) -> list[str]:
    """Return lines of the events that are linked to the one of an answer."""
    lines = []
    for one in response.linked or ():
        known = '' if one.memory_id is None else f'memory {one.memory_id}'
        about = [one.relation, one.kind, one.label, known, one.start, one.text]
        lines.append(f'  {blank_controls(" · ".join(filter(None, about)))}')
    if not lines:
        return []
    total = format_count(response.linked_total, 'event')
    return [paint.dim(f'linked: {len(lines)} of {total}'), *lines]
