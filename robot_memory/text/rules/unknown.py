"""What a task says that no table knows: a verb, or a thing. Rules about things stay open then."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robot_memory.text.rules.lexicon import find_mentions, is_ignored
from robot_memory.text.rules.quantities import load_scene


def does_unknown(folded: str, clauses: Sequence[tuple[int, int]]) -> bool:
    """Say whether a command begins with a verb that no table knows."""
    verbs = load_scene()['verb']
    for start, end in clauses:
        clause = folded[start:end].strip()
        match = re.match(verbs['opens'], clause)
        if match is None or re.fullmatch(verbs['none'], match['verb']):
            continue
        at = match.start('verb')
        if not any(mention.start <= at < mention.end for mention in find_mentions(clause)):
            return True
    return False


def touches_unknown(unnamed: str, clauses: Sequence[tuple[int, int]]) -> bool:
    """Say whether a text names a thing that no table knows; names of people are masked in it."""
    words = load_scene()['noun']
    for start, end in clauses:
        clause = unnamed[start:end]
        mentions = find_mentions(clause)
        for pattern in (words['en'], words['zh']):
            for match in re.finditer(pattern, clause):
                low, high = match.span('noun')
                is_known = any(one.start < high and low < one.end for one in mentions)
                if is_known or re.search(words['none'], match['noun']) or is_ignored(match[0]):
                    continue
                return True
    return False
