"""Order, how many, and figures over all of them, as questions ask for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.questions.events import Mention, Span, is_han, locate_quantities
from robot_memory.text.questions.model import PEAKED, Aggregate, Function, Order
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


class FoundAggregate(NamedTuple):
    """Hold an aggregate and where it was read; `group` is where it is said by what."""

    aggregate: Aggregate
    spans: tuple[Span, ...]
    group: tuple[Span, ...]


class _Named(NamedTuple):
    """Hold what stands after 'last': whether it is an event, and one of many."""

    event: bool
    plural: bool


def _find_named(folded: str, end: int, mentions: Sequence[Mention]) -> _Named | None:
    """Return the event or the thing that is named within two words after a position."""
    between = load_pattern('orders', 'order', 'between')
    for mention in mentions:
        if mention.start >= end and not (mention.happening and not mention.plural):
            near = mention.start - end <= _NEAR
            if near and between.fullmatch(folded, end, mention.start):
                return _Named(True, mention.plural and not mention.weak)
            break
    thing = load_pattern('orders', 'order', 'thing').match(folded, end)
    return _Named(False, thing['thing'].endswith('s')) if thing else None


def _read_rank(written: str) -> int:
    ordinals: list[str] = load_table('orders')['order']['ordinals']
    return ordinals.index(written) + 1 if written in ordinals else int(written[:-2])


def find_time_order(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order by time: the last, the first three, the second last, 上次."""
    if match := load_pattern('orders', 'order', 'before_latest').search(folded):
        places = int(parse_number(match['places'] or match['butone'] or 'one'))
        if match['first']:
            return FoundOrder(Order('time', False, 1, 1), (match.span(),))
        skip = 2 if match['ante'] else places
        return FoundOrder(Order('time', True, 1, skip), (match.span(),))
    if found := _find_counted_back(folded):
        return found
    if match := load_pattern('orders', 'order', 'sorted').search(folded):
        top = load_pattern('orders', 'ranked', 'top').search(folded)
        take = int(parse_number(top['count'])) or None if top and top['count'] else None
        hidden = folded[: match.start()] + '\x00' * len(match[0]) + folded[match.end() :]
        counted = None if take else _find_before_event(hidden, mentions)
        counted = counted or (_find_chinese(hidden) if not take and is_han(folded) else None)
        names = ('newest', 'descending', 'backwards', 'han_backwards')
        newest = any(match[name] for name in names)
        if counted and (counted.order.take or 1) > 1 and counted.order.descending != newest:
            order = replace(counted.order, turned=True)
            return FoundOrder(order, (match.span(), *counted.spans))
        spans = (match.span(), *(counted.spans if counted else ()))
        spans += (top.span(),) if top and take else ()
        take = counted.order.take if counted else take
        return FoundOrder(Order('time', newest, take), spans)
    return (
        (_find_chinese(folded) if is_han(folded) else None)
        or _find_before_event(folded, mentions)
        or _find_adverb(folded)
    )


def _find_counted_back(folded: str) -> FoundOrder | None:
    """Return an order that is counted from the end: the third counting back, 倒着数第三次."""
    back = load_pattern('orders', 'order', 'back').search(folded)
    rank = load_pattern('orders', 'order', 'any_rank').search(folded) if back else None
    if not back or not rank:
        return None
    place = _read_rank(rank['rank']) if rank['rank'] else int(parse_number(rank['han']))
    return FoundOrder(Order('time', True, 1, max(0, place - 1)), (rank.span(), back.span()))


def _find_before_event(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order that stands before what is ordered: the last three contacts."""
    certain = load_pattern('orders', 'order', 'certain')
    for match in load_pattern('orders', 'order', 'head').finditer(folded):
        named = _find_named(folded, match.end(), mentions)
        if named is None and not (
            certain.fullmatch(match['word'])
            and re.match(r'\s+[a-z]', folded[match.end() : match.end() + 4])
            and not load_pattern('orders', 'order', 'no_thing').match(folded, match.end())
            and not load_pattern('orders', 'order', 'own').search(
                folded, max(0, match.start() - 8), match.start()
            )
        ):
            continue
        newest = load_pattern('orders', 'fragments', 'newest').fullmatch(match['word'])
        count, rank = match['count'] or match['top'], match['rank']
        take = None if named and named.plural and not rank else 1
        take = int(parse_number(count)) if count else take
        if take != 0:
            skip = _read_rank(rank) - 1 if rank else 0
            return FoundOrder(
                Order('time', newest is not None, take, max(skip, 0)), (match.span(),)
            )
    for match in load_pattern('orders', 'order', 'nth').finditer(folded):
        named = _find_named(folded, match.end() - 1, mentions)
        rank_ = _read_rank(match['rank'])
        if named and named.event and rank_:
            return FoundOrder(Order('time', False, 1, rank_ - 1), (match.span(),), True)
    return None


def _find_adverb(folded: str) -> FoundOrder | None:
    """Return an order that stands beside a verb: when was it last touched, which came first."""
    if match := load_pattern('orders', 'order', 'came_first').search(folded):
        name = next(one for one in ('end', 'word', 'whole') if match[one])
        newest = load_pattern('orders', 'fragments', 'newest').fullmatch(match[name])
        return FoundOrder(Order('time', newest is not None, 1), (match.span(name),), True)
    if match := load_pattern('orders', 'order', 'when_last').search(folded):
        name = next(name for name, found in match.groupdict().items() if found)
        return FoundOrder(Order('time', name.startswith('newest'), 1), (match.span(name),))
    if match := load_pattern('orders', 'order', 'ranked_verb').search(folded):
        skip = _read_rank(match['rank']) - 1
        return FoundOrder(Order('time', False, 1, skip), (match.span('rank'),), True)
    pair = re.search('two|both|pair|[两二]', folded)
    if pair and (match := load_pattern('orders', 'order', 'later').search(folded)):
        last = bool(match['newest'] or match['han_newest'])
        return FoundOrder(Order('time', last, 1), (match.span(),), True)
    if match := load_pattern('orders', 'order', 'of_all').search(folded):
        return FoundOrder(Order('time', bool(match['newest']), 1), (match.span(),), True)
    if match := load_pattern('orders', 'order', 'recently').search(folded):
        return FoundOrder(Order('time', True), (match.span(),), True)
    return None


def _find_chinese(folded: str) -> FoundOrder | None:
    match = load_pattern('orders', 'order', 'han').search(folded)
    if not match:
        return None
    span, weak = (match.span(),), load_pattern('orders', 'order', 'ours').search(folded) is None
    if match['from_end']:
        skip = max(0, int(parse_number(match['end'])) - 1)
        return FoundOrder(Order('time', True, 1, skip), span, weak)
    if match['counted_old']:
        return FoundOrder(Order('time', False, int(parse_number(match['old']))), span, True)
    if match['second']:
        return FoundOrder(Order('time', True, 1, 1), span, weak)
    if match['counted']:
        return FoundOrder(Order('time', True, int(parse_number(match['number'])) or 1), span, weak)
    if match['newest']:
        take = None if match['newest'] == '最近' else 1
        return FoundOrder(Order('time', True, take), span, weak)
    if match['oldest']:
        return FoundOrder(Order('time', False, 1), span, weak)
    rank = int(parse_number(match['rank'] or match['place']))
    return FoundOrder(Order('time', False, 1, max(0, rank - 1)), span, True)


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
            re.compile(forms[0].replace('{WORD}', '|'.join(_compare(one['en'], two)) or '(?!)')),
            re.compile(forms[1].replace('{WORD}', '|'.join(_compare(one['zh'], two)) or '(?!)')),
        )
        for one in table['superlative']
    )


def _compare(words: Sequence[str], two: bool) -> list[str]:
    """Return superlatives, and of two their comparatives: hardest and harder, 最重 and 更重."""
    more = [re.sub('^([a-z]+)est', r'\1er', word) for word in words if '(?:most' not in word]
    more += [word.replace('最', '[更较]', 1) for word in words if word.startswith('最')]
    return [*words, *(more if two else ())]


_LASTING = ('task', 'session', 'trial')
"""Kinds of which the fastest is the shortest."""


def find_superlative(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order by a quantity: the hardest, the five longest, 最用力."""
    kinds = {kind for mention in mentions for kind in mention.kinds}
    labels = {label for mention in mentions for label in mention.labels}
    if match := load_pattern('orders', 'extreme', 'en').search(folded):
        figure = {'average': 'mean'}.get(match['figure'] or '', match['figure'] or '')
        quantity, own = _name_quantity(match['quantity'])
        order = Order(quantity, bool(match['high']), 1, 0, figure or own)
        return FoundOrder(order, (match.span(),), True)
    if match := load_pattern('orders', 'extreme', 'zh').search(folded):
        quantity = next(iter(locate_quantities(match['quantity'] or match['named'])))
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
        named, groups = _find_named(folded, match.end(), mentions), match.groupdict()
        count, rank = match['count'] or groups.get('after'), groups.get('rank')
        take = int(parse_number(count)) or 1 if count else None if named and named.plural else 1
        skip = max(0, _read_rank(rank) - 1) if rank else 0
        if groups.get('next'):
            take, skip = 1, 1
        order = Order(one['by'], one['descending'], take, skip)
        if order.by == 'speed' and kinds and kinds.issubset(_LASTING):
            order = replace(order, by='duration', descending=not order.descending)
        if order.by == 'force' and any('screwing' in one.labels for one in mentions):
            order = replace(order, by='torque')
        turned = load_pattern('orders', 'turned', 'any').search(folded)
        if turned and order.descending and take != 1:
            order = replace(order, turned=True)
        return FoundOrder(order, (match.span(),), named is None)
    return _find_ranked(folded, kinds) or _find_own(folded, mentions)


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
    return ('length', 'residual') if one in ('residual', 'error') else (known.get(one, one), '')


_PLACES = {'大': 'force', '强': 'force', '用力': 'force', '高': 'temperature', '重': 'mass'}
_PLACES |= {'长': 'duration', '久': 'duration', '快': 'speed', '远': 'distance'}


def _find_ranked(folded: str, kinds: set[str]) -> FoundOrder | None:
    """Return an order that is told by its quantity: the top five by force, 力前五名, 第二大."""
    if match := load_pattern('orders', 'ranked', 'place').search(folded):
        located = next(iter(locate_quantities(folded)), '')
        quantity = located or _PLACES[match['word']]
        quantity = 'force' if 'contact' in kinds and match['word'] == '重' else quantity
        order = Order(quantity, True, 1, max(0, int(parse_number(match['rank'])) - 1))
        return FoundOrder(order, (match.span(),), True)
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


@cache
def _compile_aggregates() -> tuple[tuple[Function, re.Pattern[str]], ...]:
    return tuple(
        (one['function'], re.compile(rf'\b(?:{"|".join(one["en"])})(?!\w)|{"|".join(one["zh"])}'))
        for one in load_table('orders')['aggregate']
    )


def _find_group(folded: str) -> tuple[str, list[Span]]:
    for name in load_table('orders')['group']:
        if match := load_pattern('orders', 'group', name).search(folded):
            return name, [match.span()]
    return '', []


def find_own_quantity(mentions: Sequence[Mention]) -> str:
    """Return the quantity that events are measured by, where a question names none."""
    own: dict[str, str] = load_table('orders')['own']
    names = (name for one in mentions for name in (*one.labels, *one.kinds))
    return next((own[name] for name in names if name in own), '')


def find_aggregate(folded: str, own: str = '') -> FoundAggregate | None:
    """
    Return a count, a mean, a sum, a share or a rate, and by what it is grouped.

    Where no quantity is named, a mean is of the events' `own`.
    """
    found: dict[Function, Span] = {}
    for function, pattern in _compile_aggregates():
        if match := pattern.search(folded):
            found[function] = match.span()
    few = load_pattern('orders', 'unit', 'few').search(folded)
    if few and load_pattern('orders', 'unit', 'asked').search(folded):
        found.pop('count', None)  # how long all of them lasted: 十月的几次停机合起来停了多少秒
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


def settle_figures(
    order: FoundOrder | None, aggregate: FoundAggregate | None
) -> tuple[FoundOrder | None, FoundAggregate | None]:
    """
    Return an order by the mean of a quantity as such: the contact of the highest mean force.

    Of one event that an order gives, there is no sum: how many grams did the lightest part weigh?
    """
    if order is None or aggregate is None:
        return order, aggregate
    one = order.order.take == 1 and order.order.by != 'count' and not aggregate.aggregate.group
    if one and aggregate.aggregate.function == 'sum':
        return order, None
    if aggregate.aggregate.function != 'mean':
        return order, aggregate
    if order.order.by != aggregate.aggregate.quantity or aggregate.aggregate.group:
        return order, aggregate
    spans = (*order.spans, *aggregate.spans)
    figure = order.order.figure or ('mean' if order.order.by in PEAKED else '')
    return FoundOrder(replace(order.order, figure=figure), spans, order.weak), None
