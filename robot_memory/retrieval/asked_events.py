"""The events that a question asks for: its reading, answered from the table of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.units import convert
from robot_memory.core.zones import to_local
from robot_memory.memory import Memory
from robot_memory.retrieval.events import (
    EventQuestion,
    aggregate_events,
    choose_zone,
    list_events,
)
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables import event_names
from robot_memory.storage.tables.events import SUCCESS
from robot_memory.text import tokenizer
from robot_memory.text.questions.events import find_mentions, match_label
from robot_memory.text.questions.folding import fold_characters
from robot_memory.text.questions.model import UNITS, Anchor, Bound, Reading, Window
from robot_memory.text.questions.reader import read_question

_SECOND = 1_000_000
_POOL = 1000
"""Events of which the words are compared, in the order that is asked for."""
_SIMILAR = {'speed': ('rotation speed',), 'length': ('distance',), 'distance': ('length',)}
"""Quantities that stand for another where no figure has that."""
_FUNCTIONS = {'count': 'count', 'rate': 'count', 'mean': 'mean', 'sum': 'sum'}
_FUNCTIONS |= {'min': 'min', 'max': 'max'}


@dataclass(frozen=True)
class AskedFigure:
    """A figure over events: `name` says of what, `event_ids` which it rests on (the first)."""

    name: str
    value: float
    unit: str
    event_ids: tuple[int, ...]


@dataclass(frozen=True)
class AskedEvents:
    """
    Hold what a reading brings.

    `events` pass it, in its order. `figure` is the aggregate that is asked for. With `no_match`
    nothing passes.
    """

    read_as: str
    events: Sequence[EventRow] = ()
    figure: AskedFigure | None = None
    no_match: bool = False

    @property
    def memory_ids(self) -> list[int]:
        """Return the ids of the events' memories, in their order."""
        return [one.memory_id for one in self.events if one.memory_id is not None]


def find_asked_events(
    memory: Memory, text: str, collection: str, session_id: str | None, limit: int
) -> AskedEvents | None:
    """
    Read a question, and return the events that it asks for; None where it says nothing of any.

    A question for a statement (a rule, what somebody said) restricts nothing.
    """
    zone = choose_zone(memory, '')
    told = memory.clock()
    now = to_local(told, zone)
    reading = read_question(text, now, zone)
    if not reading:  # most texts: they cost no look at the store
        return None
    with memory.db.read() as connection:
        right = memory.timekeeper.read_now(connection)
    if abs(right - told) > _SECOND:
        now = to_local(right, zone)
        reading = read_question(text, now, zone)
    if reading.statement:
        return AskedEvents(reading.describe())
    search = _Search(memory, collection, session_id, zone, now)
    try:
        return search.answer(reading, limit)
    except InvalidArgument:  # what was read does not fit the figures that there are
        return AskedEvents(reading.describe(), no_match=True)


@dataclass(frozen=True)
class _Search:
    memory: Memory
    collection: str
    session_id: str | None
    zone: ZoneInfo
    now: datetime

    def answer(self, reading: Reading, limit: int) -> AskedEvents:
        """Return the events and the figure that a reading asks for."""
        read_as = reading.describe()
        reading = self._add_labels(reading)
        window = reading.window
        if reading.anchor is not None:
            anchored = self._find_anchor(reading.anchor)
            if anchored is None:
                return AskedEvents(read_as, no_match=True)
            window = _place_window(reading.anchor, anchored, self.now)
        where = self._make_where(reading, window)
        if where is None:
            return AskedEvents(read_as, no_match=True)
        order, descending = self._choose_order(reading)
        if order is None:
            return AskedEvents(read_as, no_match=True)
        found = self._list(where, window, order, descending, _POOL)
        found = self._compare_words(reading, found)
        figure = None
        if reading.aggregate is not None:
            figure = self._aggregate(reading, where, window, found)
        near = window.near if window is not None else None
        if near is not None and reading.order is None:
            instant = near.timestamp() * 1e9
            found = sorted(found, key=lambda one: abs(one.onset - instant))
        skip = reading.order.skip if reading.order is not None else 0
        taken = found[skip : skip + min(limit, reading.take or limit)]
        return AskedEvents(read_as, taken, figure, no_match=not found and figure is None)

    def _list(
        self,
        where: dict[str, Any],
        window: Window | None,
        order: str,
        descending: bool,
        limit: int,
    ) -> list[EventRow]:
        question = self._ask(where, window, order, descending, limit)
        return list(list_events(self.memory, question).events)

    def _ask(
        self,
        where: dict[str, Any],
        window: Window | None,
        order: str = 'onset',
        descending: bool = True,
        limit: int = 1,
    ) -> EventQuestion:
        since = until = ''
        if window is not None:
            since, until = _format(window.since), _format(window.until)
            instantly = window.granularity in ('second', 'minute') or window.near is not None
            if since and not instantly:
                where = {**where, 'onset': {'$gte': since}}
        return EventQuestion(where, since, until, order, descending, limit, '', self.zone)

    def _add_labels(self, reading: Reading) -> Reading:
        """Return a reading whose labels are those of events; others are words to compare."""
        known = [one for one in reading.labels if self._match_names((one,), match_label)]
        words = [one for one in reading.labels if one not in known]
        if known or not words:
            return reading if not words else replace(reading, labels=tuple(known))
        return replace(reading, labels=(), rest=' '.join((*words, reading.rest)))

    def _make_where(self, reading: Reading, window: Window | None) -> dict[str, Any] | None:
        """Return the conditions of a reading; None where no event can meet them."""
        where: dict[str, Any] = {'collection': self.collection}
        if self.session_id:
            where['session_id'] = self.session_id
        labels = self._match_names(reading.labels, match_label)
        if labels:
            where['label'] = {'$in': labels}
        elif reading.kinds:
            where['kind'] = {'$in': list(reading.kinds)}
        if reading.recording:
            names = self._match_names((reading.recording,), lambda one, name: name.endswith(one))
            if not names:
                return None
            where['recording'] = {'$in': names}
        if reading.outcome and not (reading.aggregate and reading.aggregate.function == 'share'):
            where[SUCCESS] = float(reading.outcome == 'success')
        for bound in reading.bounds:
            name = self._find_figure(bound.quantity, bound.figure, reading, exact=True)
            if name is None:
                return None
            where.setdefault(name, {})[bound.operator] = _write_bound(bound)
        return where if self._has_figures(where) else None

    def _has_figures(self, where: dict[str, Any]) -> bool:
        """Say whether any event has the outcome that a condition is on."""
        if SUCCESS not in where:
            return True
        with self.memory.db.read() as connection:
            return any(one.name == SUCCESS for one in Fields.read(connection).figures)

    def _match_names(
        self, wanted: Iterable[str], matches: Callable[[str, str], bool]
    ) -> list[str]:
        """Return the names in the store that match one that is wanted."""
        wanted = list(wanted)
        if not wanted:
            return []
        with self.memory.db.read() as connection:
            names = event_names.list_all(connection)
        return [name for name in names if any(matches(one, name) for one in wanted)]

    def _choose_order(self, reading: Reading) -> tuple[str | None, bool]:
        """Return by what the events are ordered; None where no event has that figure."""
        order = reading.order
        if order is None:
            follows = reading.anchor is not None and reading.anchor.relation in ('since', 'after')
            return 'onset', not follows
        if order.by == 'time':
            return 'onset', order.descending
        return self._find_figure(order.by, order.figure, reading), order.descending

    def _find_figure(
        self, quantity: str, adjective: str, reading: Reading, *, exact: bool = False
    ) -> str | None:
        """Return the name of the figure of a quantity; where `exact`, not of a similar one."""
        if quantity == 'duration':
            return 'duration'
        with self.memory.db.read() as connection:
            fields = Fields.read(connection)
        for asked in (quantity, *(() if exact else _SIMILAR.get(quantity, ()))):
            unit = UNITS[asked]
            figures = [
                one
                for one in fields.figures
                if convert(1.0, one.unit, unit) is not None
                and (not reading.kinds or fields.kinds.get(one.kind) in reading.kinds)
            ]
            if figures:
                words = (adjective or 'peak', quantity.partition(' ')[0])
                figures.sort(
                    key=lambda one: (
                        -sum(word in one.name for word in words),
                        one.slot or 99,
                        one.id,
                    )
                )
                best = figures[0]
                return f'{best.name} [{best.unit}]' if best.unit else best.name
        return None

    def _compare_words(self, reading: Reading, found: list[EventRow]) -> list[EventRow]:
        """Return the events whose words have most of the rest of a question."""
        if not reading.rest:
            return found
        terms, _ = tokenizer.extract_query_terms(reading.rest)
        shares = [_count_terms(terms, one) for one in found]
        best = max(shares, default=0)
        if not best:
            return found
        if reading.order is None and reading.aggregate is None:
            ranked = sorted(range(len(found)), key=lambda place: -shares[place])
            return [found[place] for place in ranked]
        if reading.order is not None and reading.order.by != 'time':
            return found
        if reading.aggregate is not None and len(reading.kinds) == 1:
            return found
        return [one for one, share in zip(found, shares, strict=True) if share == best]

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
            wanted = float(reading.outcome != 'failure')
            right = sum(_get_figure(one, SUCCESS) == wanted for one in found)
            return AskedFigure('share', right / len(found), '', ids)
        name = ''
        if asked.quantity:
            figure = self._find_figure(asked.quantity, '', reading)
            if figure is None:
                return None
            name = figure
        if len(found) < _POOL and reading.rest and not reading.labels:
            where = {**where, 'event_id': {'$in': list(ids)}}
        function = _FUNCTIONS[asked.function]
        question = self._ask(where, window)
        groups = aggregate_events(self.memory, question, [function], name, '', 10)
        total = groups.groups[0] if groups.groups else None
        if function == 'count':
            return AskedFigure('count', float(total.count if total else 0), '', ids)
        if total is None or function not in total.values:
            return None
        words = f'{function} of {name.partition(" [")[0]}'
        return AskedFigure(words, total.values[function], groups.unit, ids)

    def _find_anchor(self, anchor: Anchor) -> EventRow | None:
        """Return the event that an anchor names."""
        mentions = find_mentions(fold_characters(anchor.words))
        reading = self._add_labels(
            Reading(
                anchor.words,
                kinds=tuple(kind for one in mentions for kind in one.kinds),
                labels=tuple(label for one in mentions for label in one.labels),
            )
        )
        where = self._make_where(reading, anchor.window)
        if where is None:
            return None
        window = anchor.window or Window(None, None, 'range', self.zone)
        if window.until is None:
            window = replace(window, until=self.now)
        found = self._list(where, window, 'onset', anchor.which < 0, _POOL)
        if not reading.labels:
            terms, _ = tokenizer.extract_query_terms(anchor.words)
            shares = [_count_terms(terms, one) for one in found]
            best = max(shares, default=0)
            if not best and not reading.kinds:
                return None
            found = [one for one, share in zip(found, shares, strict=True) if share == best]
        place = abs(anchor.which) - 1
        return found[place] if place < len(found) else None


def _place_window(anchor: Anchor, event: EventRow, now: datetime) -> Window:
    """Return the window that an event bounds."""
    zone = now.tzinfo
    assert isinstance(zone, ZoneInfo)
    onset, end = (_to_datetime(at) for at in (event.onset, event.end or event.onset))
    distance = None if anchor.distance is None else timedelta(seconds=anchor.distance)
    if anchor.relation == 'before':
        since = None if distance is None else onset - distance
        return Window(since, onset, 'range', zone)
    if anchor.relation == 'during':
        return Window(onset, end + timedelta(microseconds=1), 'range', zone)
    until = None if distance is None else end + distance
    return Window(end, until, 'range', zone)


def _to_datetime(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=nanoseconds // 1000)


def _format(moment: datetime | None) -> str:
    if moment is None:
        return ''
    return format_instant(round(moment.timestamp() * 1e6))


def _write_bound(bound: Bound) -> float | str:
    unit = UNITS[bound.quantity]
    return f'{bound.value!r} {unit}'


def _get_figure(event: EventRow, name: str) -> float | None:
    return next((value for figure, value, _ in event.figures if figure == name), None)


def _count_terms(terms: Sequence[str], event: EventRow) -> int:
    """Return how many of some terms the words of an event have."""
    names = (event.names.get(name) or '' for name in ('label', 'task', 'topic', 'kind'))
    words = ' '.join((event.text or '', *names)).replace('_', ' ')
    have = set(tokenizer.extract_terms(words))
    return sum(term in have for term in terms)
