"""Read a question: what it says of time, events, bounds, order and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from robot_memory.text.questions.aggregates import FoundAggregate, find_aggregate
from robot_memory.text.questions.anchor_model import FoundAnchor
from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.events import (
    Mention,
    find_outcome,
    is_asked_for,
    is_han,
    locate_quantities,
)
from robot_memory.text.questions.folding import correct_words, fold_characters, mend_words
from robot_memory.text.questions.mention_reader import MentionReader
from robot_memory.text.questions.model import Anchor, Order, Reading, Span, Window
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.orders import find_time_order, settle_figures
from robot_memory.text.questions.sentences import SHORT, find_question
from robot_memory.text.questions.signs import find_signs
from robot_memory.text.questions.superlatives import (
    FoundOrder,
    find_measured,
    find_own_quantity,
    find_superlative,
)
from robot_memory.text.questions.tables import load_pattern, load_table
from robot_memory.text.questions.window_reader import HIDDEN, is_inside, mask
from robot_memory.text.questions.words import list_words
from robot_memory.text.questions.zones import find_zone, show_in

LONGEST = 1000
"""Characters of a question that are read; what stands after them is left to the search."""
_NEEDS_MORE = frozenset(('exists', 'anchor', 'count'))
"""Tables that say nothing without an event."""
_LONG = ('range', 'week', 'weekend', 'month')
_WITH_OUTCOME = frozenset(('task', 'session', 'trial'))


@dataclass(frozen=True)
class Question:
    """
    Hold a text as it is read: the sentences that ask, at `pieces`, folded, their words mended.

    `moves` says where mended words are longer. No table finds anything in a text without `signs`.
    """

    text: str
    pieces: Sequence[tuple[int, int]]
    asked: str
    folded: str
    moves: Sequence[tuple[int, int]]
    signs: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Question:
        """Prepare a text; of one longer than 300 characters only the sentences that ask."""
        pieces = find_question(text, LONGEST) if len(text) > SHORT else [(0, len(text))]
        asked = HIDDEN.join(text[start:end] for start, end in pieces)
        asked, folded, moves = mend_words(asked, correct_words(fold_characters(asked)))
        return cls(text, pieces, asked, folded, moves, find_signs(folded))

    def read(self, now: datetime, zone: ZoneInfo) -> Reading:
        """
        Return what the question says, seen from `now` (aware), times in `zone`.

        A text that says nothing of time, events, bounds, order or figures gives a reading that is
        false.
        """
        reading = None
        told = find_zone(self.folded) if 'time' in self.signs else None
        if told:
            asked, folded = (mask(one, [told[1]], ' ') for one in (self.asked, self.folded))
            reading = _Reader(asked, folded, self.signs, Calendar(now, told[0])).read()
            reading = reading and show_in(reading, zone)
        elif self.signs:
            reading = _Reader(self.asked, self.folded, self.signs, Calendar(now, zone)).read()
        if reading is None:
            return Reading(self.text.strip())
        spans: Iterable[Span] = reading.spans
        if self.moves:
            spans = [_move_back(span, self.moves) for span in spans]
        first_end = self.pieces[0][1]
        if self.pieces != [(0, first_end)]:
            return replace(reading, spans=tuple(_move(span, self.pieces) for span in spans))
        unread = self.text[LONGEST:].strip() if first_end == LONGEST else ''
        return replace(reading, spans=tuple(spans), rest=f'{reading.rest} {unread}'.strip())


def prepare_question(text: str) -> Question | None:
    """Return a text as it is read; None of most texts, in which no table finds anything."""
    question = Question.of(text)
    return question if question.signs else None


def read_question(text: str, now: datetime, zone: ZoneInfo) -> Reading:
    """Return what a text says, as `Question.read` does."""
    return Question.of(text).read(now, zone)


def _move_back(span: Span, moves: Sequence[tuple[int, int]]) -> Span:
    """Return a span of a mended text as one of the text itself."""
    start, end = (
        at - next((shift for place, shift in reversed(moves) if at >= place), 0)
        for at in (span.start, span.end)
    )
    return replace(span, start=start, end=max(start, end))


def _move(span: Span, pieces: Sequence[tuple[int, int]]) -> Span:
    """Return a span of the sentences that ask as one of the whole text."""
    at = 0
    for start, end in pieces:
        if span.start < at + end - start:
            return replace(span, start=span.start - at + start, end=span.end - at + start)
        at += end - start + 1
    return span


class _Reader(MentionReader):
    """Read one question, table after table; `times` are where its times stand."""

    times: Sequence[tuple[int, int]] = ()

    def read(self) -> Reading | None:
        """Return the reading, None where nothing is said."""
        if not (self.mentions or self.signs - _NEEDS_MORE):
            return None
        self.cues = self.find_cues()
        self.said = self.mask_frame()
        found = None
        if 'time' in self.signs:
            found = self.find_window(self.mask_told()) or (
                self.find_window(self.said) if self.said != self.folded else None
            )
        against = None
        if found is None and 'count' in self.signs:
            found, against = self.find_compared()
        anchor = self.find_anchor(found) if 'anchor' in self.signs else None
        told, times = None, found.spans if found else ()
        if anchor:
            told, found = self.place_anchor(anchor)
            times = found.spans if found else ()
        self.times = times
        window = found.window if found else None
        if anchor:
            self.mentions = self.leave_told(anchor.span)
            self.leave_bounds(anchor.span)
        self.mentions = self.leave_frame()
        outside = window is not None or told is not None
        order = (
            self._find_order(anchor, times, window is not None) if 'order' in self.signs else None
        )
        aggregate = (
            self._find_aggregate(outside or bool(self.file)) if 'count' in self.signs else None
        )
        order, aggregate = settle_figures(order, aggregate)
        each, by = self._find_each(order, aggregate, window), aggregate.group if aggregate else ()
        if each:
            times, aggregate = (*times, *by), None
        if aggregate and aggregate.aggregate.group:
            most = load_pattern('orders', 'most', 'en').search(self.said)
            many = bool(most and (most['most'] or most['han']))
            order = FoundOrder(Order('count', many, 1), (most.span(),)) if most else order
        for span in by:
            self.mentions = [m for m in self.mentions if not is_inside(m, span)]
        says = bool(outside or self.bounds.bounds or order or aggregate)
        strong = any(not (m.weak or m.common or m.happening) for m in self.mentions)
        filed = load_pattern('events', 'recording', 'asked').search(self.folded) and strong
        says = says or bool((self.file or filed) and self.mentions)
        seen = any(m.kinds == ('scene',) for m in self.mentions) and not self.cues.present
        says = says or bool(seen and load_pattern('events', 'instant', 'en').search(self.folded))
        used = self.leave_unfit(self.choose_mentions(says), order.order if order else None)
        used = self.leave_weighed(used) if aggregate and aggregate.aggregate.quantity else used
        if window and used and all(m.kinds == ('session',) for m in used):
            ended = load_pattern('events', 'ended', 'en').search(self.folded)
            window = replace(window, granularity='second') if ended else window
        own = [] if used or self.cues.asked else self._find_own_kind(order)
        without = [m for m in self.mentions if self.is_excluded(m) and m not in used]
        statement = self._asks_statement(outside or aggregate is not None, order is not None)
        happening = any(m.happening for m in self.mentions)
        vague = not (statement or happening) and all(m.weak for m in used)
        loose = vague and not (order or aggregate or told or self.cues.future)
        if loose:
            order, aggregate = self._find_loosely()
            says = says or bool(order and used)
            loose = bool(order or aggregate) and not used
        if not (says or loose) and (statement or not self._asks_for(used)):
            return None
        if statement and not (outside or self.bounds.bounds) and self.is_habit(used):
            return None
        if order is None and aggregate is None:
            order = self._imply_order(told, used, window)
        if told and told.relation == 'before' and told.window and aggregate and not window:
            window = replace(told.window, until=None, near=None)  # how many today until the stop
        outcome = find_outcome(self.folded) if self._may_have_outcome(own) else None
        spans = [
            *_span((*times, *self.beside, *(against.spans if against else ())), 'window'),
            *_span(self.bounds.spans, 'bound'),
        ]
        spans += _span((anchor.span,) if anchor else (), 'anchor')
        spans += _span(order.spans if order else (), 'order')
        spans += _span(aggregate.spans if aggregate else (), 'aggregate')
        spans += _span(((m.start, m.end) for m in (*used, *without)), 'kind')
        spans += _span((self.file,) if self.file else (), 'recording')
        spans += _span((outcome[1],) if outcome else (), 'outcome')
        either = load_pattern('events', 'outcome', 'any').search(self.folded)
        spans += _span((either.span(),) if either else (), 'outcome')
        return Reading(
            rest=self._leave_rest(spans),
            window=window,
            anchor=told,
            kinds=tuple(dict.fromkeys(kind for m in used for kind in m.kinds))
            or tuple(' '.join(own[:1]).split()),
            labels=self.join_labels(used) or tuple(own[1:]),
            excluded=tuple(dict.fromkeys(label for m in without for label in m.labels)),
            bounds=self.bounds.bounds,
            order=order.order if order else None,
            aggregate=aggregate.aggregate if aggregate else None,
            outcome=outcome[0] if outcome else '',
            recording=self.text[slice(*self.file)] if self.file else '',
            asks=self._find_asked(),
            statement=statement,
            told=self.cues.asked,
            between=bool(told and told.to and not used and self.asks_span()),
            against=against.window if against else None,
            each=each,
            vague=vague,
            loose=loose,
            spans=tuple(sorted(spans, key=lambda span: (span.start, span.end))),
        )

    def _find_order(
        self, anchor: FoundAnchor | None, times: Sequence[tuple[int, int]], window: bool
    ) -> FoundOrder | None:
        taken = [*times, *((anchor.span,) if anchor else ())]
        behind = [one for one in self.frame.others if one[0] >= self.frame.start]
        order = self._find_order_in(mask(self.said, [*taken, *behind]), anchor, window)
        return order or self._find_order_in(mask(self.said, taken), anchor, window)

    def _find_order_in(
        self, folded: str, anchor: FoundAnchor | None, window: bool
    ) -> FoundOrder | None:
        named = any(not m.happening for m in self.mentions)
        habit = self.cues.present and not named
        highest = find_superlative(folded, self.mentions)
        found = find_time_order(folded, self.mentions)
        one = found is not None and found.order.take == 1 and not found.weak
        if highest and (named or window or not highest.weak) and not habit:
            return found if one and highest.weak else highest
        measured = find_measured(folded, self.mentions) if found is None else None
        strong = any(not (m.weak or m.happening) for m in self.mentions)
        if measured and (window or strong or (named and self.cues.past)) and not habit:
            return measured
        if found is None or (found.weak and not (named or window or anchor)):
            return None
        return None if habit and not self.cues.past else found

    def _find_own_kind(self, order: FoundOrder | None) -> list[str]:
        """Return the kind and label of what alone has the quantity that is asked for."""
        quantity = order.order.by if order else ''
        quantity = next((one.quantity for one in self.bounds.bounds), quantity)
        known: dict[str, list[str]] = load_table('orders')['own_kind']
        return known.get(quantity, [])

    def _find_each(
        self,
        order: FoundOrder | None,
        aggregate: FoundAggregate | None,
        window: Window | None,
    ) -> str:
        """Return of each of what the first is asked for: the hardest push of each day."""
        each = load_pattern('orders', 'each', 'any').search(self.said)
        counted = aggregate and not set(aggregate.spans) <= set(aggregate.group)
        if order is None or not each or counted:
            return ''
        group = aggregate.aggregate.group if aggregate else ''
        days = load_pattern('orders', 'each', 'days').search(self.folded)
        listed = window and (window.pieces or (days and window.granularity in _LONG))
        return group or ('day' if listed else '')

    def _find_loosely(self) -> tuple[FoundOrder | None, FoundAggregate | None]:
        """Return an order or a count of what only its meaning names: the last thermal trip."""
        if self._is_always() or not self.signs.intersection(('order', 'count')):
            return None, None
        aggregate = find_aggregate(mask(self.said, self.times))
        if aggregate and aggregate.aggregate.function == 'count' and self.cues.past:
            return None, aggregate
        order = find_time_order(mask(self.said, self.times), self.mentions)
        if order is None and (match := load_pattern('orders', 'loose', 'any').search(self.said)):
            newest = bool(match['newest'] or match['han'])
            order = FoundOrder(Order('time', newest, 1), (match.span(),))
        return order, None

    def _imply_order(
        self, told: Anchor | None, used: Sequence[Mention], window: Window | None
    ) -> FoundOrder | None:
        """Return the order that goes without saying: nearest to the anchor, the latest stop."""
        if told and told.relation in ('before', 'after'):
            return FoundOrder(Order('time', told.relation == 'before', self._count(used)), ())
        filed = load_pattern('events', 'recording', 'asked').search(self.folded)
        why = used and window is None and (self.asks_why() or filed)
        return FoundOrder(Order('time', True), ()) if why else None

    def _count(self, used: Sequence[Mention]) -> int | None:
        """Return how many of the first event are asked for: the three contacts before ..."""
        if not used:
            return None
        counted = load_pattern('orders', 'counted', 'en')
        match = counted.search(self.folded, max(0, used[0].start - 30), used[0].start)
        return int(parse_number(match['count'])) or None if match else None

    def _find_aggregate(self, dated: bool) -> FoundAggregate | None:
        """Return a figure over events; of a count it must be said what is counted."""
        if self.cues.asked or self.cues.future:
            return None
        found = find_aggregate(
            mask(self.said, (*self.bounds.spans, *self.times)), find_own_quantity(self.mentions)
        )
        han = is_han(self.folded) and not self.cues.past
        weak = self.mentions and not dated and all(m.weak for m in self.mentions)
        if weak and (han or self._is_always()):
            return None  # how many boxes a pallet takes
        if not (self.cues.past or dated) and load_pattern('orders', 'others', 'en').search(
            self.said
        ):
            return None
        if found and any(
            b.figure and b.quantity == found.aggregate.quantity for b in self.bounds.bounds
        ):
            return None  # 'contacts with a mean force over 5 N'
        if found is None or self.file or any(not m.happening or m.plural for m in self.mentions):
            return found
        strong = any(not (m.weak or m.happening) for m in self.mentions)
        spread = found.aggregate.function in ('mean', 'median', 'std') and strong
        return found if found.aggregate.quantity and (dated or spread) else None

    def _is_always(self) -> bool:
        """Say whether it is asked how things always are, and of nothing that has been."""
        return self.cues.present and (is_han(self.folded) or not self.cues.past)

    def _asks_statement(self, outside: bool, ordered: bool) -> bool:
        """Say whether a rule, a fact or what somebody said is asked for, and no event."""
        cues, strong = self.cues, any(not (m.weak or m.happening) for m in self.mentions)
        if cues.asked or (cues.future and not outside):
            return True
        if outside or (ordered and (strong or cues.past)):
            return False
        if cues.present and not cues.past:
            return True
        any_of = load_pattern('events', 'any', 'en').search(self.folded)
        return bool(self.bounds.bounds) and not (strong or cues.past or any_of)

    def _asks_for(self, used: Sequence[Mention]) -> bool:
        """Say whether events are asked for by their kind alone."""
        if self.cues.present or self.cues.future or not used:
            return False
        if self.asks_why() and not used[0].common:
            return True
        if any(m.happening for m in self.mentions):
            return True
        if self.cues.past and any(not (m.weak or m.common) for m in used):
            return True
        return any(is_asked_for(self.folded, one) for one in used)

    def _may_have_outcome(self, own: Sequence[str]) -> bool:
        return 'task' in own or any(
            kind in _WITH_OUTCOME for m in self.mentions for kind in m.kinds
        )

    def _find_asked(self) -> str:
        if load_pattern('events', 'instant', 'en').search(self.folded):
            return 'instant'
        match = load_pattern('events', 'measure', 'en').search(self.folded)
        return next(iter(locate_quantities(match[0])), '') if match else ''

    def _leave_rest(self, spans: Sequence[Span]) -> str:
        """Return the text without what was read; empty where only stop words are left."""
        allowed = load_pattern('events', 'allowed', 'en').finditer(self.folded)
        read = [*((span.start, span.end) for span in spans), *(one.span() for one in allowed)]
        rest = mask(self.text, read, ' ')
        rest = mask(rest, self.frame.sentences, ' ') if not self.frame.points_back else rest
        for span in spans:
            for name in ('tool', 'device') if span.role == 'kind' else ():
                named = load_pattern('events', name, 'named')
                found = named.search(self.folded, span.start, span.end)
                rest = f'{rest} {found[0]}' if found else rest
        rest = ' '.join(rest.replace(HIDDEN, ' ').split()).strip(' ,;:?!.。，？！、')
        return rest if list_words(rest) else ''


def _span(spans: Iterable[tuple[int, int]], role: str) -> list[Span]:
    return [Span(start, end, role) for start, end in spans]
