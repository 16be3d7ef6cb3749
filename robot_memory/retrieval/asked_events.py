"""The events that a question asks for: its reading, answered from the table of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.memory import Memory
from robot_memory.retrieval.anchored_events import intersect
from robot_memory.retrieval.asked import ReadQuery
from robot_memory.retrieval.compared_events import ComparedEvents, measure_window
from robot_memory.retrieval.event_views import FigureView
from robot_memory.retrieval.events import aggregate_events, choose_zone
from robot_memory.retrieval.matching import choose_way
from robot_memory.retrieval.named_events import POOL, choose_best
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes import surveys
from robot_memory.storage.indexes.filters import active_in
from robot_memory.storage.tables.events import SUCCESS
from robot_memory.text.questions.model import Reading, Window
from robot_memory.text.questions.words import Alternatives, find_others, list_words

_MOST_FAULTS = 3
_RATED = frozenset(('task', 'session', 'trial'))
"""Kinds of which a share is one of success or failure, and of others one of their kind."""
_DOINGS = ('task', 'session')
_FUNCTIONS = {'count': 'count', 'rate': 'count', 'mean': 'mean', 'sum': 'sum'}
_FUNCTIONS |= {'median': 'median', 'std': 'std'}


@dataclass(frozen=True)
class AskedFigure:
    """A figure over events: its name says of what, `event_ids` which it rests on (the first)."""

    view: FigureView
    event_ids: tuple[int, ...]


@dataclass(frozen=True)
class AskedEvents:
    """
    Hold what a reading brings.

    `events` pass it, in its order. `figure` is the aggregate that is asked for. With `no_match`
    nothing passes. `unread` are the words of the question that neither the reading nor the first
    event has. With `statement` a rule, a fact or what somebody said is rather asked for, `dated`
    says that a time, an order or a figure is named. `faults` are those of the window that is asked
    for, the newest first, where nothing passes. `read_as` says where nothing at all is stored of
    the window.
    """

    read_as: str
    events: Sequence[EventRow] = ()
    figure: AskedFigure | None = None
    no_match: bool = False
    unread: Sequence[Alternatives] = ()
    statement: bool = False
    dated: bool = False
    faults: Sequence[EventRow] = ()

    @property
    def memory_ids(self) -> list[int]:
        """Return the ids of the events' memories, once each, in their order."""
        ids = (one.memory_id for one in self.events if one.memory_id is not None)
        return list(dict.fromkeys(ids))


def find_asked_events(
    memory: Memory, read: ReadQuery, collection: str, session_id: str | None, limit: int
) -> AskedEvents | None:
    """
    Return the events that a query asks for; None where it means none.

    A question for a statement (a rule, what somebody said) restricts nothing.
    """
    zone, now, reading = choose_zone(memory), read.now, read.reading
    search = _Search(memory, collection, session_id, zone, now)
    if reading.statement and (reading.quoted or not reading.kinds):
        return search.note_nothing(reading, AskedEvents(reading.describe()))
    meant = search.add_meaning(reading, read.text)
    if meant is None:
        return None
    reading = meant
    try:
        found = search.answer(reading, limit, read.text)
    except InvalidArgument:  # what was read does not fit the figures that there are
        found = AskedEvents(reading.describe(), no_match=True)
    if not found.events:
        found = search.note_nothing(reading, found)
    if reading.statement and not found.events:
        return AskedEvents(found.read_as)
    if found.no_match and reading.window and not reading.statement:
        where = {'collection': collection, 'kind': 'fault'}
        faults = search.list_events(where, reading.window, 'onset', True, _MOST_FAULTS)
        found = replace(found, faults=faults)
    ordered = any(span.role == 'order' for span in reading.spans)
    dated = bool(reading.window or reading.aggregate or ordered)
    return replace(found, statement=reading.statement, dated=dated)


class _Search(ComparedEvents):
    """Answer readings."""

    def answer(self, reading: Reading, limit: int, question: str) -> AskedEvents:
        """Return the events and the figure that a reading of a question asks for."""
        read_as = reading.describe()
        reading = self.add_labels(reading)
        window, where = reading.window, self.make_where(reading)
        placed = None
        if reading.anchor is not None and reading.anchor.which == 0:
            tasks = self.find_labels(self.read_anchor(reading.anchor).labels)
            where = None if where is None else {**where, 'task': {'$in': tasks}}
        elif reading.anchor is not None:
            placed = self.place_anchor(reading.anchor, window)
            if placed is None:
                return AskedEvents(read_as, no_match=True)
            window = intersect(window, placed.window)
            if reading.between:
                found = self.list_by_ids(placed.event_ids)
                span = measure_window(placed.window)
                figure = None if span is None else AskedFigure(span, placed.event_ids)
                return AskedEvents(read_as, found, figure)
        if reading.pair is not None and reading.order is not None:
            chosen, gap = self.choose_of_pair(reading.pair, reading.order)
            ids = tuple(one.id for one in chosen)
            figure = AskedFigure(gap, ids) if gap and reading.aggregate else None
            return AskedEvents(read_as, chosen[:limit], figure, no_match=not chosen)
        if where is not None and reading.among:
            among = self.find_shifts(reading.among, window)
            where, window = {**where, 'session_id': {'$in': among}}, None
        if where is not None and reading.than is not None:
            where = self.compare_with(reading.than, where, reading)
        if where is None:
            return AskedEvents(read_as, no_match=True)
        if reading.of_last:
            last = self.list_events(where, window, 'onset', True, reading.of_last)
            where = {**where, 'event_id': {'$in': [one.id for one in last] or [0]}}
        words = list_words(reading.rest)
        places = self.words.find_sessions(words) if words and not self.session_id else []
        placed_by = [one for one in words if self.words.find_sessions([one])] if places else []
        if places:
            where = {**where, 'session_id': {'$in': places}}
        order, descending = self._choose_order(reading)
        if order is None:
            return AskedEvents(read_as, no_match=True)
        skip = reading.order.skip if reading.order is not None else 0
        wanted = min(limit, reading.take or limit)
        near = window.near if window is not None and reading.order is None else None
        most = POOL
        if not (words or reading.aggregate or near):
            most = min(POOL, skip + wanted + (len(placed.event_ids) if placed else 0))
        if reading.nearest is not None:
            found = self.list_nearest(where, window, reading.nearest, most)
        elif reading.order is not None and reading.order.near is not None:
            found = self.list_closest(where, window, order, reading.order, most)
        else:
            found = self.list_events(where, window, order, descending, most)
        if placed is not None and reading.anchor is not None:
            if not found and self._is_next(reading):
                window = placed.window
                found = self.list_events(where, window, order, descending, most)
            others = [one for one in found if one.id not in placed.event_ids]
            if not others and reading.anchor.relation == 'during':
                at_once = replace(placed.window, granularity='second')
                found = self.list_events(where, at_once, order, descending, most)
                others = [one for one in found if one.id not in placed.event_ids]
            found = others
        if reading.each:
            count = reading.take or 1
            firsts = self.list_firsts(reading.each, count, where, window, (order, descending))
            return AskedEvents(read_as, firsts[:limit], no_match=not firsts)
        if window is not None and window.pieces:  # what is counted is of these alone
            where = {**where, 'event_id': {'$in': [one.id for one in found] or [0]}}
        found = self._compare_words(reading, words, found)
        if reading.doing and placed is None and not (reading.kinds or reading.order):
            found.sort(key=lambda one: one.names['kind'] not in _DOINGS)
        if words and 'tool change' in reading.labels:
            found = choose_way(question, words, found)
        elif self._is_elsewhere(reading, words, where, found) or self._is_another(words, found):
            found = []
        figure = None
        if reading.aggregate is not None and reading.order and reading.order.by == 'count':
            top = self.find_top_group(reading, where, window, found)
            if top is not None:
                found = top[1]
                figure = AskedFigure(top[0], tuple(one.id for one in found))
        elif reading.aggregate is not None:
            figure = self._aggregate(reading, where, window, found)
        if figure is None and reading.against is not None:
            ids = tuple(one.id for one in found)
            figure = AskedFigure(self.compare_windows(reading, where, window), ids)
        if near is not None:
            instant = near.timestamp() * 1e9
            found = sorted(found, key=lambda one: abs(one.onset - instant))
        taken = found[skip : skip + wanted]
        if reading.order is not None and reading.order.turned:
            taken = taken[::-1]
        counts = [self.words.count_each([one], taken[:1]) for one in words]
        unread = [
            one
            for one, count in zip(words, counts, strict=True)
            if not count and one not in placed_by
        ]
        none = not found and figure is None
        return AskedEvents(read_as, taken, figure, no_match=none, unread=unread)

    def note_nothing(self, reading: Reading, asked: AskedEvents) -> AskedEvents:
        """Return what a reading brings, with a note if nothing at all is stored of its window."""
        window = reading.window
        if window is None or self._has_any(window):
            return asked
        none = f'nothing is stored of {window.describe()}'
        return replace(asked, read_as=f'{asked.read_as}; {none}')

    def _has_any(self, window: Window) -> bool:
        """Say whether anything is stored of a window: events, or memories of any kind."""
        where = {'collection': self.collection}
        where |= {'session_id': self.session_id} if self.session_id else {}
        if self.list_events(where, window, 'onset', True, 1):
            return True
        spans = [self.ask(where, one) for one in window.pieces or (window,)]
        scope, session_id = active_in(self.collection), self.session_id or None
        with self.memory.db.read() as connection:
            return any(
                surveys.has_occurred(connection, scope, one.since, one.until, session_id)
                for one in spans
            )

    def _is_next(self, reading: Reading) -> bool:
        """
        Say whether the next after an event is asked for, or the last before it.

        There is one, so where none is in the window beside it the window tells of the event: the
        next fault after the stop on Friday.
        """
        order, bounding = reading.order, reading.anchor
        sides = {'after': False, 'since': False, 'before': True}
        return (
            order is not None
            and bounding is not None
            and order.by == 'time'
            and order.take == 1
            and sides.get(bounding.relation) is order.descending
            and any(span.role == 'order' for span in reading.spans)
        )

    def _choose_order(self, reading: Reading) -> tuple[str | None, bool]:
        """Return by what the events are ordered; None where no event has that figure."""
        order = reading.order
        if order is None:
            bounding = reading.anchor
            follows = bounding is not None and bounding.relation in ('since', 'after', 'between')
            return 'onset', not follows
        if order.by in ('time', 'count'):
            return 'onset', order.by == 'count' or order.descending
        return self.find_figure(order.by, order.figure, reading), order.descending

    def _compare_words(
        self, reading: Reading, words: Sequence[Alternatives], found: list[EventRow]
    ) -> list[EventRow]:
        """Return the events whose words have most of the rest of a question."""
        counts = self.words.count_each(words, found)
        if not counts:
            return found
        if reading.order is None and reading.aggregate is None:
            ranked = sorted(range(len(found)), key=lambda place: -counts[place])
            return [found[place] for place in ranked]
        return choose_best(found, counts)

    def _is_elsewhere(
        self,
        reading: Reading,
        words: Sequence[Alternatives],
        where: dict[str, Any],
        found: list[EventRow],
    ) -> bool:
        """Say whether what is asked for is known, but not of the time that is asked for."""
        counted = reading.aggregate is None or reading.aggregate.function == 'count'
        timed = reading.window or reading.anchor
        if not (counted and words and reading.labels and timed) or reading.order is not None:
            return False
        if not found or self.words.count_each(words, found):
            return False
        others = self.list_events(where, None, 'onset', True, POOL)
        return bool(self.words.count_each(words, others))

    def _is_another(self, words: Sequence[Alternatives], found: list[EventRow]) -> bool:
        """Say whether all events are of others than what is asked for: of no joint 5, not pink."""
        return any(
            bool(others := find_others(one))
            and not self.words.count_each([one], found)
            and any(self.words.count_each([other], found) for other in others)
            for one in words
        )

    def _aggregate(
        self,
        reading: Reading,
        where: dict[str, Any],
        window: Window | None,
        found: list[EventRow],
    ) -> AskedFigure | None:
        asked = reading.aggregate
        assert asked is not None
        ids = tuple(one.id for one in found)
        if asked.function == 'share':
            if not found:
                return None
            if reading.labels and _RATED.isdisjoint(reading.kinds):
                return self._share_labels(where, window, found)
            wanted = float(reading.outcome != 'failure')
            right = sum(_get_figure(one, SUCCESS) == wanted for one in found)
            return AskedFigure(FigureView('share', right / len(found), ''), ids)
        if asked.function == 'distinct':
            if reading.excluded:
                return None
            return AskedFigure(self.count_groups(asked.group, where, window, found), ids)
        name = ''
        if asked.quantity:
            figure = self.find_figure(asked.quantity, '', reading)
            if figure is None:
                return None
            name = figure
        if len(found) < POOL and reading.rest:
            where = {**where, 'event_id': {'$in': list(ids) or [0]}}
        function = _FUNCTIONS[asked.function]
        question = self.ask(where, window)
        groups = aggregate_events(self.memory, question, [function], name, '', 10)
        total = groups.groups[0] if groups.groups else None
        if asked.function == 'rate':
            parts = self.count_groups(asked.group, where, window, found).value
            mean = total.count / parts if total and parts else 0.0
            return AskedFigure(
                FigureView(f'mean count of {parts:g} {asked.group}s', mean, ''), ids
            )
        if function == 'count':
            return AskedFigure(FigureView('count', float(total.count if total else 0), ''), ids)
        if total is None or function not in total.values:
            return None
        words = f'{function} of {name.partition(" [")[0]}'
        return AskedFigure(FigureView(words, total.values[function], groups.unit), ids)

    def _share_labels(
        self, where: dict[str, Any], window: Window | None, found: list[EventRow]
    ) -> AskedFigure | None:
        """Return which share of all events of their kind has the labels: of contacts, pushes."""
        every = {name: one for name, one in where.items() if name != 'label'}
        every['kind'] = {'$in': sorted({one.names['kind'] or '' for one in found})}
        counts = [
            aggregate_events(self.memory, self.ask(one, window), ['count'], '', '', 1).groups
            for one in (where, every)
        ]
        some, whole = (groups[0].count if groups else 0 for groups in counts)
        if not whole:
            return None
        return AskedFigure(FigureView('share', some / whole, ''), tuple(one.id for one in found))


def _get_figure(event: EventRow, name: str) -> float | None:
    return next((value for figure, value, _ in event.figures if figure == name), None)
