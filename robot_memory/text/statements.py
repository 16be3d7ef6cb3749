"""What a person's turn states: the sentences that are worth a memory of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from robot_memory.text.categories import CONFIDENCES, Classification, classify
from robot_memory.text.small_talk import is_small_talk
from robot_memory.text.tokenizer import cut, fold
from robot_memory.text.toml_tables import load_toml

STATING = ('preference', 'constraint', 'decision')
"""The categories that a statement is of."""
MOST = 20
"""Statements that are taken from one turn; who says more dictates."""
_LONGEST = 300
_END = re.compile(
    r'(?<=[.!?;])\s+(?![a-z\d)])|(?<=[。！？；!])(?!["”’)])|(?<=[?？])(?!["”’)])|\n+'
)
_ABBREVIATION = re.compile(
    r'(?:^|[\s(,\u4e00-\u9fff])(?:dr|mr|mrs|ms|prof|st|sr|jr|no|nr|vs|approx|incl|excl|max|min|fig|rev'
    r'|bldg|dept|apt|ave|ext|tel|temp|qty|vol|ed|art|etc|e\.g|i\.e|mon|tue|wed|thu|fri|sat|sun|jan|feb'
    r'|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z]|(?:[a-z]\.)+[a-z])\.$',
    re.IGNORECASE,
)
"""A full stop that ends no sentence."""
_CLAUSE = re.compile('[,，]')
_ASKS = re.compile(
    r'[?？]\s*["”’)]*$|^(?:who|what|when|where|why|which|how|can|could|would|will'
    r'|do(?! not\b)|does|did|is|are|should|shall|may)\b(?!.*[.!]$)'
    r'|(?:吗|呢|什么|怎么|为什么|哪里|哪个|多少)[。.]?$'
)


_ORDERS = re.compile(
    r'(?:please )?(?:go|come|fetch|bring|get|take|pass|give|pick|put|set|turn|close|open|read'
    r'|count|scan|wipe'
    r"|call|hand|tell|lift|water|play|find|grab|lend|drop|hold|show|carry|raise|lower|let's|move|push|pull|wait|stop|start|look|check|clean)\b(?!.*\b(?:whenever|always|every"
    r'|from now on|instead|gently|slowly|slower)\b)|(?:把|去|快|帮我|来|拍|拿|递|送|过来|给我拿)'
    r'|(?:这盘|这一件|再来)'
)
"""What is to be done once, now."""


@dataclass(frozen=True)
class Statement:
    """Hold a sentence, cut to 300 characters, and what it was classified as."""

    text: str
    found: Classification


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, English or Chinese, without surrounding space."""
    sentences: list[str] = []
    for part in filter(None, (part.strip() for part in _END.split(text))):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f'{sentences[-1]} {part}'
        else:
            sentences.append(part)
    return sentences


def extract_statements(text: str) -> list[Statement]:
    """
    Return the sentences that state a preference, a constraint or a decision, or ask to remember.

    Questions and small talk state nothing. Of a sentence that the categories' patterns do not
    know, the cues of statements.toml say what it is.
    """
    stated: list[Statement] = []
    for sentence in split_sentences(text):
        found = [_classify_sentence(said, bool(stated)) for said in _drop_questions(sentence)]
        stated += [statement for statement in found if statement is not None]
    return stated[:MOST]


def _drop_questions(sentence: str) -> list[str]:
    """Return a sentence, or of one that asks the clauses before the question."""
    if not _ASKS.search(fold(sentence)):
        return [sentence]
    clauses = [clause.strip() for clause in _CLAUSE.split(sentence)]
    return [clause for clause in clauses[:-1] if clause and not _ASKS.search(fold(clause))]


def _classify_sentence(sentence: str, after_statement: bool) -> Statement | None:
    kept, gone = cut(sentence, _LONGEST - 3 if len(sentence) > _LONGEST else _LONGEST)
    kept = f'{kept}...' if gone else kept
    classified, folded = classify(kept), fold(kept)
    asked = _compile_table('asks_to_remember').search(folded)
    if not asked and is_small_talk(folded, after_statement=after_statement):
        return None
    if classified.category in STATING:
        return Statement(kept, classified)
    for category, cues in _compile_cues():
        if cues.search(folded):
            return Statement(kept, _reclassify(classified, category) if category else classified)
    if asked or _tells_what_lasts(folded):
        return Statement(kept, classified)
    return None


def _reclassify(found: Classification, category: str) -> Classification:
    """Return a classification of another category; what the patterns said stays as a tag."""
    tags = dict.fromkeys((category, *found.tags))
    tags.pop('code', None)
    return replace(found, category=category, confidence=CONFIDENCES[category], tags=tuple(tags))


@cache
def _load_tables() -> dict[str, Any]:
    return load_toml(__file__, 'statements.toml')


@cache
def _compile_cues() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (table.get('category', ''), _compile_alternatives(table))
        for table in _load_tables()['cue']
    ]


def _tells_what_lasts(folded: str) -> bool:
    """Say whether a sentence tells of people, places, times or ways, not of the moment."""
    if _ORDERS.match(folded) or _compile_table('fleeting').search(folded):
        return False
    return bool(_compile_table('lasting').search(folded))


@cache
def _compile_table(name: str) -> re.Pattern[str]:
    return _compile_alternatives(_load_tables()[name])


def _compile_alternatives(table: dict[str, list[str]]) -> re.Pattern[str]:
    return re.compile(rf'\b(?:{"|".join(table["en"])})|(?:{"|".join(table["zh"])})')
