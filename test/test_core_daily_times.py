"""Daily times: their edges, midnight, days of the week, and texts that are refused."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.daily_times import DAYS, parse_daily_time
from robot_memory.core.errors import InvalidArgument

MONDAY = '2026-11-23'


def covers(text: str, local: str) -> bool:
    return parse_daily_time(text).covers(datetime.fromisoformat(local))


@pytest.mark.parametrize(
    ('text', 'inside', 'outside'),
    [
        ('08:00-12:00', ['08:00', '12:00', '10:30'], ['07:59:59.999999', '12:00:00.000001']),
        ('22:00-06:00', ['22:00', '00:00', '06:00', '23:59:59'], ['06:00:01', '21:59:59']),
        ('0:00-24:00', ['00:00', '23:59:59.999999'], []),
    ],
)
def test_begin_and_end_belong_to_a_time(text: str, inside: list[str], outside: list[str]) -> None:
    assert all(covers(text, f'{MONDAY}T{at}') for at in inside)
    assert not any(covers(text, f'{MONDAY}T{at}') for at in outside)


def test_a_time_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    night = 'fri 22:00-06:00'
    assert covers(night, '2026-11-27T23:00') and covers(night, '2026-11-28T05:59')
    assert not covers(night, '2026-11-27T05:00') and not covers(night, '2026-11-28T23:00')
    assert covers('sun 22:00-06:00', '2026-11-23T01:00')
    assert covers('sun 12:00-24:00', '2026-11-23T00:00')
    assert not covers('sun 12:00-24:00', '2026-11-23T00:00:01')


@given(st.sampled_from(DAYS), st.sampled_from(DAYS), st.datetimes(datetime(2026, 1, 1)))
def test_a_span_of_days_has_the_days_from_its_first_to_its_last(
    first: str, last: str, local: datetime
) -> None:
    begin, end = DAYS.index(first), DAYS.index(last)
    wanted = {(begin + step) % 7 for step in range((end - begin) % 7 + 1)}
    found = parse_daily_time(f'{first}-{last} 00:00-23:59')
    assert found.days == wanted
    if (local.hour, local.minute) != (23, 59):
        assert found.covers(local) == (local.weekday() in wanted)


def test_days_may_be_listed() -> None:
    days = parse_daily_time('Sat, SUN 08:00-09:00').days
    assert days == parse_daily_time('sat sun 08:00-09:00').days == {5, 6}


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'is no daily time'),
        ('tonight', 'is no daily time'),
        ('22:00', 'is no daily time'),
        ('22:60-23:00', '22:60 .* is no time of day'),
        ('25:00-26:00', '25:00 .* is no time of day'),
        ('24:30-06:00', '24:30 .* is no time of day'),
        ('08:00-08:00', 'has no length'),
        ('24:00-06:00', 'has no length'),
        ('mox 08:00-09:00', "'mox' .* is no day"),
        ('mon-fry 08:00-09:00', "'mon-fry' .* is no day"),
        (None, 'is no daily time'),
        (8, 'is no daily time'),
    ],
)
def test_a_time_that_is_none_is_refused_in_words(text: object, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        parse_daily_time(text)
