"""What one of several is asked for: of shifts, of days, or of sorts of events."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from robot_memory.text.questions.comparisons import choose_quantity
from robot_memory.text.questions.events import Mention, Span, locate_quantities
from robot_memory.text.questions.model import Aggregate, Anchor, Order
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern

_MOST_SHIFTS = 20


class Shifts(NamedTuple):
    """Hold the shifts that a question names together, and where: the last two night shifts."""

    among: tuple[Anchor, ...]
    span: Span


class FoundChoice(NamedTuple):
    """Hold by what one of several is chosen, and where it was read."""

    order: Order
    aggregate: Aggregate | None
    span: Span


def find_shifts(folded: str) -> Shifts | None:
    """Return the shifts that are named together: the last two, or an early and a late one."""
    for name in ('last', 'zh_last'):
        match = load_pattern('choices', 'shifts', name).search(folded)
        if match:
            count = min(int(parse_number(match['count'])), _MOST_SHIFTS)
            words = f'{match["part"] or ""}{match["what"]}'.strip().removesuffix('s')
            places = range(-1, -1 - count, -1)
            return Shifts(tuple(Anchor('during', words, one) for one in places), match.span())
    for name in ('pair', 'zh_pair'):
        match = load_pattern('choices', 'shifts', name).search(folded)
        if match and match['one'] != match['other']:
            what = match['what'].removesuffix('s')
            named = (f'{match[one]}{what}' for one in ('one', 'other'))
            return Shifts(tuple(Anchor('during', one) for one in named), match.span())
    return None


def are_alternatives(folded: str, mentions: Sequence[Mention]) -> bool:
    """Say whether a question asks which of two sorts of events: screws or pegs."""
    joined = load_pattern('choices', 'sorts', 'joined')
    return any(
        one.labels
        and other.labels
        and one.labels != other.labels
        and joined.fullmatch(folded, one.end, other.start)
        for one, other in combinations(mentions, 2)
        if one.end <= other.start
    )


def find_choice(folded: str, mentions: Sequence[Mention], group: str) -> FoundChoice | None:
    """
    Return by what one of several is chosen: by how many each has, or by a quantity of one.

    None where the question does not choose.
    """
    if group != 'session' and not load_pattern('choices', 'choice', 'asks').search(folded):
        return None
    for name in ('more', 'fewer'):
        match = load_pattern('choices', 'choice', name).search(folded)
        if match:
            order = Order('count', name == 'more', 1)
            return FoundChoice(order, Aggregate('count', '', group), match.span())
    return None if group == 'label' else find_comparative(folded, mentions)


def find_comparative(folded: str, mentions: Sequence[Mention]) -> FoundChoice | None:
    """Return the quantity of which one has more: which was more accurate, 哪次误差小."""
    for name in ('comparative', 'zh_comparative'):
        match = load_pattern('choices', 'choice', name).search(folded)
        if match:
            stated = next(iter(locate_quantities(match.groupdict().get('told') or '')), '')
            named = [one for one in mentions if one.kinds]
            quantity, over = choose_quantity(match['word'], named, stated)
            if quantity:
                return FoundChoice(Order(quantity, over, 1), None, match.span())
    return None
