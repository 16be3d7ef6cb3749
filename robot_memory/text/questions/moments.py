"""Single times that a question names: a day, a part of one, a clock time, a week, days ago."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cache
from typing import Any

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.calendar import DAY, Calendar, Stretch
from robot_memory.text.questions.clocks import Clock, get_whole, read_clock
from robot_memory.text.questions.model import Window
from robot_memory.text.questions.numbers import parse_month, parse_number
from robot_memory.text.questions.periods import READERS, WEEKDAYS
from robot_memory.text.questions.tables import expand, load_table


@dataclass(frozen=True)
class Moment:
    """
    Hold a time that was found in text[start:end].

    One of `day`, `part`, `clock`, `stretch` (local time) and `window` (instants) or several that
    belong together. With `needs` it is one only beside another, or after a word that says so;
    with `past` it cannot lie ahead.
    """

    start: int
    end: int
    day: date | None = None
    part: str = ''
    clock: Clock | None = None
    stretch: Stretch | None = None
    window: Window | None = None
    weekday: int | None = None
    day_of_month: int | None = None
    needs: bool = False
    past: bool = False
    support: bool = False
    loose: bool = False
    nothing: bool = False
    spoils: bool = False


_SECOND_NAMES = tuple(
    'part2 unit2 unit3 month2 day2 number2 hour2 hour3 minute2 minute3 away2 year2 '
    'weekday2 weekday3'.split()
)
"""Groups that stand for the one without the digit: a pattern names no group twice."""
LONGEST_YEARS = 20
"""Nothing that a robot remembers is older."""
_THIRDS = {
    'early': (0, 10), '上旬': (0, 10), '初': (0, 10), 'mid': (10, 20), '中旬': (10, 20),
    'late': (20, 31), '下旬': (20, 31), '底': (20, 31),
}  # fmt: skip
UNITS = {
    'sec': 'second', 'min': 'minute', 'hr': 'hour', 'night': 'day', '秒': 'second',
    '秒钟': 'second', '分钟': 'minute', '小时': 'hour', '钟头': 'hour', '天': 'day', '日': 'day',
    '晚': 'day', '周': 'week', '星期': 'week', '礼拜': 'week', '月': 'month', '年': 'year',
}  # fmt: skip
SECONDS = {'second': 1, 'minute': 60, 'hour': 3600, 'day': 86_400, 'week': 604_800}
_AGO = {'last': 1, 'previous': 1, 'this': 0, 'the current': 0}


@cache
def _list_rules(han: bool) -> tuple[dict[str, Any], ...]:
    return tuple(rule for rule in load_table('times')['time'] if rule.get('han', False) == han)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return compile_pattern(expand(pattern, load_table('times')))


def find_moments(folded: str, calendar: Calendar) -> list[Moment]:
    """Return the times in a folded text, in order; of two that overlap, the first and longest."""
    found: list[tuple[int, int, int, dict[str, Any], re.Match[str]]] = []
    for han in (False, True):
        if han and max(folded, default='') < '\u3400':
            continue
        for rule in _list_rules(han):
            if 'has' in rule and not any(word in folded for word in rule['has']):
                continue
            for match in _compile(rule['pattern']).finditer(folded):
                if match.end() > match.start():
                    found.append((match.start(), -match.end(), len(found), rule, match))
    found.sort(key=lambda one: one[:3])
    moments: list[Moment] = []
    end = 0
    for start, minus_end, _, rule, match in found:
        if start >= end:
            try:
                moments.append(_read(rule, match, calendar))
            except (ValueError, OverflowError):  # the 31st of June, year 0
                continue
            end = -minus_end
    return moments


def _read(rule: dict[str, Any], match: re.Match[str], calendar: Calendar) -> Moment:
    given: dict[str, Any] = {
        name: value for name, value in {**rule, **match.groupdict()}.items() if value is not None
    }
    for name in _SECOND_NAMES:
        if name in given:
            given[name[:-1]] = given[name]
    year = int(given.get('year', calendar.today.year))
    if not calendar.today.year - LONGEST_YEARS <= year <= calendar.today.year:
        return Moment(match.start(), match.end(), spoils=True)
    fields = _READERS[rule['read']](given, calendar)
    flags: dict[str, Any] = {
        name: given[name] for name in ('needs', 'past', 'support', 'loose') if name in given
    }
    return Moment(match.start(), match.end(), **{**flags, **fields})


def parse_day(written: str) -> int:
    """Return the number of a day of a month."""
    return int(parse_number(written))


def find_ordinal(written: str) -> int:
    """Return the number of an ordinal: 2 of second."""
    ordinals: str = load_table('times')['fragments']['ordinals']
    return ordinals.split('|').index(written) + 1


def _read_nothing(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    return {'nothing': True}


def _read_day(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    part = given.get('part', '')
    if 'days' in given:
        return {'day': calendar.today - given['days'] * DAY, 'part': part}
    if 'weekday' in given:
        return _read_weekday(given, calendar)
    day = find_ordinal(given['ordinal']) if 'ordinal' in given else parse_day(given['day'])
    if 'monthago' in given:
        month = calendar.make_month(
            calendar.today.year, calendar.today.month - given['monthago'].startswith('上')
        )
        return {'day': month.since.date().replace(day=day), 'part': part}
    if 'month' not in given:
        return {'day': calendar.find_day_of_month(day), 'day_of_month': day, 'part': part}
    return {
        'day': calendar.make_past_date(
            parse_month(given['month']), day, _get_year(given, calendar)
        ),
        'part': part,
    }


def _get_year(given: dict[str, Any], calendar: Calendar) -> int:
    return calendar.today.year - 1 if 'lastyear' in given else int(given.get('year', 0))


def _read_weekday(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    name, which, part = given['weekday'], given.get('which', ''), given.get('part', '')
    weekday = '一二三四五六日天'.find(name)
    weekday = WEEKDAYS.index(name[:3]) if weekday < 0 else min(weekday, 6)
    weeks_ago = {'上上': 2, '上': 1, '这': 0, '本': 0, 'this': 0}.get(which.removesuffix('个'))
    if weeks_ago is None:
        return {'day': calendar.find_weekday(weekday), 'weekday': weekday, 'part': part}
    day = calendar.make_week(weeks_ago).since.date() + weekday * DAY
    return {'day': day if day <= calendar.today else day - 7 * DAY, 'weekday': weekday}


_INSTANT = ('year', 'month', 'day', 'hour', 'minute')


def _read_instant(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    year, month, day, hour, minute = (int(given[name]) for name in _INSTANT)
    local = datetime(year, month, day, hour, minute)
    clock = Clock(local.hour, local.minute, get_whole(given, 'second'), True)
    offset = given.get('offset')
    if not offset:
        return {'day': local.date(), 'clock': clock}
    shift = timedelta(0)
    if offset[0] in '+-':
        digits = offset[1:].replace(':', '')
        shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        shift = -shift if offset[0] == '-' else shift
    at = local.replace(second=clock.second or 0, tzinfo=timezone(shift)).astimezone(timezone.utc)
    whole = 'minute' if clock.second is None else 'second'
    until = at + timedelta(seconds=SECONDS[whole])
    return {'window': Window(at, until, whole, calendar.zone, at)}


def _read_part(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    return {'part': given['part']}


def _read_same_time(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read half an hour to either side of the present time of an earlier day."""
    at = calendar.local - given['days'] * DAY
    around = timedelta(minutes=30)
    return {'stretch': Stretch(at - around, at + around, 'hour', at)}


def _read_ago(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    number, unit = parse_number(str(given['number'])), given['unit']
    if unit in ('year', '年') and number > LONGEST_YEARS:
        return {'spoils': True}
    if unit.startswith('半'):
        number, unit = number + 0.5, unit[1:]
    unit = UNITS.get(unit, unit)
    if 'to_day' in given:
        return {'day': _go_back(calendar, number, unit).astimezone(calendar.zone).date()}
    if 'less' in given or 'more' in given:
        at = _go_back(calendar, number, unit)
        since, until = (at, calendar.now) if 'less' in given else (None, at)
        return {'window': Window(since, until, 'range', calendar.zone)}
    if unit in ('second', 'minute', 'hour'):
        seconds = number * SECONDS[unit]
        at = calendar.now - timedelta(seconds=seconds)
        around = timedelta(seconds=max(60.0, seconds * 0.25))
        until = min(at + around, calendar.now)
        return {'window': Window(at - around, until, 'range', calendar.zone, at)}
    whole = int(number)
    if unit == 'day':
        return {'day': calendar.today - whole * DAY, 'part': given.get('part', '')}
    return {'stretch': _find_period(calendar, unit, whole)}


def _go_back(calendar: Calendar, number: float, unit: str) -> datetime:
    """Return the instant so many units ago: hours as they passed, days by the calendar."""
    if unit in ('second', 'minute', 'hour'):
        return calendar.now - timedelta(seconds=number * SECONDS[unit])
    if unit in ('month', 'year'):
        months = round(number * (12 if unit == 'year' else 1))
        start = calendar.make_month(calendar.local.year, calendar.local.month - months)
        last = (start.until - DAY).day
        then = start.since.replace(day=min(calendar.local.day, last))
        return calendar.find_instant(datetime.combine(then.date(), calendar.local.time()))
    days = number * (7 if unit in ('week', 'weekend') else 1)
    return calendar.find_instant(calendar.local - timedelta(days=days))


def _find_period(calendar: Calendar, unit: str, ago: int) -> Stretch:
    if unit == 'week':
        return calendar.make_week(ago)
    if unit == 'weekend':
        begun = calendar.make_weekend(ago).since <= calendar.local
        return calendar.make_weekend(ago + (not begun))
    if unit == 'month':
        return calendar.make_month(calendar.today.year, calendar.today.month - ago)
    if unit == 'year':
        return calendar.make_year(calendar.today.year - ago)
    hour = calendar.local.replace(minute=0, second=0, microsecond=0) - timedelta(hours=ago)
    return Stretch(hour, hour + timedelta(hours=1), 'hour')


def _read_rolling(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    number, unit = parse_number(str(given.get('number', 1))), given['unit']
    since = _go_back(calendar, number, UNITS.get(unit, unit))
    return {'window': Window(since, calendar.now, 'range', calendar.zone)}


def _read_period(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    unit = given['unit']
    if unit == '今年':
        unit = 'year'
    unit = UNITS.get(unit, unit)
    ago = given['ago'] if 'ago' in given else _AGO[given['which']]
    return {'stretch': _find_period(calendar, unit, ago)}


def _read_month(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    which = given.get('which', '')
    month = parse_month(given['month'])
    found = calendar.make_past_month(month, _get_year(given, calendar), which == 'last')
    if 'third' in given:
        first, last = _THIRDS[given['third']]
        until = min(found.since + last * DAY, found.until)
        found = Stretch(found.since + first * DAY, until, 'range')
    return {'stretch': found}


def _read_year(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    return {'stretch': calendar.make_year(int(given['year']))}


def _read_between(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    first_day, last_day = (int(parse_number(given[name])) for name in ('first', 'last'))
    if 'month' in given:
        year = int(given.get('year', 0))
        first = calendar.make_past_date(parse_month(given['month']), first_day, year)
    else:
        first = calendar.find_day_of_month(first_day)
    last = first.replace(day=last_day)
    if last < first:
        raise ValueError('the days are not in order')
    if 'both' in given and 'ends' not in given:  # on 5 and 19 November: these alone
        days = tuple(calendar.make_window(calendar.make_day(one)) for one in (first, last))
        return {'window': Window(days[0].since, days[1].until, 'range', calendar.zone, None, days)}
    return {'stretch': calendar.make_day(first, (last - first).days + 1, 'range')}


_READERS = {
    'none': _read_nothing,
    'day': _read_day,
    'instant': _read_instant,
    'part': _read_part,
    'clock': read_clock,
    'same_time': _read_same_time,
    'ago': _read_ago,
    'rolling': _read_rolling,
    'period': _read_period,
    'month': _read_month,
    'year': _read_year,
    'between': _read_between,
    **READERS,
}
