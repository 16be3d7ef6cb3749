"""Which end effector a text, a situation or a rule names."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.lexicon import find_mentions, load_tables, split_words
from robot_memory.text.toml_tables import load_toml

_EFFECTOR = compile_pattern(
    'grip|finger|effector|nozzle|jaw|attachment|\\btool|\\bguns?\\b|\\bhead\\b|\\btorch|\\bbrush|spindle'
    '|pipette|cutter|saw\\b|scraper|blade|whisk|scoop|probe'
    '|[爪夹]|工具|吸|末端|枪|刷|主轴|移液|烙铁|螺丝刀|刀|锯|铲|头$'
)
_COVER = compile_pattern(
    'cover|guard|cap\\b|shield|lid|sleeve|glove|apron|mask|helmet|sign|sensor|camera|light|lamp'
    '|wheel|sticker|filter|shelf|bag|battery|[套罩盖帽护垫灯轮袋膜签]|相机|摄像|传感|电池|滤'
)
_GRIPS = compile_pattern('grip|finger|爪|夹|手')


def name_tool(text: str) -> str:
    """Return the concept that a mounted tool's name stands for, else the name itself."""
    folded = text.strip().lower()
    for mention in find_mentions(folded):
        for sense in mention.list_concepts('tool'):
            return sense.concept
    for concept, words in load_tables()['mounted'].items():
        if any(word in folded for word in split_words(words)):
            return str(concept)
    return folded


def is_tool(wanted: str, mounted: str) -> bool | None:
    """Say whether a mounted tool is the one that is wanted; other names are compared."""
    if wanted == mounted:
        return True
    known = load_tables()['tool']
    if wanted in known and mounted in known:
        return False
    shared = wanted.replace('_', ' ') in mounted or mounted.replace('_', ' ') in wanted
    both_grip = _GRIPS.search(wanted) and _GRIPS.search(mounted)
    return None if shared or both_grip or wanted.isascii() != mounted.isascii() else False


def find_mounted(clause: str) -> list[tuple[int, int, str]]:
    """Return the end effectors that a condition says are mounted, with where they are."""
    return [
        (*match.span('tool'), name_tool(match['tool']))
        for pattern in _compile()
        for match in pattern.finditer(clause)
        if _names_tool(match['tool'])
    ]


def _names_tool(words: str) -> bool:
    """
    Say whether what is mounted is an end effector, and no cover or guard.

    What no table knows may be one; of things only those are that are tools.
    """
    if name_tool(words) in load_tables()['tool'] or _EFFECTOR.search(words):
        return True
    things = [one for one in find_mentions(words) if one.list_concepts('thing')]
    is_hand_tool = any(sense.concept == 'hand_tool' for one in things for sense in one.senses)
    return is_hand_tool or not (things or _COVER.search(words))


@cache
def _compile() -> tuple[re.Pattern[str], ...]:
    mounted = load_toml(__file__, 'reader.toml')['mounted']
    return tuple(compile_pattern(pattern) for pattern in (*mounted['en'], *mounted['zh']))
