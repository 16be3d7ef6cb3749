"""Rows of memories as records: as they stand, or whole, with evidence, links and uses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.records import NO_LINKS, Record
from robot_memory.storage import epochs
from robot_memory.storage.indexes.filters import STAMP, TIMES
from robot_memory.storage.indexes.occasions import Occasion
from robot_memory.storage.tables import observations, replacements, trial_uses, writers
from robot_memory.text.caching import cache_texts

_COLUMNS = (
    'id type collection session_id content category confidence tags scope_files perception_type '
    'context actor_id event_id strategy_name stamp stamp_is_local frame_id pose status '
    'superseded_by access_count last_accessed created_at updated_at authority stands'
).split()
_FIELDS = (*_COLUMNS, 'role', 'turn_id', 'time_uncertain')
_CORRECTED = {**TIMES, 'stamp': STAMP}
SELECT = (
    f'SELECT {", ".join(_CORRECTED.get(name, f"m.{name}") for name in _COLUMNS)},'
    f' t.role, t.number, {epochs.is_uncertain("m.created_epoch")},'
    f' {writers.COLUMNS} FROM memories AS m'
    ' LEFT JOIN turns AS t ON t.memory_id = m.id LEFT JOIN writers AS w ON w.id = m.writer_id'
)
"""SQL of the rows that `make_record` reads."""
SELECT_SOME = f'{SELECT} WHERE m.id IN (SELECT value FROM json_each(?))'
"""The same of those among some ids, as a JSON array."""


def get_whole(
    connection: apsw.Connection,
    ids: Iterable[int],
    occasion: Occasion | None = None,
    place: str = '',
) -> dict[int, Record]:
    """
    Return the memories that there are among the ids, with evidence, links, and the occasion asked.

    That is the newest that passes `occasion`; where nothing is asked of it, the memory's own
    statement, but with the latest place: the partition `spatial`, or that of the dotted path
    `place`.
    """
    rows = connection.execute(SELECT_SOME, (json.dumps(list(ids)),))
    found = {row[0]: _read_values(row) for row in rows}
    for memory_id, (helped, hurt) in trial_uses.count_uses(connection, found).items():
        found[memory_id].update(helped=helped, hurt=hurt)
    facts = [values for values in found.values() if values['type'] == 'fact']
    if facts:
        links = replacements.read(connection, [values['id'] for values in facts])
        evidence, again = observations.summarize(connection, facts)
        for values in facts:
            memory_id = values['id']
            values['evidence'] = evidence[memory_id]
            values['links'] = links.get(memory_id, NO_LINKS)
        if again:
            _choose_occasions(connection, found, again, occasion, place)
    return {memory_id: Record(**values) for memory_id, values in found.items()}


def make_record(row: Sequence[Any]) -> Record:
    """Return the record of a row."""
    return Record(**_read_values(row))


def _read_values(row: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of the record of a row."""
    values = dict(zip(_FIELDS, row, strict=False))
    values['context'] = json.loads(values['context'])
    if values['pose'] is not None:
        values['pose'] = json.loads(values['pose'])
    values['tags'] = _read_words(values['tags'])
    values['scope_files'] = _read_words(values['scope_files'])
    for name in ('stands', 'stamp_is_local', 'time_uncertain'):
        values[name] = bool(values[name])
    values['writer'] = _make_writer(row[len(_FIELDS) :])
    return values


@cache_texts(1024)
def _read_words(text: str) -> tuple[str, ...]:
    """Return the texts of a JSON array: many memories have the same few."""
    return tuple(json.loads(text))


@lru_cache(maxsize=256)
def _make_writer(columns: tuple[Any, ...]) -> Writer | None:
    """Return the writer of some columns: many memories have the same."""
    return None if columns[0] is None else Writer(*columns)


def _choose_occasions(
    connection: apsw.Connection,
    found: dict[int, dict[str, Any]],
    again: Sequence[int],
    occasion: Occasion | None,
    place: str,
) -> None:
    """Give what was said again the context, session and speaker of the occasion that answers."""
    if occasion is not None:
        for memory_id, occurred in observations.choose(connection, again, occasion).items():
            found[memory_id].update(vars(occurred))
    if occasion is None or place:
        partition = place.partition('.')[0] or 'spatial'
        path = ''.join(f'."{step}"' for step in (place or partition).split('.'))
        for memory_id, context in observations.read_places(connection, again, f'${path}').items():
            values = found[memory_id]
            values['context'] = {**values['context'], partition: context[partition]}
