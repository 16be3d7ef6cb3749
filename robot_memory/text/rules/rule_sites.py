"""Places with a number that a rule names, as atoms of its condition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robot_memory.text.rules.conditions import Condition
from robot_memory.text.rules.destinations import is_destination
from robot_memory.text.rules.lexicon import Mention
from robot_memory.text.rules.rule_clauses import Part, load_reader
from robot_memory.text.rules.sites import Site, list_seats
from robot_memory.text.rules.stating import Found

_NUMBERED = frozenset({'furniture', 'bed'})
"""Kinds of thing that are told apart by a number as places are: table 4."""


def find_numbered(mention: Mention, sites: Sequence[Site]) -> list[Site]:
    """Return the places with a number that a mention is the word for."""
    return [site for site in sites if mention.start < site.end and site.start < mention.end]


def is_place(mention: Mention, sites: Sequence[Site]) -> bool:
    """Say whether a table knows what has these numbers; not a bed that somebody is in."""
    if any(sense.level == 'is' for sense in mention.list_concepts('place')):
        return True
    is_seat = any(site.word in list_seats() for site in sites)
    return not is_seat and any(
        sense.concept in _NUMBERED for sense in mention.list_concepts('thing')
    )


def number(atom: Condition, sites: Sequence[Site], clause: str) -> Condition:
    """Return the atom of a place, or of such a thing, with the numbers that stand behind it."""
    if not sites or atom.keys().isdisjoint(('place', 'thing')):
        return atom
    if _means_others(clause, sites[-1].end):
        return atom
    words = clause[sites[0].start : sites[-1].end]
    numbered = [[site.word, site.number] for site in sites]
    return {name: value for name, value in atom.items() if name != 'only'} | {
        'numbered': numbered,
        'words': words,
    }


def is_left(part: Part, before: str) -> bool:
    """Say whether a place is what must not be left: then a rule is about all others."""
    return part.forbids and bool(re.search(load_reader()['site']['left'], before))


def _means_others(clause: str, end: int) -> bool:
    """Say whether other places are meant beside one, or in its stead: 'from aisle 5 on'."""
    words = load_reader()['site']
    return bool(re.match(words['onwards'], clause[end:]) or re.search(words['other'], clause))


def read_sites(
    part: Part, clause: str, folded: str, mentions: Sequence[Mention], sites: Sequence[Site]
) -> list[tuple[int, int, Found]]:
    """Return the places with a number that no table knows otherwise; not where things are put."""
    words = load_reader()['site']
    found: list[tuple[int, int, Found]] = []
    for site in sites:
        at = [mention for mention in mentions if find_numbered(mention, [site])]
        if any(is_place(mention, [site]) for mention in at):
            continue
        before = clause[: site.start]
        rest = folded[part.start + site.end :]
        if not (part.is_condition or part.forbids) and is_destination(before, rest):
            continue
        if is_left(part, before):
            continue
        is_sure = part.forbids or (part.opens and not before.strip())
        is_sure = is_sure or bool(re.search(f'{words["en"]}|{words["zh"]}', before))
        atom: Condition = {
            'site': [site.word, site.number],
            'words': clause[site.start : site.end],
        }
        others = _means_others(clause, site.end) or re.search(words['other'], folded)
        if others and not part.is_exception:
            is_sure, atom = False, {'unsure': atom}
        start, end = part.start + site.start, part.start + site.end
        found.append((start, end, Found('site' if is_sure else 'place', atom)))
    return found
