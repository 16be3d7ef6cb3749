"""A span of time: a lane for each kind of memory, all on one time line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.plot.curves import Curves, curves_of, limits, peaking, thinned
from robot_memory.plot.drawn import Drawn, instant_words, is_simulated, length_words, span_words
from robot_memory.plot.frame import BELOW, EDGE, LEFT, Head, clock_axis, footer, seconds_axis
from robot_memory.plot.page import EXTENT, EXTENT_EDGE, INK, PEAK, QUIET, Page, Panel, figures
from robot_memory.plot.strip import LEADER, Strip
from robot_memory.plot.words import lines_of, width_of

TALL, LOW = 112, 30
BETWEEN = 34
HEADROOM = 0.15
THUMBNAIL = 84
LEAST_TITLE = 90
LEAST_CLOCK_S = 10.0


@dataclass(frozen=True)
class Shown:
    """Hold a memory, its onset, peak and end in s on the time line, and the curves that peak."""

    event: Drawn
    moments: tuple[float, float, float]
    curves: Curves | None


def draw_many(events: Sequence[Drawn], width: int) -> bytes:
    """Return the PNG of the memories in a span of time."""
    ordered = sorted(events, key=lambda event: (event.stamp_ns, event.memory_id))
    zero = ordered[0].stamp_ns
    first = (min(event.span_ns[0] for event in ordered) - zero) / 1e9
    last = (max(event.span_ns[1] for event in ordered) - zero) / 1e9
    air = 0.01 * (last - first) or 0.5
    lanes: dict[tuple[str, str | None], list[Shown]] = {}
    for event in ordered:
        shown = _shown(event, zero)
        unit = shown.curves.unit if shown.curves else None
        lanes.setdefault((event.kind, unit), []).append(shown)
    pictures = [picture for event in ordered for picture in event.pictures]
    strip = Strip.of(pictures, width - EDGE - LEFT, THUMBNAIL)
    head = Head(f'{len(ordered)} memories', _facts(ordered), width)
    top = head.height + 30 + (strip.height + LEADER if strip.thumbnails else 0)
    panels = []
    for members in lanes.values():
        sizes = [shown.curves.size for shown in members if shown.curves]
        bottom = top + (TALL if sizes else LOW)
        low, high = limits(sizes, True) if sizes else (0.0, 1.0)
        values = (low, high + HEADROOM * (high - low))
        panels.append(Panel(LEFT, top, width - EDGE, bottom, (first - air, last + air), values))
        top = bottom + BETWEEN
    page = Page(width, round(panels[-1].bottom) + BELOW)
    head.draw(page)
    strip.draw(page, panels[0], zero)
    for (names, members), panel in zip(lanes.items(), panels, strict=True):
        page.text(EDGE, panel.top - 10, ', '.join(filter(None, names)), 9, QUIET)
        (_bars if names[1] is None else _signals)(page, panel, members)
    if is_simulated(zero) or last - first < LEAST_CLOCK_S:
        seconds_axis(page, panels[-1])
        footer(page, f'0 s: {instant_words(zero)}', strip.note)
    else:
        clock_axis(page, panels[-1], zero)
        footer(page, 'UTC', strip.note)
    return page.png()


def _shown(event: Drawn, zero_ns: int) -> Shown:
    begin, peak, end = (
        (stamp - zero_ns) / 1e9 for stamp in (event.stamp_ns, event.peak_ns, event.end_ns)
    )
    found = curves_of(event.signal, zero_ns, event.baseline)
    curves = peaking(found, begin, peak, end) if found else None
    return Shown(event, (begin, peak, end), curves)


def _facts(ordered: Sequence[Drawn]) -> list[str]:
    first, last = ordered[0].stamp_ns, max(event.end_ns for event in ordered)
    kinds = Counter(event.kind for event in ordered)
    words = [span_words(first, last), f'{length_words((last - first) / 1e9)} long']
    return [*words, *(f'{number} {kind}' for kind, number in kinds.items())]


def _signals(page: Page, panel: Panel, members: Sequence[Shown]) -> None:
    """Draw the size of each signal over its extent, and name the highest peaks that have room."""
    page.scale(panel, 3)
    marks = []
    for shown in members:
        assert shown.curves is not None
        begin, peak, end = shown.moments
        page.shade(panel.x(begin), panel.top, panel.x(end), panel.bottom, EXTENT)
        page.shade(panel.x(begin), panel.bottom - 3, panel.x(end), panel.bottom, EXTENT_EDGE)
        curves = shown.curves
        across = panel.x(float(curves.seconds[-1])) - panel.x(float(curves.seconds[0]))
        times, sizes = thinned(curves.seconds, curves.size, max(2, round(across)))
        page.curve(panel.x(times), panel.y(sizes), INK, 1.0)
        row = curves.nearest(peak)
        size = float(curves.size[row])
        words = f'#{shown.event.memory_id}  {figures(size, curves.unit)}'
        marks.append((size, float(curves.seconds[row]), words))
    _name_peaks(page, panel, marks)


def _name_peaks(page: Page, panel: Panel, marks: Sequence[tuple[float, float, str]]) -> None:
    """Mark peaks (size, time, words), and name each that no higher one stands too near to."""
    taken: list[tuple[float, float]] = []
    for size, seconds, words in sorted(marks, key=lambda mark: -mark[0]):
        x, y, wide = panel.x(seconds), panel.y(size), width_of(words, 7)
        page.dot(x, y, 4.5)
        begin, end = x, x
        left = min(max(x - wide / 2, panel.left), panel.right - wide)
        if all(left + wide + 6 < own or other < left - 6 for own, other in taken):
            page.text(left, y - 7, words, 7, PEAK)
            begin, end = left, left + wide
        taken.append((begin, end))


def _bars(page: Page, panel: Panel, members: Sequence[Shown]) -> None:
    """Draw what has no signal as bars, each with as much of its title as has room after it."""
    starts = [panel.x(shown.moments[0]) for shown in members]
    for shown, x, following in zip(members, starts, [*starts[1:], panel.right], strict=True):
        end = max(panel.x(shown.moments[2]), x + 3)
        page.shade(x, panel.top, end, panel.bottom, EXTENT_EDGE)
        name, room = f'#{shown.event.memory_id}', following - end - 14
        if room > LEAST_TITLE:
            name = ''.join(lines_of(f'{name}  {shown.event.title}', 8, room, 1))
        if width_of(name, 8) <= room:
            page.text(end + 7, panel.bottom - LOW / 2 + 4, name, 8)
