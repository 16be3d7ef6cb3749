"""Things and places that a rule names, as atoms of its condition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robot_memory.text.rules.conditions import Condition
from robot_memory.text.rules.lexicon import Mention, find_mentions, is_part_of_word, name_kinds
from robot_memory.text.rules.rule_clauses import Part, load_reader
from robot_memory.text.rules.scene import WARM
from robot_memory.text.rules.stating import Found


def read_thing(clause: str, mention: Mention, mentions: Sequence[Mention]) -> Condition:
    """Return the atom of a thing that a clause mentions, with its colour."""
    kinds, names_kind = name_kinds(
        mention.base, frozenset(sense.concept for sense in mention.list_concepts('thing'))
    )
    if re.fullmatch(load_reader()['contingency']['own'], mention.word):
        return {'word': mention.word}
    if re.fullmatch(load_reader()['reference']['hot'], mention.word):
        return {'temperature_c': ['>', WARM], 'words': mention.word}
    atom: Condition = {'thing': sorted(kinds), 'words': mention.word}
    if not names_kind:
        atom['only'] = mention.base
    colour = _find_colour(clause, mention, mentions)
    if colour:
        atom |= {'colour': colour[0], 'words': f'{colour[1]}{mention.word}'}
    return atom


def is_modifier(clause: str, mention: Mention, follower: Mention) -> bool:
    """Say whether a thing only tells which one follows: the coffee of a coffee cup."""
    joined = clause[mention.end : follower.start]
    return bool(follower.list_concepts('thing')) and joined == ' ' and mention.word.isascii()


def _find_colour(
    clause: str, mention: Mention, mentions: Sequence[Mention]
) -> tuple[str, str] | None:
    for other in mentions:
        between = clause[other.end : mention.start]
        for sense in other.list_concepts('colour'):
            if other.end <= mention.start and re.fullmatch(r'\s?(?:\w+ )?|的', between):
                return sense.concept, f'{other.word}{between}'
    return None


def read_named_before(part: Part, clause: str, shown: str) -> list[tuple[int, int, Found]]:
    """
    Return what a condition says something of that was named before it, if anything.

    The place of 在里面 and the thing of 'when it is empty'. `shown` is the rule without names.
    """
    words, before = load_reader()['condition'], shown[: part.start]
    found = None
    if part.is_condition and re.match(words['inside_zh'], clause):
        found = _read_last_place(before)
    elif part.is_condition and not part.is_exception and _is_of_it(clause):
        found = _read_last_thing(before)
    return [(part.start, part.start, found)] if found else []


def _is_of_it(clause: str) -> bool:
    """Say whether a condition tells how the thing is that was named before it, and no more."""
    words = load_reader()
    match = re.match(words['condition']['of_it_en'], clause)
    if match is None or re.search(words['forbid']['en'], clause):
        return False
    return not re.search(words['condition']['impersonal_en'], clause[match.end() :])


def _read_last_thing(before: str) -> Found | None:
    """Return the thing that a text names last, in its last sentence, if any."""
    start = max(before.rfind(mark) for mark in '.;!?') + 1
    clause = before[start:]
    mentions = find_mentions(clause)
    for place in reversed(range(len(mentions))):
        mention = mentions[place]
        if mention.list_concepts('thing') and not is_part_of_word(clause, mentions, place):
            atom = read_thing(clause, mention, mentions)
            return Found('temperature_c' if 'temperature_c' in atom else 'thing', atom)
    return None


def _read_last_place(shown: str) -> Found | None:
    """Return the place that a text names last, if any: 'in there' stands for it."""
    for mention in reversed(find_mentions(shown)):
        for sense in reversed(mention.list_concepts('place')):
            if sense.level == 'is':
                return Found('place', {'place': sense.concept, 'words': mention.word})
    return None
