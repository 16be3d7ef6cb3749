"""What is known of a robot's situation: who is near, which tool, where; what is old is unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.units import convert, parse_quantity
from robot_memory.memory import Memory
from robot_memory.retrieval.recent_situation import RecentValue, are_names, read_recent
from robot_memory.text.quoting import quote
from robot_memory.text.rules.quantities import parse_clock

MAX_AGE_S = 60.0
"""Age at which what memories tell of the situation is unknown, unless a caller says another."""
_TEXTS = ('tool', 'place', 'time')
_KEYS = ('people_near', *_TEXTS, 'age_s')
_NOBODY = ('', 'nobody', 'no one', 'noone', 'none', 'no', '无', '无人', '没人', '没有人')
_COMMA = re.compile(r'\s*[,，、;；]\s*')
_SHOWN = 60
"""Characters of a value in the text."""


@dataclass(frozen=True)
class KnownView:
    """One value of the situation, and where it came from."""

    name: str = arg('people_near, tool, place or time.')
    value: str = arg('Names are separated by commas; nobody: no one is near.')
    source: str = arg('given: in the request; memory: told by a memory.')
    memory_id: int | None = arg('Id of the memory.', default=None, omitted=True)
    age_s: float = arg('Age in seconds.', default=0.0)


@dataclass(frozen=True)
class Situation:
    """Hold the values that are known and where each came from, and what was not read."""

    values: Mapping[str, Any]
    views: Sequence[KnownView]
    unread: str = ''

    def describe(self) -> str:
        """Return what memories told, and what was not read, as lines of a context, if any."""
        parts = [
            f'{view.name.replace("_", " ")} {quote(view.value, _SHOWN)} '
            f'({_name_source(view)}{view.age_s:.0f} s ago)'
            for view in self.views
            if view.source == 'memory'
        ]
        said = f'\nSituation: {", ".join(parts)}.' if parts else ''
        return f'{said}\n{self.unread}' if self.unread else said


def _name_source(view: KnownView) -> str:
    return f'mem_{view.memory_id}, ' if view.memory_id else ''


def find_situation(
    memory: Memory, collection: str, given: Mapping[str, Any] | None, max_age_s: float
) -> Situation:
    """
    Return what is known of the situation: what was given, else what recent memories tell.

    What is older than `max_age_s` seconds is unknown. Raise InvalidArgument for what is given in
    another form.
    """
    known, age_s = _parse(given or {}, max_age_s)
    views = [KnownView(name, _show(value), 'given', None, age_s) for name, value in known.items()]
    now = memory.clock()
    for name, recent in read_recent(memory, collection, max_age_s).items():
        if name not in known:
            known[name] = recent.value
            views.append(_view(recent, now))
    return Situation(known, views, _list_unread(given or {}))


def _view(recent: RecentValue, now: int) -> KnownView:
    age_s = round(max(0, now - recent.at) / 1e6, 1)
    return KnownView(recent.name, _show(recent.value), 'memory', recent.memory_id or None, age_s)


def _show(value: Any) -> str:
    return value if isinstance(value, str) else ', '.join(value) or 'nobody'


def _parse(given: Mapping[str, Any], max_age_s: float) -> tuple[dict[str, Any], float]:
    """Return what was given and is not too old, and its age."""
    people = given.get('people_near')
    if isinstance(people, str):
        stripped = people.strip()
        people = [] if stripped.casefold() in _NOBODY else _COMMA.split(stripped)
    if isinstance(people, list) and len(people) == 1 and isinstance(people[0], str):
        people = [] if people[0].strip().casefold() in _NOBODY else people
    if people is not None and not are_names(people):
        raise InvalidArgument(
            'situation.people_near must be a list of names, [] where nobody is near, not '
            f'{format_value(people)}'
        )
    for name in _TEXTS:
        value = given.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidArgument(f'situation.{name} must be a text, not {format_value(value)}')
    age = _read_seconds(given.get('age_s', 0))
    if age is None or age < 0:
        raise InvalidArgument(
            'situation.age_s must be a number of seconds, 0 or more, not '
            f'{format_value(given["age_s"])}'
        )
    if age > max_age_s:
        return {}, age
    known = {name: given[name] for name in _TEXTS if given.get(name)}
    if 'time' in known and parse_clock(known['time']) is None:
        del known['time']
    return (known if people is None else {**known, 'people_near': people}), age


def _read_seconds(value: Any) -> float | None:
    """Return a number of seconds, also as a text with or without its unit."""
    quantity = parse_quantity(value.strip()) if isinstance(value, str) else None
    if quantity is None:
        return parse_finite(value)
    number, unit = quantity
    return convert(number, unit or 's', 's')


def _list_unread(given: Mapping[str, Any]) -> str:
    """Return what of a situation tells nothing, for no rule is judged by it."""
    unread = [quote(str(name), _SHOWN) for name in given if name not in _KEYS]
    time = given.get('time')
    if isinstance(time, str) and time and parse_clock(time) is None:
        unread.append(f'time {quote(time, _SHOWN)} (HH:MM, 9 pm or ISO 8601)')
    accepted = ', '.join(_KEYS)
    return (
        f'Not read of situation: {", ".join(unread[:4])}; accepted: {accepted}.' if unread else ''
    )
