"""Rows that are derived from others are made anew when their rules change."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from old_stores import every_version, fixture, opened
from robots import Robot
from stores import index_rows

from robot_memory.storage import checksums, derived, schema_runner

RULES = (5, '81ff8ed94502018730143f0271e7ec6a744f1f18798d2b8ec4ed441971407858')
"""The version of the rules, and SHA-256 of what they derive from a fixture."""


def derived_rows(robot: Robot) -> list[Any]:
    """Return what follows from the records, vectors aside."""
    with robot.memory.db.read() as connection:
        return [
            index_rows(connection),
            robot.rows('SELECT memory_id, collection, real, terms FROM indexed ORDER BY 1'),
            robot.rows('SELECT term, doc, cnt FROM memories_vocabulary ORDER BY 1'),
            robot.rows('SELECT * FROM collections ORDER BY 1'),
            robot.rows('SELECT * FROM counts WHERE memories > 0 ORDER BY 1, 2'),
            robot.rows(
                'SELECT id, content_hash, guard, token_count FROM memories'
                " WHERE type = 'fact' ORDER BY 1"
            ),
        ]


def test_vectors_of_the_same_model_survive_a_rebuild(tmp_path: Path) -> None:
    path = fixture(len(schema_runner.STEPS), tmp_path)
    planes = 'SELECT memory_id, coarse, fine FROM indexed WHERE coarse IS NOT NULL ORDER BY 1'
    connection = checksums.connect(path)
    before = list(connection.execute(planes))
    connection.close()
    robot = opened(path)
    assert len(before) > 10
    assert robot.rows(planes) == before
    robot.close()


@every_version
def test_rows_that_other_rules_derived_are_rebuilt(version: int, tmp_path: Path) -> None:
    path = fixture(version, tmp_path)
    robot = opened(path)
    expected = derived_rows(robot)
    with robot.memory.db.write() as connection:
        connection.execute("""
            UPDATE meta SET value = 0 WHERE key = 'derived_rules';
            DELETE FROM facets WHERE path_id % 2;
            UPDATE indexed SET terms = x'';
            UPDATE memories SET guard = 'other rules';
            DELETE FROM memories_fts WHERE rowid % 3 = 0;
            DELETE FROM places;
        """)
    robot.close()
    robot = opened(path)
    assert derived_rows(robot) == expected
    robot.close()


def test_the_rules_of_derived_rows_change_with_their_version(tmp_path: Path) -> None:
    """The records of a fixture give these rows; where they give others, raise derived.RULES."""
    robot = opened(fixture(8, tmp_path))
    found = hashlib.sha256(repr(derived_rows(robot)).encode()).hexdigest()
    robot.close()
    assert (derived.RULES, found) == RULES
