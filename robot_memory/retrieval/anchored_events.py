"""The windows that events bound: since the tool change, between two grip losses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.zones import to_local
from robot_memory.retrieval.event_views import FigureView
from robot_memory.retrieval.matching import choose_way, has_word
from robot_memory.retrieval.meant_events import MeantEvents
from robot_memory.retrieval.named_events import POOL, choose_best, find_unit, measure_figure
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Retriever
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes.filters import compile_filter
from robot_memory.text.questions.events import Mention, find_mentions, find_outcome
from robot_memory.text.questions.figures import find_bounds
from robot_memory.text.questions.folding import fold_characters
from robot_memory.text.questions.model import Anchor, Comparison, DayOf, Order, Reading, Window
from robot_memory.text.questions.superlatives import find_superlative
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.questions.windows import WEEKDAY, get_part
from robot_memory.text.questions.words import Alternatives, list_words

_AMOUNT = re.compile(
    r'((?<![\w.])\d+(?:\.\d+)?[ -]?(?:newtons?|n|seconds?|s|kg|kilos?|g|grams?|degrees?)\b'
    r'|(?<![\d.])\d+(?:\.\d+)?(?:牛米?|公斤|千克|克|秒|度))'
)

_SHORT = timedelta(minutes=1)
_BESIDE_NS = 10 * 10**9
"""How far from an event a fault may begin that tells of it."""
_DESCRIBED = 2
"""How many words of an anchor a fault has at least that is meant in place of another event."""
_WEEK = timedelta(days=7)
_SAID = 50
"""Statements of which the one with most of the words is meant."""
_STATEMENTS = compile_filter('statements', {'kind': {'$ne': 'perception'}})


@dataclass(frozen=True)
class Placed:
    """Hold the window that events bound, and those events."""

    window: Window
    event_ids: tuple[int, ...]


class AnchoredEvents(MeantEvents):
    """Find the events by which questions tell the time, and their windows."""

    def place_anchor(self, anchor: Anchor, window: Window | None) -> Placed | None:
        """Return the window that the events of an anchor bound; None where one is not known."""
        if anchor.day is not None:
            return self._place_day(anchor, anchor.day, window)
        if anchor.to is None:
            event = self._find_anchor(anchor, window)
            if event is None:
                return None
            return Placed(_place_window(anchor, event, self.now), (event.id,))
        pair = anchor.words == anchor.to.words
        dated = anchor.window or window
        if dated and not (pair or anchor.to.window) and anchor.to.which == -1:
            begin = self._find_anchor(anchor, dated)
            end = begin and self._find_anchor(
                replace(anchor.to, which=1), None, after=begin.end or begin.onset
            )
            if begin and end:  # the next one: between yesterday's stop and the collision
                return self._place_between(anchor, begin, end)
        end = self._find_anchor(anchor.to, window)
        if end is None:
            return None
        begin = self._find_anchor(anchor, window, None if pair else end.onset)
        if begin is None:
            begin = self._find_anchor(anchor, window)
            if begin is None:
                return None
            end = self._find_anchor(replace(anchor.to, which=1), window, after=begin.onset)
            if end is None:
                return None
        return self._place_between(anchor, begin, end)

    def _place_between(self, anchor: Anchor, begin: EventRow, end: EventRow) -> Placed | None:
        """Return what lies between two events, in either order; None where nothing does."""
        assert anchor.to is not None
        begin, end = sorted((begin, end), key=lambda one: one.onset)
        first = begin.onset if anchor.edge == 'start' else begin.end or begin.onset
        last = end.end or end.onset if anchor.to.edge == 'end' else end.onset
        since, until = (to_local(at // 1000, self.zone) for at in (first, last))
        if until <= since:
            return None
        return Placed(Window(since, until, 'range', self.zone), (begin.id, end.id))

    def find_shifts(self, among: Sequence[Anchor], window: Window | None) -> list[str]:
        """Return the sessions that are named together, the last two night shifts, as known."""
        found = (self._find_anchor(one, window) for one in among)
        named = (one.names['session_id'] for one in found if one is not None)
        return list(dict.fromkeys(one for one in named if one))

    def compare_with(
        self, than: Comparison, where: dict[str, Any], reading: Reading
    ) -> dict[str, Any] | None:
        """Return conditions with that of a comparison; None where its event is not known."""
        event = self._find_anchor(than.anchor, None)
        named = self.read_anchor(than.anchor)
        own = self.find_figure(than.quantity, '', named)
        figure = self.find_figure(than.quantity, '', reading, exact=True)
        if event is None or own is None or figure is None:
            return None
        value = f'{measure_figure(event, own)!r} {find_unit(own)}'.strip()
        bound = {**where.get(figure, {}), than.operator: value}
        others = {**where.get('event_id', {}), '$nin': [event.id]}
        return {**where, figure: bound, 'event_id': others}

    def choose_of_pair(
        self, pair: tuple[Anchor, Anchor], order: Order
    ) -> tuple[list[EventRow], FigureView | None]:
        """
        Return two events, first the one with more or less, and by how much.

        Nothing where one of them is not known.
        """
        unit = ''
        measured = []
        for anchor in pair:
            event = self._find_anchor(anchor, None)
            figure = self.find_figure(order.by, order.figure, self.read_anchor(anchor))
            if event is None or figure is None:
                return [], None
            measured.append((measure_figure(event, figure), event))
            unit = find_unit(figure)
        measured.sort(key=lambda one: one[0], reverse=order.descending)
        gap = abs(measured[0][0] - measured[1][0])
        return [event for _, event in measured], FigureView(f'difference of {order.by}', gap, unit)

    def list_nearest(
        self, where: dict[str, Any], window: Window | None, anchor: Anchor, limit: int
    ) -> list[EventRow]:
        """Return the events nearest in time to that of an anchor; none where it is not known."""
        event = self._find_anchor(anchor, None)
        if event is None:
            return []
        at = to_local(event.onset // 1000, self.zone)
        others = {**where, 'event_id': {**where.get('event_id', {}), '$nin': [event.id]}}
        sides = (Window(None, at, 'range', self.zone), Window(at, None, 'range', self.zone))
        found = [
            one
            for side, newest in zip(sides, (True, False), strict=True)
            for one in self.list_events(others, intersect(window, side), 'onset', newest, limit)
        ]
        unique = {one.id: one for one in found}
        return sorted(unique.values(), key=lambda one: _measure_gap(one, event))[:limit]

    def _place_day(self, anchor: Anchor, day: DayOf, beside: Window | None) -> Placed | None:
        """Return the day or week that an event tells, or that what lasted for days does."""
        days = self._list_days(anchor.words)
        if not days:
            event = self._find_anchor(anchor, beside)
            if event is None:
                return None
            days = [to_local(event.onset // 1000, self.zone).date()]
        if day.nth > len(days):
            return None
        first = days[day.nth - (day.nth > 0)] if day.nth else days[-1] if day.days > 0 else days[0]
        last = first if day.nth or day.days else days[-1]
        first, last = (one + timedelta(days=day.days) for one in (first, last))
        if day.week:
            first -= timedelta(days=first.weekday())
            last = first + timedelta(days=6)
        low, high = get_part(day.part) if day.part else (0, 24)
        since, until = (
            datetime.combine(one, time(), self.zone) + timedelta(hours=hours)
            for one, hours in ((first, low), (last, high))
        )
        return Placed(Window(since, until, 'day', self.zone), ())

    def _list_days(self, words: str) -> list[date]:
        """Return the days of the last time that sessions were at a place or did some work."""
        asked = list_words(words)
        found = self.words.find_sessions(asked) if asked else []
        if not found:
            return []
        where = {'collection': self.collection, 'session_id': {'$in': found}}
        before = Window(None, self.now, 'range', self.zone)
        sessions = self.list_events({**where, 'kind': 'session'}, before, 'onset', True, POOL)
        days = sorted({to_local(one.onset // 1000, self.zone).date() for one in sessions})
        begun = [at for at in range(1, len(days)) if days[at] - days[at - 1] > _WEEK]
        return days[begun[-1] :] if begun else days

    def read_anchor(self, anchor: Anchor) -> Reading:
        """Return the events that the words of an anchor name, and the words that are left."""
        folded = fold_characters(anchor.words)
        mentions = [one for one in find_mentions(folded) if not one.happening]
        highest = find_superlative(folded, mentions)
        rest = folded
        spans = [(one.start, one.end) for one in mentions]
        for start, end in (*spans, *(highest.spans if highest else ())):
            rest = rest[:start] + ' ' * (end - start) + rest[end:]
        outcome = find_outcome(rest) if any('task' in one.kinds for one in mentions) else None
        if outcome:
            start, end = outcome[1]
            rest = rest[:start] + ' ' * (end - start) + rest[end:]
        rest = ' '.join((rest, *_name_tools(folded, mentions)))
        bounds = find_bounds(_AMOUNT.sub(r' about \1', rest), rest)
        rest = rest if not bounds.bounds else _AMOUNT.sub(' ', rest)
        return self.add_labels(
            Reading(
                rest if mentions else anchor.words,
                bounds=bounds.bounds,
                kinds=tuple(kind for one in mentions for kind in one.kinds),
                labels=tuple(label for one in mentions for label in one.labels),
                order=highest.order if highest else None,
                outcome=outcome[0] if outcome else '',
            )
        )

    def _find_anchor(
        self,
        anchor: Anchor,
        beside: Window | None,
        before: int | None = None,
        after: int | None = None,
    ) -> EventRow | None:
        """Return the event that an anchor names: in the window beside it where there is one."""
        if anchor.said:
            return self._find_said(anchor.words)
        reading = self.read_anchor(anchor)
        where = self.make_where(reading)
        if where is None:
            return None
        if 'session' not in reading.kinds and not self.session_id:
            asked = list_words(reading.rest)
            places = self.words.find_sessions(asked) if asked else []
            where = {**where, 'session_id': {'$in': places}} if places else where
        windows = [anchor.window] if anchor.window or not beside else [beside, None]
        if anchor.window and anchor.window.granularity == WEEKDAY:  # on Friday, said on a Friday
            today = replace(
                anchor.window, since=anchor.window.since and anchor.window.since + _WEEK
            )
            windows = [replace(today, until=None), anchor.window]
        for window in windows:
            within = window or Window(None, None, 'range', self.zone)
            if within.until is None or within.until > self.now:
                within = replace(within, until=self.now)
            if set(reading.kinds) == {'session'}:  # it may have begun the evening before
                within = replace(within, granularity='second')
            found = self._list_ordered(reading, where, within, anchor.which < 0)
            found = [
                one
                for one in found
                if (before is None or one.onset < before) and (after is None or one.onset > after)
            ]
            found = self._find_named(reading, found, within)
            place = reading.order.skip if reading.order else abs(anchor.which) - 1
            if place < len(found):
                return found[place]
        return None

    def _list_ordered(
        self, reading: Reading, where: dict[str, Any], window: Window, descending: bool
    ) -> list[EventRow]:
        """Return events by time, or by the figure that an anchor names: the hardest push."""
        order = reading.order
        if order is None:
            return self.list_events(where, window, 'onset', descending, POOL)
        figure = self.find_figure(order.by, order.figure, reading)
        return self.list_events(where, window, figure, order.descending, POOL) if figure else []

    def _find_said(self, words: str) -> EventRow | None:
        """Return what somebody said as an event, at the time at which it was stored."""
        asked = list_words(words)
        meant = [other for one in asked for other in one[1:3]]
        query = ' '.join((words, *meant))
        plan = RecallPlan.of(
            collection=self.collection, limit=_SAID, query=query, where=_STATEMENTS, narrow=True
        )
        found = Retriever(self.memory).find(plan)
        if not found.hits:
            return None
        folded = fold_characters(words)
        with self.memory.db.read() as connection:
            counts = {
                one: sum(has_word(connection, found.records[one].content, word) for word in asked)
                + _names_person(found.records[one].actor_id, folded)
                for one in found.ids
            }
        memory_id = max(found.ids, key=counts.__getitem__)  # the best found of those that tie
        at = found.records[memory_id].created_at * 1000
        return EventRow(0, memory_id, {}, at, at, at, False, None, (), None)

    def _find_named(
        self, reading: Reading, found: list[EventRow], window: Window
    ) -> list[EventRow]:
        """Return the events whose words have most of those that an anchor has left."""
        words = list_words(reading.rest)
        counts = self.words.count_each(words, found)
        if words and max(counts, default=0.0) < 1:  # none has a word itself
            instants, having = self._find_described(words, window)
            seen = self._list_beside(found, instants)
            if not counts:
                return seen or (found if reading.kinds or reading.order else [])
            other = set(reading.kinds).isdisjoint(('session', 'fault', 'state'))
            if having >= _DESCRIBED and other:
                return seen or instants  # the door button was hit: that is a stop, and no contact
        if not counts:
            return found if reading.kinds or reading.order else []
        best = choose_best(found, counts)
        return choose_way(reading.rest, words, best) if 'tool change' in reading.labels else best

    def _find_described(
        self, words: Sequence[Alternatives], window: Window
    ) -> tuple[list[EventRow], float]:
        """Return the faults that have most of some words, and how many they have."""
        where = {'collection': self.collection, 'kind': {'$in': ['fault', 'state']}}
        faults = self.list_events(where, window, 'onset', True, POOL)
        counts = self.words.count_each(words, faults)
        return (choose_best(faults, counts), max(counts)) if counts else ([], 0.0)

    def _list_beside(
        self, found: Sequence[EventRow], instants: Sequence[EventRow]
    ) -> list[EventRow]:
        """Return the events beside a fault that tells of them: the collision with the rack."""
        at = [one.onset for one in instants]
        return [one for one in found if any(abs(one.onset - other) <= _BESIDE_NS for other in at)]


def _name_tools(folded: str, mentions: Sequence[Mention]) -> Iterator[str]:
    """Yield the tools that the words of tool changes name, with the way that they tell."""
    tool, away = (load_pattern('events', 'tool', name) for name in ('named', 'away'))
    for one in mentions:
        if 'tool change' in one.labels:
            for found in (tool, away):
                match = found.search(folded, one.start, one.end)
                yield match[0] if match else ''


def _measure_gap(one: EventRow, other: EventRow) -> int:
    """Return the nanoseconds between two events, 0 where they overlap."""
    first, last = sorted((one, other), key=lambda event: event.onset)
    return max(0, last.onset - (first.end or first.onset))


def _names_person(actor_id: str | None, folded: str) -> bool:
    name = fold_characters((actor_id or '').rpartition(':')[2])
    return bool(name) and name in folded


def intersect(window: Window | None, other: Window) -> Window:
    """Return what two windows share; the other where they share nothing."""
    if window is None:
        return other
    since = max((one for one in (window.since, other.since) if one), default=None)
    until = min((one for one in (window.until, other.until) if one), default=None)
    if since is not None and until is not None and until <= since:
        return other
    return replace(other, since=since, until=until)


def _place_window(anchor: Anchor, event: EventRow, now: datetime) -> Window:
    """Return the window that an event bounds."""
    zone = now.tzinfo
    assert isinstance(zone, ZoneInfo)
    onset, end = (to_local(at // 1000, zone) for at in (event.onset, event.end or event.onset))
    distance = None if anchor.distance is None else timedelta(seconds=anchor.distance)
    if anchor.relation == 'around':
        around = distance or timedelta(0)
        return Window(onset - around, end + around, 'range', zone)
    if anchor.edge == 'start':
        end = onset
    if anchor.relation == 'before':
        onset = end if anchor.edge == 'end' else onset
        since = None if distance is None else onset - distance
        return Window(since, onset, 'range', zone)
    if anchor.relation == 'during':
        # What overlaps a short event is meant; of a task or session, what began in it.
        how = 'second' if end - onset <= _SHORT else 'range'
        return Window(onset, end + timedelta(microseconds=1), how, zone)
    until = None if distance is None else end + distance
    return Window(end, until, 'range', zone)
