"""Events as a table one can ask: every answer equals a plain evaluation of the same events."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from robots import START, MovableClock, Robot

from robot_memory.core.clock import DAY
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import to_plain
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.storage.events import pages, windows
from robot_memory.storage.tables.event_keys import Identity

SECOND = 1_000_000_000
T0 = START * 1000
UNITS = {
    'peak_force': 'N',
    'mean_force': 'N',
    'peak_torque': 'N m',
    'impulse': 'N s',
    'peak_speed': 'rad/s',
    'changed_share': '',
    'voltage': 'V',
    'charge': 'A',
    'heat': 'degC',
    'noise': '1',
    'spin': '1/s',
}
OF_KIND = {
    'contact': ('peak_force', 'mean_force', 'impulse'),
    'motion': ('peak_speed',),
    'battery': ('voltage', 'charge', 'heat', 'noise', 'spin', 'peak_force'),
}


def see(
    robot: Robot,
    kind: str = 'contact',
    at: int = T0,
    seconds: float = 1.0,
    label: str | None = 'push',
    topic: str = '/wrench',
    task: str | None = None,
    arm: str | None = None,
    session: str | None = None,
    local: bool = False,
    text: str = 'Contact for 1 s',
    **figures: float,
) -> int:
    """Store an event of a detector; return its memory's id."""
    context: dict[str, Any] = {
        'sense': {'topic': topic, 'detector': kind, 'source': 'arm'},
        'params': {name: {'value': value, 'unit': UNITS[name]} for name, value in figures.items()},
    }
    if label:
        context['sense']['kind'] = label
    if task:
        context['task'] = {'name': task}
    if arm:
        context['robot'] = {'id': arm}
    end = at + round(seconds * SECOND)
    stored = store_perception(
        robot.memory,
        Perception(
            text,
            'tactile',
            session_id=session,
            stamp=at,
            stamp_is_local=local,
            context=context,
            identity=Identity('arm', topic, kind, at, (at + end) // 2, end),
        ),
    )
    return stored.memory_id


def ids_of(answer: Any) -> list[int]:
    return [event.event_id for event in answer.events]


def figure(event: Any, name: str) -> float | None:
    return next((one.value for one in event.figures if one.name == name), None)


def value_of(group: Any, name: str) -> float:
    (found,) = (one.value for one in group.values if one.name == name)
    return float(found)


def iso(ns: int) -> str:
    return datetime.fromtimestamp(ns // SECOND, timezone.utc).isoformat()


@pytest.fixture
def pushes(robot: Robot) -> dict[str, int]:
    """Three contacts and a motion on 2026-02-25 from 06:13:20 UTC, an hour apart."""
    return {
        'soft': see(robot, at=T0, peak_force=3.0, impulse=1.5, task='wipe'),
        'hard': see(robot, at=T0 + 3600 * SECOND, peak_force=9.0, impulse=0.5, task='pour'),
        'long': see(robot, at=T0 + 7200 * SECOND, seconds=90.0, peak_force=5.0, task='wipe'),
        'motion': see(robot, 'motion', T0 + 60 * SECOND, label=None, topic='/js', peak_speed=0.5),
    }


def test_an_event_is_told_with_its_times_figures_and_text(
    robot: Robot, pushes: dict[str, int]
) -> None:
    answer = robot.query_events(
        where={'kind': 'contact'}, order_by='peak_force', descending=True, limit=1,
        time_zone='Europe/Berlin',
    )  # fmt: skip
    (event,) = to_plain(answer)['events']
    assert event == {
        'event_id': pushes['hard'],
        'memory_id': pushes['hard'],
        'kind': 'contact',
        'label': 'push',
        'topic': '/wrench',
        'frame_id': None,
        'robot': None,
        'session_id': None,
        'task': 'pour',
        'collection': 'default',
        'recording': None,
        'recording_offset': None,
        'start': '2026-02-25T08:13:20.000000+01:00',
        'peak': '2026-02-25T08:13:20.500000+01:00',
        'end': '2026-02-25T08:13:21.000000+01:00',
        'duration': 1.0,
        'broken_off': False,
        'figures': [
            {'name': 'peak_force', 'value': 9.0, 'unit': 'N'},
            {'name': 'impulse', 'value': 0.5, 'unit': 'N s'},
        ],
        'text': 'Contact for 1 s',
    }
    assert answer.time_zone == 'Europe/Berlin'
    assert answer.total is None
    assert answer.next_cursor


@pytest.mark.parametrize(
    ('where', 'found'),
    [
        ({'peak_force': {'$gt': '3 N'}}, ['hard', 'long']),
        ({'peak_force': {'$gte': '0.003 kN'}}, ['soft', 'hard', 'long']),
        ({'peak_force': {'$in': [9, '5 N']}}, ['hard', 'long']),
        ({'peak_force': {'$ne': 3}, 'kind': 'contact'}, ['hard', 'long']),
        ({'duration': {'$gt': '1 min'}}, ['long']),
        ({'duration': {'$lt': '1500 ms'}, 'kind': 'contact'}, ['soft', 'hard']),
        ({'impulse': {'$lte': 1}}, ['hard']),
        ({'impulse': None, 'kind': 'contact'}, ['long']),
        ({'task': 'wipe'}, ['soft', 'long']),
        ({'task': None}, ['motion']),
        ({'task': {'$ne': 'wipe'}}, ['motion', 'hard']),
        ({'task': {'$gt': 'q'}}, ['soft', 'long']),
        ({'topic': {'$nin': ['/wrench']}}, ['motion']),
        ({'kind': {'$in': ['motion', 'session']}}, ['motion']),
        ({'kind': {'$ne': 'contact'}}, ['motion']),
        ({'label': 'push', 'broken_off': False}, ['soft', 'hard', 'long']),
        ({'onset': {'$gte': '2026-02-25T07:13:20Z'}}, ['hard', 'long']),
        ({'onset': {'$gt': '2026-02-25T07:13:20Z'}}, ['long']),
        ({'start': {'$lt': '2026-02-25T07:00Z'}}, ['soft', 'motion']),
        ({'end': '2026-02-25T06:13:21Z'}, ['soft']),
        ({'robot': 'nobody'}, []),
        ({'kind': 'fault'}, []),
    ],
)
def test_conditions_are_those_of_the_filter_language(
    robot: Robot, pushes: dict[str, int], where: dict[str, Any], found: list[str]
) -> None:
    answer = robot.query_events(where=where)
    assert ids_of(answer) == [pushes[name] for name in found]
    counted = robot.query_events(where=where, aggregate=('count',))
    assert [group.count for group in counted.groups] == [len(found)]


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'where': {'peak_forces': 3}}, r'peak_forces.*figures of contact: peak_force \(N\)'),
        ({'where': {'kind': 'motion', 'peak_force': 3}}, r'of motion: peak_speed \(rad/s\)'),
        ({'where': {'peak_force': {'$gt': '5 kg'}}}, "number in N; '5 kg' is another quantity"),
        ({'where': {'peak_force': {'$gt': '5 foo'}}}, 'unknown unit'),
        ({'where': {'peak_force': {'$gt': True}}}, 'number or text with a unit'),
        ({'where': {'peak_force': {'$gt': None}}}, 'requires a value'),
        ({'where': {'peak_force': {'$gt': math.nan}}}, 'JSON'),
        ({'where': {'peak_force': {'$like': 5}}}, r'unknown operator .*\$eq, \$ne'),
        ({'where': {'kind': 'contcat'}}, 'one of .*contact.*motion'),
        ({'where': {'topic': 5}}, 'must be text'),
        ({'where': {'memory_id': 'x'}}, 'must be an id'),
        ({'where': {'broken_off': 1}}, 'true or false'),
        ({'where': {'onset': {'$gt': 'yesterday'}}}, 'ISO 8601'),
        ({'since': '2026-02-26', 'until': '2026-02-25'}, 'until must be after since'),
        ({'since': '2026-02-26', 'until': '2026-02-26'}, 'until must be after since'),
        ({'since': 'tea time'}, 'since must be a time: ISO 8601'),
        ({'order_by': 'hardness'}, 'no field or figure'),
        ({'aggregate': ('mean',)}, 'requires a figure: duration, or .*peak_force'),
        ({'aggregate': ('avg',), 'figure': 'duration'}, 'count, min, max'),
        ({'aggregate': ('count',), 'group_by': 'month'}, 'hour, day, weekday'),
        ({'group_by': 'day'}, 'requires aggregate'),
        ({'figure': 'duration'}, 'requires aggregate'),
        ({'time_zone': 'Berlin'}, 'Europe/Berlin'),
        ({'cursor': 'nonsense'}, 'next_cursor'),
        ({'limit': 1001}, '1 to 1000'),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    robot: Robot, pushes: dict[str, int], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        robot.query_events(**arguments)


def test_a_cursor_of_another_query_is_refused(robot: Robot, pushes: dict[str, int]) -> None:
    cursor = robot.query_events(limit=1).next_cursor
    assert ids_of(robot.query_events(limit=3, cursor=cursor)) == [
        pushes[name] for name in ('motion', 'hard', 'long')
    ]
    with pytest.raises(InvalidArgument, match='another query'):
        robot.query_events(limit=1, cursor=cursor, descending=True)
    with pytest.raises(InvalidArgument, match='no pages'):
        robot.query_events(cursor=cursor, aggregate=('count',))


def test_a_window_may_be_said_in_words_as_in_a_question(
    robot: Robot, clock: MovableClock, pushes: dict[str, int]
) -> None:
    clock.forward(days=1)
    zone: dict[str, Any] = {'time_zone': 'UTC', 'where': {'kind': 'contact'}}
    assert len(robot.query_events(since='yesterday', until='today', **zone).events) == 3
    assert not robot.query_events(since='today', **zone).events
    at_seven = robot.query_events(since='yesterday at 7:00', until='yesterday at 8:00', **zone)
    assert ids_of(at_seven) == [pushes['hard']]
    page = robot.query_events(since='23 hours ago', limit=1, **zone)
    assert ids_of(page) == [pushes['hard']] and page.next_cursor
    clock.forward(seconds=1)
    rest = robot.query_events(since='23 hours ago', limit=1, cursor=page.next_cursor, **zone)
    assert ids_of(rest) == [pushes['long']]


def test_a_window_holds_what_overlaps_it(robot: Robot, pushes: dict[str, int]) -> None:
    in_it = iso(T0 + 7260 * SECOND)
    mores: list[dict[str, Any]] = [{}, {'where': {'kind': 'contact'}}]
    for more in mores:
        assert ids_of(robot.query_events(since=in_it, **more)) == [pushes['long']]
        assert ids_of(robot.query_events(since=in_it, until='2027-01-01', **more)) == [
            pushes['long']
        ]
    assert ids_of(robot.query_events(until=iso(T0))) == []


def test_sessions_are_events_from_start_to_end(robot: Robot, clock: MovableClock) -> None:
    context = {'robot': {'id': 'cell_1'}, 'task': {'name': 'pour'}}
    first = robot.start_session(context=context).session_id
    clock.forward(seconds=90)
    second = robot.start_session().session_id
    robot.end_session(first)
    answer = robot.query_events(where={'kind': 'session'})
    assert [event.session_id for event in answer.events] == [first, second]
    assert [event.duration for event in answer.events] == [90.0, None]
    assert [event.robot for event in answer.events] == ['cell_1', None]
    assert answer.events[0].task == 'pour'
    assert all(event.event_id < 0 and event.memory_id is None for event in answer.events)
    late = robot.query_events(since='2026-03-25')
    assert [event.session_id for event in late.events] == [second], 'it lasts'
    longest = robot.query_events(order_by='duration', descending=True)
    for written in ('-duration', 'duration desc', 'duration DESC'):
        assert robot.query_events(order_by=written).events == longest.events
    assert robot.query_events(order_by='duration asc').events == longest.events[::-1]
    assert [event.session_id for event in longest.events] == [first]


def test_a_perception_of_a_caller_is_an_event_of_its_own_kind(
    robot: Robot, clock: MovableClock
) -> None:
    session = robot.start_session(context={'robot': {'id': 'r7'}}).session_id
    kept = robot.save_perception('Red block beside the tray', 'visual', session_id=session)
    stamped = robot.save_perception(
        'Force peak of 6.2 N', 'tactile', stamp={'sec': 1772999000, 'nanosec': 5}
    )
    events = robot.query_events(where={'kind': 'perception'}).events
    assert [event.memory_id for event in events] == [kept.memory_id, stamped.memory_id]
    assert (events[0].robot, events[0].session_id, events[0].duration) == ('r7', session, 0.0)
    assert events[1].start.startswith('2026-03-08T')


def test_events_follow_their_memories(robot: Robot, pushes: dict[str, int]) -> None:
    robot.forget(pushes['hard'], 'wrong')
    assert ids_of(robot.query_events(where={'kind': 'contact'})) == [
        pushes['soft'],
        pushes['long'],
    ]
    robot.undo(pushes['hard'])
    robot.update(pushes['soft'], 'The door pushed back', context={'task': {'name': 'open'}})
    answer = robot.query_events(where={'kind': 'contact'})
    assert [event.task for event in answer.events] == ['open', 'pour', 'wipe']
    assert answer.events[0].text == 'The door pushed back'
    assert figure(answer.events[0], 'peak_force') == 3.0, 'what was measured stays'
    robot.undo(pushes['soft'])
    assert robot.query_events(where={'task': 'wipe'}).total == 2


def test_a_cut_event_gives_way_to_the_whole(robot: Robot) -> None:
    part = Identity('arm', '/wrench', 'contact', T0, T0, T0 + 5, '', True)
    push = Perception('Contact for 1 s', 'tactile', stamp=T0, identity=part)
    cut = store_perception(robot.memory, push)
    again = store_perception(robot.memory, push)
    whole = replace(push, identity=replace(part, end=T0 + 9, peak=T0 + 4, broken_off=False))
    kept = store_perception(robot.memory, whole)
    assert (again.memory_id, again.new, kept.new) == (cut.memory_id, False, True)
    assert ids_of(robot.query_events()) == [kept.memory_id]
    assert store_perception(robot.memory, push).memory_id == kept.memory_id


def test_pages_neither_skip_nor_repeat_while_events_arrive(robot: Robot) -> None:
    chance = random.Random(5)
    first = [
        see(robot, at=T0 + i * SECOND, peak_force=float(chance.randrange(4))) for i in range(30)
    ]
    for order in ('onset', 'peak_force', 'duration', 'end', 'peak'):
        for descending in (False, True):
            seen: list[int] = []
            cursor, number = '', 0
            while True:
                answer = robot.query_events(
                    order_by=order, descending=descending, limit=7, cursor=cursor,
                    where={'kind': 'contact'},
                )  # fmt: skip
                seen += ids_of(answer)
                number += 1
                at = T0 + chance.randrange(40) * SECOND + number
                see(robot, at=at, peak_force=float(chance.randrange(4)))
                cursor = answer.next_cursor
                if not cursor:
                    break
            assert len(set(seen)) == len(seen)
            assert [one for one in sorted(seen) if one in first] == first


@pytest.mark.parametrize(
    ('zone', 'day', 'hours'),
    [
        ('Europe/Berlin', '2026-03-29', 23),
        ('Europe/Berlin', '2026-10-25', 25),
        ('Europe/Berlin', '2026-06-01', 24),
        ('Australia/Lord_Howe', '2026-04-05', 25),
        ('Asia/Kolkata', '2026-06-01', 24),
    ],
)
def test_days_and_hours_are_those_of_the_zone(
    robot: Robot, zone: str, day: str, hours: int
) -> None:
    local = ZoneInfo(zone)
    begin = datetime.fromisoformat(day).replace(tzinfo=local)
    end = (datetime.fromisoformat(day) + timedelta(days=1)).replace(tzinfo=local)
    first, last = (int(one.timestamp()) for one in (begin, end))
    for at in range(first - 3600, last + 3600, 1800):
        see(robot, at=at * SECOND, seconds=0.0, peak_force=1.0)
    tomorrow = end.date().isoformat()
    asked: dict[str, Any] = {
        'since': day,
        'until': tomorrow,
        'time_zone': zone,
        'aggregate': ('count',),
    }
    by_hour = robot.query_events(group_by='hour', **asked)
    assert by_hour.groups_total == hours
    assert by_hour.total == (last - first) / 1800
    assert len({group.key for group in by_hour.groups}) == hours
    assert datetime.fromisoformat(by_hour.groups[0].key) == begin
    by_day = robot.query_events(group_by='day', **{**asked, 'since': '', 'until': ''})
    before = (begin - timedelta(hours=1)).astimezone(local).date().isoformat()
    assert [(group.key, group.count) for group in by_day.groups] == [
        (before, 2),
        (day, (last - first) // 1800),
        (tomorrow, 2),
    ]
    by_weekday = robot.query_events(group_by='weekday', **asked)
    assert [group.key for group in by_weekday.groups] == [begin.strftime('%A')]


def test_many_groups_are_cut_and_counted(robot: Robot) -> None:
    for number in range(1003):
        see(robot, at=T0 + number * 3600 * SECOND, seconds=0, label=None)
    answer = robot.query_events(aggregate=('count',), group_by='hour')
    assert (len(answer.groups), answer.groups_total, answer.total) == (1000, 1003, 1003)


def test_a_figure_has_one_unit_a_kind_and_takes_others_of_its_dimension(robot: Robot) -> None:
    def store(value: float, unit: str, number: int) -> None:
        at = T0 + number * SECOND
        context = {
            'sense': {'detector': 'mover', 'topic': '/x'},
            'params': {'speed': {'value': value, 'unit': unit}},
        }
        identity = Identity('arm', '/x', 'mover', at, at, at)
        store_perception(
            robot.memory,
            Perception('it moves', 'proprioceptive', stamp=at, context=context, identity=identity),
        )

    store(2.0, 'm/s', 0)
    store(500.0, 'mm/s', 1)
    assert robot.query_events(where={'speed': {'$lt': '60 cm/s'}}).total == 1
    store(1.0, 'rad/s', 2)
    with pytest.raises(InvalidArgument, match=r'speed \[m/s\] or speed \[rad/s\]'):
        robot.query_events(order_by='speed')
    assert robot.query_events(order_by='speed [m/s]').total == 2
    assert robot.query_events(where={'speed': {'$gt': '1 deg/s'}}).total == 1


def make_events(robot: Robot, chance: random.Random, count: int) -> list[dict[str, Any]]:
    """Store events at random; return them as plain values."""
    made = []
    for _ in range(count):
        kind = chance.choice([*OF_KIND])
        figures = {
            name: round(chance.uniform(-2, 9), chance.choice([0, 1, 6]))
            for name in OF_KIND[kind]
            if chance.random() < 0.9
        }
        event: dict[str, Any] = {
            'kind': kind,
            'at': T0 + chance.randrange(20 * 86_400) * SECOND + chance.randrange(SECOND),
            'seconds': chance.choice([0.0, 0.25, 3.0, 3600.0, 90_000.0]),
            'label': chance.choice([None, 'push', 'tap']),
            'topic': chance.choice(['/a', '/b']),
            'task': chance.choice([None, 'wipe', 'pour']),
            'arm': chance.choice([None, 'r1', 'r2']),
            **figures,
        }
        event['id'] = see(robot, **event)
        event['end'] = event['at'] + round(event['seconds'] * SECOND)
        made.append(event)
    return made


def choose(chance: random.Random) -> tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]:
    """Return arguments of a query at random, and which events it means."""
    tests: list[Callable[[dict[str, Any]], bool]] = []
    where: dict[str, Any] = {}
    given: dict[str, Any] = {'where': where}
    if chance.random() < 0.5:
        kinds = chance.sample([*OF_KIND], chance.randrange(1, 3))
        where['kind'] = {'$in': kinds}
        tests.append(lambda event: event['kind'] in kinds)
    if chance.random() < 0.3:
        task = chance.choice([None, 'wipe'])
        where['task'] = {'$ne': task}
        tests.append(lambda event: event['task'] != task)
    if chance.random() < 0.4:
        bound = round(chance.uniform(0, 5), 1)
        where['peak_force'] = {'$gt': f'{bound} N'}
        tests.append(lambda event: event.get('peak_force', -9) > bound)
        if 'kind' in where and 'motion' in where['kind']['$in']:
            where['kind']['$in'].append('contact')
            kinds.append('contact')
    if chance.random() < 0.7:
        since = T0 + chance.randrange(-3, 20) * 86_400 * SECOND
        given['since'] = iso(since)
        tests.append(lambda event: event['end'] >= since)
        if chance.random() < 0.7:
            until = since + chance.choice([1, 24, 240]) * 3600 * SECOND
            given['until'] = iso(until)
            tests.append(lambda event: event['at'] < until)
    return given, lambda event: all(test(event) for test in tests)


@pytest.mark.parametrize('seed', range(4))
def test_every_answer_equals_a_plain_evaluation(
    robot: Robot, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    made = make_events(robot, chance, 150)
    gone = chance.sample(made, 10)
    for event in gone:
        robot.forget(event['id'], 'wrong')
    made = [event for event in made if event not in gone]
    # Both plans of a page, and windows in which few and many events are long.
    monkeypatch.setattr(pages, '_FEW', chance.choice([0, 20, 20_000]))
    monkeypatch.setattr(windows, '_EACH', chance.choice([0, 40]))
    monkeypatch.setattr(windows, '_SHARE', chance.choice([1, 8, 1000]))
    for _ in range(60):
        given, fits = choose(chance)
        meant = [event for event in made if fits(event)]
        check_page(robot, chance, given, meant)
        check_aggregate(robot, chance, given, meant)


ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    'onset': lambda event: event['at'],
    'peak': lambda event: (event['at'] + event['end']) // 2,
    'end': lambda event: event['end'],
    'duration': lambda event: event['end'] - event['at'],
    'peak_force': lambda event: event.get('peak_force'),
    'spin': lambda event: event.get('spin'),
}


def check_page(
    robot: Robot, chance: random.Random, given: dict[str, Any], meant: list[dict[str, Any]]
) -> None:
    order = chance.choice([*ORDERS])
    kinds = given['where'].get('kind', {'$in': [*OF_KIND]})['$in']
    if not any(order in OF_KIND[kind] for kind in kinds) and order in UNITS:
        return
    key = ORDERS[order]
    descending = chance.random() < 0.5
    wanted = sorted(
        (event for event in meant if key(event) is not None),
        key=lambda event: (key(event), event['id']),
        reverse=descending,
    )
    seen: list[int] = []
    answer = None
    while answer is None or answer.next_cursor:
        answer = robot.query_events(
            order_by=order, descending=descending, limit=chance.choice([3, 20, 200]),
            cursor='' if answer is None else answer.next_cursor, **given,
        )  # fmt: skip
        seen += ids_of(answer)
    assert seen == [event['id'] for event in wanted], (given, order)


def check_aggregate(
    robot: Robot, chance: random.Random, given: dict[str, Any], meant: list[dict[str, Any]]
) -> None:
    zone = ZoneInfo(chance.choice(['America/New_York', 'Asia/Kolkata', 'UTC']))
    groups: dict[str, Callable[[dict[str, Any]], str]] = {
        '': lambda event: '',
        'kind': lambda event: event['kind'],
        'task': lambda event: event['task'] or '',
        'robot': lambda event: event['arm'] or '',
        'label': lambda event: event['label'] or '',
        'day': lambda event: local(event, zone).date().isoformat(),
        'weekday': lambda event: local(event, zone).strftime('%A'),
        'hour': lambda event: local(event, zone).replace(minute=0).isoformat(timespec='minutes'),
    }
    group_by = chance.choice([*groups])
    wanted: dict[str, list[float]] = {}
    for event in meant:
        value = (event['end'] - event['at']) / 1e9
        wanted.setdefault(groups[group_by](event), []).append(value)
    names: tuple[str, ...] = ('count', 'min', 'max', 'mean', 'sum', 'std')
    if chance.random() < 0.4:
        names = (*names, 'median', 'p90', 'histogram')
    answer = robot.query_events(
        aggregate=names, figure='duration', group_by=group_by, time_zone=zone.key, bins=4, **given
    )
    found = {group.key: group for group in answer.groups if group.count}
    assert found.keys() == wanted.keys(), (given, group_by)
    assert answer.total == len(meant)
    for key, values in wanted.items():
        group = found[key]
        assert group.count == len(values)
        assert value_of(group, 'min') == min(values)
        assert value_of(group, 'max') == max(values)
        assert value_of(group, 'mean') == pytest.approx(statistics.fmean(values))
        assert value_of(group, 'sum') == pytest.approx(math.fsum(values))
        assert value_of(group, 'std') == pytest.approx(statistics.pstdev(values), abs=1e-6)
        if 'median' in names:
            assert value_of(group, 'median') == pytest.approx(statistics.median(values))
            assert sum(one.count for one in group.bins) == len(values)


def local(event: dict[str, Any], zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(event['at'] // SECOND, zone).replace(second=0)


def test_times_of_a_wrong_clock_are_corrected_in_every_answer(
    robot: Robot, clock: MovableClock
) -> None:
    """As on a robot without a battery-backed clock: at each start it is years behind."""
    chance = random.Random(3)
    shift = 400
    clock.now -= shift * DAY
    made: list[tuple[int, int]] = []
    for number in range(20):
        clock.forward(seconds=60)
        at = clock.now * 1000
        kept = see(robot, at=at, seconds=1, local=True, peak_force=chance.random())
        made.append((at + shift * DAY * 1000, kept))
        if number % 4 == 0:  # a camera with a clock of its own
            far = at + 3 * DAY * 1000
            made.append((far, see(robot, at=far, topic='/own', peak_force=1.0)))
    clock.jump(days=shift)
    clock.synchronised = True
    for _ in range(20):
        clock.forward(seconds=60)
        at = clock.now * 1000
        made.append((at, see(robot, at=at, local=True, peak_force=chance.random())))
    made.sort()
    for descending in (False, True):
        wanted = [one for _, one in (made[::-1] if descending else made)]
        seen: list[int] = []
        cursor = ''
        while True:
            answer = robot.query_events(descending=descending, limit=6, cursor=cursor)
            seen += ids_of(answer)
            cursor = answer.next_cursor
            if not cursor:
                break
        assert seen == wanted
    middle = made[20][0]
    window: dict[str, Any] = {'since': iso(middle), 'until': iso(middle + 900 * SECOND)}
    fits = [
        one for at, one in made
        if at + SECOND >= middle // SECOND * SECOND
        and at < (middle + 900 * SECOND) // SECOND * SECOND
    ]  # fmt: skip
    wheres: list[dict[str, Any]] = [{}, {'kind': 'contact'}]
    for where in wheres:
        assert ids_of(robot.query_events(where=where, **window)) == fits
        assert robot.query_events(where=where, aggregate=('count',), **window).total == len(fits)
    hardest = robot.query_events(order_by='peak_force', descending=True, limit=1, **window)
    assert hardest.events[0].event_id in fits
    days = robot.query_events(aggregate=('count',), group_by='day')
    counts: dict[str, int] = {}
    for at, _ in made:
        key = datetime.fromtimestamp(at // SECOND, ZoneInfo(days.time_zone)).date().isoformat()
        counts[key] = counts.get(key, 0) + 1
    assert {group.key: group.count for group in days.groups} == counts


def test_as_of_leaves_events_alone(robot: Robot, pushes: dict[str, int]) -> None:
    ((line,),) = robot.rows('SELECT max(id) FROM audit')
    robot.forget(pushes['hard'], 'wrong')
    assert len(robot.recall('contact', as_of=f'#{line}').memories) == 4
    assert robot.query_events().total == 3
