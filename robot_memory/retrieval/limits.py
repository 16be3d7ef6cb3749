"""
Limits on the params of a skill, by the rules of a collection. See docs/skills.md.

A rule whose condition is known not to be met binds nothing; one of whose condition it is unknown
binds, and is told as one that only may apply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from robot_memory.core.amounts import Amount, Value, is_unit, make_amount
from robot_memory.core.fields import arg
from robot_memory.core.json_text import parse_finite
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.retrieval.rules import (
    JudgedRule,
    JudgedRules,
    Words,
    find_limiting,
    find_rules,
    find_rules_with_limits,
    format_reasons,
)
from robot_memory.retrieval.situation import MAX_AGE_S, find_situation
from robot_memory.text.caching import cache_texts
from robot_memory.text.rules.conditions import Condition, Judged, judge
from robot_memory.text.rules.limits import load_aliases, read_limits
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.scene import Scene, read_scene

_WORD = re.compile(r'[^\W\d_]+')
_CAMEL = re.compile(r'(?<=[a-z])(?=[A-Z])')
_THINGS = ('thing', 'word')
_SHOWN = 300
"""Characters of a rule that are told."""
_CONDITIONAL = ('kg', 'degC')
"""Units of amounts that may be a rule's condition, and may be its limit."""
_EITHER = {'deg': ('deg', 'degC')}
"""Units that are written alike."""


@dataclass(frozen=True)
class Source:
    """Name a rule that applies, or may where it is unknown; `why` names what decides it."""

    memory_id: int
    content: str
    applies: bool
    why: str


@dataclass(frozen=True)
class Bound:
    """Hold what a rule allows of a param, in SI units: from `low` to `high`, both included."""

    param: str
    low: float
    high: float
    unit: str
    rule: Source


@dataclass(frozen=True)
class Bounds:
    """Hold all that rules say of params, and the rules that only the caller can keep."""

    bounds: Sequence[Bound]
    unchecked: Sequence[Source]

    def of(self, param: str) -> tuple[float, float]:
        """Return the least and the greatest that a param may be."""
        own = [one for one in self.bounds if one.param == param]
        low = max((one.low for one in own), default=-math.inf)
        return low, min((one.high for one in own), default=math.inf)

    def allows(self, param: str, value: Value | float) -> bool:
        """Say whether a param may have a value."""
        if isinstance(value, str):
            return True
        low, high = self.of(param)
        return low <= (value.value if isinstance(value, Amount) else value) <= high


@dataclass(frozen=True)
class BoundView:
    """A limit that binds a param."""

    param: str = arg('Param that is bound.')
    min: float | None = arg('Least value, in unit.')
    max: float | None = arg('Greatest value, in unit.')
    unit: str = arg('Unit of the bounds.')
    memory_id: int = arg('Id of the rule.')
    content: str = arg('Text of the rule.')
    applies: bool = arg('False if it only may apply: it is unknown whether its condition is met.')
    why: str = arg('What decides that it applies or may apply, e.g. visitors near.')


@dataclass(frozen=True)
class UncheckedView:
    """A rule that no param can keep."""

    memory_id: int = arg('Id of the rule.')
    content: str = arg('Text of the rule.')
    applies: bool = arg('False if it only may apply: it is unknown whether its condition is met.')
    why: str = arg('What decides that it applies or may apply, e.g. visitors near.')


def find_bounds(
    memory: Memory, collection: str, task: str, params: Mapping[str, str | None]
) -> Bounds:
    """
    Return what the rules of a collection allow in a task.

    `params` are units by name, None of names from a set. Rules are judged by the task's words and
    by what recent memories tell of the situation.
    """
    structured = find_rules_with_limits(memory, collection)
    if structured is None:
        return Bounds((), ())
    known = find_situation(memory, collection, None, MAX_AGE_S).values
    rules = find_rules(memory, collection, task, known)
    scene = read_scene(task, known)
    bounds, unchecked = [], []
    by_fields = {record.id for record in structured}
    for record in structured:
        bounds += _read_structured(record, scene, params)
    limiting = find_limiting(memory, rules.rest_ids, scene)
    limiting = [one for one in limiting if _limits_amount(one.record.content)]
    for rule in (*_list_binding(rules), *limiting):
        if rule.record.id in by_fields:
            continue
        source = Source(rule.record.id, rule.record.content, rule.truth is True, rule.why)
        found, missed = _read_words(source, params)
        bounds += found
        if missed or (not found and _names_object(source)):
            unchecked.append(source)
    return Bounds(tuple(dict.fromkeys(bounds)), tuple(unchecked))


def _list_binding(rules: JudgedRules) -> Iterator[JudgedRule]:
    """Yield the rules of operators and planners that apply or may."""
    for rule in rules.relevant:
        if not (rule.is_quoted or rule.may_be_rule):
            yield rule


def _limits_amount(text: str) -> bool:
    """Say whether a weight or a heat is what a rule limits: else it is its condition."""
    said = [one.unit for one in read_limits(text) if not one.is_unclear]
    units = [unit for one in said for unit in _EITHER.get(one, (one,))]
    known = {Amount(0.0, unit).dimension for unit in units if is_unit(unit)}
    return not known.isdisjoint(Amount(0.0, unit).dimension for unit in _CONDITIONAL)


def _names_object(rule: Source) -> bool:
    """Say whether a rule is about a thing that is handled, as far as is known."""
    kinds = set(_list_atoms(read_rule(rule.content)))
    return bool(kinds.intersection(_THINGS if rule.applies else ('thing',)))


def _list_atoms(condition: Condition) -> Iterator[str]:
    for name in ('all', 'any'):
        for inner in condition.get(name, ()):
            yield from _list_atoms(inner)
    if 'first' in condition:
        yield from _list_atoms(condition['first'])
    elif condition.keys().isdisjoint(('not', 'unsure')):
        yield from condition


def _read_words(rule: Source, params: Mapping[str, str | None]) -> tuple[list[Bound], bool]:
    """Return what a rule's text bounds, and whether an amount of it bounds no param."""
    bounds: list[Bound] = []
    is_about = bool(set(_list_atoms(read_rule(rule.content))).intersection(_THINGS))
    missed = False
    for limit in read_limits(rule.content):
        found = []
        for unit in _EITHER.get(limit.unit, (limit.unit,)):
            ends = _convert_ends(limit.low, limit.high, unit)
            if ends is not None and not limit.is_unclear:
                chosen = choose_params(params, unit, limit.words, rule.content)
                if limit.counted:
                    # A count has no unit that tells what it is of: only a name does.
                    chosen = [one for one in chosen if _count_said(one, limit.words.lower())]
                found += [_make_bound(param, ends, rule, params) for param in chosen]
        fits = not limit.counted and bool(choose_params(params, limit.unit, limit.words, ''))
        missed |= (not found and is_about) or (limit.is_unclear and fits)
        bounds += found
    return bounds, missed


def _make_bound(
    param: str, ends: tuple[float, float], rule: Source, params: Mapping[str, str | None]
) -> Bound:
    return Bound(param, *ends, params[param] or '', rule)


def _convert_ends(low: float | None, high: float | None, unit: str) -> tuple[float, float] | None:
    """Return bounds in SI units, None for a unit that is not known."""
    if not is_unit(unit):
        return None
    return (
        -math.inf if low is None else make_amount(low, unit).value,
        math.inf if high is None else make_amount(high, unit).value,
    )


def choose_params(params: Mapping[str, str | None], unit: str, words: str, text: str) -> list[str]:
    """
    Return the params that a limit in a unit is about.

    Those of which its words have most of the name, in its own or in other words; else the whole
    text; where it has nothing of any, all that have a unit of the same quantity.
    """
    if not is_unit(unit):
        return []
    dimension = Amount(0.0, unit).dimension
    fitting = [
        name
        for name, own in params.items()
        if own is not None and Amount(0.0, own).dimension == dimension
    ]
    for said in (words, text):
        scores = {name: _count_said(name, said.lower()) for name in fitting}
        if best := max(scores.values(), default=0):
            return [name for name, count in scores.items() if count == best]
    return fitting


def _count_said(name: str, text: str) -> int:
    """Return how many words of a param's name a text has, in its own or in other words."""
    return sum(any(_has(text, said) for said in _list_said(word)) for word in _split_name(name))


def _has(text: str, said: str) -> bool:
    if said.isascii():
        return re.search(rf'(?<![a-z]){re.escape(said)}(?![a-z])', text) is not None
    return said in text


@cache_texts(1024)
def _split_name(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_CAMEL.sub(' ', name))) or (name.lower(),)


@cache_texts(1024)
def _list_said(word: str) -> frozenset[str]:
    """Return a word of a param's name and other words for it."""
    same = [said for name, said in load_aliases().items() if word == name or word in said]
    return frozenset(
        {word, *(one for said in same for one in said if len(one) > 1 or not one.isascii())}
    )


def _read_structured(
    record: Record, scene: Scene, params: Mapping[str, str | None]
) -> list[Bound]:
    """Return what `context.limits` of a rule bounds."""
    bounds: list[Bound] = []
    for one in record.context.get('limits') or ():
        if not isinstance(one, dict):
            continue
        when, unit = one.get('when'), one.get('unit') or ''
        judged = _judge_when(when if isinstance(when, str) else '', scene)
        if judged.truth is False:
            continue
        rule = Source(record.id, record.content, judged.truth is True, format_reasons(judged))
        ends = _convert_ends(parse_finite(one.get('min')), parse_finite(one.get('max')), unit)
        if ends is None:
            continue
        name = str(one.get('param', ''))
        own = params.get(name)
        fits = own is not None and Amount(0.0, own).dimension == Amount(0.0, unit).dimension
        chosen = [name] if fits else _choose_meant(params, unit, name)
        bounds += [_make_bound(param, ends, rule, params) for param in chosen]
    return bounds


def _choose_meant(params: Mapping[str, str | None], unit: str, name: str) -> list[str]:
    """Return the params that a name means which is none of theirs."""
    said = ' '.join(_split_name(name))
    return [param for param in choose_params(params, unit, said, '') if _count_said(param, said)]


def _judge_when(when: str, scene: Scene) -> Judged:
    """Say whether the `when` of a limit is met: without one it always is."""
    said = f'when {when}, stop' if when.isascii() else f'{when}时，停止'
    return judge(read_rule(said) if when else {}, scene, Words(scene))


def view_bounds(bounds: Bounds) -> tuple[BoundView, ...]:
    """Return the views of what binds."""
    return tuple(
        BoundView(
            one.param,
            None if math.isinf(one.low) else _show(one.low, one.unit),
            None if math.isinf(one.high) else _show(one.high, one.unit),
            one.unit,
            one.rule.memory_id,
            one.rule.content[:_SHOWN],
            one.rule.applies,
            one.rule.why,
        )
        for one in bounds.bounds
    )


def _show(value: float, unit: str) -> float:
    return float(f'{Amount(value, unit).shown:.9g}')


def view_unchecked(bounds: Bounds) -> tuple[UncheckedView, ...]:
    """Return the views of what nobody but the caller can keep."""
    return tuple(
        UncheckedView(one.memory_id, one.content[:_SHOWN], one.applies, one.why)
        for one in bounds.unchecked
    )
