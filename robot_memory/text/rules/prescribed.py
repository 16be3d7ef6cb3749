"""
Limits that a text commands: 'must never push faster than 1.3 m/s', 推力不得超过25牛.

A clause commands a limit where it has an amount with a unit, a word that tells on which side of
it to stay, and a word that commands or forbids. What tells of something, or guesses, commands
nothing: 'it must have been going over 2 m/s'. The words are those of prescribed.toml.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.prefixes import lead
from robot_memory.text.rules.limits import may_bound, read_limits
from robot_memory.text.tokenizer import fold
from robot_memory.text.toml_tables import load_toml

_SENTENCE = compile_pattern(r'(?<=[!?。！？\n])|(?<!\bmax)(?<!\bmin)(?<=\.)(?!\w)')
_PART = compile_pattern('[,:，：]')


class _Words(NamedTuple):
    commands: re.Pattern[str]
    overrules: re.Pattern[str]
    leading: re.Pattern[str]
    describes: re.Pattern[str]


@cache_texts(4096)
def prescribes_limit(text: str) -> bool:
    """Say whether a text commands to stay on one side of an amount that has a unit."""
    # Amounts are read last: that takes ten times as long as to look for a word that commands.
    return any(map(_commands, _SENTENCE.split(fold(text)))) and states_bound(text)


def may_prescribe_limit(text: str) -> bool:
    """Say whether a text has a bound, and no word of it tells that it only describes."""
    return not any(map(_describes, _SENTENCE.split(fold(text)))) and states_bound(text)


def states_bound(text: str) -> bool:
    """Say whether a text tells of an amount on which side of it something is."""
    return may_bound(fold(text)) and any(not limit.is_unclear for limit in read_limits(text))


def _commands(sentence: str) -> bool:
    words = _choose_words(sentence)
    if words.overrules.search(sentence):
        return True
    if words.describes.search(sentence):
        return False
    if words.commands.search(sentence) or words.leading.match(sentence.strip()):
        return True
    parts = [part.strip() for part in _PART.split(sentence)[1:]]
    return any(words.leading.match(part) and states_bound(part) for part in parts)


def _describes(sentence: str) -> bool:
    return bool(_choose_words(sentence).describes.search(sentence))


def _choose_words(sentence: str) -> _Words:
    return _compile('zh' if max(sentence, default='') >= '\u3400' else 'en')


@cache
def _compile(language: str) -> _Words:
    table = load_toml(__file__, 'prescribed.toml')[language]
    verbs, is_english = table.get('do', ''), language == 'en'
    commands = [one.format(do=verbs) if is_english else one for one in table['commands']]
    start = r'\b' if is_english else ''
    # What a robot is told to do; of a noun that is written alike a verb tells something.
    actions = load_toml(str(Path(__file__).parent), 'limits.toml')['en']['imperative']
    no_verb = r'\b(?! (?:is|are|was|were|has|can|[a-z]+s)\b)'
    imperative = rf'|(?:please |then |and |but )*(?:{"|".join(actions)}){no_verb}'
    minimal = r'|(?:no|not|never|nothing|only|under|below|over|max|min)\b'
    more = f'{imperative}{minimal}' if is_english else ''
    return _Words(
        compile_pattern(rf'{start}{lead(commands)}(?:{"|".join(commands)})'),
        compile_pattern(rf'{start}(?:{"|".join(table["overrules"])})'),
        compile_pattern(f'(?:{table["leading"]}{more})'),
        compile_pattern(rf'{start}(?:{"|".join(table["describes"])})'),
    )
