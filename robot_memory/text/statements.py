"""What a person's turn states: the sentences that are worth a memory of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from robot_memory.text.categories import CONFIDENCES, Classification, classify
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.small_talk import is_small_talk
from robot_memory.text.tokenizer import cut, fold
from robot_memory.text.toml_tables import load_toml

STATING = ('preference', 'constraint', 'decision')
"""The categories that a statement is of."""
MOST = 20
"""Statements that are taken from one turn; who says more dictates."""
_LONGEST = 300
_END = compile_pattern(
    r'(?<=[.!?;])\s+(?![a-z\d)])|(?<=[。！？；!])(?!["”’)])|(?<=[?？])(?!["”’)])|\n+'
)
_ABBREVIATION = compile_pattern(
    r'(?:^|[\s(,\u4e00-\u9fff])(?:dr|mr|mrs|ms|prof|st|sr|jr|no|nr|vs|approx|incl|excl|max|min|fig|rev'
    r'|bldg|dept|apt|ave|ext|tel|temp|qty|vol|ed|art|etc|e\.g|i\.e|mon|tue|wed|thu|fri|sat|sun|jan|feb'
    r'|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z]|(?:[a-z]\.)+[a-z])\.$',
    re.IGNORECASE,
)
"""A full stop that ends no sentence."""
_CLAUSE = compile_pattern('[,，]')
_NOW = compile_pattern(r',? ?\bnow\b(?! that\b)|现在|了(?=[,，。.;!！]|$)')
_ASKS = compile_pattern(
    r'[?？]\s*["”’)]*$|^(?:who|what|when|where|why|which|how|can|could|would|will'
    r'|do(?! not\b)|does|did|is|are|should|shall|may)\b(?!.*[.!]$)'
    r'|(?:吗|呢|什么|怎么|为什么|哪里|哪个|多少)[。.]?$'
)


_ORDERS = compile_pattern(
    r'(?:please )?(?:go|come|fetch|bring|get|take|pass|give|pick|put|set|turn|close|open|read'
    r'|count|scan|wipe'
    r"|call|hand|tell|lift|water|play|find|grab|lend|drop|hold|show|carry|raise|lower|let's|move|push|pull|wait|stop|start|look|check|clean)\b(?!.*\b(?:whenever|always|every"
    r'|from now on|instead|gently|slowly|slower)\b)|(?:把|去|快|帮我|来|拍|拿|递|送|过来|给我拿)'
    r'|(?:这盘|这一件|再来)'
)
"""What is to be done once, now."""


_MOMENT = compile_pattern(
    r'\b(?:yet|right now|for (?:a|one|two) (?:seconds?|secs?|moments?|minutes?)|when you come back'
    r'|this time|today|tonight|tomorrow|until (?:i|we|he|she|they)\b|so fast)\b|[!！]\s*$'
    '|先|现在|等一下|等等|一会|算了|今[天晚]|明[天早]|这次'
)
"""What holds for the moment: no rule for good, though it forbids something."""


@dataclass(frozen=True)
class Statement:
    """Hold a sentence, cut to 300 characters, and what it was classified as."""

    text: str
    found: Classification


@dataclass(frozen=True)
class Sentence:
    """
    Hold a sentence as the statement that it would be, and what its words tell.

    `is_stated`: that is worth a memory of its own; `is_asked`: to remember it is asked for;
    `is_order`: it begins as what is to be done once, now.
    """

    statement: Statement
    is_stated: bool
    is_asked: bool
    is_order: bool


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
    Return the sentences that by their words state a preference, a rule, a decision or a fact.

    Questions and small talk state nothing. Of a sentence that the categories' patterns do not
    know, the cues of statements.toml say what it is.
    """
    return [one.statement for one in list_sentences(text) if one.is_stated][:MOST]


def list_sentences(text: str) -> list[Sentence]:
    """Return what a turn says without its questions, and what the words of each sentence tell."""
    found: list[Sentence] = []
    for sentence in split_sentences(text):
        after = any(one.is_stated for one in found)
        found += [_read_sentence(said, after) for said in _drop_questions(sentence)]
    return found


def _drop_questions(sentence: str) -> list[str]:
    """
    Return a sentence, or of one that asks the clauses before the question.

    What is asked in order to tell it is told: "Did I tell you that Greta is diabetic?"
    """
    told = _compile_table('asks_to_tell').match(fold(sentence))
    if told:
        return [sentence[told.end() :].rstrip('?？吗吧呢 ')] if told.end() < len(sentence) else []
    if not _ASKS.search(fold(sentence)):
        return [sentence]
    clauses = [clause.strip() for clause in _CLAUSE.split(sentence)]
    return [clause for clause in clauses[:-1] if clause and not _ASKS.search(fold(clause))]


def _read_sentence(sentence: str, after_statement: bool) -> Sentence:
    kept, gone = cut(sentence, _LONGEST - 3 if len(sentence) > _LONGEST else _LONGEST)
    kept = f'{kept}...' if gone else kept
    classified, folded = classify(kept), fold(kept)
    is_asked = bool(_compile_table('asks_to_remember').search(folded))
    is_stating = classified.category in STATING
    cued = not is_stating and any(cues.search(folded) for _, cues in _compile_cues())
    if cued:
        category = next(name for name, cues in _compile_cues() if cues.search(folded))
        classified = _reclassify(classified, category) if category else classified
    is_passing = not is_asked and is_small_talk(folded, after_statement=after_statement)
    is_order = bool(_ORDERS.match(folded))
    is_lasting = not is_order and _tells_what_lasts(folded)
    is_stated = is_stating or cued or is_asked or is_lasting
    return Sentence(Statement(kept, classified), is_stated and not is_passing, is_asked, is_order)


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
    """Say whether one that is no order tells of people, places, times or ways that last."""
    if _compile_table('fleeting').search(folded):
        return False
    return bool(_compile_table('lasting').search(folded))


def is_momentary(text: str) -> bool:
    """Say whether a text tells what holds for the moment: 'don't go yet', 先别关门."""
    return _MOMENT.search(fold(text)) is not None


def drop_now(text: str) -> str:
    """Return a text without the words that say that it has changed, if it has any."""
    return _NOW.sub('', text)


def drop_request(text: str) -> str:
    """Return a text without the request to remember it that it begins or ends with."""
    before, behind = _compile_requests()
    match = before.match(text)
    rest = text[match.end() :] if match else text
    if match := behind.search(rest):
        rest = rest[: match.start()]
    return rest or text


@cache
def _compile_requests() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the requests to remember what follows, and to remember what was said."""
    names = ('request_before', 'asks_to_remember', 'request_behind')
    before, asks, behind = (_compile_table(name).pattern for name in names)
    return (
        compile_pattern(rf'(?:{before}|{asks})(?: that\b)?\s*[:,：，]?\s*', re.IGNORECASE),
        compile_pattern(rf'(?<=\S)\s*[,，;；.。!！:：-]+\s*(?:{behind})[.。!！]*$', re.IGNORECASE),
    )


@cache
def _compile_table(name: str) -> re.Pattern[str]:
    return _compile_alternatives(_load_tables()[name])


def _compile_alternatives(table: dict[str, list[str]]) -> re.Pattern[str]:
    return compile_pattern(rf'\b(?:{"|".join(table["en"])})|(?:{"|".join(table["zh"])})')
