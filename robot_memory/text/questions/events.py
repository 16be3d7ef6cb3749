"""Kinds and labels of events that a question names, and what sort of question it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.inflections import find_forms
from robot_memory.text.questions.tables import expand, load_table

Span = tuple[int, int]


@dataclass(frozen=True)
class Mention:
    """
    Hold a kind of event that text[start:end] names.

    `weak` words name one only beside a time, an order, a bound or a count, `common` ones where
    any of them are asked for; `happening` ones name none, but say that something was; what
    `yields` names one only where no other is named.
    """

    start: int
    end: int
    plural: bool
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    weak: bool
    common: bool
    happening: bool
    yields: bool = False


@dataclass(frozen=True)
class Cues:
    """Hold what the words of a question show about what is asked for."""

    asked: bool
    hinted: bool
    future: bool
    present: bool
    past: bool
    asking: bool


def _describe_kind(event: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a mention that its kind decides."""
    flags = {name: event.get(name, False) for name in ('weak', 'common', 'happening', 'yields')}
    labels = tuple(label for label in event.get('label', '').split('|') if label)
    return {'kinds': tuple(event['kinds']), 'labels': labels, **flags}


@cache
def _list_kinds() -> tuple[dict[str, Any], ...]:
    """Return the fields of a mention of each kind of the table."""
    return tuple(map(_describe_kind, load_table('events')['event']))


_LATIN = compile_pattern('[a-z]')


@cache
def _compile_english() -> tuple[re.Pattern[str], ...]:
    table = load_table('events')
    return tuple(
        compile_pattern(rf'\b(?:{"|".join(_list_english(event, table)) or "(?!)"})(?!\w)')
        for event in table['event']
    )


@cache
def _compile_chinese() -> tuple[re.Pattern[str], ...]:
    table = load_table('events')
    return tuple(
        compile_pattern('|'.join(expand(one, table) for one in event.get('zh', ())) or '(?!)')
        for event in table['event']
    )


def _list_english(event: dict[str, Any], table: dict[str, Any]) -> list[str]:
    """Return the English patterns of a kind, with those of its verbs and nouns."""
    patterns = list(event.get('en', ()))
    for forms in map(find_forms, event.get('verbs', ())):
        patterns += [_fill(one, forms) for one in table['forms']['verb']]
    for nouns in event.get('nouns', ()):
        names = {'nouns': '|'.join(nouns.split())}
        patterns += [_fill(one, names) for one in table['forms']['noun']]
    return [expand(one, table) for one in patterns]


def _fill(pattern: str, names: dict[str, str]) -> str:
    for name, words in names.items():
        pattern = pattern.replace(f'<{name}>', f'(?:{words})')
    return pattern


@cache
def _compile_cue(name: str, key: str = '') -> tuple[re.Pattern[str], re.Pattern[str]]:
    cue = load_table('events')[name]
    han = '|'.join(cue.get('zh', ())) or '(?!)'
    return compile_pattern(rf'\b(?:{"|".join(cue["en"])})\b'), compile_pattern(han)


def is_han(folded: str) -> bool:
    """Say whether a text has characters that the Chinese tables are for."""
    return max(folded, default='') >= '\u3400'


def _shows(name: str, folded: str, han: bool) -> bool:
    english, chinese = _compile_cue(name)
    return bool(english.search(folded) or (han and chinese.search(folded)))


_CUES = ('asked', 'hinted', 'future', 'present', 'past', 'asking')


def find_cues(folded: str) -> Cues:
    """Return what the words show."""
    han = is_han(folded)
    table = load_table('events')['allowed']
    folded = _compile_pattern(table['en']).sub(' ', folded)
    if ' to ' in folded:  # how hard it had to be pressed asks for no rule
        folded = _compile_pattern(table['had']).sub(r'\g<who>', folded)
    return Cues(*(_shows(name, folded, han) for name in _CUES))


def find_mentions(folded: str, taken: Sequence[Span] = ()) -> list[Mention]:
    """Return the events that are named, in order; the first kind of the table takes the words."""
    han = is_han(folded)
    found: list[Mention] = []
    used = list(taken)
    english = _compile_english() if not han or _LATIN.search(folded) else None
    languages = [one for one in (english, _compile_chinese() if han else None) if one]
    for kind, *patterns in zip(_list_kinds(), *languages, strict=True):
        for pattern in patterns:
            for match in pattern.finditer(folded):
                start, end = match.span()
                if any(start < other_end and begin < end for begin, other_end in used):
                    continue
                used.append((start, end))
                plural = match[0].isascii() and re.search(r'(?<!s)s\b', match[0]) is not None
                found.append(Mention(start, end, plural, **kind))
    return _merge_faults(sorted(found, key=lambda one: one.start))


def _merge_faults(mentions: list[Mention]) -> list[Mention]:
    """Return mentions with what is said twice once: 过温报警."""
    merged: list[Mention] = []
    for one in mentions:
        last = merged[-1] if merged else None
        fault = last and last.end == one.start and last.labels and 'fault' in last.kinds
        if last and fault and one.kinds == ('fault',):
            merged[-1] = replace(last, end=one.end)
        else:
            merged.append(one)
    return merged


def is_asked_for(folded: str, mention: Mention) -> bool:
    """Say whether a question asks for events of a kind: any faults, show me all collisions."""
    exists = load_table('events')['exists']
    before = folded[max(0, mention.start - 40) : mention.start]
    if _compile_pattern(exists['common']).search(before):
        return True
    if not mention.common and _compile_pattern(exists['en']).search(before):
        return True
    if folded[mention.start] < '\u3400' or mention.common:
        return False
    after = folded[mention.end : mention.end + 12]
    return bool(
        _compile_pattern(exists['zh']).search(before)
        or _compile_pattern(exists['han_after']).search(after)
    )


def locate_quantities(folded: str) -> dict[str, Span]:
    """Return where each quantity is named."""
    found = {}
    for name, english, chinese in _compile_quantities():
        match = english.search(folded) or chinese.search(folded)
        if match:
            found[name] = match.span()
    return found


@cache
def _compile_quantities() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (
            one['name'],
            compile_pattern(rf'\b(?:{"|".join(one["en"]) or "(?!)"})\b'),
            compile_pattern('|'.join(one['zh']) or '(?!)'),
        )
        for one in load_table('events')['quantity']
    )


def find_outcome(folded: str) -> tuple[str, Span] | None:
    """
    Return 'success' or 'failure' where a question asks for what ended so, and its span.

    The outcome is '' where it is said that those count too: stuck ones included, 滑牙的也算.
    """
    table = load_table('events')['outcome']
    for outcome in ('failure', 'success'):
        for match in _compile_pattern(table[outcome]).finditer(folded):
            before = _compile_pattern(table['with']).search(folded, 0, match.start())
            behind = _compile_pattern(table['too']).match(folded, match.end())
            if not (before or behind):
                return outcome, match.span()
            start = before.start() if before else match.start()
            return '', (start, behind.end() if behind else match.end())
    return None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return compile_pattern(expand(pattern, load_table('events')))


@cache_texts(1 << 15)
def match_label(label: str, written: str) -> bool:
    """
    Say whether a label of a reading names what a detector wrote.

    Each word of the label begins as one of the other does: 'insertion' names 'peg_insertion'.
    """
    starts = [word[:5] for word in label.lower().replace('_', ' ').split()]
    written = written.lower().replace('_', ' ')
    if not all(start in written for start in starts):  # most names: nothing to take apart
        return False
    words = {word[:5] for word in re.findall(r'\w+', written)}
    return words.issuperset(starts)
