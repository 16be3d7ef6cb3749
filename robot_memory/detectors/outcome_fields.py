"""Which fields of an action's messages tell the situation, params and results of a trial."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.amounts import Value, is_unit, read_value
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.json_text import format_value

SOURCES = ('goal', 'result', 'feedback', 'topic')
"""The messages that fields are of: goal, result, the latest feedback, one of result_topic."""
_FIELD = re.compile(rf'({"|".join(SOURCES)})((?:\.[A-Za-z0-9_]+)+)')
_SPEC = re.compile(rf'([^:]+):\s*({_FIELD.pattern})(?:\s+(\S.*))?')
_BRACES = re.compile(r'\{([^{}]*)\}')
_EXAMPLE = '"speed: goal.speed m/s"'


class Missing(Exception):
    """Say that a value is not to be had; its text is the source whose message did not come."""


@dataclass(frozen=True)
class OutcomeSettings:
    """Settings of what is recorded of an action's goals."""

    skill: str = arg(
        'Skill that the action is; empty: the last part of its name.', default='', max_length=64
    )
    situation: str = arg(
        'Situation in words; fields in braces: {goal.object} on the {goal.surface}.',
        default='',
        max_length=1000,
    )
    numbers: tuple[str, ...] = arg(
        'What was found: NAME: SOURCE.FIELD UNIT, e.g. "distance: goal.distance m". Sources are '
        'goal, feedback, result and topic; a name may be given several times: the first that is '
        'there counts.',
        default=(),
    )
    params: tuple[str, ...] = arg(f'What was chosen, e.g. {_EXAMPLE}.', default=())
    results: tuple[str, ...] = arg(
        'What was measured, e.g. "slide: result.slide m" or "slide: topic.data m".', default=()
    )
    result_topic: str = arg('Topic on which results are published; empty: none.', default='')
    result_type: str = arg('Message type of the result topic.', default='')
    wait_s: float = arg(
        'Time after its end in which results of a goal are waited for, in s.',
        default=2.0,
        minimum=0.0,
        maximum=3600.0,
    )
    robot: str = arg('Robot of the trials; empty: that of the session.', default='')
    world: str = arg(
        'World of the trials; empty: that of the session, else real.',
        default='',
        choices=('', 'real', 'sim'),
    )
    definitions: str = arg(
        'Folder with definitions that no installed package has: PACKAGE/action/NAME.action, '
        'PACKAGE/msg/NAME.msg.',
        default='',
    )


@dataclass(frozen=True)
class FieldPath:
    """Name a field of one of an action's messages."""

    source: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as it is written."""
        return '.'.join((self.source, *self.path))

    def read(self, messages: Mapping[str, Any]) -> Any:
        """Return its value as plain Python; raise Missing where its message did not come."""
        found = messages.get(self.source)
        if found is None:
            raise Missing(self.source)
        for step in self.path:
            try:
                found = found[int(step)] if step.isdecimal() else getattr(found, step)
            except IndexError:
                raise Missing(self.source) from None
        return found.item() if hasattr(found, 'item') else found


@dataclass(frozen=True)
class ValueField:
    """Name a value of a trial, and the fields that have it, the preferred one first."""

    name: str
    choices: tuple[tuple[FieldPath, str], ...]

    def read(self, messages: Mapping[str, Any], *, may_be_name: bool) -> Value:
        """Return it; raise Missing where no message that has it came, or InvalidArgument."""
        for field, unit in self.choices:
            try:
                found = field.read(messages)
            except Missing:
                continue
            given = found if isinstance(found, (str, bool)) else {'value': found, 'unit': unit}
            return read_value(self.name, given, may_be_name=may_be_name)
        raise Missing(self.choices[0][0].source)


class OutcomeFields:
    """Hold what is read of the messages of a goal, as the settings say it."""

    def __init__(self, settings: OutcomeSettings) -> None:
        """Read the settings; raise InvalidArgument for what they say wrong."""
        self._situation = settings.situation
        self.situation = tuple(_list_braces(settings.situation))
        self.numbers = _read_values('numbers', settings.numbers)
        self.params = _read_values('params', settings.params)
        self.results = _read_values('results', settings.results)
        twice = {one.name for one in self.numbers} & {one.name for one in self.params}
        if twice:
            raise InvalidArgument(
                f'{", ".join(sorted(twice))} is in numbers and in params: numbers are '
                'found there, params are chosen'
            )
        if 'topic' in self.sources and not (settings.result_topic and settings.result_type):
            raise InvalidArgument('fields of topic need result_topic and result_type')

    def list_paths(self) -> Iterator[FieldPath]:
        """Yield every field that is read."""
        yield from self.situation
        for value in (*self.numbers, *self.params, *self.results):
            yield from (field for field, _ in value.choices)

    @property
    def sources(self) -> set[str]:
        """Return the messages that are needed, alternatives included."""
        return {field.source for field in self.list_paths()}

    @property
    def preferred(self) -> set[str]:
        """Return the messages with which nothing better can come."""
        values = (*self.numbers, *self.params, *self.results)
        first = {value.choices[0][0].source for value in values}
        return first | {field.source for field in self.situation}

    @property
    def required(self) -> set[str]:
        """Return the messages that stand for something no other one has."""
        found = {field.source for field in self.situation}
        for value in (*self.numbers, *self.params, *self.results):
            sources = {field.source for field, _ in value.choices}
            found |= sources if len(sources) == 1 else set()
        return found

    def read_situation(self, messages: Mapping[str, Any]) -> str:
        """Return the situation in words; raise Missing where a message did not come."""
        texts = iter([_format(field.read(messages)) for field in self.situation])
        filled = _BRACES.sub(lambda _: next(texts), self._situation)
        return ' '.join(filled.split())


def _list_braces(text: str) -> Iterator[FieldPath]:
    for inside in _BRACES.findall(text):
        found = _FIELD.fullmatch(inside.strip())
        if found is None:
            raise InvalidArgument(
                f'situation has {{{inside}}}; accepted in braces: a field such as goal.object, '
                f'of {", ".join(SOURCES)}'
            )
        yield _make_path(found[1], found[2])


def _make_path(source: str, path: str) -> FieldPath:
    return FieldPath(source, tuple(path.removeprefix('.').split('.')))


def _read_values(setting: str, given: Iterable[str]) -> tuple[ValueField, ...]:
    choices: dict[str, list[tuple[FieldPath, str]]] = {}
    for text in filter(None, given):
        found = _SPEC.fullmatch(text.strip())
        if found is None:
            raise InvalidArgument(
                f'{setting} has {format_value(text)}; accepted: NAME: SOURCE.FIELD UNIT, e.g. '
                f'{_EXAMPLE}, with a source of {", ".join(SOURCES)}'
            )
        unit = (found[5] or '').strip()
        if not is_unit(unit):
            raise InvalidArgument(
                f'{setting}: {format_value(text)} has the unknown unit {format_value(unit)}; '
                'known are SI units with prefixes and their products (N, mm, m/s, rad/s, N m)'
            )
        field = _make_path(found[3], found[4])
        choices.setdefault(found[1].strip(), []).append((field, unit))
    return tuple(ValueField(name, tuple(found)) for name, found in choices.items())


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'{value:g}' if isinstance(value, float) else str(value)
