"""Figures that compare: groups with each other, two windows, the times of two events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from robot_memory.core.zones import to_local
from robot_memory.retrieval.anchored_events import AnchoredEvents
from robot_memory.retrieval.event_views import FigureView
from robot_memory.retrieval.events import aggregate_events
from robot_memory.retrieval.named_events import POOL
from robot_memory.storage.events.pages import EventRow
from robot_memory.text.questions.model import Reading, Window

_TIMES = {'hour': '%Y-%m-%dT%H', 'day': '%Y-%m-%d', 'weekday': '%A'}


class ComparedEvents(AnchoredEvents):
    """Compare groups, windows and the times of two events."""

    def find_top_group(
        self,
        reading: Reading,
        where: dict[str, Any],
        window: Window | None,
        found: Sequence[EventRow],
    ) -> tuple[FigureView, list[EventRow]] | None:
        """Return how many events the group with most of them has, or with fewest, and these."""
        assert reading.aggregate is not None and reading.order is not None
        by, pieces = reading.aggregate.group, window.pieces if window else ()
        if by == 'day' and any(_is_longer_than_day(one) for one in pieces):
            return self._find_top_piece(pieces, where, found, most=reading.order.descending)
        counts = self._count_each(by, where, window)
        if not counts:
            return None
        sign = 1 if reading.order.descending else -1
        key = max(counts, key=lambda one: (sign * counts[one], one))
        own = [one for one in found if self._has_key(one, by, key)]
        return FigureView(f'count of {by} {key}', float(counts[key]), ''), own

    def _find_top_piece(
        self,
        pieces: Sequence[Window],
        where: dict[str, Any],
        found: Sequence[EventRow],
        *,
        most: bool,
    ) -> tuple[FigureView, list[EventRow]]:
        """Return how many events the month or week with most of them has, and these."""
        where = {name: one for name, one in where.items() if name != 'event_id'}
        counts = [self._count(where, one) for one in pieces]
        best = (max if most else min)(range(len(pieces)), key=counts.__getitem__)
        since, until = (
            round(at.timestamp() * 1e9) if at else None
            for at in (pieces[best].since, pieces[best].until)
        )
        own = [
            one
            for one in found
            if (since is None or one.onset >= since) and (until is None or one.onset < until)
        ]
        return FigureView(f'count of {pieces[best].describe()}', float(counts[best]), ''), own

    def count_groups(
        self, by: str, where: dict[str, Any], window: Window | None, found: Sequence[EventRow]
    ) -> FigureView:
        """Return on how many days, or in how many weeks or sessions, any of the events were."""
        keys = {self._name_group(one, by) for one in found} - {''}
        count = len(keys) if len(found) < POOL else len(self._count_each(by, where, window))
        return FigureView(f'number of {by}s', float(count), '')

    def _count_each(self, by: str, where: dict[str, Any], window: Window | None) -> Counter[str]:
        """Return how many events each group has, those without a key aside."""
        question = self.ask(where, window)
        unit = 'day' if by == 'week' else by
        counts: Counter[str] = Counter()
        for group in aggregate_events(self.memory, question, ['count'], '', unit, 1000).groups:
            if group.key:
                counts[_find_week(group.key) if by == 'week' else group.key] += group.count
        return counts

    def list_firsts(
        self,
        by: str,
        count: int,
        where: dict[str, Any],
        window: Window | None,
        order: tuple[str, bool],
    ) -> list[EventRow]:
        """Return the first events by an order of each day, session, ... in the order of these."""
        pieces = window.pieces if window else ()
        if pieces:
            every = [self.list_events(where, one, *order, count) for one in pieces]
            return [event for events in every for event in events]
        groups: dict[str, list[EventRow]] = {}
        for event in self.list_events(where, window, *order, POOL):
            groups.setdefault(self._name_group(event, by), []).append(event)
        firsts = [events[:count] for key, events in groups.items() if key]
        firsts.sort(key=lambda events: events[0].onset)
        return [event for events in firsts for event in events]

    def _name_group(self, event: EventRow, by: str) -> str:
        onset = to_local(event.onset // 1000, self.zone)
        if by == 'week':
            return _find_week(f'{onset.date()}')
        if by in _TIMES:
            return onset.strftime(_TIMES[by])
        return event.names.get('session_id' if by == 'session' else by) or ''

    def _has_key(self, event: EventRow, by: str, key: str) -> bool:
        if by == 'session':
            return event.names.get('session_id') == key
        if by not in (*_TIMES, 'week'):
            return event.names.get(by) == key
        onset = to_local(event.onset // 1000, self.zone)
        if by == 'week':
            return _find_week(f'{onset.date()}') == key
        return key.lower().startswith(onset.strftime(_TIMES[by]).lower())

    def compare_windows(
        self, reading: Reading, where: dict[str, Any], window: Window | None
    ) -> FigureView:
        """Return how many more events one window has than the other."""
        counts = [self._count(where, one) for one in (window, reading.against)]
        words = f'count {counts[0]} less {counts[1]}'
        return FigureView(words, float(counts[0] - counts[1]), '')

    def _count(self, where: dict[str, Any], window: Window | None) -> int:
        groups = aggregate_events(self.memory, self.ask(where, window), ['count'], '', '', 1)
        return groups.groups[0].count if groups.groups else 0


def _is_longer_than_day(window: Window) -> bool:
    return bool(
        window.since and window.until and window.until - window.since > timedelta(hours=25)
    )


def measure_window(window: Window) -> FigureView | None:
    """Return how long a window between two events lasts."""
    if window.since is None or window.until is None:
        return None
    return FigureView('time between', (window.until - window.since).total_seconds(), 's')


def _find_week(day: str) -> str:
    """Return the Monday of the week of a day."""
    found = date.fromisoformat(day)
    return f'{found - timedelta(days=found.weekday())}'
