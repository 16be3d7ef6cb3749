"""
Limits that are stated as rules: 'at most 15 N on the blue cup', 离人至少半米.

A bound with an amount is a rule where the clause commands (no subject, an imperative, a modal
verb) or is about what a robot does: its force, speed, distance. 'The screw is at least 5 mm long'
and 'it took at most two tries' describe. The words are those of limits.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.prefixes import Guard
from robot_memory.text.toml_tables import load_toml

_NUMBER = (
    r'(?:\d+(?:[.,]\d+)?|half an?|a half|one|two|three|four|five|six|seven|eight|nine|ten'
    r'|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred)'
)
_AMOUNT = (
    rf'(?:{_NUMBER}[\s-]?(?:%|°|[a-z]\w*)'
    r'|an? (?:met(?:re|er)|newton|kilo\w*|second|minute|hour|degree|step|lit(?:re|er)'
    r'|hand\'s width))'
)
_NUMBER_ZH = r'(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百千半]+)'
_AMOUNT_ZH = (
    rf'(?:百分之{_NUMBER_ZH}|{_NUMBER_ZH}\s?'
    r'(?:%|°|[a-zµ]+|[牛米厘毫公克斤千度秒分小升转伏安瓦步次回趟遍个件层天箱杯片块名位人帕成倍赫]))'
)
_HAS_NUMBER = compile_pattern(rf'\b{_NUMBER}')
_HAS_NUMBER_ZH = compile_pattern(_NUMBER_ZH)
_CLAUSE_END = compile_pattern(r'[;!?。;\n]|(?<!\bmax)(?<!\bmin)(?<!\bdr)\.(?!\w)')
_COMMA = compile_pattern('[^,，]+')
_LABEL = compile_pattern(r'^[^\W\d][\w /]{0,30}:\s*')


class _English(NamedTuple):
    bound: re.Pattern[str]
    behind: re.Pattern[str]
    weak: re.Pattern[str]
    extreme: re.Pattern[str]
    commands: re.Pattern[str]
    modal: re.Pattern[str]
    action: re.Pattern[str]
    past: re.Pattern[str]
    condition: re.Pattern[str]


class _Chinese(NamedTuple):
    bound: re.Pattern[str]
    behind: re.Pattern[str]
    action: re.Pattern[str]
    commands: re.Pattern[str]
    verb: re.Pattern[str]
    describes: re.Pattern[str]
    subject: re.Pattern[str]


def states_limit(folded: str, has_han: bool, has_label: bool = False) -> bool:
    """
    Say whether a folded text states a limit as a rule.

    Where it has a label (Lesson:), weak bounds such as 'within 5 cm' do not outweigh that.
    """
    if not (_HAS_NUMBER_ZH if has_han else _HAS_NUMBER).search(folded):
        return False
    if not has_han and not _may_bound(folded):
        return False
    clauses = [clause.strip() for clause in _CLAUSE_END.split(folded) if clause]
    if has_han:
        return any(map(_states_in_chinese, clauses))
    return any(_states_in_english(clause, has_label) for clause in clauses)


def _may_bound(folded: str) -> bool:
    """Say whether an English text has words or signs of a bound, whatever they bound."""
    return '<' in folded or '>' in folded or _find_bounds().may_hold(folded)


def _states_in_english(clause: str, has_label: bool) -> bool:
    words = _compile_english()
    if words.past.search(clause):
        return False
    extreme = words.extreme.search(clause)
    if extreme and _is_free(clause[: extreme.start()], words):
        return True
    clause = _LABEL.sub('', clause)
    for found in words.bound.finditer(clause):
        weak = bool(words.weak.fullmatch(found['bound']))
        if not (weak and has_label) and _commands(clause[: found.start()], weak, words):
            return True
    return any(
        _commands(clause[: found.start()], False, words) for found in words.behind.finditer(clause)
    )


def _commands(before: str, weak: bool, words: _English) -> bool:
    """Say whether a bound behind some words is a command, not a description."""
    before = words.condition.sub('', before).strip(' ,')
    if words.commands.match(before) or words.modal.search(before):
        return True
    return not weak and (not before or bool(words.action.search(before)))


def _is_free(before: str, words: _English) -> bool:
    return words.condition.sub('', before).strip(' ,') in ('', 'the', 'a', 'our', 'your', 'its')


def _states_in_chinese(clause: str) -> bool:
    return any(_part_states_limit(clause, part) for part in _COMMA.finditer(clause))


def _part_states_limit(clause: str, part: re.Match[str]) -> bool:
    """Say whether a part of a Chinese clause, between commas, states a limit."""
    words = _compile_chinese()
    if words.describes.search(part[0]) or words.subject.match(clause):
        return False
    for pattern in (words.bound, words.behind):
        for found in pattern.finditer(part[0]):
            before = part[0][: found.start()].strip()
            if (
                words.commands.match(before)
                or words.action.search(before)
                or (pattern is words.bound and words.verb.match(found['between']))
            ):
                return True
    return False


def _alternate(patterns: Iterable[str]) -> str:
    return '|'.join(patterns)


@cache
def _find_bounds() -> Guard:
    table = load_toml(__file__, 'limits.toml')['en']
    extreme = [
        'max',
        'min',
        'top',
        'highest allowed',
        f'(?:{_alternate(table["quantity"])}) limit',
    ]
    words = [one for one in (*table['bound'], *table['behind']) if one[0] not in '<>≤≥']
    return Guard([*words, *extreme])


@cache
def _compile_english() -> _English:
    table = load_toml(__file__, 'limits.toml')['en']
    some = {name: _alternate(patterns) for name, patterns in table.items()}
    gap = r'(?:[\w\'-]+\s+){0,3}?'
    return _English(
        compile_pattern(rf'(?<!\w)(?P<bound>{some["bound"]})\s*{gap}{_AMOUNT}'),
        compile_pattern(rf'(?<!\w){_AMOUNT},?\s+(?:[\w\'-]+\s+){{0,2}}?(?:{some["behind"]})'),
        compile_pattern(rf'(?:{some["weak"]})'),
        compile_pattern(
            rf'\b(?:(?:max(?:imum)?|min(?:imum)?|top|highest allowed)\.?\s+{gap}'
            rf'(?:{some["quantity"]})|(?:{some["quantity"]}) limit)\b'
            rf'(?!\s+of\s+(?!the (?:robot|arm|gripper|base|tool|cobot)\b))[^,]{{0,40}}?\s*'
            rf'(?:\bis\b|\bare\b|:|=|\bof\b|\s)\s*{_AMOUNT}'
        ),
        compile_pattern(
            r'(?:(?:please|always|then|also|so|and|but|just|now|ok|robot|you|instead|again|only'
            rf'|first)\b[, ]*)*(?:{some["imperative"]})\b'
        ),
        compile_pattern(rf'\b(?:{some["modal"]})\b'),
        compile_pattern(rf'\b(?:{some["action"]})\b(?!\'s)[^,]*?(?:\b(?:is|are)|[:=])?\s*$'),
        compile_pattern(rf'\b(?:{some["past"]})\b'),
        compile_pattern(rf'^(?:(?:{some["condition"]})\b[^,:]*(?:[,:]\s*|$))+'),
    )


@cache
def _compile_chinese() -> _Chinese:
    table = load_toml(__file__, 'limits.toml')['zh']
    some = {name: _alternate(patterns) for name, patterns in table.items()}
    return _Chinese(
        compile_pattern(rf'(?:{some["bound"]})(?P<between>[^,。]{{0,10}}?){_AMOUNT_ZH}'),
        compile_pattern(rf'{_AMOUNT_ZH}[^,。]{{0,4}}?(?:{some["behind"]})'),
        compile_pattern(some['action']),
        compile_pattern(
            rf'(?:.*(?:{some["condition"]}))?$|(?:.*(?:{some["condition"]}),?)?(?:{some["imperative"]})'
        ),
        compile_pattern(some['verb']),
        compile_pattern(rf'{some["describes"]}|{_AMOUNT_ZH}(?:{some["measures"]})'),
        compile_pattern(rf'(?:{some["subject"]})'),
    )
