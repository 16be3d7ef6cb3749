"""A recording that is played live becomes the same memories as one that is imported."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import apsw
import pytest
import recordings
from amounts import few_or_many
from recordings import events_of, messages_of, run
from replay import play, room_for

from robot_memory.core.settings import Settings
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.memory import Memory

SETTLED_NS = 10**9
"""Between the end of a push and the next one."""
WRENCH = {'taps': '[wrench]', 'wrench.onset_n': '2.0', 'use_sim_time': 'true'}


def open_store(path: Any) -> Memory:
    return Memory(Settings(db_path=str(path), model='none'), resident=False)


def events_in(db: Any) -> list[Any]:
    """Return the events in the file of a node that may still run."""
    try:
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        return list(connection.execute('SELECT topic, onset, peak, "end" FROM events'))
    except apsw.Error:
        return []


@pytest.fixture(scope='module')
def wanted(made: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the events that the import of the recording comes to."""
    with open_store(tmp_path_factory.mktemp('imported') / 'memory.db') as imported:
        run(imported, made)
        return list(events_of(imported))


def close(node: Any) -> None:
    assert node.stop() == 0, node.said()


def test_played_live_a_recording_gives_the_memories_of_its_import(
    start: Callable[..., Any], robot: Any, made: Any, wanted: list[Any]
) -> None:
    messages = messages_of(made)
    node = start(use_sim_time='true', **room_for(messages))
    play(robot, messages, rate=10.0)
    robot.poll(lambda: len(events_in(node.db)) >= len(wanted), 'every event')
    close(node)
    with open_store(node.db) as live:
        assert events_of(live) == wanted
        again, _ = run(live, made)
    assert (again.kept, again.known) == (0, len(wanted))


def test_played_live_after_its_import_a_recording_adds_nothing(
    start: Callable[..., Any], robot: Any, made: Any
) -> None:
    messages = messages_of(made)
    node = start(use_sim_time='true', **room_for(messages))
    with open_store(node.db) as memory:
        run(memory, made)
        before = events_of(memory)
    # The beginning is missed, as by a node that starts late: the baseline is another.
    late = [message for message in messages if message[2] > messages[0][2] + 3 * 10**8]
    play(robot, late, rate=10.0)
    close(node)
    assert 'known' in node.said()
    with open_store(node.db) as memory:
        assert events_of(memory) == before


def test_every_real_push_is_felt_live_at_ten_times_the_speed(
    start: Callable[..., Any], robot: Any
) -> None:
    truth = recordings.pushes()[: few_or_many(5, 50)]
    messages = [
        message
        for message in messages_of(recordings.shared('bags/cmu_push_wood_patch'))
        if message[0] == '/wrench' and message[2] <= truth[-1]['end_ns'] + SETTLED_NS
    ]
    node = start(**WRENCH, **room_for(messages))
    play(robot, messages, rate=10.0, linger=5.0)
    robot.poll(lambda: len(events_in(node.db)) >= len(truth), 'every push')
    close(node)
    assert f'received {len(messages)}' in node.said()
    with open_store(node.db) as memory, memory.db.read() as connection:
        rows = list(
            connection.execute(
                'SELECT e.onset, e."end", p.data FROM events AS e'
                ' JOIN payloads AS p USING (memory_id) ORDER BY e.onset'
            )
        )
    assert len(rows) == len(truth) == few_or_many(5, 50)
    for (onset, end, data), push in zip(rows, truth, strict=True):
        assert onset <= push['end_ns'] and end >= push['start_ns']
        assert json.loads(data)['peak_force'] == pytest.approx(push['peak_N'], rel=0.05)


@pytest.mark.parametrize('after', [1, 4])
def test_fault_14_killed_while_it_feels_a_node_has_what_it_acknowledged_and_completes_it(
    start: Callable[..., Any],
    robot: Any,
    successor: Callable[..., Any],
    made: Any,
    wanted: list[Any],
    after: int,
) -> None:
    messages = messages_of(made)
    node = start(use_sim_time='true', **room_for(messages))
    noticed: list[Any] = []

    def enough() -> bool:
        noticed[:] = [line for line in node.said().splitlines() if 'event: ' in line]
        return len(noticed) >= after

    play(robot, messages, rate=10.0, enough=enough)
    node.stop(signal.SIGKILL)
    with open_store(node.db) as memory, memory.db.read() as connection:
        # What was broken off and is known in full by now was acknowledged twice: count both.
        ((kept,),) = connection.execute('SELECT count(*) FROM events')
    assert kept >= len(noticed) >= after
    again = start(use_sim_time='true', db_path=node.db, **room_for(messages))
    robot = successor()
    play(robot, messages, rate=10.0)
    robot.poll(lambda: len(events_in(node.db)) >= len(wanted), 'every event')
    close(again)
    with open_store(node.db) as memory:
        assert events_of(memory) == wanted
        report, _ = run(memory, made, ImportPlan())
    assert report.kept == 0
