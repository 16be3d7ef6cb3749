"""The events that the words of a question name: their kinds, labels, figures and windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant
from robot_memory.core.units import convert
from robot_memory.memory import Memory
from robot_memory.retrieval.events import EventQuestion, list_events
from robot_memory.retrieval.matching import WordMatcher
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables import event_names, sessions
from robot_memory.storage.tables.events import SUCCESS
from robot_memory.text.questions.events import match_label
from robot_memory.text.questions.model import UNITS, Bound, Order, Reading, Window
from robot_memory.text.questions.words import list_words

POOL = 1000
"""Events of which the words are compared, in the order that is asked for."""
_HALF = 0.5
"""The outcome score from which on a session was a success."""
_SIMILAR = {
    'speed': ('rotation speed',),
    'length': ('distance',),
    'distance': ('length',),
    'force': ('effort',),
}
"""Quantities that stand for another where no figure has that."""


@dataclass(frozen=True)
class NamedEvents:
    """List the events of a collection as readings name them, seen from one moment."""

    memory: Memory
    collection: str
    session_id: str | None
    zone: ZoneInfo
    now: datetime

    def list_events(
        self,
        where: dict[str, Any],
        window: Window | None,
        order: str,
        descending: bool,
        limit: int,
    ) -> list[EventRow]:
        """Return the events that meet conditions, in an order."""
        if window is not None and window.pieces:
            every = [
                self.list_events(where, one, order, descending, limit) for one in window.pieces
            ]
            listed = [event for events in every for event in events]
            listed.sort(key=lambda one: measure_event(one, order), reverse=descending)
            return listed[:limit]
        question = self.ask(where, window, order, descending, limit)
        return list(list_events(self.memory, question).events)

    def list_closest(
        self,
        where: dict[str, Any],
        window: Window | None,
        figure: str,
        order: Order,
        limit: int,
    ) -> list[EventRow]:
        """Return the events whose figure is closest to the value of an order, these first."""
        assert order.near is not None
        unit = UNITS[order.by]
        own = convert(order.near, unit, find_unit(figure) or unit)
        value = order.near if own is None else own
        written = f'{order.near!r} {unit}'
        above, below = (
            self.list_events(
                {**where, figure: {**where.get(figure, {}), operator: written}},
                window,
                figure,
                operator == '$lt',
                limit,
            )
            for operator in ('$gte', '$lt')
        )
        found = sorted((*above, *below), key=lambda one: abs(measure_figure(one, figure) - value))
        return found[:limit]

    def list_by_ids(self, ids: Sequence[int]) -> list[EventRow]:
        """Return events by their ids, the first to begin first."""
        where = {'event_id': {'$in': list(ids)}}
        return self.list_events(where, None, 'onset', False, len(ids))

    def ask(
        self,
        where: dict[str, Any],
        window: Window | None,
        order: str = 'onset',
        descending: bool = True,
        limit: int = 1,
    ) -> EventQuestion:
        """Return the question to the table; with a window, of what began in it."""
        since = until = ''
        if window is not None:
            since, until = _format(window.since), _format(window.until)
            instantly = window.granularity in ('second', 'minute') or window.near is not None
            if since and not instantly:
                where = {**where, 'onset': {'$gte': since}}
        return EventQuestion(where, since, until, order, descending, limit, '', self.zone)

    def add_labels(self, reading: Reading) -> Reading:
        """Return a reading whose labels are those of events; others are words to compare."""
        known = [one for one in reading.labels if self.find_labels((one,))]
        words = [one for one in reading.labels if one not in known]
        if known or not words:
            return reading if not words else replace(reading, labels=tuple(known))
        return replace(reading, labels=(), rest=' '.join((*words, reading.rest)))

    def make_where(self, reading: Reading) -> dict[str, Any] | None:
        """Return the conditions of a reading; None where no event can meet them."""
        where: dict[str, Any] = {'collection': self.collection}
        if self.session_id:
            where['session_id'] = self.session_id
        labels = self.find_labels(reading.labels)
        if labels:
            where['label'] = {'$in': labels}
        if reading.kinds and (not labels or set(reading.kinds) == {'state'}):
            where['kind'] = {'$in': list(reading.kinds)}
        excluded = self.find_labels(reading.excluded)
        if excluded:
            where['label'] = {**where.get('label', {}), '$nin': excluded}
        if reading.recording:
            part = reading.recording.lower()
            names = [name for name in self.names if part in name.lower()]
            if not names:
                return None
            where['recording'] = {'$in': names}
        shared = reading.aggregate is not None and reading.aggregate.function == 'share'
        if reading.outcome and not shared and set(reading.kinds) == {'session'}:
            rated = self._list_rated_sessions(reading.outcome == 'success')
            where['session_id'] = {'$in': [one for one in rated if self.session_id in (None, one)]}
        elif reading.outcome and not shared and not set(reading.kinds) <= {'fault', 'state'}:
            where[SUCCESS] = float(reading.outcome == 'success')
        for bound in reading.bounds:
            name = self.find_figure(bound.quantity, bound.figure, reading, exact=True)
            if name is None:
                return None
            where.setdefault(name, {})[bound.operator] = _write_bound(bound)
        return where if self._has_figures(where) else None

    def _list_rated_sessions(self, success: bool) -> list[str]:
        """Return the sessions that ended with success or with failure, by their scores."""
        with self.memory.db.read() as connection:
            low, high = (_HALF, math.inf) if success else (-math.inf, _HALF)
            return sessions.list_rated(connection, low, high)

    def _has_figures(self, where: dict[str, Any]) -> bool:
        """Say whether any event has the outcome that a condition is on."""
        if SUCCESS not in where:
            return True
        fields = self.fields
        kinds = where['kind']['$in'] if 'kind' in where else fields.kinds.values()
        return any(
            one.name == SUCCESS and fields.kinds.get(one.kind) in kinds for one in fields.figures
        )

    def find_labels(self, labels: Sequence[str]) -> list[str]:
        """Return the names in the store that one of some labels of a reading means."""
        for label in labels:
            if label not in self._labels:
                self._labels[label] = [one for one in self.names if match_label(label, one)]
        return [name for label in labels for name in self._labels[label]]

    @cached_property
    def fields(self) -> Fields:
        """Return the kinds and figures in the store, read once a question."""
        with self.memory.db.read() as connection:
            return Fields.read(connection)

    @cached_property
    def words(self) -> WordMatcher:
        """Return what counts the words of a question in events."""
        return WordMatcher(self.memory, self.collection)

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        return {}

    @cached_property
    def names(self) -> list[str]:
        """Return the names that events have in common, read once a question."""
        with self.memory.db.read() as connection:
            return event_names.list_all(connection)

    def find_figure(
        self, quantity: str, adjective: str, reading: Reading, *, exact: bool = False
    ) -> str | None:
        """Return the name of the figure of a quantity; where `exact`, not of a similar one."""
        if quantity == 'duration':
            return 'duration'
        fields = self.fields
        named = None if exact or adjective else self._find_named_figure(quantity, reading)
        if named:
            return named
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

    def _find_named_figure(self, quantity: str, reading: Reading) -> str | None:
        """Return the figure whose own name a question has: the speed of the wrist."""
        asked = [one for one in list_words(reading.rest) if len(one) > 1]
        units = [UNITS[one] for one in (quantity, *_SIMILAR.get(quantity, ()))]
        kind_names = self.fields.kinds
        for one in self.fields.figures:
            first = one.name.partition('_')[0]
            fits = not reading.kinds or kind_names.get(one.kind) in reading.kinds
            alike = any(convert(1.0, one.unit, unit) is not None for unit in units)
            if fits and alike and any(first in alternatives for alternatives in asked):
                return f'{one.name} [{one.unit}]' if one.unit else one.name
        return None


def measure_event(event: EventRow, order: str) -> float:
    """Return by what an event is ordered: its onset, duration or a figure."""
    if order == 'onset':
        return event.onset
    if order == 'duration':
        return (event.end or event.onset) - event.onset
    name = order.partition(' [')[0]
    return next((value for figure, value, _ in event.figures if figure == name), 0.0)


def measure_figure(event: EventRow, figure: str) -> float:
    """Return a figure of an event, as `find_figure` names it, in its unit."""
    measured = measure_event(event, figure)
    return measured / 1e9 if figure == 'duration' else measured


def find_unit(figure: str) -> str:
    """Return the unit of a figure, as `find_figure` names it; empty where it has none."""
    return 's' if figure == 'duration' else figure.partition(' [')[2].rstrip(']')


def _format(moment: datetime | None) -> str:
    if moment is None:
        return ''
    return format_instant(round(moment.timestamp() * 1e6))


def _write_bound(bound: Bound) -> float | str:
    unit = UNITS[bound.quantity]
    return f'{bound.value!r} {unit}'


def choose_best(events: Sequence[EventRow], counts: Sequence[float]) -> list[EventRow]:
    """Return the events that have most words, by the counts of `count_each`."""
    best = max(counts)
    return [one for one, count in zip(events, counts, strict=True) if count == best]
