"""Forms of English verbs, by rule; a table names those of irregular ones."""

from __future__ import annotations

import re
from typing import NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern

_IRREGULAR = {
    'hit': ('hit', 'hit'), 'strike': ('struck', 'struck'), 'feel': ('felt', 'felt'),
    'shake': ('shook', 'shaken'), 'run': ('ran', 'run'), 'hold': ('held', 'held'),
    'lean': ('leaned|leant', 'leaned|leant'), 'drive': ('drove', 'driven'),
    'creep': ('crept', 'crept'), 'swing': ('swung', 'swung'), 'see': ('saw', 'seen'),
    'break': ('broke', 'broken'), 'go': ('went', 'gone'), 'lose': ('lost', 'lost'),
    'let': ('let', 'let'), 'slide': ('slid', 'slid'), 'fall': ('fell', 'fallen'),
}  # fmt: skip
"""Past tense and participle."""
_DOUBLED = compile_pattern('[^aeiou][aeiou][bdgmnprt]')


class Forms(NamedTuple):
    """Hold the forms of a verb as patterns: push, pushes, pushed, pushed, pushing."""

    base: str
    third: str
    past: str
    participle: str
    continuous: str


def inflect(verb: str) -> Forms:
    """Return the forms of a verb that is given by its base form."""
    third = f'{verb}es' if re.search('(?:s|sh|ch|x|z|o)$', verb) else f'{verb}s'
    stem = verb + verb[-1] if _DOUBLED.fullmatch(verb[-3:]) else verb
    if verb.endswith('e'):
        stem = verb[:-1]
    past, participle = _IRREGULAR.get(verb, (f'{stem}ed', f'{stem}ed'))
    return Forms(verb, third, past, participle, f'{stem}ing')


def find_forms(verbs: str) -> dict[str, str]:
    """Return the forms of some verbs by name, each as one pattern."""
    forms = [inflect(verb) for verb in verbs.split()]
    return {
        name: '|'.join(dict.fromkeys(getattr(one, name) for one in forms))
        for name in Forms._fields
    }
