"""The event by which a question tells its time, and the window beside it."""

from __future__ import annotations

from dataclasses import replace

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.anchor_model import FoundAnchor, measure_distance
from robot_memory.text.questions.anchors import find_anchor, find_between_times
from robot_memory.text.questions.day_anchors import find_day_anchor, find_session_anchor
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.sentences import HIDDEN
from robot_memory.text.questions.stated_anchors import (
    find_how_long,
    find_stated_before,
    find_stated_between,
)
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.questions.window_reader import WindowReader, is_inside, mask
from robot_memory.text.questions.windows import Found, find_times
from robot_memory.text.questions.words import list_words

_SINCE = compile_pattern('自从|自打|打从|(?<=\x00)[自从]|以来')
"""What stands before an event that is told by a day: 自从11月14日标定以来."""


class AnchorReader(WindowReader):
    """Read the anchor of a question; `beside` are the times behind it that are its own."""

    beside: tuple[tuple[int, int], ...] = ()

    def find_anchor(self, window: Found | None) -> FoundAnchor | None:
        """Return the event that times are told by; of what is always done, there is none."""
        if self.cues.asked or self.cues.future:
            return None
        taken = window.spans if window else find_times(self.folded, self.calendar)
        found = (
            find_between_times(self.folded, self.mentions, self.calendar)
            or find_how_long(self.folded, self.mentions)
            or find_stated_between(self.folded, self.mentions, taken, self.frame)
            or find_day_anchor(self.folded, self.mentions, taken)
            or find_anchor(self.folded, self.mentions, taken)
            or find_stated_before(self.folded, self.mentions)
            or find_session_anchor(self.folded, self.mentions)
        )
        if found and found.anchor.words.startswith(('which ', 'what ')):
            return None  # during which shift it was
        if found and found.anchor.day:
            return found
        found = found and self._name_said(found)
        found = found and self._measure_apart(found)
        if found and load_pattern('anchors', 'days', 'summary').search(
            self.folded, 0, found.span[0]
        ):
            return None
        if found and load_pattern('anchors', 'english', 'itself').search(
            self.folded, 0, found.span[0]
        ):
            return None
        others = any(not is_inside(m, found.span) and m.kinds for m in self.mentions if found)
        times = load_pattern('anchors', 'chinese', 'times').search(self.folded)
        if found and times and not others and found.anchor.relation == 'since':
            return None  # 标定到现在一共做了几次: it is what is counted
        filed = load_pattern('events', 'recording', 'asked').search(self.folded)
        itself = found and found.anchor.relation == 'during' and not others
        inside = any(is_inside(m, found.span) for m in self.mentions) if found else False
        stood = load_pattern('anchors', 'english', 'stood')
        place = found and found.anchor.relation == 'during' and not inside
        if found and place and stood.match(found.anchor.words):
            return None  # the place is that of sessions: while you stood in the demo hall
        if found and itself and (self._is_measured(found) or (filed and found.anchor.which)):
            return None
        if found is None or found.anchor.relation == 'since' or self.cues.past:
            return found
        if found.anchor.to and self.asks_span():
            return found
        others = any(not is_inside(m, found.span) for m in self.mentions)
        return found if (others or self.cues.asking) and not self.cues.present else None

    def _name_said(self, found: FoundAnchor) -> FoundAnchor:
        """Return what somebody said by the sentence before where the anchor only points to it."""
        words = load_pattern('anchors', 'english', 'pointing').sub(' ', found.anchor.words)
        if not found.anchor.said or list_words(words) or not self.frame.start:
            return found
        opening = self.folded[: self.frame.start].strip()
        return replace(found, anchor=replace(found.anchor, words=opening))

    def _measure_apart(self, found: FoundAnchor) -> FoundAnchor:
        """Return an anchor with how far from it is said elsewhere: for the next half hour."""
        anchor = found.anchor
        if anchor.distance is not None or anchor.relation not in ('after', 'before') or anchor.to:
            return found
        name = 'later' if anchor.relation == 'after' else 'earlier'
        match = load_pattern('anchors', 'apart', name).search(mask(self.folded, [found.span]))
        if match is None:
            return found
        groups = match.groupdict()
        for number, unit in (('han', 'han_unit'), ('number2', 'unit2')):
            if groups.get(number):
                groups |= {'number': groups[number], 'unit': groups[unit]}
        self.beside = (*self.beside, match.span())
        return replace(found, anchor=replace(anchor, distance=measure_distance(groups)))

    def asks_span(self) -> bool:
        """Say whether it is asked how long it was from one event to another."""
        return load_pattern('anchors', 'days', 'span').search(self.folded) is not None

    def _is_measured(self, found: FoundAnchor) -> bool:
        """Say whether a bound is on the event itself: 失速时力矩大于70牛米的是哪次."""
        inside = [m for m in self.mentions if is_inside(m, found.span)]
        return bool(self.bounds.bounds) and any('task' not in m.kinds for m in inside)

    def place_anchor(self, found: FoundAnchor) -> tuple[Anchor, Found | None]:
        """Return the anchor with the windows of its own words, and the window beside it."""
        ends = [span for span in (found.since, found.until) if span]
        outside = self.find_window(mask(self.folded, [found.span, *ends]))
        day = found.anchor.day
        if day and not day.part and outside and outside.part:
            self.beside = outside.spans
            return replace(found.anchor, day=replace(day, part=outside.part)), None
        if ends:
            outside = self._find_end(found) or outside
        if outside and self._is_same_before(found, outside):
            self.beside = outside.spans
            return replace(found.anchor, window=outside.window), None
        if ends or found.anchor.said:
            return found.anchor, outside
        if 'time' not in self.signs:
            return found.anchor, outside
        anchors = [found.anchor, *((found.anchor.to,) if found.anchor.to else ())]
        apart = len(set(found.parts)) == len(anchors) or found.parts[0] == found.span
        for place, span in enumerate(found.parts[: len(anchors)] if apart else ()):
            only = mask(self.folded, [(0, span[0]), (span[1], len(self.folded))])
            only = _SINCE.sub(lambda match: HIDDEN * len(match[0]), only)
            inside = self.find_window(only)
            if inside:
                words = anchors[place].words
                for start, end in inside.spans:
                    for opening in (self.folded[start:end], self.folded[max(0, start - 3) : end]):
                        words = words.replace(opening.strip() or ' ', ' ')
                words = ' '.join(words.split())
                anchors[place] = replace(anchors[place], words=words, window=inside.window)
        if len(anchors) > 1 and anchors[1].words == found.anchor.words:
            anchors[1] = replace(anchors[1], words=anchors[0].words)
        end = found.span[1]
        ran = load_pattern('anchors', 'days', 'ran')
        follows = outside and any(
            begin >= end
            and (not self.folded[end:begin].strip() or ran.fullmatch(self.folded, end, begin))
            for begin, _ in outside.spans
        )
        last = len(anchors) - 1
        if outside and follows and not anchors[last].window and (not last or anchors[0].window):
            self.beside = outside.spans
            anchors[last], outside = replace(anchors[last], window=outside.window), None
        anchor = anchors[0]
        return replace(anchor, to=anchors[1]) if last else anchor, outside

    def _is_same_before(self, found: FoundAnchor, outside: Found) -> bool:
        """Say whether a time belongs to the anchor alone: 今天换工具前的那次换工具."""
        inside = {m.labels for m in self.mentions if m.labels and is_inside(m, found.span)}
        asked = {m.labels for m in self.mentions if not is_inside(m, found.span)}
        session = any('session' in m.kinds for m in self.mentions if is_inside(m, found.span))
        then = load_pattern('anchors', 'chinese', 'next').search(self.folded, found.span[1])
        follows = found.anchor.relation == 'after' and then is not None
        same = bool(inside & asked) or found.anchor.relation == 'since' or session or follows
        start = found.span[0]
        points = load_pattern('anchors', 'chinese', 'points')
        definite = load_pattern('anchors', 'chinese', 'definite')
        if any(definite.match(self.folded, end, start + 4) for _, end in outside.spans):
            return True
        return same and any(
            end <= start and points.fullmatch(self.folded, end, start) for _, end in outside.spans
        )

    def _find_end(self, found: FoundAnchor) -> Found | None:
        """Return what lies since or until the time that is the other end of an anchor."""
        start, end = found.until or found.since or (0, 0)
        only = self.folded[start:end]
        day = ''
        for span in find_times(mask(self.folded, [found.span, (start, end)]), self.calendar):
            day = day or self.folded[slice(*span)]
            self.beside = (*self.beside, span)
        named = (day and self.find_window(f'{only} {day}')) or self.find_window(only)
        named = named or self.find_window(f'{only}钟')
        if found.until and named and not named.window.near and named.part:  # until noon
            named = self.find_window(f'before {only}') or self.find_window(f'{only}前') or named
        if named is None:
            return None
        window = named.window
        since = None if found.until else window.near or window.since
        until = window.near or window.until if found.until else None
        window = replace(window, since=since, until=until, granularity='range', near=None)
        return replace(named, window=window, spans=((start, end),))
