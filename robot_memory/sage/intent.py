"""What a text is about and what it asks: by rules that are data (intent.toml), no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from robot_memory.text.tokenizer import STOP_TERMS, fold
from robot_memory.text.toml_tables import load_toml

GENERAL = 'general'
FIELDS = (
    'manipulation navigation perception safety calibration debugging coding learning analysis'
).split()
_MOST_KEYWORDS = 8
_LETTER = r'[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]'
_WORD = re.compile(rf"{_LETTER}(?:(?:{_LETTER}|[.+_'-])*(?:{_LETTER}|[+]))?")
_HAN = re.compile('[\u3400-\u9fff]+')
_HAN_STOP = re.compile(
    '什么是|是什么|为什么|怎么样?|怎样|如何|请问?|可以|应该|能否|哪个|哪里|哪些|使用|我们?|你们?|他们?|'
    '一下|一个|这个|那个|有没有|是不是|吗|呢|吧|的|了|是|在|把|和|与|对|给|要|会|能'
)


@dataclass(frozen=True)
class Intent:
    """
    Hold how a text was read.

    `confidence`, 0 to 1, says how plainly it asks: 0.5 where no rule matched, more with each that
    did.
    """

    field: str
    primary: str
    question_type: str
    confidence: float
    keywords: tuple[str, ...]
    is_chinese: bool


def parse_intent(text: str) -> Intent:
    """Read a text in English or Chinese."""
    folded = fold(text)
    counts = {name: len(pattern.findall(folded)) for name, pattern in _compile_fields().items()}
    most = max(counts.values(), default=0)
    field = next((name for name in FIELDS if most and counts[name] == most), GENERAL)
    matching = [question for question in _compile_questions() if question[2].search(folded)]
    primary, kind = matching[0][:2] if matching else ('general_inquiry', GENERAL)
    sure = 0.5 + 0.25 * bool(matching) + 0.1 * bool(most) + 0.1 * folded.rstrip().endswith('?')
    han = ''.join(_HAN.findall(text))
    return Intent(
        field, primary, kind, round(sure, 2), extract_keywords(text), len(han) * 2 > len(text)
    )


def extract_keywords(text: str) -> tuple[str, ...]:
    """Return the words that carry a text, as they stand in it, once each."""
    found: dict[str, str] = {}
    for match in re.finditer(f'{_WORD.pattern}|{_HAN.pattern}', text):
        parts = _HAN_STOP.split(match[0]) if _HAN.fullmatch(match[0]) else [match[0]]
        for part in parts:
            if len(part) > 1 and part.casefold() not in STOP_TERMS:
                found.setdefault(part.casefold(), part)
    return tuple(found.values())[:_MOST_KEYWORDS]


@cache
def _load_data() -> dict[str, Any]:
    return load_toml(__file__, 'intent.toml')


def _compile_pattern(table: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(rf'\b(?:{"|".join(table["en"])})|(?:{"|".join(table["zh"])})')


@cache
def _compile_fields() -> dict[str, re.Pattern[str]]:
    return {name: _compile_pattern(_load_data()['field'][name]) for name in FIELDS}


@cache
def _compile_questions() -> list[tuple[str, str, re.Pattern[str]]]:
    return [
        (table['primary'], table['type'], _compile_pattern(table))
        for table in _load_data()['question']
    ]
