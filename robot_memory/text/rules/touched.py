"""What things a task touches, with their kinds, colours and materials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from robot_memory.text.rules.lexicon import (
    Mention,
    find_object,
    list_kinds_of,
    list_possible_kinds_of,
)

Truth: TypeAlias = bool | None
"""Kleene's three values; None: unknown."""
Named: TypeAlias = tuple[str, Mention, Truth]
"""A clause, what it mentions, and whether that is so."""


@dataclass(frozen=True)
class Thing:
    """Hold a thing that a task touches; `kinds` is what it is, `possible` what it may be."""

    word: str
    kinds: frozenset[str]
    possible: frozenset[str]
    materials: frozenset[str] = frozenset()
    colours: frozenset[str] = frozenset()
    touched: Truth = True
    base: str = ''


def read_things(named: Sequence[Named]) -> list[Thing]:
    """Return what things are touched, with their colours and materials."""
    found = []
    for place, (clause, mention, truth) in enumerate(named):
        told = mention
        actions = {sense.concept for sense in mention.list_concepts('action')}
        if actions and 'water' not in actions and not mention.list_concepts('thing'):
            told = find_object(mention.word) or mention
        senses = told.list_concepts('thing')
        if not senses:
            continue
        follower = named[place + 1] if place + 1 < len(named) else None
        if follower and _modifies(clause, mention, follower):
            truth = None
        kinds = frozenset().union(*(list_kinds_of(sense.concept) for sense in senses))
        possible = frozenset().union(*(list_possible_kinds_of(sense.concept) for sense in senses))
        around = [other for same, other, _ in named if same is clause]
        found.append(
            Thing(
                told.word,
                kinds,
                possible - kinds,
                _find_adjectives(clause, around, mention, 'material'),
                _find_adjectives(clause, around, mention, 'colour'),
                truth,
                told.base,
            )
        )
    return found


def _modifies(clause: str, mention: Mention, follower: Named) -> bool:
    """Say whether a noun stands before the noun that is meant: the coffee in 'coffee cup'."""
    same, other, _ = follower
    if same is not clause or not mention.word.isascii() or not other.list_concepts('thing'):
        return False
    if any(sense.concept in ('container', 'bottle') for sense in other.senses):
        return False
    # In 'bread out of the oven' the bread is meant.
    opens = re.match(r'(?:out|off|from|fresh|straight)\b', other.word)
    return opens is None and clause[mention.end : other.start] == ' '


def _find_adjectives(
    clause: str, around: list[Mention], mention: Mention, kind: str
) -> frozenset[str]:
    """Return the colours or materials that stand before a thing, or are said of it."""
    found = set()
    for other in around:
        senses = [sense.concept for sense in other.list_concepts(kind)]
        if other is mention or not senses:
            found |= set(senses) if other is mention and kind == 'material' else set()
            continue
        between = clause[other.end : mention.start]
        after = clause[mention.end : other.start]
        stands_before = other.end <= mention.start and re.fullmatch(
            r"(?:[a-z\d'-]*\s*){0,2}|的?.{0,2}", between
        )
        is_said_of = mention.end <= other.start and re.fullmatch(
            r'(?:s|es)? (?:is|are) (?:\w+ )?|都?是|为', after
        )
        if stands_before or is_said_of:
            found |= set(senses)
    return frozenset(found)
