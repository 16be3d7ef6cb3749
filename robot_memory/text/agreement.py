"""Whether a text names what a question names, and has what is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.people import load_people
from robot_memory.text.slots import TABLES, WORD, Slots

_SIZES = ('length', 'width', 'height', 'thickness', 'depth', 'distance')
_FUNCTION_WORDS = frozenset(
    """
    the a an this that these those my your our his her their its of in on at to from for with by
    is are was were be been do does did has have had can could will would should must may what
    which who whom whose when where why how and or not no any some i you he she we they it there
    as than much many long far often last next now today please tell me
    """.split()
)


@dataclass(frozen=True)
class Agreement:
    """
    Hold how a text fits what a question names and asks for.

    `other`: of a kind of things that the question names, as persons or numbers, it names others
    only. It is `unfit` where it has nothing of what is asked for, as a number after 'how many'.
    """

    other: bool
    unfit: bool


def compare(question: Slots, text: Slots) -> Agreement:
    """Return how a text fits a question."""
    other = _has_other_values(question, text) or _names_another(question, text)
    return Agreement(other, _is_unfit(question, text))


def _has_other_values(question: Slots, text: Slots) -> bool:
    """Say whether of a group of which the question has values the text has others only."""
    for group, named in question.values.items():
        known = text.values.get(group)
        if known and not named & known:
            return True
    return False


def _names_another(question: Slots, text: Slots) -> bool:
    """Say whether a text has not a number or a person of the question, but others."""
    if question.numbers and _has_another_number(question, text):
        return True
    if question.is_han != text.is_han:
        return _names_another_in_pinyin(question, text)
    return _names_another_person(question, text)


def _has_another_number(question: Slots, text: Slots) -> bool:
    """Say whether a text has not a number of the question, but others; of amounts any will do."""
    if question.labels - text.labels:
        return bool(text.labels)
    return bool(question.numbers - text.numbers) and bool(text.numbers)


def _names_another_person(question: Slots, text: Slots) -> bool:
    """Say whether a text in the same script has not a person of the question, but others."""
    told = (text.persons | text.bare_names) - (question.persons | question.bare_names)
    if any(not _is_named(name, text) for name in question.persons):
        return bool(told) or _may_begin_with_name(text, question)
    return bool(told) and any(name not in text.folded for name in question.bare_names)


def _is_named(name: str, text: Slots) -> bool:
    """Say whether a text has a name, with the same title where both have one."""
    title, _, last = name.rpartition(' ')
    if name in text.persons:
        return True
    if title:
        return any(one == last for one in text.persons)
    return name in text.folded


def _names_another_in_pinyin(question: Slots, text: Slots) -> bool:
    """
    Say whether a text in the other script names others only, by their family names.

    A name in Latin letters that is no Chinese family name may be written in characters anyhow.
    """
    latin, han = (text, question) if question.is_han else (question, text)
    families = {name[0] for name in (*han.persons, *han.bare_names) if not name.isascii()}
    as_written = {name for name in han.persons if name.isascii()}
    spellings = _list_spellings()
    spelled = latin.words & spellings.keys()
    if as_written & latin.words or any(families.intersection(spellings[one]) for one in spelled):
        return False
    if as_written:
        return question.is_han or bool(latin.persons)
    if question.is_han:
        return bool(families and latin.persons)
    return bool(families and any(not spelled.isdisjoint(name.split()) for name in latin.persons))


@cache
def _list_spellings() -> dict[str, str]:
    """Return the characters of family names by their Latin letters."""
    usual, others = load_people()['surnames'], TABLES['surnames']
    return {one: usual.get(one, '') + others.get(one, '') for one in (*usual, *others)}


@cache
def _compile_anything() -> re.Pattern[str]:
    """Compile what tells that anything is asked for in English."""
    return compile_pattern(rf'\b(?:{"|".join(TABLES["asked"].values())})')


@cache
def _compile_asked(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile what tells that a kind is asked for in English, and in Chinese."""
    english, chinese = TABLES['asked'], TABLES['asked_han']
    return compile_pattern(rf'\b(?:{english[kind]})'), compile_pattern(chinese[kind])


@cache
def _compile_told(kind: str) -> re.Pattern[str]:
    """Compile what tells a kind that no table of values has."""
    return compile_pattern(TABLES['told'][kind])


def compile_all() -> None:
    """Compile what `compare` compiles at the first use."""
    for kind in TABLES['asked']:
        _compile_asked(kind)
    for kind in TABLES['told']:
        _compile_told(kind)


def _is_unfit(question: Slots, text: Slots) -> bool:
    """Say whether what is asked for is nowhere in a text, beside what the question names."""
    kind = _find_asked(question.folded)
    if not kind:
        return False
    if kind == 'extent':
        return text.units.isdisjoint(('length', 'duration'))
    if kind in _SIZES:
        return not _tells_size(kind, text)
    if kind == 'number':
        return len(text.numbers - question.numbers) <= len(text.units - {'frequency'})
    if kind == 'time':
        named = not text.values.keys().isdisjoint(('day', 'month', 'daypart', 'when'))
        return not named and not text.numbers - question.numbers
    if kind == 'colour':
        return not text.values.get(kind, frozenset()) - question.values.get(kind, frozenset())
    if kind in ('person', 'name', 'owner') and (
        text.persons - question.persons
        or text.bare_names - question.bare_names
        or _may_begin_with_name(text, question)
    ):
        return False
    if kind in text.units:
        return False
    return kind not in TABLES['told'] or not _compile_told(kind).search(text.folded)


def _tells_size(kind: str, text: Slots) -> bool:
    """Say whether a text tells a size: by its word, or as a length without a word for another."""
    if _compile_told(kind).search(text.folded):
        return True
    return 'length' in text.units and not _compile_told('size').search(text.folded)


@cache_texts(256)
def _find_asked(folded: str) -> str:
    """Return what a question asks for, '' where it does not say."""
    if folded.isascii() and not _compile_anything().search(folded):
        return ''
    kinds: list[str] = list(TABLES['asked'])
    for kind in kinds:
        english, chinese = _compile_asked(kind)
        if english.search(folded) or chinese.search(folded):
            return kind
    return ''


def _may_begin_with_name(text: Slots, question: Slots) -> bool:
    """Say whether a text begins with what may be a name that the question has not."""
    first = WORD.match(text.folded)
    is_open = first is not None and first[0] not in _FUNCTION_WORDS | question.words
    return (not text.is_han and is_open) or 'kin' in text.values
