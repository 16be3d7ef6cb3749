"""Orders by a quantity: the hardest, the five longest, 最用力, whose torque was the smallest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.aggregates import find_aggregate
from robot_memory.text.questions.events import Mention, Span, locate_quantities
from robot_memory.text.questions.model import Order
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import expand, load_pattern, load_table

_NEAR = 30
"""Characters after 'last' or 'hardest' within which the event stands."""


@dataclass(frozen=True)
class FoundOrder:
    """Hold an order and where it was read; `weak` needs a window or a kind beside it."""

    order: Order
    spans: tuple[Span, ...]
    weak: bool = False


class Named(NamedTuple):
    """Hold what stands after 'last': whether it is an event, and one of many."""

    event: bool
    plural: bool


def find_named(folded: str, end: int, mentions: Sequence[Mention]) -> Named | None:
    """Return the event or the thing that is named within two words after a position."""
    between = load_pattern('orders', 'order', 'between')
    for mention in mentions:
        if mention.start >= end and not (mention.happening and not mention.plural):
            near = mention.start - end <= _NEAR
            if near and between.fullmatch(folded, end, mention.start):
                return Named(True, mention.plural and not mention.weak)
            break
    thing = load_pattern('orders', 'order', 'thing').match(folded, end)
    return Named(False, thing['thing'].endswith('s')) if thing else None


def read_rank(written: str) -> int:
    """Return the place that a rank names: 2 of second, 3 of 3rd."""
    ordinals: list[str] = load_table('orders')['order']['ordinals']
    return ordinals.index(written) + 1 if written in ordinals else int(written[:-2])


@cache
def _compile_superlatives(
    two: bool = False,
) -> tuple[tuple[dict[str, Any], re.Pattern[str], re.Pattern[str]], ...]:
    """Return the superlatives with their patterns; of two, comparatives too: the harder one."""
    table = load_table('orders')
    forms = [expand(table['superlatives'][name], table) for name in ('en', 'zh')]
    return tuple(
        (
            one,
            compile_pattern(
                forms[0].replace('{WORD}', '|'.join(_compare(one['en'], two)) or '(?!)')
            ),
            compile_pattern(
                forms[1].replace('{WORD}', '|'.join(_compare(one['zh'], two)) or '(?!)')
            ),
        )
        for one in table['superlative']
    )


def _compare(words: Sequence[str], two: bool) -> list[str]:
    """Return superlatives, and of two their comparatives: hardest and harder, 最重 and 更重."""
    more = [re.sub('^([a-z]+)est', r'\1er', word) for word in words if '(?:most' not in word]
    more += [word.replace('最', '[更较]', 1) for word in words if word.startswith('最')]
    return [*words, *(more if two else ())]


LASTING = ('task', 'session', 'trial', 'fault')
"""Kinds of which the fastest is the shortest."""


def find_superlative(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order by a quantity: the hardest, the five longest, 最用力."""
    kinds = {kind for mention in mentions for kind in mention.kinds}
    labels = {label for mention in mentions for label in mention.labels}
    if found := _find_spread(folded, mentions):
        return found
    if match := load_pattern('orders', 'extreme', 'en').search(folded):
        figure = {'average': 'mean'}.get(match['figure'] or '', match['figure'] or '')
        quantity, own = _name_quantity(match['quantity'])
        order = Order(quantity, bool(match['high']), 1, 0, figure or own)
        return FoundOrder(order, (match.span(),), True)
    if match := load_pattern('orders', 'extreme', 'zh').search(folded):
        quantity = next(iter(locate_quantities(match['quantity'] or match['named'])), 'share')
        order = Order(quantity, bool(match['high'] or match['higher']), 1)
        return FoundOrder(order, (match.span(),), True)
    two = load_pattern('orders', 'two', 'any').search(folded) is not None
    for one, english, chinese in _compile_superlatives(two):
        if 'of' in one and not kinds.intersection(one['of']):
            continue
        if 'labels' in one and not labels.intersection(one['labels']):
            continue
        match = english.search(folded) or chinese.search(folded)
        if not match:
            continue
        if match['word'] == 'nearest' and mentions and not fits(mentions, 'distance'):
            continue  # the nearest push before the stop
        named, groups = find_named(folded, match.end(), mentions), match.groupdict()
        count, rank = match['count'] or groups.get('after'), groups.get('rank')
        take = int(parse_number(count)) or 1 if count else None if named and named.plural else 1
        skip = max(0, read_rank(rank) - 1) if rank else 0
        if groups.get('next'):
            take, skip = 1, 1
        if load_pattern('orders', 'superlatives', 'second').search(folded) and not rank:
            take, skip = 1, 1
        if match['word'].startswith('how ') and find_aggregate(folded):
            continue  # how hard it was on average
        order = Order(one['by'], one['descending'], take, skip)
        lasting = kinds.issubset(LASTING) or kinds == {'fault', 'state'}
        if order.by == 'speed' and kinds and lasting:
            order = replace(order, by='duration', descending=not order.descending)
        if order.by == 'force' and any('screwing' in one.labels for one in mentions):
            order = replace(order, by='torque')
        order = replace(order, by=find_fitting(mentions, order.by))
        turned = load_pattern('orders', 'turned', 'any').search(folded)
        if turned and order.descending and take != 1:
            order = replace(order, turned=True)
        return FoundOrder(order, (match.span(),), named is None)
    return (
        _find_ranked(folded, kinds, mentions)
        or _find_other(folded)
        or _find_own(folded, mentions)
        or _find_listed(folded, mentions)
    )


def _find_spread(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order of all of them from one end to the other: 按时长从短到长."""
    match = load_pattern('orders', 'spread', 'en').search(folded)
    if match and match['first'] not in ('latest', 'earliest', 'newest', 'oldest'):
        start, end = match.span()
        if find_superlative(f'{folded[:start]}{" " * (end - start)}{folded[end:]}', mentions):
            return None
        found = find_superlative(match['first'], mentions)
        return found and FoundOrder(replace(found.order, take=None), (match.span(),))
    sort = load_pattern('orders', 'spread', 'sorted').search(folded)
    ends = load_pattern('orders', 'spread', 'zh').search(folded)
    if '最' in folded:  # the three heaviest boxes, the lightest first
        return None
    if not (sort or (ends and mentions)):
        return None
    if sort and sort['quantity'] in ('时间', '发生时间', '先后', '时间先后'):
        return None
    named = list(locate_quantities(sort['quantity'] or sort['by'] or '' if sort else folded))
    fitting = [one for one in named if fits(mentions, one)]
    quantity = next(iter(fitting), '') or ('' if sort else find_own_quantity(mentions))
    if not quantity:
        return None
    rising = bool(ends and ends['low']) or bool(sort and '升序' in sort[0])
    spans = tuple(one.span() for one in (sort, ends) if one)
    return FoundOrder(Order(quantity, not rising, None), spans)


def _find_listed(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order of all of them: show the collisions, worst first."""
    match = load_pattern('orders', 'listed', 'en').search(folded)
    if match is None:
        return None
    start, end = match.span('first')
    found = find_superlative(f'{folded[:start]}{" " * (end - start)}{folded[end:]}', mentions)
    return found and replace(found, order=replace(found.order, take=None, skip=0))


def find_measured(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """
    Return an order where the most stands apart from its quantity: whose mass was the smallest.

    Where no quantity is named, it is what the events are measured by.
    """
    match = load_pattern('orders', 'measured', 'en').search(folded) or load_pattern(
        'orders', 'measured', 'zh'
    ).search(folded)
    if match is None:
        return None
    located = locate_quantities(folded)
    fitting = [one for one in located if fits(mentions, one)] or list(located)
    near = min(fitting, key=lambda one: abs(located[one][0] - match.start()), default='')
    quantity = near or (find_own_quantity(mentions) if mentions else '')
    if not quantity:
        return None
    most = any(name.startswith('most') and found for name, found in match.groupdict().items())
    spans = (match.span(), *((located[quantity],) if quantity in located else ()))
    return FoundOrder(Order(quantity, most, 1), spans, True)


def fits(mentions: Sequence[Mention], quantity: str) -> bool:
    """Say whether any of some events is measured by a quantity, as far as the tables know."""
    known: dict[str, list[str]] = load_table('orders')['figures']
    names = [name for one in mentions for name in (*one.labels, *one.kinds)]
    matching = [known[name] for name in names if name in known]
    return not matching or any(quantity in one for one in matching)


_ALIKE = {'force': ('effort', 'torque'), 'torque': ('effort', 'force'), 'length': ('distance',)}


def find_fitting(mentions: Sequence[Mention], quantity: str) -> str:
    """Return what events are measured by in place of a quantity that they have not."""
    if not mentions or fits(mentions, quantity):
        return quantity
    alike = _ALIKE.get(quantity, ())
    return next((one for one in alike if fits(mentions, one)), quantity)


def _find_other(folded: str) -> FoundOrder | None:
    """
    Return an order by a quantity that is named: which had more effort, the deepest angle.

    The superlative is one of no table.
    """
    more = load_pattern('orders', 'listed', 'more').search(folded)
    if more and more['quantity']:
        quantity, figure = _name_quantity(more['quantity'])
        return FoundOrder(Order(quantity, bool(more['high']), 1, 0, figure), (more.span(),), True)
    if more:
        quantity = next(iter(locate_quantities(more['named'])), 'force')
        return FoundOrder(Order(quantity, bool(more['han']), 1), (more.span(),), True)
    match = load_pattern('orders', 'listed', 'other').search(folded)
    if match is None:
        return None
    quantity, figure = _name_quantity(match['quantity'])
    return FoundOrder(Order(quantity, True, 1, 0, figure), (match.span(),), True)


def _find_own(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order by what events are measured by: which box weighed the least."""
    match = load_pattern('orders', 'own_superlative', 'any').search(folded)
    own = find_own_quantity(mentions) if match else ''
    if not match or not own or find_aggregate(folded):
        return None
    return FoundOrder(Order(own, bool(match['most']), 1), (match.span(),), True)


def _name_quantity(written: str) -> tuple[str, str]:
    """Return the quantity that a word names, and its figure where it is one of several."""
    one = 'mass' if written.startswith('mass') else written.rstrip('s')
    known = {'weight': 'mass', 'degree': 'temperature', 'strength': 'force', 'length': 'duration'}
    known |= {
        'peak': 'force',
        'newton': 'force',
        'amp': 'current',
        'kilo': 'mass',
        'kilogram': 'mass',
    }
    known |= dict.fromkeys(('second', 'minute', 'hour'), 'duration') | {'gram': 'mass'}
    known |= dict.fromkeys(('meter', 'metre', 'travel', 'path', 'route', 'stroke'), 'distance')
    return (
        ('length', 'residual')
        if one in ('residual', 'error', 'accuracy')
        else (known.get(one, one), '')
    )


_PLACES = {'大': 'force', '强': 'force', '用力': 'force', '高': 'temperature', '重': 'mass'}
_PLACES |= {'长': 'duration', '久': 'duration', '快': 'speed', '远': 'distance'}


def _find_ranked(folded: str, kinds: set[str], mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order that is told by its quantity: the top five by force, 力前五名, 第二大."""
    if match := load_pattern('orders', 'ranked', 'place').search(folded):
        located = next(iter(locate_quantities(folded)), '')
        quantity = located or _PLACES[match['word']]
        quantity = 'force' if 'contact' in kinds and match['word'] == '重' else quantity
        order = Order(quantity, True, 1, max(0, int(parse_number(match['rank'])) - 1))
        return FoundOrder(order, (match.span(),), True)
    if match := load_pattern('orders', 'ranked', 'number').search(folded):
        named = [one for one in locate_quantities(folded) if fits(mentions, one)]
        quantity = next(iter(named), '') or find_own_quantity(mentions)
        if quantity:
            skip = max(0, int(parse_number(match['rank'] or match['rank2'])) - 1)
            return FoundOrder(Order(quantity, True, 1, skip), (match.span(),), True)
    top = load_pattern('orders', 'ranked', 'top').search(folded)
    by = load_pattern('orders', 'ranked', 'en').search(folded)
    if by:
        quantity, figure = _name_quantity(by['quantity'])
        descending = not load_pattern('orders', 'ranked', 'ascending').search(folded)
        take = int(parse_number(top['count'] or top['han'])) or None if top else None
        spans = (by.span(), top.span()) if top else (by.span(),)
        return FoundOrder(Order(quantity, descending, take, 0, figure), spans, True)
    if top and top['han']:
        located = next(iter(locate_quantities(folded)), 'force' if 'contact' in kinds else '')
        if located:
            order = Order(located, True, int(parse_number(top['han'])) or None)
            return FoundOrder(order, (top.span(),), True)
    return None


def find_own_quantity(mentions: Sequence[Mention]) -> str:
    """Return the quantity that events are measured by, where a question names none."""
    own: dict[str, str] = load_table('orders')['own']
    names = (name for one in mentions for name in (*one.labels, *one.kinds))
    return next((own[name] for name in names if name in own), '')
