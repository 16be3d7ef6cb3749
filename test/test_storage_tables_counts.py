"""The kept counts are those of the rows."""

from __future__ import annotations

import pytest
from narrowing import require
from robots import Robot, fill_and_forget

from robot_memory.core.authority import THE_STORE
from robot_memory.core.errors import NotFound
from robot_memory.storage.tables import counts, memories


def test_the_kept_counts_are_those_of_the_rows(robot: Robot) -> None:
    fill_and_forget(robot)
    rows = robot.rows('SELECT type, status, count(*) FROM memories GROUP BY 1, 2 ORDER BY 1, 2')
    assert robot.rows('SELECT * FROM counts WHERE memories ORDER BY 1, 2') == rows
    assert len({(type, status) for type, status, _ in rows}) >= 4


def test_what_is_rolled_back_is_not_counted(robot: Robot) -> None:
    memory_id = robot.learn('one').memory_id

    def retire_and_fail() -> None:
        with robot.memory.db.write() as connection:
            memories.retire(connection, require(memory_id), 'invalidated', THE_STORE, 'why', 1)
            memories.get_active(connection, 999)

    with pytest.raises(NotFound):
        retire_and_fail()
    with robot.memory.db.read() as connection:
        assert counts.by_type(connection) == {'fact': 1}
