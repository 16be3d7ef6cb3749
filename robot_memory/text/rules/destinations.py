"""Where a rule says that things are put, which is no condition: 'in the drawer', 放回仓库."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.lexicon import find_mentions, load_tables, split_words
from robot_memory.text.rules.rule_clauses import load_reader
from robot_memory.text.rules.sites import make_number_en, make_pattern_en

_HOLDERS = ('furniture', 'container', 'fridge', 'dishwasher', 'washing_machine', 'sink')
"""Kinds of thing that things are put into."""
_NEAR = 200
"""Characters before a place in which it is told what is put there."""
_ONLY_IN = ('container',)
"""Of these what is put on one is done to it: 'put a label on the box'."""


def write_destinations(text: str) -> str:
    """
    Return a rule with 'there' for where it says that things are put.

    Where it is not sure that this is what it says, and of what must not be put somewhere, or only
    there, the place stays as 'to the kitchen': it may be part of what the rule is about, but no
    word marks it as its condition. So it is with what tells where that place is: on the shelf in
    room 4.
    """
    found = _compile()

    def say(match: re.Match[str]) -> str:
        before = text[: match.start()]
        if found['stay'].search(before[-_NEAR:]):
            return 'there'
        put = match_put(before)
        if put is None:
            return match[0]
        words = found['not_there'].sub('', put[0])
        is_sure = bool(found['moving'].match(match[0])) or _names_what_is_put(put[0])
        is_sure = is_sure and not found['limits'].search(words)
        if is_sure or not found['marked'].match(match[0]):
            return 'there' if is_sure else match[0]
        return f'to the {match["into"] or match["onto"]}'

    written, end = '', 0
    for match in found['where'].finditer(text):
        if match.start() < end:
            continue
        said = say(match)
        written += text[end : match.start()] + said
        further = found['further'].match(text, match.end()) if said == 'there' else None
        end = (further or match).end()
    return written + text[end:]


def is_destination(before: str, after: str) -> bool:
    """Say whether a place is where a Chinese rule says that things are put: 空托盘放回仓库."""
    words = load_reader()['destination']
    return bool(re.search(words['put_zh'], before) and re.match(words['ends_zh'], after))


def match_put(before: str) -> re.Match[str] | None:
    """Return what tells, up to a place, that something is to be put there; None: nothing does."""
    found = _compile()
    near = before if len(before) <= _NEAR else f'\u2026{before[-_NEAR:]}'
    return found['put'].search(found['amount'].sub('', near))


def _names_what_is_put(words: str) -> bool:
    """
    Say whether it is a thing that is to be put somewhere.

    'Keep noise down in the ward' tells how to be there: such verbs want a thing that is known.
    """
    if not _compile()['how'].match(words):
        return True
    handled = words.rstrip(' ,').lower()
    mentions = find_mentions(handled)
    last = mentions[-1] if mentions else None
    return bool(last and last.end == len(handled) and last.list_concepts('thing'))


def list_places() -> list[str]:
    """Return as patterns the English words for places that a table knows."""
    return [word for one in load_tables()['place'].values() for word in _list_words(one)]


def _list_words(table: dict[str, str]) -> list[str]:
    return [re.escape(word) for word in split_words(table.get('en', ''))]


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    words = load_reader()['destination']
    things = load_tables()['thing']
    into = [word for kind in _HOLDERS for word in _list_words(things[kind])]
    into += [*split_words(words['holders_en']), *list_places()]
    onto = [word for kind in _ONLY_IN for word in _list_words(things[kind])]
    onto = [word for word in into if word not in onto]
    heads = {
        name: '|'.join(sorted(dict.fromkeys(one), key=len, reverse=True))
        for name, one in (('into', into), ('onto', onto))
    }
    article = '(?:(?:the|our|your|its|their|my|his|her|a|an|any) )?'
    adjectives = rf'(?:(?!{words["ends_en"]})[\w-]+ ){{0,3}}?'
    number = rf' (?:{make_number_en()})'
    where = '|'.join(
        rf'(?:{words[f"{name}_en"]}) {article}(?P<{name}>{adjectives}(?:{head})(?:e?s)?'
        rf'(?: (?:{head})(?:e?s)?)*(?:{number})?|{make_pattern_en()})(?![\w-])'
        for name, head in heads.items()
    )
    preps, anywhere = (
        '|'.join(one) for one in zip(*((words[f'{n}_en'], heads[n]) for n in heads), strict=True)
    )
    further = (
        rf' (?:of|{preps}) {article}(?:{adjectives}(?:{anywhere})(?:e?s)?(?:{number})?'
        rf'|{make_pattern_en()})(?![\w-])'
    )
    return {
        'further': compile_pattern(f'(?:{further})+', re.IGNORECASE),
        'stay': compile_pattern(words['stay_en'], re.IGNORECASE),
        'where': compile_pattern(rf'\b(?:{where})', re.IGNORECASE),
        'put': compile_pattern(load_reader()['reworded']['put_en']),
        'amount': compile_pattern(words['amount_en'], re.IGNORECASE),
        'marked': compile_pattern(words['marked_en'], re.IGNORECASE),
        'moving': compile_pattern(words['moving_en'], re.IGNORECASE),
        'how': compile_pattern(words['how_en'], re.IGNORECASE),
        'limits': compile_pattern(words['limits_en'], re.IGNORECASE),
        'not_there': compile_pattern(words['not_there_en'], re.IGNORECASE),
    }
