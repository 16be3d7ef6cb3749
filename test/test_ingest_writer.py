"""Events are written in the order in which they come, together, and in a thread beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from robots import Robot, check_file

from robot_memory.core.errors import Internal, NotFound
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.writer import EventWriter, EventWriterBeside, QueuedEventWriter
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.storage import Connection, checksums
from robot_memory.storage.admin.audit_check import verify
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part

SECOND = 10**9
TAPS = [make_tap('wrench', {'session': 'auto'}), make_tap('joint_states', {'session': 'none'})]
COLUMNS = (
    'type, collection, session_id, content, category, confidence, tags, perception_type, context,'
    ' status, superseded_by, stamp, frame_id, pose, authority'
)


def make_writer(robot: Robot) -> EventWriterBeside:
    tap = make_tap('wrench', {'session': 'none'})
    return EventWriterBeside(robot.memory, [tap], SessionFinder(robot.memory))


def write_all(writer: EventWriterBeside, perceptions: Iterable[Perception]) -> None:
    for one in perceptions:
        writer.enqueue('wrench', one)
    writer.wait()


def list_contents(robot: Robot) -> list[str]:
    return [content for (content,) in robot.rows('SELECT content FROM memories ORDER BY id')]


def test_what_is_written_beside_is_stored_in_its_order(robot: Robot) -> None:
    texts = [f'Contact of {number} N on tool {number}' for number in range(40)]
    with make_writer(robot) as writer:
        write_all(writer, [Perception(text, 'tactile') for text in texts])
        assert list_contents(robot) == texts
    assert writer.counts['wrench'] == {'events': 40}


def test_after_an_event_that_is_refused_no_other_is_written(robot: Robot) -> None:
    with make_writer(robot) as writer:
        write_all(writer, [Perception('Contact of 3 N', 'tactile')])
        with pytest.raises(NotFound, match='nobody'):
            write_all(writer, [Perception('Tap', 'tactile', session_id='nobody')] * 40)
    assert list_contents(robot) == ['Contact of 3 N']
    assert writer.counts['wrench'] == {'events': 1}


def test_what_came_before_an_event_that_fails_is_kept(robot: Robot) -> None:
    twice = replace(push(2), parts=[*push(2).parts, *push(2).parts])
    with make_writer(robot) as writer, pytest.raises(Internal, match='parts'):
        write_all(writer, [push(0), push(1), twice, push(3)])
    assert list_contents(robot) == [push(number).description for number in (0, 1)]
    assert writer.counts['wrench'] == {'events': 2}


def test_those_that_are_refused_together_cost_one_transaction_more(robot: Robot) -> None:
    writer = EventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    endless = [replace(push(number), metadata={'force': math.inf}) for number in range(5)]
    begun = count_writes(robot)
    writer.write_together([('wrench', one) for one in (*endless, push(7))])
    assert begun() == 2
    assert writer.counts['wrench'] == {'events': 1, 'refused': 5}


def push(number: int, **more: Any) -> Perception:
    """Return a push that no other is, ten seconds after the one before."""
    at = number * 10 * SECOND
    signal = bytes(200)
    return Perception(
        f'Push of {number + 3}.5 N along -z of tool0 for 2 s',
        'tactile',
        stamp=at,
        frame_id='tool0',
        context={
            'sense': {'topic': '/wrench', 'detector': 'contact', 'source': '', 'kind': 'push'},
            'params': {'peak_force': {'value': number + 3.5, 'unit': 'N'}},
            'task': {'name': 'pour'},
        },
        data={'peak_force': number + 3.5},
        metadata={'topic': '/wrench'},
        parts=(Part('signal', 'application/x-npz', 200, signal),),
        identity=Identity('', '/wrench', 'contact', at, at + SECOND, at + 2 * SECOND),
        **more,
    )


def count_writes(robot: Robot) -> Callable[[], int]:
    """Return what tells how many transactions have been begun since now."""
    begun: list[int] = []
    enter = robot.memory.db.on_write

    def note(connection: Connection) -> None:
        begun.append(1)
        enter(connection)

    robot.memory.db.on_write = note
    return lambda: len(begun)


def list_rows(robot: Robot) -> list[list[tuple[Any, ...]]]:
    """Return what the events that were stored have left, but for times and salts."""
    return [
        robot.rows(f'SELECT {COLUMNS} FROM memories ORDER BY id'),
        robot.rows('SELECT id, kind, active, onset, "end", label, topic, memory_id FROM events'),
        robot.rows('SELECT id, name FROM event_names'),
        robot.rows('SELECT * FROM figures ORDER BY id'),
        robot.rows('SELECT * FROM event_hours ORDER BY kind, hour'),
        robot.rows(
            'SELECT i.memory_id, f.collection FROM indexed AS i JOIN forms AS f ON f.id = i.form'
        ),
        robot.rows('SELECT count(*) FROM forms'),
        robot.rows('SELECT memory_id, data, metadata FROM payloads ORDER BY 1'),
        robot.rows('SELECT * FROM facets ORDER BY 1, 2, 3'),
        robot.rows('SELECT memory_id, action, actor, reason FROM audit ORDER BY id'),
    ]


def make_events() -> list[tuple[str, Perception]]:
    """
    Return events of two taps: two twice, one that two measure, and one cut short and then whole.

    What was cut short alone has its form then, which goes with it and comes back.
    """
    whole = replace(push(5), description='Drag of 8.5 N')
    assert whole.identity is not None
    cut = replace(
        whole,
        description='Slip of 8.5 N',
        identity=replace(whole.identity, broken_off=True),
    )
    lifted = replace(
        push(8),
        context={
            'sense': {'topic': '/wrench', 'detector': 'lift', 'source': ''},
            'params': {'mass': {'value': 0.4, 'unit': 'kg'}},
        },
    )
    other = push(7)
    assert other.identity is not None
    felt = replace(other, identity=replace(other.identity, topic='/wrist'))
    return [
        *[('wrench', push(number)) for number in range(4)],
        ('wrench', push(2)),
        ('wrench', cut),
        ('joint_states', push(6)),
        ('wrench', lifted),
        ('wrench', lifted),
        ('wrench', whole),
        ('wrench', replace(push(9), description='Slip of 9.5 N')),
        ('wrench', other),
        ('joint_states', felt),
    ]


def test_perceptions_are_kept_in_one_transaction_as_they_are_one_by_one(
    open_robot: Callable[..., Robot],
) -> None:
    one, other = open_robot(name='one'), open_robot(name='other')
    for robot in (one, other):
        robot.start_session(context={'robot': 'arm', 'task': {'place': 'hall'}})
    alone, together = (
        EventWriter(robot.memory, TAPS, SessionFinder(robot.memory)) for robot in (one, other)
    )
    for tap, item in make_events():
        alone.write(tap, item)
    begun = count_writes(other)
    together.write_together(make_events())
    assert begun() == 1
    assert together.counts == alone.counts
    assert together.counts['wrench'] == {'events': 9, 'known': 2}
    assert together.counts['joint_states'] == {'events': 1, 'witnesses': 1}
    sessions = [robot.rows('SELECT id FROM sessions')[0][0] for robot in (one, other)]
    rows = [repr(list_rows(robot)) for robot in (one, other)]
    assert rows[1].replace(sessions[1], sessions[0]) == rows[0]
    assert verify(other.memory.db, all_lines=True).problem == ''


def test_one_that_is_refused_takes_no_other_along_and_leaves_nothing(
    robot: Robot, tmp_path: Path
) -> None:
    writer = EventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    endless = replace(push(1), frame_id='of_nothing', metadata={'force': math.inf})
    begun = count_writes(robot)
    writer.write_together(
        [('wrench', push(0)), ('wrench', endless), ('joint_states', push(2)), ('wrench', push(3))]
    )
    assert begun() == 2  # the first is rolled back
    assert writer.counts['wrench'] == {'events': 2, 'refused': 1}
    assert writer.counts['joint_states'] == {'events': 1}
    assert list_contents(robot) == [push(number).description for number in (0, 2, 3)]
    assert robot.rows("SELECT count(*) FROM event_names WHERE name = 'of_nothing'") == [(0,)]
    assert robot.rows('SELECT count(*) FROM audit WHERE memory_id IS NOT NULL') == [(3,)]
    robot.close()
    check_file(tmp_path / 'memory.db')


def test_what_waits_for_the_store_is_written_together(robot: Robot) -> None:
    writer = QueuedEventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    begun = count_writes(robot)
    events = [('wrench', push(number)) for number in range(60)]
    with robot.memory.db.write():
        for tap, item in events:
            writer.enqueue(tap, item)
        waiting, _ = writer.measure_waiting()
        assert waiting == 60
    writer.close()
    assert begun() <= 3  # this one, and that of what came before the writer waited
    assert writer.measure_waiting()[0] == 0
    assert writer.counts['wrench'] == {'events': 60}
    assert list_contents(robot) == [item.description for _, item in events]


def test_what_no_transaction_can_have_together_is_written_one_by_one(robot: Robot) -> None:
    twice = replace(push(1), parts=[*push(1).parts, *push(1).parts])
    events = [push(0), twice, *(push(number) for number in range(2, 20))]
    writer = QueuedEventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    with robot.memory.db.write():
        for item in events:
            writer.enqueue('wrench', item)
    writer.close()
    assert writer.counts['wrench'] == {'events': 19, 'refused': 1}
    assert list_contents(robot) == [one.description for one in events if one is not twice]


def test_what_still_waits_at_the_end_is_counted(robot: Robot, tmp_path: Path) -> None:
    writer = QueuedEventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    other = checksums.connect(tmp_path / 'memory.db', apsw.SQLITE_OPEN_READWRITE)
    other.execute('BEGIN IMMEDIATE')
    robot.memory.stop_waiting()
    for number in range(30):
        writer.enqueue('wrench', push(number))
    writer.close()
    other.execute('ROLLBACK')
    other.close()
    assert writer.counts['wrench'] == {'deferred: store busy': 30}
    assert writer.measure_waiting()[0] == 0
    assert list_contents(robot) == []


def test_together_each_form_is_embedded_once(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, BackgroundEmbedder]
) -> None:
    robot = open_robot(embedder=tiny_embedders[8], resident=False)
    robot.embed_all()
    writer = EventWriter(robot.memory, TAPS, SessionFinder(robot.memory))
    for first in (0, 20):
        writer.write_together([('wrench', push(number)) for number in range(first, first + 20)])
    assert robot.memory.registry.get_operation_timings()['embed_passages'].count == 1
    assert robot.rows('SELECT count(*), count(coarse) FROM form_vectors') == [(1, 1)]
    assert robot.rows('SELECT count(*) FROM indexed WHERE form IS NULL') == [(0,)]
    robot.close()
    check_file(robot.memory.db.path)
