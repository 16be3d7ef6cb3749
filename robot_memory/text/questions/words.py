"""The words of a question that its reading leaves, each with those that mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.folding import fold_characters
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.signs import compile_frame
from robot_memory.text.questions.tables import load_table
from robot_memory.text.tokenizer import STOP_TERMS, extract_query_terms

Alternatives = tuple[str, ...]
"""Words one of which is meant; a blank stands between words that are side by side."""
_NUMBERED = compile_pattern('(?:第)?([一二三四五六七八九十]{1,3})号')
_JOINT = compile_pattern(
    r'\b(?:joint|axis|j)(?: number| no\.?)? ?([1-7]|one|two|three|four|five|six|seven)\b'
    r'|第?([1-7]|[一二三四五六七])(?:号)?(?:关节|轴)(?![承向])'
)
_EXCLUSIVE = ('colours', 'joints')
_ENDINGS = compile_pattern("(?:'s|s|es|ed|ing)$")


@cache
def _load_fields() -> tuple[dict[str, set[str]], re.Pattern[str], re.Pattern[str]]:
    """Return the words of a field by each of them, and patterns of several and Chinese words."""
    meant: dict[str, set[str]] = {}
    for fields in load_table('words')['fields'].values():
        for field in fields:
            words = {word.replace('_', ' ').lower() for word in field.split()}
            for word in words:
                meant.setdefault(word, set()).update(words)
    longest = sorted(meant, key=lambda word: (-len(word), word))  # the same in each process
    several = '|'.join(re.escape(word) for word in longest if ' ' in word)
    chinese = '|'.join(re.escape(word) for word in longest if not word.isascii())
    return meant, compile_pattern(rf'\b({several})(?:s|es)?\b'), compile_pattern(f'({chinese})')


def list_words(text: str) -> list[Alternatives]:
    """Return the words of a text that say something to a search, with those of their fields."""
    folded = compile_frame().sub(' ', fold_characters(text))
    folded = _JOINT.sub(lambda match: f' joint {parse_number(match[1] or match[2]):g} ', folded)
    folded = _NUMBERED.sub(lambda match: f' {parse_number(match[1]):g} ', folded)
    meant, several, chinese = _load_fields()
    found: list[Alternatives] = []
    for pattern in (several, chinese):
        for match in pattern.finditer(folded):
            found.append(_order(match[1], meant[match[1]]))
        folded = pattern.sub(' ', folded)
    terms, _ = extract_query_terms(folded)
    for term in terms:
        if term not in STOP_TERMS and term < '\ue000':
            stem = next((one for one in (term, _ENDINGS.sub('', term)) if one in meant), term)
            found.append(_order(term, {term} | meant.get(stem, set())))
    return list(dict.fromkeys(found))


def find_others(word: Alternatives) -> Sequence[Alternatives]:
    """Return what a thing is that is not what a word says: the other colours, the other joints."""
    return _load_others().get(word[0], ())


@cache
def _load_others() -> dict[str, list[Alternatives]]:
    """Return, by each word of a field that excludes others, these."""
    found: dict[str, list[Alternatives]] = {}
    for name in _EXCLUSIVE:
        fields = [
            tuple(one.replace('_', ' ').lower() for one in field.split())
            for field in load_table('words')['fields'][name]
        ]
        for field in fields:
            others = [other for other in fields if other is not field]
            found |= dict.fromkeys(field, others)
    return found


def _order(word: str, words: set[str]) -> Alternatives:
    return (word, *sorted(words - {word}))
