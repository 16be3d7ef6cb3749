"""Conditions of different kinds of which one is enough: 'in the kitchen, or with a child near'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.rule_clauses import load_reader


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    words = load_reader()['alternatives']
    cue, clause = words['cue_en'], '[^,.;:]{2,60}?'
    joined = rf'(?P<cue>{cue})\b(?P<one>{clause}),? or (?P<other>{clause})'
    part_zh = '[^,，。;；:：]{2,24}?'
    flags = re.IGNORECASE | re.DOTALL
    return {
        'opens_en': compile_pattern(rf'^(?P<before>){joined}(?P<after>,.+)$', flags),
        'closes_en': compile_pattern(rf'^(?P<before>.+?,? ){joined}(?P<after>\.?)$', flags),
        'opens_zh': compile_pattern(
            f'^(?P<before>(?:.*[。；;])?)(?P<cue>)(?P<one>{part_zh})[,，]?(?:{words["or_zh"]})'
            f'(?P<other>{part_zh})(?P<after>[,，].+)$',
            re.DOTALL,
        ),
        'cue': compile_pattern(rf'(?:{cue})\b', re.IGNORECASE),
        'more': compile_pattern(rf'\s*(?:{words["more_en"]})\b', re.IGNORECASE),
        'ends': compile_pattern(f'(?:{words["ends_zh"]})$'),
    }


def split_alternatives(text: str) -> Iterator[tuple[str, str]]:
    """Yield a rule as two, each with one of two clauses that 'or' joins in its condition."""
    patterns = _compile()
    for name in ('opens_en', 'closes_en', 'opens_zh'):
        match = patterns[name].match(text)
        if match is None:
            continue
        before, cue, one, other, after = match.group('before', 'cue', 'one', 'other', 'after')
        begins = patterns['cue'].match(other)
        if patterns['more'].match(other) or not (
            begins or (_is_clause(one) and _is_clause(other))
        ):
            continue
        if cue and not begins:
            other = f'{cue} {other}'
        if not cue:
            end = patterns['ends'].search(other)
            one += end[0] if end and not patterns['ends'].search(one) else ''
        yield f'{before}{cue}{one}{after}', f'{before}{other}{after}'


def _is_clause(text: str) -> bool:
    """Say whether a text is more than a word or two: 'you carry glass', but not 'drink'."""
    return len(text.split()) > 2 or (not text.isascii() and len(text) > 3)
