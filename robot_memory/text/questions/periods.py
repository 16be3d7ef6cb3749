"""Parts of months and weeks that a question names: week 46, the end of October, 月初."""

from __future__ import annotations

from datetime import date
from typing import Any

from robot_memory.text.questions.calendar import DAY, Calendar, Stretch
from robot_memory.text.questions.numbers import parse_month, parse_number
from robot_memory.text.questions.tables import load_table

WEEKDAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')


def _read_week_number(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    week, year = int(given['week']), int(given.get('year', calendar.today.year))
    monday = date.fromisocalendar(year, week, 1)
    if monday > calendar.today and 'year' not in given:
        monday = date.fromisocalendar(year - 1, week, 1)
    return {'stretch': calendar.make_day(monday, 7, 'week')}


def _read_half(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    today = calendar.today
    month = parse_month(given['month']) if 'month' in given else today.month
    found = calendar.make_past_month(month, int(given.get('year', 0)))
    middle = found.since + 15 * DAY
    first = given['half'] == 'first'
    ends = (found.since, middle) if first else (middle, found.until)
    return {'stretch': Stretch(*ends, 'range')}


def _read_week_of(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    month = calendar.make_past_month(parse_month(given['month']), int(given.get('year', 0)))
    if 'last' in given or given.get('ordinal') in ('last', 'final', 'closing'):
        return {'stretch': Stretch(month.until - 7 * DAY, month.until, 'range')}
    nth = (
        int(parse_number(given['nth'])) - 1
        if 'nth' in given
        else _ORDINALS.index(given['ordinal'].replace('opening', 'first'))
    )
    start = month.since + 7 * DAY * nth
    return {'stretch': Stretch(start, min(start + 7 * DAY, month.until), 'range')}


def _read_week_from(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    day = (
        calendar.make_past_date(parse_month(given['month']), int(given['day']))
        if 'month' in given
        else calendar.find_day_of_month(int(given['day']))
    )
    return {'stretch': calendar.make_day(day, 7, 'week')}


def _read_week_to(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read the seven days that end with a day: the week ending 15 November."""
    day = int(given['day'])
    last = (
        calendar.make_past_date(parse_month(given['month']), day)
        if 'month' in given
        else calendar.find_day_of_month(day)
    )
    return {'stretch': calendar.make_day(last - 6 * DAY, 7, 'week')}


def _find_stretch(given: dict[str, Any], calendar: Calendar) -> Stretch:
    """Return the month or the week that is named: October, last month, 上周."""
    if 'month' in given:
        return calendar.make_past_month(parse_month(given['month']), int(given.get('year', 0)))
    period = given['period']
    ago = period.startswith(('last', '上', 'the previous'))
    if period.endswith(('week', '周', '星期')):
        return calendar.make_week(int(ago))
    return calendar.make_month(calendar.today.year, calendar.today.month - ago)


def _read_day_of(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read a day, or working day, of a month or a week: 十月最后一个工作日."""
    stretch = _find_stretch(given, calendar)
    first, days = stretch.since.date(), (stretch.until - stretch.since).days
    every = [first + at * DAY for at in range(days)]
    if 'working' in given:
        every = [one for one in every if one.weekday() < 5]
    which = given.get('which', '')
    if which in ('last', 'final', '最后', '末'):
        return {'day': every[-1]}
    place = int(parse_number(given['nth'])) if 'nth' in given else 1
    place = place if which in ('', '头', '首') else _ALL_ORDINALS.index(which) + 1
    return {'day': every[place - 1]} if place <= len(every) else {'nothing': True}


def _read_last_working(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    back = {0: 3, 6: 2}.get(calendar.today.weekday(), 1)
    return {'day': calendar.today - back * DAY}


def _read_days_of(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    days, month = int(parse_number(given['number'])), _find_stretch(given, calendar)
    if 'first' in given or given.get('which') == 'first':
        return {'stretch': Stretch(month.since, month.since + days * DAY, 'range')}
    return {'stretch': Stretch(month.until - days * DAY, month.until, 'range')}


_ALL_ORDINALS: list[str] = load_table('times')['fragments']['ordinals'].split('|')
_ORDINALS = ('first', 'second', 'third', 'fourth')
_BEGIN = ('very start', 'start', 'beginning', 'early part', '初', '上旬')
_MIDDLE = ('middle', '中旬')
_HALVES = {'上半月': True, '下半月': False}


def _read_part_of(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read the start, the middle or the end of a month or a week."""
    which, today = given['which'], calendar.today
    place = 0 if which in _BEGIN else 1 if which in _MIDDLE else 2
    ago = given.get('period', '').startswith(('last', '上'))
    if given.get('unit') == 'week':
        week = calendar.make_week(int(ago))
        first, last = ((0, 2), (2, 4), (4, 7))[place]
        return {'stretch': Stretch(week.since + first * DAY, week.since + last * DAY, 'range')}
    if 'month' in given:
        month = calendar.make_past_month(parse_month(given['month']), int(given.get('year', 0)))
    else:
        month = calendar.make_month(today.year, today.month - ago)
    if which in _HALVES:
        middle = month.since + 15 * DAY
        ends = (month.since, middle) if _HALVES[which] else (middle, month.until)
        return {'stretch': Stretch(*ends, 'range')}
    first, last = ((0, 10), (10, 20), (20, 31))[place]
    until = min(month.since + last * DAY, month.until)
    return {'stretch': Stretch(month.since + first * DAY, until, 'range')}


def _read_weekday_ago(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    weeks = int(parse_number(given['number'])) if 'number' in given else 2
    name = given.get('weekday') or given['before_last']
    day = calendar.find_weekday(WEEKDAYS.index(name[:3]))
    return {'day': day - 7 * (weeks - 1) * DAY}


def _read_night_to(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read the night to Thursday, which begins on Wednesday."""
    day = calendar.find_weekday(WEEKDAYS.index(given['weekday'][:3]))
    return {'day': day - DAY, 'part': 'night'}


def _read_weekday_of(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Read the first Monday of November, 上个月最后一个周五."""
    name = given['weekday']
    weekday = min('一二三四五六日天'.find(name), 6)
    weekday = WEEKDAYS.index(name[:3]) if weekday < 0 else weekday
    month = _find_stretch(given, calendar)
    first = month.since.date() + (weekday - month.since.weekday()) % 7 * DAY
    if 'last' in given or given.get('ordinal') == 'last':
        last = month.until.date() - DAY
        return {'day': last - (last.weekday() - weekday) % 7 * DAY}
    nth = (
        int(parse_number(given['nth']))
        if 'nth' in given
        else _ORDINALS.index(given['ordinal']) + 1
    )
    return {'day': first + 7 * (nth - 1) * DAY}


READERS = {
    'day_of': _read_day_of,
    'last_working': _read_last_working,
    'week_to': _read_week_to,
    'week_number': _read_week_number,
    'half': _read_half,
    'week_of': _read_week_of,
    'days_of': _read_days_of,
    'week_from': _read_week_from,
    'part_of': _read_part_of,
    'weekday_ago': _read_weekday_ago,
    'weekday_of': _read_weekday_of,
    'night_to': _read_night_to,
}
"""How the times of this module are read, by the name that times.toml has for it."""
