"""
Which sentences people say in passing: talk of the moment, praise, jests, hearsay, what is not so.

What such a sentence tells does not last, whatever else it seems to state; the words are those of
small_talk.toml.
"""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.toml_tables import load_toml


def is_small_talk(folded: str, *, after_statement: bool) -> bool:
    """
    Say whether a folded sentence states nothing that lasts.

    Of whom 'he' or 'they' tells is known only `after_statement`, behind one that was kept.
    """
    if _compile('never').search(folded):
        return True
    if not after_statement and _compile('pronoun').search(folded):
        return True
    return bool(_compile('moment').search(folded) and not _compile('standing').search(folded))


@cache
def _compile(name: str) -> re.Pattern[str]:
    table = load_toml(__file__, 'small_talk.toml')[name]
    return compile_pattern(rf'\b(?:{"|".join(table["en"])})|(?:{"|".join(table["zh"])})')
