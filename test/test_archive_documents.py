"""Documents of a whole store are given in parts: neither cost nor memory is of all at once."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from robots import Robot

from robot_memory.archive.documents import generate_document
from robot_memory.archive.writer import ExportScope, generate_lines
from robot_memory.core.call_order import CallOrder
from robot_memory.core.records import Record, Session
from robot_memory.storage import Connection
from robot_memory.storage.tables import memories, sessions

FEW, MANY = 100, 400
"""Sessions; of the memories of the few there are several batches."""
FORMATS = ('jsonl', 'json', 'markdown', 'text')
START = 1_770_000_000_000_000


def fill(robot: Robot, first: int, last: int) -> None:
    """Keep sessions of these numbers, each with a turn and a fact, and as many facts of none."""
    with robot.memory.db.write() as connection:
        for number in range(first, last):
            at = START + number * 60_000_000
            session = Session(f'ses_{number:06d}', 'default', {}, 'ended', at, ended_at=at)
            sessions.insert(connection, session)
            for kind, of in (('turn', session.id), ('fact', session.id), ('fact', None)):
                record = Record(
                    type=kind,
                    collection='default',
                    content=f'The {kind} {number} of {of}: crate {number * 37} is shut',
                    category='observation',
                    confidence=0.9,
                    session_id=of,
                    role='user' if kind == 'turn' else None,
                    turn_id=1 if kind == 'turn' else None,
                    created_at=at,
                )
                memories.insert(connection, record, None)


def generate(connection: Connection, format: str) -> Iterator[str]:
    if format == 'jsonl':
        return generate_lines(connection, ExportScope())
    return (text for text, _ in generate_document(connection, ExportScope(), format, CallOrder()))


def measure(robot: Robot, format: str) -> tuple[int, int, int]:
    """Return the steps of SQLite's machine, the most bytes held at once, and those given."""
    steps = size = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    with robot.memory.db.read() as connection:
        for _ in generate(connection, format):
            pass
        connection.set_progress_handler(count, 10)
        tracemalloc.start()
        for text in generate(connection, format):
            size += len(text)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        connection.set_progress_handler(None)
    return steps, held, size


@pytest.mark.parametrize('format', FORMATS)
def test_four_times_the_sessions_cost_four_times_and_take_no_more_memory(
    open_robot: Callable[..., Robot], format: str
) -> None:
    robot = open_robot(resident=False)
    fill(robot, 0, FEW)
    steps, held, size = measure(robot, format)
    fill(robot, FEW, MANY)
    more_steps, more_held, more_size = measure(robot, format)
    print(f'{format}: steps {steps} to {more_steps}, bytes at once {held} to {more_held}')
    assert more_size > 3.9 * size
    assert more_steps < 4.8 * steps
    assert more_held < 2 * held


def test_the_parts_of_json_are_one_object_of_all(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False)
    with robot.memory.db.read() as connection:
        assert json.loads(''.join(generate(connection, 'json'))) == {
            'memories': [],
            'sessions': [],
        }
    fill(robot, 0, FEW)
    with robot.memory.db.read() as connection:
        parts = list(generate_document(connection, ExportScope(), 'json', CallOrder()))
    found = json.loads(''.join(text for text, _ in parts))
    assert len(found['memories']) == len(found['sessions']) == FEW
    assert sum(number for _, number in parts) == 3 * FEW
    assert [one['session_id'] for one in found['sessions']] == [
        f'ses_{number:06d}' for number in range(FEW)
    ]
    assert all(len(one['messages']) == len(one['memories']) == 1 for one in found['sessions'])


def test_the_parts_of_a_text_are_parted_by_empty_lines(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False)
    assert robot.export('all', 'text').content == '\n'
    assert robot.export('all', 'markdown').content == ''
    fill(robot, 0, 30)
    markdown = robot.export('all', 'markdown')
    assert markdown.count == 90
    assert markdown.content.count('\n\n# Session\n') == 29
    assert markdown.content.count('# Memories of no session') == 1
    head, _, listed = markdown.content.partition('\n# Memories of no session\n\n')
    assert head.endswith('\n') and len(listed.splitlines()) == 30
    text = robot.export('all', 'text').content
    assert text.count('\n\n') == 30 and text.endswith('is shut"\n')
