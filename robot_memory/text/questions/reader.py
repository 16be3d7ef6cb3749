"""Read a question: what it says of time, events, bounds, order and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.aggregates import FoundAggregate
from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.choices import (
    Shifts,
    are_alternatives,
    find_choice,
    find_comparative,
    find_shifts,
)
from robot_memory.text.questions.events import (
    Mention,
    find_cues,
    find_outcome,
    is_asked_for,
    locate_quantities,
)
from robot_memory.text.questions.folding import find_separated, fold_characters
from robot_memory.text.questions.model import Order, Reading, Span, Window
from robot_memory.text.questions.order_reader import OrderReader
from robot_memory.text.questions.orders import settle_figures
from robot_memory.text.questions.question import Question
from robot_memory.text.questions.sentences import HIDDEN
from robot_memory.text.questions.superlatives import FoundOrder
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.questions.window_reader import is_inside, is_over, mask
from robot_memory.text.questions.words import list_words

_NEEDS_MORE = frozenset(('exists', 'anchor', 'count'))
"""Tables that say nothing without an event."""
_WITH_OUTCOME = frozenset(('task', 'session', 'trial'))


def read_question(text: str, now: datetime, zone: ZoneInfo) -> Reading:
    """Return what a text says, as `Question.read` does."""
    return Question.of(text).read(now, zone)


def read_sentences(
    asked: str, folded: str, signs: frozenset[str], now: datetime, zone: ZoneInfo
) -> Reading | None:
    """Return what sentences say that have some signs, None where that is nothing."""
    return _Reader(asked, folded, signs, Calendar(now, zone)).read()


_PART = compile_pattern(r'\b(?:arm|gripper|hand|wrist|base|joints?)\b|机械臂|手臂|夹爪|底盘')
"""A part of the robot moves, and has no tasks."""


class _Reader(OrderReader):
    """
    Read one question, table after table.

    `shifts` are those it names together; at `latest` it asks what the robot does or did last.
    """

    shifts: Shifts | None = None
    latest: tuple[int, int] | None = None

    def read(self) -> Reading | None:
        """Return the reading, None where nothing is said."""
        self._leave_shifts()
        self._leave_latest()
        if not (self.mentions or self.shifts or self.signs - _NEEDS_MORE):
            return None
        self.cues = self.find_cues()
        self.said = self.mask_frame()
        found = None
        if 'time' in self.signs:
            found = self.find_window(self.mask_event_times()) or (
                self.find_window(self.said) if self.said != self.folded else None
            )
        against = None
        if found is None and 'count' in self.signs:
            found, against = self.find_compared()
        anchor = self.find_anchor(found) if 'anchor' in self.signs else None
        anchored, times = None, found.spans if found else ()
        if anchor:
            anchored, found = self.place_anchor(anchor)
            times = found.spans if found else ()
        self.times = times
        window = self.widen(found.window) if found else None
        if anchor:
            self.mentions = self.leave_events(anchor.span)
            self.leave_bounds(anchor.span)
        self.mentions = self.leave_frame()
        outside = window is not None or anchored is not None or self.shifts is not None
        ordered = bool(
            'order' in self.signs or self.elapsed or self.target or self.compared or self.pair
        )
        order = self.find_order(anchor, times, window is not None) if ordered else None
        aggregate = (
            self.find_aggregate(outside or bool(self.file))
            if 'count' in self.signs or self.pair
            else None
        )
        order, aggregate = settle_figures(order, aggregate, self.said)
        each, by = self.find_each(order, aggregate, window), aggregate.group if aggregate else ()
        if each:
            times, aggregate = (*times, *by), None
        if aggregate is None and order is None:
            order, aggregate = self._choose(window)
        elif (
            aggregate and aggregate.aggregate.group and aggregate.aggregate.function != 'distinct'
        ):
            most = load_pattern('orders', 'most', 'en').search(self.said)
            many = bool(most and (most['most'] or most['han']))
            order = FoundOrder(Order('count', many, 1), (most.span(),)) if most else order
        order, of_last = self._choose_of_last(order) if aggregate is None else (order, 0)
        for span in by:
            self.mentions = [m for m in self.mentions if not is_inside(m, span)]
        says = bool(outside or self.bounds.bounds or order or aggregate or self.compared)
        strong = any(not (m.weak or m.common or m.happening) for m in self.mentions)
        definite = load_pattern('events', 'recording', 'definite').search(self.folded)
        named = strong or (definite and any(m.weak and not m.common for m in self.mentions))
        filed = load_pattern('events', 'recording', 'asked').search(self.folded) and named
        says = says or bool((self.file or filed) and self.mentions)
        seen = any(m.kinds == ('scene',) for m in self.mentions) and not self.cues.present
        says = says or bool(seen and load_pattern('events', 'instant', 'en').search(self.folded))
        says = says or self._tells_how_sessions_ended()
        held = not (anchored or aggregate or self.cues.asked or self.cues.future)
        held = held and self.asks_held(self.mentions)
        says = says or held or self.latest is not None or self.asks_ever()
        used = self.leave_unfit(self.choose_mentions(says), order.order if order else None)
        used = used or self._list_shifts()
        used = self.leave_weighed(used) if aggregate and aggregate.aggregate.quantity else used
        if window and used and all(m.kinds == ('session',) for m in used):
            ended = load_pattern('events', 'ended', 'en').search(self.folded)
            window = replace(window, granularity='second') if ended else window
        own = [] if used or self.cues.asked else self.find_own_kind(order)
        without = [m for m in self.mentions if self.is_excluded(m) and m not in used]
        statement = not (held or self.latest) and self._asks_statement(
            outside or aggregate is not None, order is not None
        )
        doing = load_pattern('events', 'doing', 'any').search(self.folded) is not None
        happening = doing or any(m.happening for m in self.mentions)
        if not (doing or anchored or any(m.kinds for m in self.mentions)):
            doing = load_pattern('events', 'doing', 'acted').search(self.folded) is not None
        vague = not (statement or happening) and all(m.weak for m in used)
        loose = vague and not (order or aggregate or anchored or self.cues.future)
        if loose:
            order, aggregate = self.find_loosely()
            says = says or bool(order and used)
            loose = bool(order or aggregate) and not used
        if not (says or loose) and (statement or not self._asks_for(used)):
            return None
        if statement and not (outside or self.bounds.bounds) and self.is_habit(used):
            return None
        if order is None and aggregate is None:
            order = self.imply_order(anchored, used, window)
        if held and self.asks_held(used):
            if window:
                window = replace(window, since=None, near=None, granularity='range', pieces=())
            order = FoundOrder(Order('time', True, 1), ())
        elif self.latest and order is None and aggregate is None:
            order = FoundOrder(Order('time', True, 1), (self.latest,))
        if (
            anchored
            and anchored.relation == 'before'
            and anchored.window
            and aggregate
            and not window
        ):
            # how many today until the stop
            window = replace(anchored.window, until=None, near=None)
        asking = mask(self.folded, [anchor.span]) if anchor else self.folded
        counted = aggregate.aggregate if aggregate else None
        grouped = counted and (counted.function, counted.group) == ('count', 'task')
        during = anchored is not None and anchored.relation == 'during'
        tasks = bool(doing and during and not _PART.search(asking))
        tasks = tasks or bool(grouped and find_outcome(asking))
        outcome = find_outcome(asking) if tasks or self._may_have_outcome(own) else None
        spans = [
            *_span((*times, *self.beside, *(against.spans if against else ())), 'window'),
            *_span(self.bounds.spans, 'bound'),
        ]
        spans += _span((anchor.span,) if anchor else (), 'anchor')
        spans += _span((self.compared.span,) if self.compared else (), 'bound')
        spans += _span((self.shifts.span,) if self.shifts else (), 'anchor')
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
            anchor=anchored,
            kinds=tuple(dict.fromkeys(kind for m in used for kind in m.kinds))
            or tuple(' '.join(own[:1]).split())
            or (('task',) if tasks else ()),
            labels=self.join_labels(used) or tuple(own[1:]),
            excluded=tuple(dict.fromkeys(label for m in without for label in m.labels)),
            bounds=self.bounds.bounds,
            order=order.order if order else None,
            aggregate=aggregate.aggregate if aggregate else None,
            outcome=outcome[0] if outcome else '',
            recording=self.text[slice(*self.file)] if self.file else '',
            asks=self._find_asked(),
            statement=statement,
            quoted=self.cues.asked,
            between=bool(anchored and anchored.to and not used and self.asks_span()),
            against=against.window if against else None,
            than=self.compared.than if self.compared else None,
            nearest=self.compared.nearest if self.compared else None,
            each=each,
            pair=self.pair.pair if self.pair else None,
            doing=doing,
            of_last=of_last,
            among=self.shifts.among if self.shifts else (),
            vague=vague,
            loose=loose,
            spans=tuple(sorted(spans, key=lambda span: (span.start, span.end))),
        )

    def _leave_shifts(self) -> None:
        """Leave the shifts that are named together out of what is read further."""
        if self.pair or self.compared:
            return
        shifts = find_shifts(self.folded)
        if shifts is None:
            return
        others = [m for m in self.mentions if not is_inside(m, shifts.span)]
        cues = find_cues(self.folded)
        if cues.asked or cues.future or not (cues.past or any(m.kinds for m in others)):
            return  # who works the early or the late shift
        self.shifts, self.mentions = shifts, others
        self.folded = mask(self.folded, [shifts.span])

    def _leave_latest(self) -> None:
        """Read what the robot does now, or did last, as its latest task."""
        match = load_pattern('events', 'doing', 'latest').search(self.folded)
        others = match and any(
            m.kinds and not is_inside(m, match.span()) and not (m.common or m.weak)
            for m in self.mentions
        )
        if match is None or others:
            return
        self.latest = match.span()
        self.folded = mask(self.folded, [self.latest])
        self.mentions = [Mention(*self.latest, False, ('task',), (), False, False, False)]

    def _list_shifts(self) -> list[Mention]:
        """Return the shifts themselves where nothing else is asked for."""
        if self.shifts is None:
            return []
        return [Mention(*self.shifts.span, True, ('session',), (), False, False, False)]

    def _choose(self, window: Window | None) -> tuple[FoundOrder | None, FoundAggregate | None]:
        """Return by what one of several days, shifts or sorts of events is asked for."""
        pieces = bool(window and window.pieces)
        sorts = not (pieces or self.shifts) and are_alternatives(self.folded, self.mentions)
        if not (pieces or self.shifts or sorts):
            return None, None
        group = 'session' if self.shifts else 'day' if pieces else 'label'
        found = find_choice(self.said, self.mentions, group)
        if found is None:
            return None, None
        counted = found.aggregate
        aggregate = FoundAggregate(counted, (found.span,), ()) if counted else None
        return FoundOrder(found.order, (found.span,)), aggregate

    def _choose_of_last(self, order: FoundOrder | None) -> tuple[FoundOrder | None, int]:
        """Return by what one of the newest is asked for, and of how many of them; else 0."""
        of_last = self.find_of_last(order)
        take = order.order.take if order and order.order.by == 'time' else None
        if of_last or order is None or not take or take < 2 or not order.order.descending:
            return order, of_last
        found = None
        if load_pattern('choices', 'choice', 'asks').search(self.said):
            found = find_comparative(mask(self.said, order.spans), self.mentions)
        if found is None:
            return order, 0
        return FoundOrder(found.order, (found.span, *order.spans)), take

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

    def _tells_how_sessions_ended(self) -> bool:
        sessions = any('session' in m.kinds for m in self.mentions)
        which = load_pattern('events', 'any', 'which').search(self.folded)
        asked = sessions and (self.cues.past or which)
        measured = load_pattern('events', 'measure', 'en').search(self.folded)
        return bool(asked and (find_outcome(self.folded) or (measured and self.cues.past)))

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
        several = load_pattern('choices', 'choice', 'several').finditer(self.folded)
        read = [(span.start, span.end) for span in spans]
        read += [one.span() for one in (*allowed, *several)]
        kinds = [span for span in spans if span.role == 'kind']
        read += [
            one
            for one in self.find_included()
            if not any(is_over((kind.start, kind.end), one) for kind in kinds)
        ]
        split = find_separated(fold_characters(self.text))
        read += [one for one in split if any(is_over(one, other) for other in read)]
        rest = mask(self.text, read, ' ')
        answered = [
            one
            for one in self.frame.sentences
            if not any(one[0] <= span.start < one[1] for span in kinds)
        ]
        rest = mask(rest, answered, ' ') if not self.frame.points_back else rest
        for span in spans:
            for name in ('tool', 'device') if span.role == 'kind' else ():
                named = load_pattern('events', name, 'named')
                found = named.search(self.folded, span.start, span.end)
                rest = f'{rest} {found[0]}' if found else rest
        rest = ' '.join(rest.replace(HIDDEN, ' ').split()).strip(' ,;:?!.。，？！、')
        return rest if list_words(rest) else ''


def _span(spans: Iterable[tuple[int, int]], role: str) -> list[Span]:
    return [Span(start, end, role) for start, end in spans]
