"""Which tables may find something in a text: most texts are passed over by their words alone."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.tables import load_table

_WORD = compile_pattern('[a-z]+')
_DIGIT = compile_pattern(r'\d')
_TABLES = ('time', 'number', 'order', 'count', 'anchor', 'exists')
_Signs = dict[str, frozenset[str]]


@cache
def _load_signs() -> tuple[_Signs, _Signs]:
    """Return the tables by word, and by Chinese character."""
    signs = load_table('signs')
    found: list[dict[str, set[str]]] = [{}, {}]
    for name in _TABLES:
        english = signs[name]['en'].split()
        english += _list_superlatives() if name == 'order' else []
        for by, all_of in zip(found, (english, signs[name]['zh']), strict=True):
            for sign in all_of:
                by.setdefault(sign, set()).add(name)
    words, characters = ({sign: frozenset(names) for sign, names in by.items()} for by in found)
    return words, characters


def _list_superlatives() -> list[str]:
    """Return the words of the superlatives that are one word: hardest, toughest."""
    listed = [word for one in load_table('orders')['superlative'] for word in one['en']]
    return [word for word in listed if _WORD.fullmatch(word)]


def find_signs(folded: str) -> frozenset[str]:
    """Return the names of the tables that may find something in a folded text."""
    words, characters = _load_signs()
    found: set[str] = set()
    for word in words.keys() & set(_WORD.findall(folded)):
        found |= words[word]
    if not folded.isascii():
        for character in characters.keys() & set(folded):
            found |= characters[character]
    if _DIGIT.search(folded):
        found |= {'time', 'number', 'order'}
    return frozenset(found)


@cache
def compile_frame() -> re.Pattern[str]:
    """Return a pattern of the words of a question that say nothing to a search."""
    frame = load_table('signs')['frame']
    return compile_pattern(
        rf'\b(?:{"|".join(frame["en"].split())})\b|{"|".join(frame["zh"].split())}'
    )
