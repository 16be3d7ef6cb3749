"""What was read in a question, typed, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Relation = Literal['since', 'before', 'after', 'during', 'around', 'between']
Operator = Literal['$gt', '$gte', '$lt', '$lte', '$eq']
Function = Literal[
    'count', 'difference', 'distinct', 'mean', 'median', 'std', 'sum', 'rate', 'share'
]

PEAKED = ('force', 'torque', 'speed', 'effort', 'current')
"""Quantities whose figure is the peak where the question names no other."""
UNITS = {
    'force': 'N', 'torque': 'N m', 'impulse': 'N s', 'length': 'm', 'distance': 'm',
    'speed': 'm/s', 'rotation speed': 'rad/s', 'acceleration': 'm/s²', 'angle': 'rad',
    'mass': 'kg', 'temperature': '°C', 'duration': 's', 'frequency': 'Hz', 'voltage': 'V',
    'effort': 'N m', 'current': 'A', 'power': 'W', 'pressure': 'Pa', 'share': '%',
}  # fmt: skip
"""The unit that values of a quantity have."""


@dataclass(frozen=True)
class Span:
    """Hold what was read in text[start:end], and as what."""

    start: int
    end: int
    role: str


@dataclass(frozen=True)
class Window:
    """
    Hold a window of time, half open; None is open to that side.

    `since` and `until` are instants in UTC. `granularity` is second, minute, hour, part, day,
    week, month, year, or range; `near` is the instant that was named, where events close to it
    come first. With `pieces` it is these alone, in the order in which they were named.
    """

    since: datetime | None
    until: datetime | None
    granularity: str
    zone: ZoneInfo
    near: datetime | None = None
    pieces: tuple[Window, ...] = ()

    def describe(self) -> str:
        """Return the window in words, in its zone."""
        if self.pieces:
            return ' and '.join(one.describe() for one in self.pieces)
        since = self.since and self.since.astimezone(self.zone)
        until = self.until and self.until.astimezone(self.zone)
        if since is None or until is None:
            named, word = (until, 'before') if since is None else (since, 'since')
            return f'{word} {_format_instant(named)}' if named else ''
        if _is_midnight(since) and _is_midnight(until) and since.date() < until.date():
            last = until.date() - timedelta(days=1)
            if last == since.date():
                near = self.near and self.near.astimezone(self.zone)
                return f'{last}, nearest to {near:%H:%M}' if near else f'{last}'
            return f'{since.date()} to {last}'
        if until - since <= timedelta(minutes=1) and not since.second:
            return _format_instant(since)
        end = _format_instant(until)
        start = f'{since.date()} 00:00' if _is_midnight(since) else _format_instant(since)
        return f'{start} to {end[11:] if until.date() == since.date() else end}'


@dataclass(frozen=True)
class DayOf:
    """
    Hold a day that is told by an event: so many `days` after it, or before it where negative.

    With `nth` the first, second, ... day of what lasted several, the last where negative; with
    `week` its calendar week, and with `part` a part of the day.
    """

    days: int = 0
    nth: int = 0
    week: bool = False
    part: str = ''

    def describe(self) -> str:
        """Return the day in words, to stand before its event."""
        if self.nth:
            return f'day {self.nth} of' if self.nth > 0 else 'the last day of'
        if self.week:
            side = 'the week after' if self.days > 0 else 'the week before'
            return side if self.days else 'the week of'
        words = f'the {self.part or "day"}'
        count = abs(self.days)
        far = f'{count} days' if count > 1 else words
        return f'{far} {"after" if self.days > 0 else "before"}' if self.days else f'{words} of'


@dataclass(frozen=True)
class Anchor:
    """
    Hold an event by which time is told: `words` name it, for the caller to look up.

    `which` counts from the first (1) or from the last (-1, -2), in `window` where it is given; 0
    means all of them ('while screwing'). `distance` says how far from it at most, in seconds ('in
    the ten minutes after'). What lies between two ends with `to`. `said` is something that
    somebody said. With `day` a day or week is meant that the event tells. `edge` says that its
    start or its end is named.
    """

    relation: Relation
    words: str
    which: int = -1
    distance: float | None = None
    window: Window | None = None
    to: Anchor | None = None
    said: bool = False
    day: DayOf | None = None
    edge: Literal['', 'start', 'end'] = ''

    def describe(self) -> str:
        """Return the anchor in words."""
        if self.day:
            return f'{self.day.describe()} {self.describe_event()}'
        within = f'within {self.distance:g} s ' if self.distance is not None else ''
        words = f'{within}{self.relation} {self.describe_event()}'
        return f'{words} and {self.to.describe_event()}' if self.to else words

    def describe_event(self) -> str:
        """Return the event in words."""
        which = 'the last' if self.which < 0 else f'the {_format_ordinal(self.which)}'
        which = f'the {_format_ordinal(-self.which)} last' if self.which < -1 else which
        if self.said:
            return f'«{self.words}»'
        which = f'the {self.edge} of {which}' if self.edge else which
        words = f'{which} {self.words}' if self.which else f'any {self.words}'
        return f'{words} of {self.window.describe()}' if self.window else words


@dataclass(frozen=True)
class Bound:
    """Hold a bound: `value` in the unit of its quantity in UNITS, `written` as it was said."""

    quantity: str
    operator: Operator
    value: float
    written: str
    figure: str = ''

    def describe(self) -> str:
        """Return the bound in words."""
        return (
            f'{name_figure(self.quantity, self.figure)} {_OPERATORS[self.operator]} '
            f'{self.value:.6g} {UNITS[self.quantity]}'
        )


@dataclass(frozen=True)
class Comparison:
    """Hold an event, named as by an anchor, that what is asked for has more or less than."""

    quantity: str
    operator: Operator
    anchor: Anchor

    def describe(self) -> str:
        """Return the comparison in words."""
        figure, side = name_figure(self.quantity), _OPERATORS[self.operator]
        return f'{figure} {side} that of {self.anchor.describe_event()}'


@dataclass(frozen=True)
class Order:
    """
    Hold an order by 'time', 'count' or a quantity; `skip` come before what is asked for.

    With `turned` what is asked for is listed the other way round: the last four, oldest first.
    With `near`, in the unit of the quantity, what is closest to that value comes first.
    """

    by: str
    descending: bool
    take: int | None = None
    skip: int = 0
    figure: str = ''
    turned: bool = False
    near: float | None = None

    def describe(self) -> str:
        """Return the order in words."""
        if self.near is not None:
            words = f'{name_figure(self.by, self.figure)} closest to {self.near:.6g}'
            words = f'{words} {UNITS[self.by]} first'
        elif self.by == 'time':
            words = f'{"newest" if self.descending else "oldest"} first'
        else:
            words = f'{"highest" if self.descending else "lowest"} '
            words += f'{name_figure(self.by, self.figure)} first'
        words += f', from the {_format_ordinal(self.skip + 1)} on' if self.skip else ''
        words = f'{words}, {self.take} of them' if self.take else words
        return f'{words}, the other way round' if self.turned else words


@dataclass(frozen=True)
class Aggregate:
    """
    Hold a figure over events: of no quantity for a count; `group` is hour, day, task, ...

    'distinct' counts the groups that have any: on how many days. 'difference' is that of a pair.
    """

    function: Function
    quantity: str = ''
    group: str = ''

    def describe(self) -> str:
        """Return the aggregate in words."""
        if self.function == 'distinct':
            return f'number of {self.group}s'
        words = f'{self.function} of {self.quantity}' if self.quantity else self.function
        return f'{words} by {self.group}' if self.group else words


@dataclass(frozen=True)
class Reading:
    """
    Hold what a question says.

    With `statement` a rule, a fact or what somebody said is asked for: then the rest only
    orders, and restricts nothing; `quoted` says that a word like rule or said is why. `asks` is
    'instant' (when), a quantity (how long, how hard) or empty. Events of the labels `excluded`
    are not asked for. `outcome` is 'success' or 'failure' of tasks, trials and sessions;
    `recording` names a file. `rest` is what is left of the text for the search, empty where
    only stop words are, and all of it where nothing was read. A `vague` reading names no kind, or
    with ordinary words only; of a `loose` one the order and the count hold only where it is known
    what kind is meant. `between` asks how long it was from one event of the anchor to the other,
    `against` is the window that `window` is compared with, `than` an event. What is `nearest` in
    time to an event comes first; of a `pair` of events one is asked for. With `each` the first by
    the order is asked for of each day, session, ... or of each piece of the window. `doing` asks
    what the robot did: its tasks and sessions come first. Only what was in the shifts `among`
    passes, where there are any; of the newest `of_last` events the first by the order is asked
    for, of all where it is 0.
    """

    rest: str
    window: Window | None = None
    anchor: Anchor | None = None
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    order: Order | None = None
    aggregate: Aggregate | None = None
    outcome: str = ''
    recording: str = ''
    asks: str = ''
    statement: bool = False
    quoted: bool = False
    between: bool = False
    against: Window | None = None
    than: Comparison | None = None
    nearest: Anchor | None = None
    pair: tuple[Anchor, Anchor] | None = None
    each: str = ''
    doing: bool = False
    among: tuple[Anchor, ...] = ()
    of_last: int = 0
    vague: bool = False
    loose: bool = False
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        """Say whether anything was read."""
        return bool(self.spans)

    @property
    def take(self) -> int | None:
        """Return how many are asked for, None where the question does not say."""
        return self.order.take if self.order else None

    def describe(self) -> str:
        """Return what was read in words, empty where nothing was."""
        names = [_make_plural(label) for label in self.labels]
        names = names or [_make_plural(kind) for kind in self.kinds]
        parts = [' or '.join(names)] if names and self else []
        parts += [f'no {_make_plural(label)}' for label in self.excluded]
        parts += [bound.describe() for bound in self.bounds]
        order = None if self.nearest else self.order
        parts += [
            part.describe()
            for part in (self.than, self.aggregate, order, self.anchor, self.window)
            if part is not None
        ]
        parts += ['how long'] if self.between else []
        parts += [f'nearest to {self.nearest.describe_event()}'] if self.nearest else []
        parts += [' or '.join(one.describe_event() for one in self.pair)] if self.pair else []
        parts += [f'of the last {self.of_last}'] if self.of_last else []
        parts += [f'of each {self.each}'] if self.each else []
        parts += [f'in {" or ".join(map(_name_shift, self.among))}'] if self.among else []
        parts += [f'against {self.against.describe()}'] if self.against else []
        parts += [self.outcome, self.recording and f'in {self.recording}']
        return ', '.join(part for part in parts if part)


_PLURALS = {
    'state': 'changes of state',
    'scene': 'changes of scene',
    'appeared': 'things that appeared',
    'disappeared': 'things that disappeared',
}


def _make_plural(name: str) -> str:
    if name in _PLURALS:
        return _PLURALS[name]
    if name.endswith(('ing', 'lost', 'temperature', 'weight')):
        return name
    return f'{name}es' if name.endswith(('s', 'sh')) else f'{name}s'


_OPERATORS = {'$gt': 'over', '$gte': 'at least', '$lt': 'under', '$lte': 'at most', '$eq': 'of'}


def name_figure(quantity: str, figure: str = '') -> str:
    """Return the figure of a quantity as a reading names it: 'peak force', 'duration'."""
    figure = figure or ('peak' if quantity in PEAKED else '')
    return f'{figure} {quantity}'.strip()


def _name_shift(anchor: Anchor) -> str:
    return anchor.describe_event()


def _is_midnight(local: datetime) -> bool:
    return not (local.hour or local.minute or local.second or local.microsecond)


def _format_instant(local: datetime) -> str:
    if _is_midnight(local):
        return f'{local.date()}'
    return local.strftime('%Y-%m-%d %H:%M:%S' if local.second else '%Y-%m-%d %H:%M')


def _format_ordinal(number: int) -> str:
    ending = {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')
    return f'{number}{"th" if 10 < number % 100 < 14 else ending}'
