"""What rules say in other words before their conditions are read; see reader.toml."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.destinations import list_places, match_put, write_destinations
from robot_memory.text.rules.rule_clauses import load_reader
from robot_memory.text.rules.sites import make_pattern_en, make_pattern_zh

_SAID = {
    'clock_zh': '点',
    'asked_zh': '',
    'because_en': '',
    'because_zh': '',
    'only_this_en': 'nothing may be ',
    'meal_en': r'at \1time',
    'meal_zh': '用餐期间',
    'limit_for_en': r'\2 \1 ',
    'apposition_en': '',
    'nobody_but_en': 'nobody may ',
    'nobody_but_zh': '',
    'unless_nobody_en': 'if anybody ',
    'unless_nobody_zh': r'\1有人的话',
    'nobody_en': 'unless anybody is ',
    'nobody_zh': r'\1除非\2\3有人,',
    'whoever_zh': '只要有人',
    'unmounted_en': r'unless the \1 is mounted,',
    'unmounted_zh': r'\1除非装着\2,',
    'undone_en': '',
    'alone_en': r'do not touch \1',
    'absent_en': r'unless \1is near,',
    'away_en': r'unless \1is ',
    'away_zh': r'\1除非\2在\3,',
    'absent_zh': r'\1除非\2在旁边,',
    'accompanied_en': r'\1 near',
    'present_en': r'\1 near',
    'and_hot_en': 'unsafe',
    'is_hot_en': r'\1 unsafe',
    'broken_zh': ',',
    'few_en': r'unless \1 \2 are near',
    'some_zh': r'除非\1在旁边',
    'slippery_en': 'unsafe',
    'slippery_zh': '',
    'bears_en': 'is unsafe',
    'bears_zh': '不稳',
    'bare_en': r'\1 the ',
    'site_zh': r'\1在\2内,',
    'kept_en': r'\1stays put',
    'left_en': r'\1are never left',
}
"""What is said for what each pattern finds; in this order, for one may make what another finds."""
_UNLESS = {'and_hot_en': 'if_hot_en', 'is_hot_en': 'if_hot_en'}
"""By the name of a pattern, that of another: where that finds anything, nothing is reworded."""
_BARE_PLACE = 'bare_en'
"""What gives places their article, but where something is put there."""
_BEFORE_PLACE = frozenset({'kept_en', 'left_en'})
"""Patterns that a place follows."""


def reword(text: str) -> str:
    """Say 'if anybody' for 'unless nobody', 'unless Tom is' for 'when Tom is not', and so on."""
    patterns = _compile()
    for name, said in _SAID.items():
        unless = _UNLESS.get(name)
        if name == _BARE_PLACE:
            text = write_destinations(_reword_places(text, said))
        elif unless is None or not patterns[unless].search(text):
            text = patterns[name].sub(said, text)
    return text


def _reword_places(text: str, said: str) -> str:
    """Give places their article, but where something is put."""

    def say(match: re.Match[str]) -> str:
        return match[0] if match_put(text[: match.start()]) else match.expand(said)

    return _compile()[_BARE_PLACE].sub(say, text)


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    words = load_reader()['reworded']
    after = dict.fromkeys(_BEFORE_PLACE, words['place_en'])
    places = f'(?:{"|".join(list_places())})(?:{words["bare_ends_en"]})'
    after[_BARE_PLACE] = f'(?=(?:{places})|{make_pattern_en()})'
    after['site_zh'] = f'({make_pattern_zh()}){words["site_ends_zh"]}'
    return {
        name: compile_pattern(words[name] + after.get(name, ''))
        for name in (*_SAID, *_UNLESS.values())
    }
