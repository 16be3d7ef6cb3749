"""Candidate queries on the indexes of columns: which rows may have a value there."""

from __future__ import annotations

from typing import Any

from robot_memory.core.json_text import dump_json
from robot_memory.storage.indexes.candidates import CandidateQuery

IN = 'IN (SELECT value FROM json_each(?))'
_ENDED = "SELECT id FROM memories INDEXED BY memories_ended WHERE status <> 'active'"
_BY_ID = 'SELECT value AS id FROM json_each(?)'
_OF_COLUMN = {
    'id': _BY_ID,
    'memory_id': _BY_ID,
    'record_id': 'SELECT CAST(substr(value, 5) AS INTEGER) AS id FROM json_each(?)',
    'session_id': f'SELECT id FROM memories INDEXED BY memories_by_session WHERE session_id {IN}',
    'actor_id': f'SELECT id FROM memories INDEXED BY memories_by_actor WHERE actor_id {IN}',
    'event_id': f'SELECT id FROM memories INDEXED BY memories_by_event WHERE event_id {IN}',
    'perception_type': 'SELECT id FROM memories INDEXED BY memories_by_perception'
    f' WHERE perception_type {IN}',
    'frame_id': f'SELECT id FROM memories INDEXED BY memories_by_frame WHERE frame_id {IN}',
    'strategy_name': 'SELECT id FROM memories INDEXED BY memories_by_strategy'
    f" WHERE strategy_name <> 'episodic' AND strategy_name {IN}",
    'category': 'SELECT id FROM memories INDEXED BY memories_by_category'
    f" WHERE category <> 'observation' AND category {IN}",
    'status': f'{_ENDED} AND status {IN}',
    'collection': 'SELECT id FROM memories INDEXED BY memories_by_collection'
    f" WHERE status = 'active' AND collection {IN} UNION ALL {_ENDED}",
}
_OF_KIND = {
    'fact': "SELECT id FROM memories INDEXED BY memories_by_guard WHERE status = 'active'"
    f" AND type = 'fact' UNION ALL {_ENDED}",
    'perception': 'SELECT id FROM memories INDEXED BY memories_by_perception'
    ' WHERE perception_type IS NOT NULL UNION ALL SELECT id FROM memories'
    " INDEXED BY memories_without_modality WHERE type = 'perception' AND perception_type IS NULL",
    'turn': "SELECT id FROM memories INDEXED BY memories_of_turns WHERE type = 'turn'",
}

_USUAL = {'status': 'active', 'category': 'observation', 'strategy_name': 'episodic'}
"""What most rows have: their indexes leave it out."""


def list_column_candidates(column: str, among: list[Any]) -> tuple[CandidateQuery, ...]:
    """Return the candidate queries of any of the values in a column."""
    if column in ('kind', 'type') and None not in among:
        kinds = [sql for kind, sql in _OF_KIND.items() if kind in among]
        return (CandidateQuery(' UNION ALL '.join(kinds) or 'SELECT NULL AS id WHERE 0'),)
    if column not in _OF_COLUMN or any(value in (None, _USUAL.get(column)) for value in among):
        return ()
    return (CandidateQuery(_OF_COLUMN[column], (dump_json(among),)),)
