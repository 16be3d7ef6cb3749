"""What a question is about, and the window of time that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.anchors import find_anchor
from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.comparisons import find_comparison, find_nearest, find_pair
from robot_memory.text.questions.events import Cues, Mention, find_cues, find_mentions
from robot_memory.text.questions.figures import NO_BOUNDS, find_bounds, find_target
from robot_memory.text.questions.framing import NO_FRAME, find_frame
from robot_memory.text.questions.model import Window
from robot_memory.text.questions.sentences import HIDDEN
from robot_memory.text.questions.superlatives import find_superlative
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.questions.windows import Found, find_times, find_window

_LETTER = compile_pattern(r'[^\W\d_]')
_FROM_CLOCK = compile_pattern('[离距跟与和近](?=[0-2]?\\d(?::|点))')
"""What stands before the time of day that something is nearest to: 离14:30最近的."""


class WindowReader:
    """
    Hold a question, what it is about, and read its window; `cues` are set by who reads.

    `beside_clock` says that what is nearest to a time of day is asked for.
    """

    cues: Cues
    beside_clock: bool = False

    def __init__(self, text: str, folded: str, signs: frozenset[str], calendar: Calendar) -> None:
        """Find what the question is about; `read` decides what counts."""
        self.text = text
        self.signs = signs
        self.calendar = calendar
        file = load_pattern('events', 'recording', 'en').search(folded)
        self.file = file.span() if file else None
        folded = mask(folded, [self.file]) if self.file else folded
        self.formal = load_pattern('signs', 'formal', 'any').search(folded) is not None
        if self.formal:
            folded = load_pattern('signs', 'formal', 'marks').sub(' ', folded)
        self.folded = folded.replace('_', ' ')
        self.folded = _leave_corrected(self.folded, calendar)
        past = load_pattern('anchors', 'elapsed', 'any').search(self.folded)
        self.elapsed = past.span() if past else None
        self.folded = mask(self.folded, [self.elapsed]) if self.elapsed else self.folded
        self.target = find_target(self.folded) if 'number' in signs else None
        self.folded = mask(self.folded, [self.target.span]) if self.target else self.folded
        self.bounds = (
            find_bounds(self.folded, text, formal=self.formal) if 'number' in signs else NO_BOUNDS
        )
        self.mentions = find_mentions(self.folded, self.bounds.spans)
        asked = (self.folded, self.mentions, calendar)
        self.compared = None
        self.pair = find_pair(*asked)
        if self.pair:
            self.folded = mask(self.folded, [self.pair.span])
            self.bounds = NO_BOUNDS
        elif compared := find_comparison(*asked) or find_nearest(*asked):
            self.compared = compared
            self.folded = mask(self.folded, [self.compared.span])
            outside = [m for m in self.mentions if m not in self.compared.mentions]
            self.mentions = outside if any(m.kinds for m in outside) else self.mentions
        self.frame = NO_FRAME if self.formal else find_frame(self.folded, self.mentions)
        if self.frame.asides:
            asides = self.frame.asides
            self.mentions = [m for m in self.mentions if not any(is_inside(m, a) for a in asides)]
            self.folded = mask(self.folded, asides)

    def leave_bounds(self, span: tuple[int, int]) -> None:
        """Leave the bounds in a span to the event that it names."""
        if any(is_over(one, span) for one in self.bounds.spans):
            folded = mask(self.folded, [span])
            self.bounds = find_bounds(folded, self.text, formal=self.formal)

    def find_cues(self) -> Cues:
        """Return what the words show; a clause of what somebody said shows nothing."""
        if self.formal:
            return Cues(False, False, False, False, True, True)
        asked = mask(self.folded, self.frame.others)
        cues, found = find_cues(asked), None
        named_before = any(one.start < self.frame.start and one.kinds for one in self.mentions)
        if named_before or not (cues.present or cues.asked or cues.hinted or cues.future):
            bare = load_pattern('signs', 'preamble', 'bare')
            past = named_before and bare.match(self.folded[self.frame.start :]) is not None
            cues = replace(cues, past=cues.past or past or find_cues(self.folded).past)
        if 'anchor' in self.signs and cues.asked:
            found = find_anchor(self.folded, self.mentions, ())
        if found and found.anchor.said:
            cues = find_cues(mask(asked, [found.span]))
        strong = any(not (m.weak or m.happening) for m in self.mentions)
        says = cues.past or not self.signs.isdisjoint(('order', 'count', 'time'))
        return replace(cues, asked=True) if cues.hinted and not (strong and says) else cues

    def find_window(self, folded: str) -> Found | None:
        """Return the window of a text, if what is asked for has been."""
        masked = mask(folded, self.bounds.spans)
        if ' to ' in masked or '最' in masked:
            masked = _place_clock(masked)
        found = find_window(masked, self.calendar)
        if found is None:
            return None
        if found.support and not (self.mentions or find_superlative(self.folded, ())):
            return None
        cues, strong = self.cues, any(not m.weak for m in self.mentions)
        if found.past or (cues.past and not (cues.future and not strong)):
            return found
        events = any(not (m.weak or m.common or m.happening) for m in self.mentions)
        if cues.future:
            return None
        if 'count' in self.signs and (found.dated or self.mentions):
            return found
        if cues.present and not events:
            return None
        if self.bounds.bounds:
            return found
        alone = not _LETTER.search(mask(masked, found.spans))
        asked = cues.asking and (found.dated or found.window.granularity == 'range')
        if asked or found.support or self.mentions or self.target or alone:
            return found
        return found if 'order' in self.signs and find_superlative(folded, ()) else None

    def widen(self, window: Window) -> Window:
        """Return the day of a time that what is asked for is nearest to, and not its minutes."""
        near = load_pattern('comparisons', 'nearest', 'time').search(self.folded)
        if window.near is None or near is None:
            return window
        self.beside_clock = True
        start = datetime.combine(window.near.astimezone(window.zone), time(), window.zone)
        return replace(window, since=start, until=start + timedelta(days=1))

    def find_compared(self) -> tuple[Found | None, Found | None]:
        """Return the window of a question, and the one it is compared with: than yesterday."""
        match = load_pattern('times', 'around', 'than').search(self.folded)
        if not match:
            return None, None
        span = match.span('than' if match['than'] else 'than2')
        blank = [(0, span[0]), (span[1], len(self.folded))]
        other = find_window(mask(self.folded, blank, ' '), self.calendar)
        found = self.find_window(mask(self.folded, [span]))
        if found is None or other is None:
            return None, None
        return found, replace(other, spans=(span,))


def _leave_corrected(folded: str, calendar: Calendar) -> str:
    """Return a text without the times that are taken back: yesterday, no, on Monday."""
    corrected = load_pattern('times', 'around', 'corrected')
    if not corrected.search(folded):
        return folded
    for start, end in find_times(folded, calendar, every=True):
        match = corrected.match(folded, end)
        if match and find_times(folded[match.end() :], calendar, every=True):
            folded = mask(folded, [(start, match.end())])
    return folded


def _place_clock(folded: str) -> str:
    """Return a text in which the time that something is nearest to is told as any other is."""
    nearest = load_pattern('comparisons', 'nearest', 'time').search(folded)
    if nearest is None:
        return folded
    if nearest['han']:
        return _FROM_CLOCK.sub('在', folded)
    return f'{folded[: nearest.end() - 2]}at{folded[nearest.end() :]}'


def mask(text: str, spans: Sequence[tuple[int, int]], by: str = HIDDEN) -> str:
    """Return the text with spans replaced, as long as it was."""
    for start, end in spans:
        text = text[:start] + by * (end - start) + text[end:]
    return text


def is_over(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Say whether two spans share anything."""
    return one[0] < other[1] and other[0] < one[1]


def is_inside(mention: Mention, span: tuple[int, int]) -> bool:
    """Say whether a mention begins inside a span."""
    return span[0] <= mention.start < span[1]
