"""Local times: zones by name, offsets, and the instants at which they change."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.zones import (
    find_offsets,
    find_system_zone,
    format_local,
    format_measured,
    get_zone,
    parse_local,
)

HOUR = 3_600_000_000


def instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp()) * 1_000_000


def test_a_zone_changes_its_offset_to_the_microsecond() -> None:
    zone = get_zone('Europe/Berlin')
    first, last = instant('2026-01-01T00:00+00:00'), instant('2027-01-01T00:00+00:00')
    spring, autumn = instant('2026-03-29T01:00+00:00'), instant('2026-10-25T01:00+00:00')
    assert find_offsets(zone, first, last) == (
        (first, HOUR),
        (spring, 2 * HOUR),
        (autumn, HOUR),
    )
    assert find_offsets(zone, spring, spring) == ((spring, 2 * HOUR),)
    assert len(find_offsets(get_zone('Asia/Kolkata'), first, last)) == 1


@pytest.mark.parametrize('name', ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca'])
def test_the_offsets_of_a_year_are_those_of_every_hour(name: str) -> None:
    zone = ZoneInfo(name)
    first = instant('2026-01-01T00:00+00:00')
    offsets = find_offsets(zone, first, first + 365 * 24 * HOUR)
    for number in range(365 * 24):
        at = first + number * HOUR
        wanted = datetime.fromtimestamp(at // 1_000_000, zone).utcoffset()
        found = [offset for since, offset in offsets if since <= at][-1]
        assert timedelta(microseconds=found) == wanted


def test_times_without_an_offset_are_of_the_zone() -> None:
    zone = get_zone('Asia/Shanghai')
    assert parse_local('since', '2026-11-20', zone) == instant('2026-11-19T16:00+00:00')
    assert parse_local('since', '2026-11-20T14:03', zone) == instant('2026-11-20T06:03+00:00')
    assert parse_local('since', '2026-11-20T14:03Z', zone) == instant('2026-11-20T14:03+00:00')
    assert format_local(instant('2026-11-20T06:03+00:00'), zone) == (
        '2026-11-20T14:03:00.000000+08:00'
    )


@pytest.mark.parametrize('text', ['today', '14:03', '2026-13-01', ''])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match='since must be an ISO 8601'):
        parse_local('since', text, get_zone('UTC'))


@pytest.mark.parametrize('name', ['Berlin', 'europe/berlin ', '../etc/passwd', 'CEST+1', '\0'])
def test_an_unknown_zone_is_refused_and_near_ones_named(name: str) -> None:
    with pytest.raises(InvalidArgument, match='IANA name such as'):
        get_zone(name)


def test_an_empty_name_is_the_zone_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('TZ', ':America/New_York')
    assert get_zone('').key == find_system_zone() == 'America/New_York'
    monkeypatch.setenv('TZ', 'EST5EDT4,M3.2.0')
    assert find_system_zone() == 'UTC'
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    assert format_local(round(at.timestamp() * 1e6), get_zone('')) == (
        '2026-01-01T00:00:00.000000+00:00'
    )


@pytest.mark.parametrize('nanoseconds', [0, 1_795_183_380_123_456_789, -1, -(10**18) - 7])
def test_a_measured_time_is_a_text_of_microseconds_that_knows_its_nanoseconds(
    nanoseconds: int,
) -> None:
    found = format_measured(nanoseconds, ZoneInfo('Asia/Tokyo'))
    assert found == format_local(nanoseconds // 1000, ZoneInfo('Asia/Tokyo'))
    assert found.nanoseconds == nanoseconds
    assert (
        json.dumps(found) == json.dumps(str(found)) and deepcopy(found).nanoseconds == nanoseconds
    )
