"""Times that stand together in a text, and the words around them: since, about, between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from robot_memory.text.questions.calendar import DAY, Calendar, Stretch
from robot_memory.text.questions.moments import SECONDS, Moment
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import find_words, load_pattern

_NEEDS_END = ('for', 'first_thing')
"""Words before a day that are none before a noun: for the Monday meeting."""
_BEFORE = 24
"""Characters before a time among which its preposition stands."""


@dataclass(frozen=True)
class Phrase:
    """
    Hold times that stand together in text[start:end], and the words around them.

    `word` is the preposition before it, `relation` since, after, before, by, or apart (two
    weeks before it); `closed` has a word for between behind it, `apart` the unit of 'the week
    before'; `soon` is shortly before or after it, `far` how far from it ('in the ten minutes
    before').
    """

    moment: Moment
    start: int
    end: int
    word: str = ''
    about: bool = False
    relation: str = ''
    closed: bool = False
    apart: str = ''
    soon: bool = False
    far: timedelta | None = None


def find_phrases(folded: str, moments: Sequence[Moment]) -> list[Phrase]:
    """Return times with the words that belong to them, in order."""
    phrases: list[Phrase] = []
    for moment in moments:
        gap = joined = None
        if phrases:
            last = phrases[-1]
            joined = join_moments(last.moment, moment)
            gap = load_pattern('times', 'around', 'join').fullmatch(folded, last.end, moment.start)
        if joined is not None and gap:
            about = last.about or 'around' in gap[0] or 'about' in gap[0]
            phrases[-1] = replace(last, moment=joined, about=about, end=moment.end)
        else:
            phrases.append(Phrase(moment, moment.start, moment.end))
    return [_look_around(folded, one) for one in phrases]


def join_moments(one: Moment, other: Moment) -> Moment | None:
    """Return two times as one where they say different things of the same time."""
    if one.day and other.day and (one.weekday is None) != (other.weekday is None):
        named, dated = (one, other) if other.weekday is None else (other, one)
        if dated.day and dated.day.weekday() == named.weekday:
            clocks = [each.clock for each in (one, other) if each.clock]
            if len(clocks) > 1 or (one.part and other.part):
                return None
            clock, part = clocks[0] if clocks else None, one.part or other.part
            named = replace(dated, clock=clock, part=part, past=one.past or other.past)
            return replace(named, start=one.start, end=other.end, needs=False)
    for name in ('day', 'clock', 'stretch', 'window'):
        if getattr(one, name) and getattr(other, name):
            return None
    if one.window or other.window or (one.part and other.part and one.part != other.part):
        return None
    joined = replace(
        one,
        end=other.end,
        day=one.day or other.day,
        weekday=one.weekday if one.weekday is not None else other.weekday,
        day_of_month=one.day_of_month or other.day_of_month,
        part=one.part or other.part,
        clock=one.clock or other.clock,
        stretch=one.stretch or other.stretch,
        past=one.past or other.past,
        support=one.support or other.support,
        needs=one.needs and other.needs and not (one.day or other.day),
    )
    if joined.stretch is None:
        return joined
    found = _find_day_in(joined, joined.stretch) if joined.day else None
    return replace(joined, day=found, stretch=None, needs=False) if found else None


def _find_day_in(day: Moment, stretch: Stretch) -> date | None:
    first = stretch.since.date()
    if day.weekday is not None and stretch.granularity == 'week':
        return first + day.weekday * DAY
    if stretch.granularity == 'weekend' and day.weekday in (5, 6):
        return first + (day.weekday - 5) * DAY
    if day.day_of_month and stretch.granularity == 'month':
        last = (stretch.until - DAY).day
        return first.replace(day=day.day_of_month) if day.day_of_month <= last else None
    return None


def _look_around(folded: str, one: Phrase) -> Phrase:
    """Add the words before and after a time that say how it is meant."""
    before = load_pattern('times', 'around', 'before').search(
        folded, max(0, one.start - _BEFORE), one.start
    )
    if before:
        word = (before['word'] or before['han'] or before['sign']).replace(' ', '_')
        about = (
            one.about or bool(before['about']) or word in find_words('times', 'around', 'about')
        )
        soon = bool(before['soon'])
        one = replace(one, word=word, about=about, soon=soon, start=before.start())
        one = replace(one, relation=_find_relation(word))
        if one.relation in ('before', 'after'):
            one = _look_for_distance(folded, one)
    after = load_pattern('times', 'around', 'after').match(folded, one.end)
    if after is None or not after[0].strip():
        return one
    relation = next((name for name in ('since', 'after', 'before') if after[f'is_{name}']), '')
    if relation == 'after' and one.word.startswith('进'):
        relation = 'since'  # 进了十一月以后
    return replace(
        one,
        about=one.about or bool(after['is_about']),
        closed=bool(after['within']),
        relation=relation or one.relation,
        end=after.end(),
    )


def _find_relation(word: str) -> str:
    named = {'since': 'since', 'words_before': 'before', 'words_after': 'after', 'by': 'by'}
    found = (name for words, name in named.items() if word in find_words('times', 'around', words))
    return next(found, '')


def _look_for_distance(folded: str, one: Phrase) -> Phrase:
    """Read 'the week' of 'the week before Monday'; 'two weeks before' names nothing certain."""
    apart = load_pattern('times', 'around', 'apart').search(
        folded, max(0, one.start - _BEFORE), one.start
    )
    if apart is None:
        return one
    if apart['number'] and apart['within'] and one.moment.clock:
        far = parse_number(apart['number']) * timedelta(seconds=SECONDS[apart['unit']])
        return replace(one, far=far, start=apart.start())
    if apart['number'] or apart['unit'] == 'minute':
        return replace(one, relation='apart')
    return replace(one, apart=apart['unit'], start=apart.start())


def is_range(folded: str, one: Phrase, other: Phrase) -> bool:
    """Say whether two times are the ends of one stretch."""
    gap = load_pattern('times', 'around', 'range').fullmatch(
        folded, one.moment.end, other.moment.start
    )
    if not gap or bool(one.moment.window) != bool(other.moment.window):
        return False
    opened = one.word in find_words('times', 'around', 'from')
    if gap['both']:
        return one.word == 'between' or other.closed
    same = (one.moment.clock is None) == (other.moment.clock is None)
    return opened or (same and not one.moment.loose)


def _is_bare(folded: str, one: Phrase) -> bool:
    """Say whether a weekday without a preposition stands alone, as in "broke Friday?"."""
    unlike, ended = (load_pattern('times', 'around', name) for name in ('unlike', 'ended'))
    before = unlike.search(folded, max(0, one.start - 10), one.start)
    return before is None and ended.match(folded, one.end) is not None


def is_supported(folded: str, one: Phrase) -> bool:
    """Say whether the words around a time make it one."""
    moment = one.moment
    if one.relation == 'apart':
        return False
    if not moment.needs:
        return True
    if moment.clock:
        behind = load_pattern('times', 'around', 'behind').match(folded, moment.end)
        named = load_pattern('times', 'around', 'named').match(folded, moment.end)
        opened = (
            one.word in find_words('times', 'around', 'clocks') or not folded[: one.start].strip()
        )
        return (opened or behind is not None) and named is None
    if moment.part and not (moment.day or moment.stretch):
        if folded[moment.start] >= '\u3400':
            return True
        alone = load_pattern('times', 'around', 'alone')
        return alone.match(folded, moment.start, moment.end) is not None
    if not (moment.day or moment.stretch):
        return False
    titled = load_pattern('times', 'around', 'title').match(folded, moment.end)
    if titled and not folded[: one.start].strip():
        return True
    if moment.weekday is not None and not one.word and _is_bare(folded, one):
        return True
    if one.word in _NEEDS_END and not _is_bare(folded, one):
        return False
    return one.word in find_words('times', 'around', 'days')


def list_weekdays(phrases: Sequence[Phrase], calendar: Calendar) -> list[Stretch]:
    """Return the days of a weekday in a month that is named beside it; none where it is not."""
    if len(phrases) != 2:
        return []
    stretches = [one.moment.stretch for one in phrases if one.moment.stretch]
    named = [one.moment for one in phrases if one.moment.weekday is not None]
    if len(stretches) != 1 or len(named) != 1 or named[0].part or named[0].clock:
        return []
    if stretches[0].granularity != 'month' or any(one.relation for one in phrases):
        return []
    first, until = stretches[0].since.date(), min(stretches[0].until.date(), calendar.today + DAY)
    day = first + ((named[0].weekday or 0) - first.weekday()) % 7 * DAY
    count = max(0, -(-(until - day).days // 7))
    return [calendar.make_day(day + 7 * week * DAY) for week in range(count)]


def share_week(first: Moment, last: Moment) -> tuple[Moment, Moment]:
    """Return two days of one week where one says of which: Monday till Friday last week."""
    if first.weekday is None or last.weekday is None or not (first.day and last.day):
        return first, last
    apart = (last.weekday - first.weekday) % 7 * DAY
    if first.past and not last.past:
        return first, replace(last, day=first.day + apart)
    if last.past and not first.past:
        return replace(first, day=last.day - apart), last
    return first, last


def share_month(first: Moment, last: Moment) -> tuple[Moment, Moment]:
    """Return two days of one month where the last says of which: the sixth to 12 October."""
    is_span = first.day_of_month and first.day and last.day and not last.day_of_month
    if is_span and last.day and (first.day_of_month or 0) <= last.day.day:
        return replace(first, day=last.day.replace(day=first.day_of_month or 1)), last
    return first, last


def share_half(first: Moment, last: Moment) -> tuple[Moment, Moment]:
    """Return two clock times in the same half of the day where only one says which."""
    one, other = first.clock, last.clock
    assert one and other
    if not one.exact and other.exact and 1 <= one.hour <= other.hour <= 6:  # between 4 and 4:30
        return first, replace(last, clock=replace(other, hour=other.hour + 12))
    if one.exact and not one.hour and other.hour < 12:  # between midnight and four
        return first, replace(last, clock=replace(other, exact=True))
    if not one.exact and other.exact and other.hour >= 12:
        hour = one.hour % 12 + 12
        return replace(
            first, clock=replace(one, hour=hour if hour <= other.hour else one.hour, exact=True)
        ), last
    return first, last
