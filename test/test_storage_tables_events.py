"""Rows of events: made by an upgrade as by a release that knows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from old_stores import every_version, fixture, opened
from robots import Robot

NAMES = 'kind label topic task robot collection frame source subject'.split()


def rows_of(robot: Robot) -> list[tuple[Any, ...]]:
    """Return the events of a store by their names; ids of sessions are each store's own."""
    names = ', '.join(f'(SELECT name FROM event_names WHERE id = {name})' for name in NAMES)
    return robot.rows(
        f'SELECT id, {names}, session IS NULL, active, onset, peak, "end", value_1, value_2,'
        ' value_3, value_4, look, broken_off, memory_id FROM events ORDER BY id'
    )


def test_an_upgrade_makes_the_rows_that_this_release_writes(tmp_path: Path) -> None:
    upgraded, written = opened(fixture(12, tmp_path)), opened(fixture(13, tmp_path))
    assert rows_of(upgraded) == rows_of(written)
    figures = 'SELECT n.name, f.name, unit, slot FROM figures AS f JOIN event_names AS n'
    figures += ' ON n.id = f.kind ORDER BY f.id'
    assert upgraded.rows(figures) == written.rows(figures)
    upgraded.close()
    written.close()


@every_version
def test_every_perception_and_session_of_an_old_store_is_an_event(
    version: int, tmp_path: Path
) -> None:
    robot = opened(fixture(version, tmp_path))
    perceptions = robot.rows(
        "SELECT id, status = 'active', context, stamp, created_at FROM memories"
        " WHERE type = 'perception' ORDER BY id"
    )
    assert len(perceptions) >= 4
    found = robot.rows(
        'SELECT e.id, active, n.name, onset, value_1 FROM events AS e JOIN event_names AS n'
        ' ON n.id = kind WHERE memory_id IS NOT NULL ORDER BY e.id'
    )
    assert [row[:2] for row in found] == [row[:2] for row in perceptions]
    for (_, _, text, stamp, created_at), (_, _, kind, onset, value) in zip(
        perceptions, found, strict=True
    ):
        context = json.loads(text)
        assert kind == context.get('sense', {}).get('detector', 'perception')
        assert onset == (1000 * created_at if stamp is None else stamp)
        if kind == 'contact':
            assert value == context['params']['peak_force']['value']
    ((sessions,),) = robot.rows('SELECT count(*) FROM sessions')
    answer = robot.query_events(where={'kind': 'session'}, limit=100)
    assert answer.total == sessions
    assert robot.query_events(limit=100).total == sessions + sum(row[1] for row in perceptions)
    robot.close()
