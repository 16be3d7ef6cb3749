"""Events are written in the order in which they come, also in a thread beside."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from robots import Robot

from robot_memory.core.errors import NotFound
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.writer import EventWriterBeside
from robot_memory.lifecycle.perceptions import Perception


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
