"""How many, how long in total, on average, what share, and by what it is grouped."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.events import Span, locate_quantities
from robot_memory.text.questions.model import Aggregate, Function
from robot_memory.text.questions.tables import load_pattern, load_table


class FoundAggregate(NamedTuple):
    """Hold an aggregate and where it was read; `group` is where it is said by what."""

    aggregate: Aggregate
    spans: tuple[Span, ...]
    group: tuple[Span, ...]


@cache
def _compile_aggregates() -> tuple[tuple[Function, re.Pattern[str]], ...]:
    return tuple(
        (
            one['function'],
            compile_pattern(rf'\b(?:{"|".join(one["en"])})(?!\w)|{"|".join(one["zh"])}'),
        )
        for one in load_table('orders')['aggregate']
    )


def _find_group(folded: str) -> tuple[str, list[Span]]:
    for name in load_table('orders')['group']:
        if match := load_pattern('orders', 'group', name).search(folded):
            return name, [match.span()]
    return '', []


def find_aggregate(folded: str, own: str = '') -> FoundAggregate | None:
    """
    Return a count, a mean, a sum, a share or a rate, and by what it is grouped.

    Where no quantity is named, a mean is of the events' `own`.
    """
    for name in load_table('orders')['distinct']:
        if match := load_pattern('orders', 'distinct', name).search(folded):
            span = match.span()
            return FoundAggregate(Aggregate('distinct', '', name), (span,), (span,))
    found: dict[Function, Span] = {}
    for function, pattern in _compile_aggregates():
        if match := pattern.search(folded):
            found[function] = match.span()
    few = load_pattern('orders', 'unit', 'few').search(folded)
    if few and load_pattern('orders', 'unit', 'asked').search(folded):
        found.pop('count', None)  # how long all of them lasted: 十月的几次停机合起来停了多少秒
    if 'sum' in found and load_pattern('orders', 'unit', 'cost').search(folded):
        found.pop('count', None)  # add up what the stops have cost us
    group, by = _find_group(folded)
    located = locate_quantities(folded)
    length = load_pattern('orders', 'length', 'en').search(folded)
    located.pop('duration', None)
    if length:
        located['duration'] = length.span()
    spans = [*by, *found.values()]
    if 'share' in found:
        return FoundAggregate(Aggregate('share', '', group), tuple(spans), tuple(by))
    if 'count' in found:
        counted: Function = 'rate' if 'mean' in found and group else 'count'
        return FoundAggregate(Aggregate(counted, '', group), tuple(spans), tuple(by))
    if 'sum' in found and not located:
        return FoundAggregate(Aggregate('count', '', group), tuple(spans), tuple(by))
    function_: Function | None = next(
        (name for name in ('median', 'std', 'mean', 'sum') if name in found), None
    )
    if function_ is None:
        return (
            FoundAggregate(Aggregate('count', '', group), tuple(spans), tuple(by))
            if group
            else None
        )
    unit = load_pattern('orders', 'unit', 'asked').search(folded)
    asked = locate_quantities(unit[0]) if unit else {}
    quantity = next((one for one in asked if one in located), next(iter(located), ''))
    if function_ == 'sum' and 'duration' in located and not asked:
        quantity = 'duration'
    if not quantity and own:
        return FoundAggregate(Aggregate(function_, own, group), tuple(spans), tuple(by))
    if not quantity:
        return None
    spans.append(located[quantity])
    return FoundAggregate(Aggregate(function_, quantity, group), tuple(spans), tuple(by))
