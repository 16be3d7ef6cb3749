"""What a person's turn states: the sentences that are worth a memory of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from robot_memory.text.categories import CONFIDENCES, Classification, classify
from robot_memory.text.tokenizer import cut, fold
from robot_memory.text.toml_tables import load_toml

STATING = ('preference', 'constraint', 'decision')
"""The categories that a statement is of."""
MOST = 20
"""Statements that are taken from one turn; who says more dictates."""
_LONGEST = 300
_END = re.compile(r'(?<=[.!?;])\s+|(?<=[。！？；!?])|\n+')
_CLAUSE = re.compile('[,，]')
_ASKS = re.compile(
    r'[?？]\s*["”’)]*$|^(?:who|what|when|where|why|which|how|can|could|would|will'
    r'|do(?! not\b)|does|did|is|are|should|shall|may)\b(?!.*[.!]$)'
    r'|(?:吗|呢|什么|怎么|为什么|哪里|哪个|多少)[。.]?$'
)


@dataclass(frozen=True)
class Statement:
    """Hold a sentence, cut to 300 characters, and what it was classified as."""

    text: str
    found: Classification


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, English or Chinese, without surrounding space."""
    return [part.strip() for part in _END.split(text) if part.strip()]


def extract_statements(text: str) -> list[Statement]:
    """
    Return the sentences that state a preference, a constraint or a decision, or ask to remember.

    Questions and small talk state nothing. Of a sentence that the categories' patterns do not
    know, the cues of statements.toml say what it is.
    """
    stated = [
        _classify_sentence(said)
        for sentence in split_sentences(text)
        for said in _drop_questions(sentence)
    ]
    return [statement for statement in stated if statement is not None][:MOST]


def _drop_questions(sentence: str) -> list[str]:
    """Return a sentence, or of one that asks the clauses before the question."""
    if not _ASKS.search(fold(sentence)):
        return [sentence]
    clauses = [clause.strip() for clause in _CLAUSE.split(sentence)]
    return [clause for clause in clauses[:-1] if clause and not _ASKS.search(fold(clause))]


def _classify_sentence(sentence: str) -> Statement | None:
    folded = fold(sentence)
    kept, _ = cut(sentence, _LONGEST)
    classified = classify(kept)
    if _compile_small_talk().search(folded):
        return None
    if classified.category in STATING:
        return Statement(kept, classified)
    for category, cues in _compile_cues():
        if cues.search(folded):
            return Statement(kept, _reclassify(classified, category) if category else classified)
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


@cache
def _compile_small_talk() -> re.Pattern[str]:
    return _compile_alternatives(_load_tables()['small_talk'])


def _compile_alternatives(table: dict[str, list[str]]) -> re.Pattern[str]:
    return re.compile(rf'\b(?:{"|".join(table["en"])})|(?:{"|".join(table["zh"])})')
