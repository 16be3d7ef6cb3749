"""What harms somebody: an allergy, an illness that forbids food, what somebody must not have."""

from __future__ import annotations

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.tokenizer import fold

_ENGLISH = (
    r'(?<!not )(?<!n.t )\ballerg(?:y|ies|ic)\b|\bintoleran(?:t|ce)\b|\bdiabetic\b|\bcoeliac\b'
    r"|\bceliac\b|\basthma(?:tic)?\b|\bepilep(?:sy|tic)\b|(?:can't|cannot|can not|may not|mustn't"
    r"|must not|shouldn't|should not|(?:isn't|not) allowed(?: to)?|never) (?:\w+ )?"
    r'(?:have|eat|drink|take|touch|get|be given)\b'
)
_CHINESE = (
    '(?<!不)过敏|不耐受|糖尿病|哮喘|癫痫'
    '|(?:不能|不可以|不许|不得|不准|忌|禁止|别)(?:再)?(?:吃|喝|碰|用|服|沾|超过|接触)'
)
_DANGER = compile_pattern(f'{_ENGLISH}|{_CHINESE}')


def endangers(text: str) -> bool:
    """Say whether a text tells what may harm somebody, by its words; it need not be a rule."""
    return _DANGER.search(fold(text)) is not None
