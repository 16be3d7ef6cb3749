"""What is remembered by when it occurred: order, pages by key, density, filters."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.errors import InvalidArgument

DAY = 86_400


def sense(robot: Robot, text: str, at: float, **more: Any) -> int:
    """Store a perception that was measured at some seconds since 1970."""
    stamp = {'sec': int(at), 'nanosec': round((at - int(at)) * 1e9)}
    return require(robot.save_perception(text, 'tactile', stamp=stamp, **more).memory_id)


def list_all(robot: Robot, limit: int, **arguments: Any) -> list[int]:
    """Return the ids of all pages."""
    found, cursor = [], ''
    while True:
        page = robot.list_timeline(limit=limit, cursor=cursor, **arguments)
        assert len(page.entries) <= limit
        found += [one.memory_id for one in page.entries]
        cursor = page.next_cursor
        if not cursor:
            return found


def test_what_was_measured_stands_when_it_was_measured(robot: Robot, clock: MovableClock) -> None:
    now = clock.now / 1e6
    told = robot.learn('The blue cup is on the shelf').memory_id
    imported = sense(robot, 'push at the elbow', now - 3 * DAY)
    clock.now += DAY * 10**6
    later = robot.learn('The red cup is broken').memory_id
    assert list_all(robot, 2) == [later, told, imported]
    assert list_all(robot, 1, descending=False) == [imported, told, later]


@pytest.mark.parametrize('limit', [1, 7, 1000])
@pytest.mark.parametrize('descending', [True, False])
def test_pages_give_each_once_in_order_ties_by_id(
    robot: Robot, clock: MovableClock, limit: int, descending: bool
) -> None:
    draw = random.Random(3)
    now = clock.now / 1e6
    times = {}
    for number in range(40):
        at = now - draw.randrange(6) * DAY
        times[sense(robot, f'push {number} of {draw.random()} N', at)] = at
    expected = sorted(times, key=lambda one: (times[one], one), reverse=descending)
    assert list_all(robot, limit, descending=descending) == expected


def test_pages_stay_the_same_while_memories_arrive(robot: Robot, clock: MovableClock) -> None:
    now = clock.now / 1e6
    kept = [sense(robot, f'push number {n}', now - n * 60) for n in range(10)]
    first = robot.list_timeline(limit=4)
    sense(robot, 'a push that is newer than all', now)
    rest = robot.list_timeline(limit=100, cursor=first.next_cursor)
    assert [one.memory_id for one in (*first.entries, *rest.entries)] == kept


def test_density_counts_what_passes_in_equal_parts(robot: Robot, clock: MovableClock) -> None:
    now = clock.now / 1e6
    for number in range(30):
        sense(robot, f'push number {number}', now - (30 - number) * 3600)
    robot.learn('The blue cup is on the shelf')
    whole = robot.list_timeline(limit=1, buckets=10)
    assert sum(whole.density) == 31
    assert len(whole.density) == 10
    assert whole.bucket_seconds == pytest.approx(30 * 3600 / 10, rel=1e-3)
    part = robot.list_timeline(
        limit=1, buckets=4, where={'kind': 'perception'}, since=require(whole.density_from)
    )
    assert sum(part.density) == 30


def test_simulated_time_does_not_stretch_the_density(robot: Robot, clock: MovableClock) -> None:
    now = clock.now / 1e6
    sense(robot, 'push in simulation', 12.5)
    for number in range(5):
        sense(robot, f'push number {number}', now - number * 60)
    found = robot.list_timeline(buckets=4)
    assert len(found.entries) == 6
    assert sum(found.density) == 5
    assert require(found.bucket_seconds) <= 61
    asked = robot.list_timeline(buckets=2, until='2000-01-01')
    assert (len(asked.entries), sum(asked.density)) == (1, 1)


def test_a_corrected_clock_moves_what_it_stamped(robot: Robot, clock: MovableClock) -> None:
    """The order is that of the times as they are known now, not as the clock told them."""
    first = robot.learn('The drawer jams when it is wet').memory_id
    connection_rows = 'UPDATE clock_epochs SET offset = ?'
    second = sense(robot, 'push at the wrist', clock.now / 1e6 + 3600)
    assert list_all(robot, 1) == [second, first]
    with robot.memory.db.write() as connection:
        connection.execute(connection_rows, (2 * DAY * 10**6,))
    assert list_all(robot, 1) == [first, second]
    assert sum(robot.list_timeline(buckets=3).density) == 2


def test_only_active_ones_unless_status_is_asked(robot: Robot) -> None:
    kept = robot.learn('The blue cup is on the shelf').memory_id
    gone = require(robot.learn('The red cup is in the drawer').memory_id)
    robot.forget(gone, reason='broken')
    assert list_all(robot, 5) == [kept]
    (entry,) = robot.list_timeline(where={'status': 'invalidated'}).entries
    assert (entry.memory_id, entry.status) == (gone, 'invalidated')


def test_entries_say_whose_word_they_are_and_whether_it_binds(robot: Robot) -> None:
    robot.learn('Never exceed 15 N of grip force on glass')
    robot.learn('Always knock at the door', context={'actor_id': 'person:li'})
    told = {one.content: one for one in robot.list_timeline().entries}
    assert not told['Never exceed 15 N of grip force on glass'].quoted
    assert told['Always knock at the door'].actor_id == 'person:li'


@pytest.mark.parametrize(
    ('arguments', 'word'),
    [
        ({'cursor': 'nonsense'}, 'next_cursor'),
        ({'cursor': base64.urlsafe_b64encode(b'[1,2]').decode()}, 'next_cursor'),
        ({'cursor': base64.urlsafe_b64encode(b'[1,2,false]').decode()}, 'same order'),
        ({'since': 'tomorrow-ish'}, 'since must be a time'),
        ({'since': '2026-01-02', 'until': '2026-01-01'}, 'since must be before until'),
        ({'where': {'colour': {'$like': 'red'}}}, '$like'),
        ({'time_zone': 'Mars/Olympus'}, 'Mars/Olympus'),
        ({'near': {'in': 'nowhere'}}, 'nowhere'),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    robot: Robot, arguments: dict[str, Any], word: str
) -> None:
    robot.learn('The blue cup is on the shelf')
    with pytest.raises(InvalidArgument, match=word.replace('$', r'\$')):
        robot.list_timeline(**arguments)


def test_an_empty_answer_says_why(robot: Robot) -> None:
    assert robot.list_timeline().why_empty == 'There are no active memories.'
    robot.learn('The blue cup is on the shelf')
    assert 'since' in str(robot.list_timeline(until='1999-01-01').why_empty)
    assert robot.list_timeline(where={'category': 'gotcha'}).why_empty
