"""Merging the full-text index in steps, while others write."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from robots import Robot

from robot_memory.storage.admin import cleaning
from robot_memory.storage.indexes import fulltext, merging

STEP = 1
WORDS = [f'word{number}' for number in range(400)]
GONE = {5: ['marmalad'], 250: ['quagga'], 600: ['zwetschg']}


def fill(robot: Robot, rows: range) -> None:
    """Index rows, a transaction each ten, so that there are segments of several levels."""
    for first in range(rows.start, rows.stop, 10):
        with robot.memory.db.write() as connection:
            for row in range(first, first + 10):
                fulltext.put(
                    connection, row, 'default', (*WORDS[row % 7 :: 7], *GONE.get(row, ()))
                )


def merge_wholly(robot: Robot, between: Callable[[], None]) -> int:
    """Merge all that there is now, in steps; return how many that took."""
    with robot.memory.db.read() as connection:
        old = merging.list_segments(connection)
    steps = 0
    while old:
        with robot.memory.db.write() as connection:
            merging.merge(connection, STEP, again=steps == 0)
            old &= merging.list_segments(connection)
        between()
        steps += 1
        assert steps < 2_000
    return steps


def holds(robot: Robot, word: str) -> bool:
    """Say whether the segments have a word that no other one begins like, of whatever row."""
    with robot.memory.db.read() as connection:
        blocks = connection.execute('SELECT block FROM memories_fts_data')
        return any(word[1:].encode() in bytes(block) for (block,) in blocks)


def test_merging_leaves_out_what_is_gone_while_others_write(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(resident=False)
    with robot.memory.db.write() as connection:  # else a write merges so much, all is one step
        connection.execute("INSERT INTO memories_fts (memories_fts, rank) VALUES ('automerge', 0)")
    fill(robot, range(1, 601))
    with robot.memory.db.write() as connection:
        for row in GONE:
            fulltext.remove(connection, row)
    words = [word for (word,) in GONE.values()]
    assert all(holds(robot, word) for word in words)
    at = iter(range(1_001, 100_000, 10))

    def write_more() -> None:
        first = next(at)
        fill(robot, range(first, first + 10))

    assert merge_wholly(robot, write_more) > 5
    assert not any(holds(robot, word) for word in words)
    with robot.memory.db.read() as connection:
        assert fulltext.frequency(connection, ['word3']) == len(range(3, 601, 7)) + len(
            range(1_002, next(at), 7)
        )


@pytest.mark.parametrize('rows', [0, 1, 300])
def test_words_of_removed_rows_are_gone_after_cleaning(
    open_robot: Callable[..., Robot], rows: int
) -> None:
    robot = open_robot(resident=False)
    ids = [robot.learn(f'shelf {number} holds marmalade').memory_id for number in range(2)]
    fill(robot, range(1_000, 1_000 + rows))
    with robot.memory.db.write() as connection:
        for memory_id in ids:
            assert memory_id is not None
            fulltext.remove(connection, memory_id)
    assert holds(robot, 'marmalad')
    cleaning.remove_words(robot.memory.db)
    cleaning.remove_words(robot.memory.db)  # nothing is left to merge
    assert not holds(robot, 'marmalad')
