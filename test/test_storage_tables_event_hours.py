"""Hours of events: their bounds hold what SQLite counts, whatever happens to the events."""

from __future__ import annotations

import random

import apsw
import pytest
from robots import Robot

from robot_memory.storage import schema_runner
from robot_memory.storage.schema import v16
from robot_memory.storage.tables.event_hours import HOUR_NS, find_extent, find_hour, find_onsets

COUNTED = (
    f'SELECT kind, onset / {HOUR_NS}, count(*), min("end" - onset), max("end" - onset),'
    ' min(value_1), max(value_1), min(value_2), max(value_2), min(value_3), max(value_3),'
    ' min(value_4), max(value_4) FROM events GROUP BY 1, 2 ORDER BY 1, 2'
)


def insert(connection: apsw.Connection, chance: random.Random, number: int) -> None:
    onset = chance.randrange(-9 * HOUR_NS, 9 * HOUR_NS)
    end = None if chance.random() < 0.3 else onset + chance.randrange(3 * HOUR_NS)
    values = [None if chance.random() < 0.4 else chance.uniform(-5, 5) for _ in range(4)]
    connection.execute(
        'INSERT INTO events (id, kind, active, onset, peak, "end", value_1, value_2, value_3,'
        ' value_4, collection, broken_off) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, 1, 0)',
        (number, chance.randrange(1, 4), onset, onset, end, *values),
    )


@pytest.fixture
def store() -> apsw.Connection:
    connection = apsw.Connection(':memory:')
    schema_runner.create(connection)
    return connection


def test_hours_are_bounded_as_events_come_and_end(store: apsw.Connection) -> None:
    chance = random.Random(3)
    for number in range(1, 400):
        insert(store, chance, number)
    store.execute('UPDATE events SET "end" = onset + 7 WHERE "end" IS NULL AND id % 2')
    found = store.execute('SELECT * FROM event_hours ORDER BY kind, hour').fetchall()
    assert found == store.execute(COUNTED).fetchall()
    ((first, last),) = store.execute('SELECT min(onset), max(onset) FROM events')
    low, high = find_extent(store)
    assert first - HOUR_NS < low <= first and last <= high < last + 2 * HOUR_NS
    store.execute('UPDATE events SET value_1 = 0, active = 0')
    assert store.execute('SELECT min(low_1), max(high_1) > 1 FROM event_hours').fetchall() == [
        (min(row[5] for row in found if row[5] is not None), 1)
    ]


def test_an_upgrade_counts_what_the_triggers_would(store: apsw.Connection) -> None:
    connection = apsw.Connection(':memory:')
    for step in schema_runner.STEPS[:15]:
        step(connection)
    chance = random.Random(5)
    for number in range(1, 200):
        insert(connection, chance, number)
    v16.upgrade(connection)
    found = connection.execute('SELECT * FROM event_hours ORDER BY kind, hour').fetchall()
    assert found == connection.execute(COUNTED).fetchall()


def test_an_hour_is_that_of_its_onsets(store: apsw.Connection) -> None:
    chance = random.Random(7)
    for _ in range(500):
        onset = chance.choice([1, -1]) * chance.randrange(10 ** chance.randrange(1, 19))
        ((hour,),) = store.execute(f'SELECT ? / {HOUR_NS}', (onset,))
        first, last = find_onsets(hour)
        assert find_hour(onset) == hour and first <= onset <= last
        assert find_hour(first) == find_hour(last) == hour
        assert find_hour(first - 1) == hour - 1 and find_hour(last + 1) == hour + 1


def test_pages_by_a_figure_look_at_hours_alone(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of ties, and of values that several hours bound alike, is that of a sort."""
    from robot_memory.storage.events import pages

    chance = random.Random(11)
    with robot.memory.db.write() as connection:
        for number in range(1, 600):
            insert(connection, chance, number)
        connection.execute('UPDATE events SET kind = 1, value_1 = round(value_1)')
    answers = []
    for few in (0, 20_000):
        monkeypatch.setattr(pages, '_FEW', few)
        monkeypatch.setattr(pages, '_WORTH', 1)
        for descending in (True, False):
            cursor = ''
            ids: list[int] = []
            while cursor or not ids:
                page = robot.query_events(
                    order_by='peak_force', descending=descending, limit=37, cursor=cursor
                )
                ids += [event.event_id for event in page.events]
                cursor = page.next_cursor or ''
            answers.append(ids)
    assert answers[:2] == answers[2:]
    assert len(set(answers[0])) == len(answers[0]) > 200
