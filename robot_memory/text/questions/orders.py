"""Order, how many, and figures over all of them, as questions ask for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from robot_memory.text.questions.aggregates import FoundAggregate
from robot_memory.text.questions.events import Mention, is_han
from robot_memory.text.questions.model import PEAKED, Order
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.superlatives import FoundOrder, find_named, read_rank
from robot_memory.text.questions.tables import load_pattern


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
    place = read_rank(rank['rank']) if rank['rank'] else int(parse_number(rank['han']))
    return FoundOrder(Order('time', True, 1, max(0, place - 1)), (rank.span(), back.span()))


def _find_before_event(folded: str, mentions: Sequence[Mention]) -> FoundOrder | None:
    """Return an order that stands before what is ordered: the last three contacts."""
    certain = load_pattern('orders', 'order', 'certain')
    for match in load_pattern('orders', 'order', 'head').finditer(folded):
        named = find_named(folded, match.end(), mentions)
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
            skip = read_rank(rank) - 1 if rank else 0
            return FoundOrder(
                Order('time', newest is not None, take, max(skip, 0)), (match.span(),)
            )
    for match in load_pattern('orders', 'order', 'nth').finditer(folded):
        named = find_named(folded, match.end() - 1, mentions)
        rank_ = read_rank(match['rank'])
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
        skip = read_rank(match['rank']) - 1
        return FoundOrder(Order('time', False, 1, skip), (match.span('rank'),), True)
    if match := load_pattern('orders', 'order', 'of_those').search(folded):
        skip = read_rank(match['rank']) - 1 if match['rank'] else 0
        name = next(name for name, found in match.groupdict().items() if found)
        return FoundOrder(Order('time', name == 'newest', 1, skip), (match.span(name),))
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


def settle_figures(
    order: FoundOrder | None, aggregate: FoundAggregate | None, folded: str
) -> tuple[FoundOrder | None, FoundAggregate | None]:
    """
    Return an order by the mean of a quantity as such: the contact of the highest mean force.

    Of one event that an order gives, there is no sum: how many grams did the lightest part weigh?
    """
    if order is None or aggregate is None:
        return order, aggregate
    peaks = load_pattern('orders', 'peaks', 'any').search(folded)
    if peaks and aggregate.aggregate.quantity:
        spans = (*aggregate.spans, peaks.span())
        return None, aggregate._replace(spans=spans)
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
