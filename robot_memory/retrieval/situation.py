"""What is known of a robot's situation: who is near, which tool, where; what is old is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.memory import Memory
from robot_memory.storage.indexes.filters import active_in, compile_filter
from robot_memory.storage.tables import memories

_TEXTS = ('tool', 'place', 'time')
_TOLD = {
    'people_near': (('env', 'people_near'),),
    'tool': (('robot', 'tool'), ('robot', 'end_effector')),
    'place': (('spatial', 'place'), ('spatial', 'room')),
}
"""Where the context of a memory says it."""
_LATEST = 50


def find_situation(
    memory: Memory, collection: str, given: Mapping[str, Any] | None, max_age_s: float
) -> dict[str, Any]:
    """
    Return what is known of the situation: what was given, else what recent memories say.

    What is older than `max_age_s` seconds is unknown. Raise InvalidArgument for what is given in
    another form.
    """
    known = _parse(given or {}, max_age_s)
    for name, value in _read_recent(memory, collection, max_age_s).items():
        known.setdefault(name, value)
    return known


def _parse(given: Mapping[str, Any], max_age_s: float) -> dict[str, Any]:
    people = given.get('people_near')
    if isinstance(people, str):
        people = [people]
    if people is not None and not _are_names(people):
        raise InvalidArgument(
            'situation.people_near must be a list of names, [] where nobody is near, not '
            f'{format_value(people)}'
        )
    for name in _TEXTS:
        value = given.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidArgument(f'situation.{name} must be a text, not {format_value(value)}')
    age = parse_finite(given.get('age_s', 0))
    if age is None or age < 0:
        raise InvalidArgument(
            'situation.age_s must be a number of seconds, 0 or more, not '
            f'{format_value(given["age_s"])}'
        )
    if age > max_age_s:
        return {}
    known = {name: given[name] for name in _TEXTS if given.get(name)}
    return known if people is None else {**known, 'people_near': people}


def _are_names(people: Any) -> bool:
    return isinstance(people, list) and all(isinstance(name, str) and name for name in people)


def _read_recent(memory: Memory, collection: str, max_age_s: float) -> dict[str, Any]:
    """Return what the contexts of the newest memories say, the newest first; no turn says it."""
    since = format_instant(max(0, memory.clock() - round(max_age_s * 1e6)))
    where = active_in(collection) & compile_filter('situation', {'created_at': {'$gte': since}})
    known: dict[str, Any] = {}
    with memory.db.read() as connection:
        for record in memories.list_newest(connection, where, _LATEST):
            if record.type == 'turn':
                continue
            for name, paths in _TOLD.items():
                for part, key in paths:
                    inner = record.context.get(part)
                    value = inner.get(key) if isinstance(inner, dict) else None
                    fits = _are_names(value) if name == 'people_near' else isinstance(value, str)
                    if fits and value != '':
                        known.setdefault(name, value)
    return known
