"""What rules say in other words before their conditions are read; see reader.toml."""

from __future__ import annotations

import re

from robot_memory.text.rules.rule_clauses import load_reader


def reword(text: str) -> str:
    """Say 'if anybody' for 'unless nobody', 'unless Tom is' for 'when Tom is not', and so on."""
    words = load_reader()['reworded']
    text = re.sub(words['clock_zh'], '点', text)
    text = re.sub(words['asked_zh'], '', text)
    text = re.sub(words['because_en'], '', text)
    text = re.sub(words['because_zh'], '', text)
    text = re.sub(words['only_this_en'], 'nothing may be ', text, flags=re.IGNORECASE)
    text = re.sub(words['meal_en'], r'at \1time', text, flags=re.IGNORECASE)
    text = re.sub(words['meal_zh'], r'用餐期间', text)
    text = re.sub(words['limit_for_en'], r'\2 \1 ', text, flags=re.IGNORECASE)
    text = re.sub(words['apposition_en'], '', text)
    text = re.sub(words['nobody_but_en'], 'nobody may ', text, flags=re.IGNORECASE)
    text = re.sub(words['nobody_but_zh'], '', text)
    text = re.sub(words['unless_nobody_en'], 'if anybody ', text, flags=re.IGNORECASE)
    text = re.sub(words['unless_nobody_zh'], r'\1有人的话', text)
    text = re.sub(words['nobody_en'], 'unless anybody is ', text, flags=re.IGNORECASE)
    text = re.sub(words['nobody_zh'], r'\1除非\2\3有人,', text)
    text = re.sub(words['whoever_zh'], '只要有人', text)
    text = re.sub(words['unmounted_en'], r'unless the \1 is mounted,', text, flags=re.IGNORECASE)
    text = re.sub(words['unmounted_zh'], r'\1除非装着\2,', text)
    text = re.sub(words['undone_en'], '', text, flags=re.IGNORECASE)
    text = re.sub(words['alone_en'], r'do not touch \1', text, flags=re.IGNORECASE)
    text = re.sub(words['absent_en'], r'unless \1is near,', text, flags=re.IGNORECASE)
    text = re.sub(words['away_en'], r'unless \1is ', text, flags=re.IGNORECASE)
    text = re.sub(words['away_zh'], _say_unless, text)
    text = re.sub(words['accompanied_en'], r'\1 near', text, flags=re.IGNORECASE)
    text = re.sub(words['present_en'], r'\1 near', text, flags=re.IGNORECASE)
    if not re.search(words['if_hot_en'], text, re.IGNORECASE):
        text = re.sub(words['and_hot_en'], 'unsafe', text, flags=re.IGNORECASE)
        text = re.sub(words['is_hot_en'], r'\1 unsafe', text, flags=re.IGNORECASE)
    text = re.sub(words['broken_zh'], ',', text)
    text = re.sub(words['few_en'], r'unless \1 \2 are near', text, flags=re.IGNORECASE)
    text = re.sub(words['some_zh'], r'除非\1在旁边', text)
    text = re.sub(words['slippery_en'], 'unsafe', text, flags=re.IGNORECASE)
    text = re.sub(words['slippery_zh'], '', text)
    text = re.sub(words['bears_en'], 'is unsafe', text, flags=re.IGNORECASE)
    text = re.sub(words['bears_zh'], '不稳', text)
    text = re.sub(words['kept_en'], r'\1stays put', text, flags=re.IGNORECASE)
    return re.sub(words['left_en'], r'\1are never left', text, flags=re.IGNORECASE)


def _say_unless(match: re.Match[str]) -> str:
    return f'{match[1]}除非{match[2]}在{match[3] or "旁边"},'
