"""When things happen: hours, weekdays, gaps and the trend, the real world and simulation apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from robot_memory.analysis.window import (
    MIN_FOR_TREND,
    Analysis,
    Window,
    cite,
    format_id,
    format_ids,
    get_instant,
    get_world,
    measure_pace,
    sort_by_time,
    to_local,
)
from robot_memory.core.clock import format_instant
from robot_memory.core.records import Record

_WEEKDAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_GAPS = 3
_LONG = 5.0
"""A gap is long from that many times the usual one."""
_QUIET = 4
_DAYS = 3
_HOUR = 3_600_000_000


def analyse(window: Window) -> Analysis:
    """Count the records by local hour and weekday, and look for gaps and a trend."""
    ordered = sort_by_time(window.records)
    worlds: dict[str, list[Record]] = defaultdict(list)
    for record in ordered:
        worlds[get_world(record)].append(record)
    silent = []
    if not ordered:
        silent.append('The window has no records.')
    elif len(ordered) < MIN_FOR_TREND:
        silent.append(
            f'{len(ordered)} records are too few for a trend, which requires {MIN_FOR_TREND}.'
        )
    if 'unknown' in worlds:
        silent.append(f'{len(worlds["unknown"])} records do not set env.sim_or_real.')
    results = {
        'records': len(ordered),
        'zone': str(to_local(get_instant(ordered[-1]), window.zone).tzinfo) if ordered else '',
        'measured': sum(get_instant(record) != record.created_at for record in ordered),
        'worlds': {
            world: _summarise(records, window) for world, records in sorted(worlds.items())
        },
        'cannot_say': silent,
    }
    return Analysis(
        results,
        tuple(_derive_insights(ordered, worlds, window)),
        tuple(_derive_recommendations(ordered, worlds, window)),
    )


def _summarise(records: Sequence[Record], window: Window) -> dict[str, Any]:
    moments = [to_local(get_instant(record), window.zone) for record in records]
    hours = Counter(moment.hour for moment in moments)
    weekdays = Counter(moment.weekday() for moment in moments)
    return {
        'count': len(records),
        'first': {
            'record_id': format_id(records[0]),
            'at': format_instant(get_instant(records[0])),
        },
        'last': {
            'record_id': format_id(records[-1]),
            'at': format_instant(get_instant(records[-1])),
        },
        'hours': [hours[hour] for hour in range(24)],
        'weekdays': {word: weekdays[number] for number, word in enumerate(_WEEKDAYS)},
        'days': len({moment.date() for moment in moments}),
        'gaps': [
            {'hours': round(gap / _HOUR, 2), 'between': [format_id(before), format_id(after)]}
            for gap, before, after in _list_gaps(records)[:_GAPS]
        ],
        'pace': measure_pace([get_instant(record) for record in records]),
    }


def _list_gaps(records: Sequence[Record]) -> list[tuple[int, Record, Record]]:
    """Return the times between records that follow each other, the longest first."""
    found = [
        (get_instant(after) - get_instant(before), before, after)
        for before, after in pairwise(records)
    ]
    return sorted(found, key=lambda gap: (-gap[0], gap[1].id))


def _derive_insights(
    ordered: Sequence[Record], worlds: dict[str, list[Record]], window: Window
) -> Iterator[str]:
    if len(ordered) < MIN_FOR_TREND:
        return
    by_hour: dict[int, list[Record]] = defaultdict(list)
    for record in ordered:
        by_hour[to_local(get_instant(record), window.zone).hour].append(record)
    busiest = max(sorted(by_hour), key=lambda hour: len(by_hour[hour]))
    yield (
        f'The busiest hour is {busiest}:00 to {busiest + 1}:00 local time: '
        f'{len(by_hour[busiest])} of {len(ordered)} records ({cite(by_hour[busiest])}).'
    )
    for world_, records in sorted(worlds.items()):
        pace = measure_pace([get_instant(record) for record in records])
        if pace['trend'] in ('rising', 'falling'):
            yield (
                f'Records of the {_WORLDS[world_]} are {pace["trend"]}: {pace["earlier"]} in the '
                f'first half of the window, {pace["later"]} in the second ({cite(records)}).'
            )
    gaps = _list_gaps(ordered)
    usual = median(gap for gap, _, _ in gaps)
    gap, before, after = gaps[0]
    if gap >= _HOUR and gap > _LONG * usual:
        yield (
            f'No records for {gap / _HOUR:.1f} hours between {format_id(before)} and '
            f'{format_id(after)}; the usual gap is {usual / _HOUR:.2f} hours.'
        )


_WORLDS = {'real': 'real world', 'sim': 'simulation', 'unknown': 'unknown world'}


def _derive_recommendations(
    ordered: Sequence[Record], worlds: dict[str, list[Record]], window: Window
) -> Iterator[str]:
    moments = [to_local(get_instant(record), window.zone) for record in ordered]
    start, length = _find_quiet_hours({moment.hour for moment in moments})
    days = len({moment.date() for moment in moments})
    if len(ordered) >= 2 * MIN_FOR_TREND and days >= _DAYS and length >= _QUIET:
        ends = format_ids([ordered[0], ordered[-1]])
        yield (
            f'Schedule maintenance between {start}:00 and {(start + length) % 24}:00 local time: '
            f'none of {len(ordered)} records on {days} days falls in it (from {ends[0]} to '
            f'{ends[1]}).'
        )
    sim = worlds.get('sim', [])
    if sim and 'real' not in worlds:
        surest = sorted(sim, key=lambda record: (-record.confidence, record.id))
        yield (
            f'Verify on the real robot what {len(sim)} records know from simulation only, '
            f'highest confidence first ({cite(surest)}).'
        )


def _find_quiet_hours(busy: set[int]) -> tuple[int, int]:
    """Return where the longest run of empty hours of the day begins, and how long it is."""
    best = (0, 0)
    for start in range(24):
        length = 0
        while length < 24 and (start + length) % 24 not in busy:
            length += 1
        if length > best[1]:
            best = (start, length)
    return best
