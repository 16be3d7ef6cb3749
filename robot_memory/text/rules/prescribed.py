"""
Limits that a text commands: 'must never push faster than 1.3 m/s', 推力不得超过25牛.

A clause commands a limit where it has an amount with a unit, a word that tells on which side of
it to stay, and a word that commands or forbids. What tells of something, or guesses, commands
nothing: 'it must have been going over 2 m/s'. The words are those of prescribed.toml.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.rules.limits import read_limits
from robot_memory.text.tokenizer import fold
from robot_memory.text.toml_tables import load_toml

_CLAUSE = re.compile(r'[;!?。；！？\n]|(?<!\bmax)(?<!\bmin)\.(?!\w)')
_PART = re.compile('[,:，：]')


class _Words(NamedTuple):
    commands: re.Pattern[str]
    leading: re.Pattern[str]
    describes: re.Pattern[str]


@cache_texts(4096)
def prescribes_limit(text: str) -> bool:
    """Say whether a text commands to stay on one side of an amount that has a unit."""
    return any(map(_commands, _CLAUSE.split(fold(text))))


def _commands(clause: str) -> bool:
    words = _compile('zh' if max(clause, default='') >= '\u3400' else 'en')
    if words.describes.search(clause):
        return False
    if words.commands.search(clause) or words.leading.match(clause.strip()):
        return _bounds(clause)
    parts = [part.strip() for part in _PART.split(clause)[1:]]
    return any(words.leading.match(part) and _bounds(part) for part in parts)


def _bounds(clause: str) -> bool:
    return any(not limit.is_unclear for limit in read_limits(clause))


@cache
def _compile(language: str) -> _Words:
    table = load_toml(__file__, 'prescribed.toml')[language]
    verbs, is_english = table.get('do', ''), language == 'en'
    commands = [one.format(do=verbs) if is_english else one for one in table['commands']]
    start = r'\b' if is_english else ''
    return _Words(
        re.compile(rf'{start}(?:{"|".join(commands)})'),
        re.compile(f'(?:{table["leading"]})'),
        re.compile(rf'{start}(?:{"|".join(table["describes"])})'),
    )
