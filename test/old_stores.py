"""Stores of every schema version that a release wrote, and what they hold."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from robots import MovableClock, Robot

from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage import checksums

FIXTURES = Path(__file__).parent / 'fixtures' / 'schema'
VERSIONS = [1, 2, *range(4, 29)]
"""Those that a release or a checkout ever wrote; 3 was a step on the way to 4."""
RECORDS = {
    'memories': 'id type collection session_id content category confidence confidence_base tags '
    'scope_files perception_type context actor_id event_id strategy_name stamp frame_id pose '
    'status superseded_by access_count last_accessed created_at updated_at',
    'sessions': 'id collection context status outcome_score created_at ended_at',
    'payloads': 'memory_id data metadata',
    'audit': 'id memory_id action actor reason detail at',
    'parts': 'id memory_id name media_type size protected content removed_at',
    'turns': 'memory_id session_id number role',
    'origins': 'memory_id store_id first_id created_at',
    'writers': 'id face client principal actor authority',
}
"""The columns that are no derived ones, by table; older stores lack some tables."""
_QUOTED = '"{}"'.format
_EVENTS = (
    'SELECT memory_id, source, topic, subject, onset, peak, "end", look, broken_off FROM events'
    ' ORDER BY 1',
    'SELECT e.id, s.name, t.name, j.name, onset, peak, "end", coalesce(look, \'\'), broken_off'
    ' FROM events AS e JOIN event_names AS s ON s.id = source JOIN event_names AS t'
    ' ON t.id = topic JOIN event_names AS j ON j.id = subject ORDER BY 1',
)
"""Identities of perceptions: before events had names by id, and since."""


def fixture(version: int, folder: Path) -> Path:
    path = folder / f'v{version}.db'
    path.write_bytes(gzip.decompress((FIXTURES / f'v{version}.db.gz').read_bytes()))
    return path


def records(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    connection = checksums.connect(path)
    # The confidence of a memory is computed anew where the upgrade finds a clock that was wrong.
    found = {
        table: [
            tuple(round(value, 9) if isinstance(value, float) else value for value in row)
            for row in connection.execute(
                f'SELECT {", ".join(map(_QUOTED, columns.split()))} FROM {table} ORDER BY 1, 2'
            )
        ]
        for table, columns in RECORDS.items()
        if connection.table_exists(None, table)
    }
    if connection.table_exists(None, 'events'):
        named = connection.table_exists(None, 'event_names')
        found['events'] = list(connection.execute(_EVENTS[named]))
    found['store_id'] = list(connection.execute("SELECT value FROM meta WHERE key = 'store_id'"))
    connection.close()
    return found


def opened(path: Path) -> Robot:
    settings = Settings(db_path=str(path), model='none')
    clock = MovableClock()
    clock.forward(days=365)  # later than all that the fixtures say
    return Robot(Memory(settings, clocks=clock, upgrade=True))


every_version = pytest.mark.parametrize('version', VERSIONS)
