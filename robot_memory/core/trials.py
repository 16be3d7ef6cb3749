"""Trials of skills: what was reported of one, as its memory's text and context hold it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_memory.core.amounts import Amount, Value, read_values, write_values
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json, parse_finite
from robot_memory.core.records import is_simulated

TRIAL = 'trial'
"""The partition of a context that says what was tried; the kind of its event."""
CHANGE = 'change'
"""The kind of the event that tells of a change of the world."""
WORLDS = ('real', 'sim')
_LONGEST_TEXT = 2000
_SAID = {True: 'succeeded', False: 'failed', None: ''}


@dataclass(frozen=True)
class Trial:
    """
    Hold one try of a skill; figures are in SI units.

    `memory_ids` are memories that were used. `success` is None where it is not known. `body` is a
    digest of all that was given with a `key`; `surprise` is in standard deviations.
    """

    skill: str
    situation: str = ''
    numbers: Mapping[str, Value] = field(default_factory=dict)
    params: Mapping[str, Value] = field(default_factory=dict)
    results: Mapping[str, Value] = field(default_factory=dict)
    success: bool | None = None
    simulated: bool = False
    robot: str | None = None
    memory_ids: tuple[int, ...] = ()
    key: str | None = None
    body: str | None = None
    surprise: float | None = None
    change: int | None = None

    def describe(self) -> str:
        """Return it as the text of its memory."""
        figures = [
            f'{name} {value}'
            for values in (self.numbers, self.params, self.results)
            for name, value in values.items()
        ]
        said = ('simulated' if self.simulated else '', _SAID[self.success])
        parts = [self.situation, *figures, *said]
        return f'{self.skill}: {"; ".join(filter(None, parts))}'[:_LONGEST_TEXT].rstrip(': ')

    def write(self) -> dict[str, Any]:
        """Return the partition of its context."""
        found = {
            'skill': self.skill,
            'situation': self.situation,
            'numbers': write_values(self.numbers),
            'params': write_values(self.params),
            'results': write_values(self.results),
            'memory_ids': list(self.memory_ids),
            'key': self.key,
            'body': self.body,
            'surprise': self.surprise,
            'change': self.change,
        }
        return {name: value for name, value in found.items() if value not in (None, [], {}, '')}

    def list_figures(self) -> dict[str, Any]:
        """Return the figures of its event as the params of a context; results stand for params."""
        figures = {**self.params, **self.numbers, **self.results}
        return {
            name: {'value': one.shown, 'unit': one.unit}
            for name, one in figures.items()
            if isinstance(one, Amount)
        }


def digest_body(trial: Trial, more: Mapping[str, Any]) -> str:
    """Return a digest of what was given: equal figures in other units are the same."""
    values = {
        name: {key: one if isinstance(one, str) else one.value for key, one in group.items()}
        for name, group in (
            ('numbers', trial.numbers),
            ('params', trial.params),
            ('results', trial.results),
        )
    }
    body = {
        **values,
        **more,
        'skill': trial.skill,
        'situation': trial.situation,
        'success': trial.success,
        'memory_ids': list(trial.memory_ids),
    }
    text = json.dumps(body, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_trial(context: Mapping[str, Any]) -> Trial | None:
    """Return the trial that a context tells of; None where it tells of none."""
    recorded = context.get(TRIAL)
    if not isinstance(recorded, dict):
        return None
    skill, situation = recorded.get('skill'), recorded.get('situation', '')
    if not (isinstance(skill, str) and skill and isinstance(situation, str)):
        return None
    try:
        numbers, params, results = (
            read_values(name, _part(recorded, name), may_be_names=name != 'results')
            for name in ('numbers', 'params', 'results')
        )
    except InvalidArgument:
        return None
    success, simulated, robot = read_circumstances(context)
    used = recorded.get('memory_ids')
    return Trial(
        skill,
        situation,
        numbers,
        params,
        results,
        success,
        simulated,
        robot,
        tuple(one for one in used if _is_id(one)) if isinstance(used, list) else (),
        _text(recorded.get('key')),
        _text(recorded.get('body')),
        parse_finite(recorded.get('surprise')),
        recorded['change'] if _is_id(recorded.get('change')) else None,
    )


def read_circumstances(context: Mapping[str, Any]) -> tuple[bool | None, bool, str | None]:
    """Return what other memories have as well: success, whether it was simulated, the robot."""
    success, robot = _part(context, 'task').get('success'), _part(context, 'robot').get('id')
    return (
        success if isinstance(success, bool) else None,
        is_simulated(context) == 1,
        None if robot is None or isinstance(robot, (dict, list)) else str(robot),
    )


def write_figures(trial: Trial) -> str:
    """Return numbers, params and results as JSON in SI units: [figure, unit], or a name."""
    groups = (trial.numbers, trial.params, trial.results)
    return dump_json(
        [
            {
                name: one if isinstance(one, str) else [one.value, one.unit]
                for name, one in group.items()
            }
            for group in groups
        ]
    )


def read_figures(text: str) -> tuple[dict[str, Value], dict[str, Value], dict[str, Value]]:
    """Return what `write_figures` wrote."""
    numbers, params, results = (
        {name: one if isinstance(one, str) else Amount(*one) for name, one in group.items()}
        for group in json.loads(text)
    )
    return numbers, params, results


def _part(context: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = context.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63
