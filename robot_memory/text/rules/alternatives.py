"""Conditions of different kinds of which one is enough: 'in the kitchen, or with a child near'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from robot_memory.text.compiled_patterns import compile_pattern

_CUE = (
    r'when(?:ever)?|if|while|as long as|in|inside|at|on|near|with|around|between|after|before'
    r'|during'
)
_PATTERNS = (
    compile_pattern(
        rf'^(?P<before>)(?P<cue>{_CUE})\b(?P<one>[^,.;:]{{2,60}}?),? or '
        rf'(?P<other>[^,.;:]{{2,60}}?)(?P<after>,.+)$',
        re.IGNORECASE | re.DOTALL,
    ),
    compile_pattern(
        rf'^(?P<before>.+?,? )(?P<cue>{_CUE})\b(?P<one>[^,.;:]{{2,60}}?),? or '
        r'(?P<other>[^,.;:]{2,60}?)(?P<after>\.?)$',
        re.IGNORECASE | re.DOTALL,
    ),
    compile_pattern(
        '^(?P<before>(?:.*[。；;])?)(?P<cue>)(?P<one>[^,，。;；:：]{2,24}?)[,，]?(?:或者是?|或是|要么)'
        '(?P<other>[^,，。;；:：]{2,24}?)(?P<after>[,，].+)$',
        re.DOTALL,
    ),
)
_BEGINS = compile_pattern(rf'(?:{_CUE})\b', re.IGNORECASE)
_MORE = compile_pattern(
    r'\s*(?:more|less|fewer|over|above|under|below|higher|lower|heavier|lighter|hotter|not)\b',
    re.IGNORECASE,
)
"""What goes on about an amount, and is no clause of its own."""
_ENDS = compile_pattern('(?:的时候|时|的话|期间)$')
_OF_EACH = frozenset({'words', 'only', 'colour'})


def split_alternatives(text: str) -> Iterator[tuple[str, str]]:
    """Yield a rule as two, each with one of two clauses that 'or' joins in its condition."""
    for pattern in _PATTERNS:
        match = pattern.match(text)
        if match is None:
            continue
        before, cue, one, other, after = match.group('before', 'cue', 'one', 'other', 'after')
        if _MORE.match(other):
            continue
        if not (_BEGINS.match(other) or (_is_clause(one) and _is_clause(other))):
            continue
        if cue and not _BEGINS.match(other):
            other = f'{cue} {other}'
        if not cue:
            end = _ENDS.search(other)
            one += end[0] if end and not _ENDS.search(one) else ''
        yield f'{before}{cue}{one}{after}', f'{before}{other}{after}'


def _is_clause(text: str) -> bool:
    """Say whether a text is more than a word or two: 'you carry glass', but not 'drink'."""
    return len(text.split()) > 2 or (not text.isascii() and len(text) > 3)


def list_kinds(condition: Any) -> frozenset[str]:
    """Return what a condition is about: a place, who is near; 'word' of what is not sure."""
    if isinstance(condition, list):
        return frozenset().union(*map(list_kinds, condition))
    found: frozenset[str] = frozenset()
    for key, value in condition.items():
        if key in ('all', 'any', 'first'):
            found |= list_kinds(value)
        elif key in ('not', 'unsure'):
            found |= {'word'}
        elif key not in _OF_EACH:
            found |= {key}
    return found
