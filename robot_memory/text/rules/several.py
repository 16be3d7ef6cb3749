"""Whether a text names several things beside a weight, which may then be that of each."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.amounts import read_amounts
from robot_memory.text.rules.quantities import load_scene
from robot_memory.text.units import MASSES

_WEIGHT, _OTHER = '¤', '§'
"""What weights and other measured amounts are masked by."""


@cache_texts(256)
def has_several(text: str) -> bool:
    """Say whether what a text gives a weight of may be more than one thing."""
    read = read_amounts(text)
    masked, end = '', 0
    for one in read.amounts:
        if one.counted:
            continue
        masked += read.folded[end : one.start] + (_WEIGHT if one.unit in MASSES else _OTHER)
        end = one.end
    return bool(_compile().search(masked + read.folded[end:]))


@cache
def _compile() -> re.Pattern[str]:
    table = load_scene()['several']
    return compile_pattern(f'{table["en"]}|{table["zh"]}')
