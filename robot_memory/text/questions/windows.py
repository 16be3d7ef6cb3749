"""The window of time that the times of a question make together."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from robot_memory.text.questions.calendar import DAY, Calendar, Stretch
from robot_memory.text.questions.clocks import Clock, set_hour_in
from robot_memory.text.questions.model import Window
from robot_memory.text.questions.moments import Moment, find_moments
from robot_memory.text.questions.phrases import (
    Phrase,
    find_phrases,
    is_range,
    is_supported,
    join_moments,
    list_weekdays,
    share_half,
    share_month,
    share_week,
)
from robot_memory.text.questions.tables import load_pattern, load_table

WEEKDAY = 'weekday'
"""The granularity of a day last week that has the name of today."""
_SHORT = timedelta(minutes=1)
NOON = Clock(12, exact=True)
_NOONS = frozenset(
    (
        'noon',
        'midday',
        'lunchtime',
        'lunch time',
        *'中午 正午 晌午 午饭 午饭时间 午饭时 午休 午休时间 午休时'.split(),
    )
)
_AROUND_HOUR = timedelta(minutes=30)
_AROUND = timedelta(minutes=15)
_AROUND_SPOKEN = timedelta(minutes=10)
"""How far from 'at three', 'around 14:03' and 'half past two' an event may be."""
_INCLUSIVE = ('until', 'till')
"""Words before the last day of a range."""
_SOON = timedelta(minutes=30)
"""How far from 'shortly after four'."""


@dataclass(frozen=True)
class Found:
    """
    Hold a window with what it was read from; with `past` it cannot lie ahead.

    `part` is the part of a day, where nothing says of which.
    """

    window: Window
    spans: tuple[tuple[int, int], ...]
    past: bool
    support: bool
    dated: bool = True
    part: str = ''


def find_window(folded: str, calendar: Calendar) -> Found | None:
    """Return the window that a folded text names; None where it names none, or two apart."""
    moments = [m for m in find_moments(folded, calendar) if not m.nothing]
    if any(moment.spoils for moment in moments):
        return None
    times = find_phrases(folded, moments)
    ranges: list[Found] = []
    single: list[Phrase] = []
    at = 0
    day = next((t.moment for t in times if t.moment.day or t.moment.stretch), None)
    while at < len(times):
        if at + 1 < len(times) and (
            is_range(folded, times[at], times[at + 1]) or _is_pair(times[at], times[at + 1])
        ):
            found = _make_range(times[at], times[at + 1], day, calendar)
            if found is not None:
                ranges.append(found)
            at += 2
        else:
            single.append(times[at])
            at += 1
    listed = _list_days(folded, single, calendar) if len(single) > 1 and not ranges else None
    if listed is not None:
        return listed
    single = [one for one in single if is_supported(folded, one)]
    if ranges:
        spans = ranges[0].spans + tuple((one.start, one.end) for one in single)
        return replace(ranges[0], spans=spans) if len(ranges) == 1 else None
    merged = _merge(single)
    if merged is None:
        return _list_weekdays(single, calendar)
    try:
        window = _make_window(merged, calendar)
    except OverflowError:  # before the first year
        return None
    if window is None or (window.since is not None and window.since > calendar.now):
        return None
    spans = tuple((one.start, one.end) for one in single)
    return Found(
        window,
        spans,
        merged.moment.past,
        any(one.moment.support for one in single) or _is_part_alone(merged.moment),
        merged.moment.clock is None or merged.moment.day is not None,
        merged.moment.part if _is_part_alone(merged.moment) else '',
    )


def find_times(
    folded: str, calendar: Calendar, *, every: bool = False
) -> tuple[tuple[int, int], ...]:
    """
    Return where the times of a text stand, also those that make no window together.

    With `every` those too that nothing around them makes times.
    """
    phrases = find_phrases(folded, find_moments(folded, calendar))
    return tuple((one.start, one.end) for one in phrases if every or is_supported(folded, one))


def get_part(name: str) -> tuple[int, int]:
    """Return the hours of a part of the day; an end beyond 24 lies in the next day."""
    low, high = load_table('times')['parts'][name]
    return low, high


def _list_days(folded: str, phrases: list[Phrase], calendar: Calendar) -> Found | None:
    """Return several days or weeks that are named side by side: on Monday, Tuesday and Friday."""
    same = load_pattern('times', 'around', 'same_day')
    phrases = [one for one in phrases if not same.fullmatch(folded, one.start, one.end)]
    gaps = itertools.pairwise(phrases)
    join = load_pattern('times', 'around', 'list')
    if not all(join.fullmatch(folded, one.end, other.start) for one, other in gaps):
        return None
    weekdays = all(one.moment.weekday is not None for one in phrases)
    compared = load_pattern('choices', 'choice', 'asks').search(folded) is not None
    supported = weekdays or compared or any(is_supported(folded, one) for one in phrases)
    if len(phrases) < 2 or not supported:
        return None
    phrases = _follow_week(phrases, calendar)
    windows = [_make_window(one, calendar) for one in phrases]
    days = [one for one in windows if one and one.since and one.until and not one.near]
    if len(days) < len(phrases) or any(one.relation for one in phrases):
        return None
    since = min(one.since for one in days if one.since)
    until = max(one.until for one in days if one.until)
    if since > calendar.now or sum((_length(one) for one in days), timedelta()) > until - since:
        return None  # they overlap: Friday, 13 November
    window = Window(since, until, 'range', calendar.zone, None, tuple(days))
    spans = tuple((one.start, one.end) for one in phrases)
    return Found(window, spans, any(one.moment.past for one in phrases), False)


def _list_weekdays(phrases: list[Phrase], calendar: Calendar) -> Found | None:
    """Return the days of a weekday in a month or several weeks: a Saturday of November."""
    days = [calendar.make_window(one) for one in list_weekdays(phrases, calendar)]
    if not days:
        return None
    window = Window(days[0].since, days[-1].until, 'range', calendar.zone, None, tuple(days))
    return Found(window, tuple((one.start, one.end) for one in phrases), True, False)


def _follow_week(phrases: list[Phrase], calendar: Calendar) -> list[Phrase]:
    """Return weekdays in the week of the one before them: on Wednesday, Tuesday and Wednesday."""
    chained = [phrases[0]]
    for one in phrases[1:]:
        before, moment = chained[-1].moment, one.moment
        if before.weekday is not None and before.day and moment.day and moment.day < before.day:
            later = moment.day + 7 * DAY
            if moment.weekday is not None and later <= calendar.today:
                one = replace(one, moment=replace(moment, day=later))
        chained.append(one)
    return chained


def _length(window: Window) -> timedelta:
    return window.until - window.since if window.since and window.until else timedelta()


def _is_part_alone(moment: Moment) -> bool:
    return bool(moment.part) and not (moment.day or moment.clock or moment.stretch)


def _is_pair(one: Phrase, other: Phrase) -> bool:
    """Say whether one time is where a stretch begins, and the other where it ends."""
    return one.relation in ('since', 'after') and other.relation in ('before', 'by')


def _merge(phrases: list[Phrase]) -> Phrase | None:
    """Return the one time that all say together, None where there are none or two."""
    if not phrases:
        return None
    merged = phrases[0]
    for one in phrases[1:]:
        joined = join_moments(merged.moment, one.moment) or _leave_part(merged.moment, one.moment)
        if joined is None:
            return None
        dated = merged if one.relation else one
        if (one.relation or merged.relation) and not (dated.moment.day and not dated.moment.clock):
            return None
        if one.relation and merged.relation:
            return None
        merged = replace(
            merged,
            moment=joined,
            about=merged.about or one.about,
            relation=merged.relation or one.relation,
        )
    return merged


def _leave_part(one: Moment, other: Moment) -> Moment | None:
    """Return a week or month of which a part of the day is told: the night shift last weekend."""
    for stretch, part in ((one, other), (other, one)):
        if stretch.stretch and not stretch.part and _is_part_alone(part):
            return replace(stretch, end=max(one.end, other.end), needs=False)
    return None


def _find_hour(clock: Clock, part: str) -> int:
    if part and clock.hour <= 12:
        return set_hour_in(part, clock.hour)
    if clock.exact:
        return clock.hour
    return clock.hour + 12 if 1 <= clock.hour <= 6 else clock.hour


def _find_time(moment: Moment, calendar: Calendar) -> tuple[datetime, timedelta]:
    """Return the local time that a clock time means, and for how long it is said to be."""
    assert moment.clock
    clock = moment.clock
    at = time(_find_hour(clock, moment.part), clock.minute or 0, clock.second or 0)
    day = moment.day or calendar.today
    again = moment.weekday is not None and not moment.past and day == calendar.today - 7 * DAY
    if again and datetime.combine(calendar.today, at) <= calendar.local:
        day = calendar.today  # on Friday at 14:03, said on a Friday afternoon
    if moment.part and load_table('times')['parts'][moment.part][1] > 24 and at.hour < 12:
        day += DAY
    local = datetime.combine(day, at)
    if moment.day is None and local > calendar.local:
        local -= DAY
    lasts = timedelta(seconds=1 if clock.second is not None else 60)
    return local, timedelta(hours=1) if clock.minute is None else lasts


def _make_stretch(moment: Moment, about: bool, calendar: Calendar) -> Stretch | None:
    if moment.stretch:
        return moment.stretch
    if moment.clock:
        local, lasts = _find_time(moment, calendar)
        if moment.clock.over:
            return Stretch(local, local + lasts, 'hour', local + lasts / 2)
        if about or lasts > _SHORT or moment.clock.spoken:
            if about and moment.clock == NOON:
                return Stretch(local - DAY / 24, local + DAY / 24, 'hour', local)
            around = _AROUND_HOUR if lasts > _SHORT else _AROUND if about else _AROUND_SPOKEN
            return Stretch(local - around, local + around, 'hour', local)
        granularity = 'second' if lasts < _SHORT else 'minute'
        return Stretch(local, local + lasts, granularity, local)
    if moment.day and moment.part:
        low, high = get_part(moment.part)
        start = datetime.combine(moment.day, time())
        return Stretch(start + timedelta(hours=low), start + timedelta(hours=high), 'part')
    if moment.part and not moment.day:
        low, high = get_part(moment.part)
        start = datetime.combine(calendar.today, time()) + timedelta(hours=low)
        start -= DAY if start > calendar.local else timedelta(0)
        return Stretch(start, start + timedelta(hours=high - low), 'part')
    if moment.day is None:
        return None
    named = moment.weekday is not None and moment.day == calendar.today - 7 * DAY
    return calendar.make_day(moment.day, 1, WEEKDAY if named else 'day')


def _make_window(one: Phrase, calendar: Calendar) -> Window | None:
    moment = one.moment
    if moment.window:
        return _relate(one, moment.window, None, None)
    if one.relation and moment.part in _NOONS and moment.clock is None:
        moment = replace(moment, part='', clock=NOON)
        one = replace(one, moment=moment)
    stretch = _make_stretch(moment, one.about, calendar)
    if stretch is None:
        return None
    window = calendar.make_window(stretch)
    if moment.part and moment.day and not moment.clock:
        return _relate(one, window, calendar.make_window(calendar.make_day(moment.day)), None)
    if not (moment.clock and stretch.near):
        return _relate(one, window, None, None)
    day = calendar.make_window(calendar.make_day(stretch.near.date()))
    night = _make_stretch(replace(moment, clock=None), False, calendar) if moment.part else None
    until = calendar.make_window(night).until if night else None
    ends = until and (day.until is None or until > day.until or get_part(moment.part)[1] > 24)
    if ends:  # last night after midnight ends in the morning
        day = replace(day, until=until)
    return _relate(one, window, day, calendar.find_instant(stretch.near))


def _relate(one: Phrase, window: Window, day: Window | None, at: datetime | None) -> Window:
    """Return what lies since, before or after a window; a clock time stays in its day."""
    since, until = at or window.since, at or window.until
    dated = day if one.moment.day else None
    if one.far and since:
        ends = (since - one.far, since) if one.relation == 'before' else (since, since + one.far)
        return replace(window, since=ends[0], until=ends[1], granularity='range', near=None)
    if one.apart and since and until:
        length = timedelta(
            days={'day': 1, 'week': 7, 'month': 30}.get(one.apart, 0), hours=one.apart == 'hour'
        )
        ends = (since - length, since) if one.relation == 'before' else (until, until + length)
        return replace(window, since=ends[0], until=ends[1], granularity='range', near=None)
    open_ = replace(window, granularity='range', near=None)
    if one.relation == 'since':
        return replace(open_, since=since, until=None)
    if one.relation == 'after':
        if one.soon and until:
            return replace(open_, since=until, until=until + _SOON)
        return replace(open_, since=until, until=dated.until if dated else None)
    if one.relation == 'before' and one.soon and since:
        return replace(open_, since=since - _SOON, until=since)
    if one.relation == 'before':
        return replace(open_, since=day.since if day else None, until=since)
    if one.relation == 'by':
        return replace(open_, since=day.since if day else None, until=until)
    return window


def _make_range(
    one: Phrase, other: Phrase, day: Moment | None, calendar: Calendar
) -> Found | None:
    """Return from one time to another; the day, the part and the half of the day are shared."""
    first, last = one.moment, other.moment
    if first.clock or last.clock:
        if not last.clock:
            return None
        shared = first.day or last.day or (day.day if day else None)
        part = first.part or last.part
        if first.clock and last.clock:
            first, last = share_half(first, last)
        first = replace(first, day=first.day or shared, part=first.part or part)
        last = replace(last, day=last.day or shared, part=last.part or part)
    if first.window and last.window and first.window.since and last.window.since:
        instants = Window(first.window.since, last.window.since, 'range', calendar.zone)
        if first.window.since >= last.window.since or first.window.since > calendar.now:
            return None
        return Found(instants, ((one.start, other.end),), True, False)
    first, last = share_month(*share_week(first, last))
    stretches = [_make_stretch(moment, False, calendar) for moment in (first, last)]
    if stretches[0] is None or stretches[1] is None:
        return None
    since = stretches[0].near or stretches[0].since
    until = stretches[1].near or stretches[1].until
    if other.relation == 'before' and not last.clock and other.word not in _INCLUSIVE:
        until = stretches[1].since
    if until <= since and last.clock and not other.moment.day:
        if other.moment.clock and first.day is None:
            since -= DAY
        else:
            until += DAY
    if until <= since:
        if stretches[0].granularity == 'day' and one.moment.weekday is not None:
            since -= 7 * DAY
        else:
            return None
    window = calendar.make_window(Stretch(since, until, 'hour' if first.clock else 'range'))
    window = replace(window, granularity='range')
    if window.since and window.since > calendar.now:
        return None
    return Found(
        window,
        ((one.start, other.end),),
        first.past or last.past,
        False,
        not first.clock or first.day is not None,
    )
