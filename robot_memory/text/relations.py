"""
How a new statement stands to an older one: the same, a correction of it, or another thing.

One judge for duplicates and corrections. It reads both texts and takes the similarity of their
vectors; what it cannot tell is another thing, for a false duplicate loses an event and a false
correction a fact.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from enum import Enum

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import names_another
from robot_memory.text.figures import write_common_units, write_figures
from robot_memory.text.rules.people import find_named, find_people, is_named
from robot_memory.text.sameness import (
    adds_another,
    compute_overlap,
    is_same,
    may_be_same,
    measure_form,
    tells_of_another,
)
from robot_memory.text.statement_reader import (
    STOP,
    WORD,
    Statement,
    count_negations,
    find_ids,
    has_han,
    read_amounts,
    read_quantities,
    read_statement,
    stem,
)
from robot_memory.text.tokenizer import fold

_LIKELY, _SURELY, _PLAINLY = 1.5, 2.5, 3.5
"""
Log odds from which rules are the same: from the second on also where their negations are not the
same, or their words say they are two, and from the third on where they name two things.
"""
_DENYING = 1.0
"""Log odds from which texts are the same whose negations are not."""
_ONE_FORM, _LIKE_FORM = 0.75, 0.6
"""How alike, word by word, texts are that a negation parts, and a name or an amount."""


class Relation(Enum):
    """What a new statement is to an older one."""

    SAME = 'same'
    CORRECTS = 'corrects'
    OTHER = 'other'


def overlap(one: Statement, other: Statement) -> float:
    """Return the share of the words of the shorter text that the other has, too."""
    least = min(len(one.words), len(other.words))
    return len(one.words & other.words) / least if least else 0.0


def are_limits(*texts: str) -> bool:
    """Say whether each of some texts states a limit."""
    found = [read_statement(text).signs for text in texts]
    return all(signs.at_most or signs.at_least for signs in found)


def may_correct(text: str) -> bool:
    """Say whether a text may correct an older one at all."""
    one = read_statement(text)
    signs = one.signs
    if signs.question or signs.plan or signs.addition or signs.hearsay:
        return False
    said = signs.change or signs.at_most or signs.at_least
    return said or (bool(one.numbers) and not is_event(one))


def is_asserted(text: str) -> bool:
    """Say whether a text states what is so: it asks, plans and passes on nothing."""
    signs = read_statement(text).signs
    return not (signs.question or signs.plan or signs.hearsay)


def asks(text: str) -> bool:
    """Say whether a text ends as a question does."""
    return read_statement(text).folded.rstrip(' .!)').endswith(('?', '吗'))


def may_concern(old: str, new: str) -> bool:
    """Say whether two texts may be of one thing, as far as its number tells."""
    return not is_of_another(read_statement(old), read_statement(new))


def is_of_another_person(old: str, new: str) -> bool:
    """Say whether two texts begin with two persons, and the new one does not name the older's."""
    one, other = _find_person(old), _find_person(new)
    return bool(one and other) and one != other and one not in find_named(new)


@cache_texts(1024)
def _find_person(text: str) -> str:
    """Return the key of the person that a text begins with; '' where it begins with none."""
    return next((one.key for one in find_people(text) if one.start <= 1 and is_named(one)), '')


def hints_at_change(text: str) -> bool:
    """Say whether a text has words that often stand where something changed."""
    signs = read_statement(text).signs
    return signs.change or signs.hint


def relate(old: str, new: str, similarity: float) -> Relation:
    """Return what a new text is to an older one; `similarity` is that of their vectors, 0 to 1."""
    if repeats(old, new, similarity):
        return Relation.SAME
    return Relation.CORRECTS if corrects(old, new, similarity) else Relation.OTHER


def repeats(old: str, new: str, similarity: float) -> bool:
    """Say whether a new text says the same as an older one; `similarity` as for `relate`."""
    return is_same(read_figures(old), read_figures(new), similarity)


def may_repeat(old: str, new: str, similarity: float) -> bool:
    """Say whether `repeats` may be true, as far as similarity and amounts tell: at little cost."""
    return may_be_same(_write_figures(old), _write_figures(new), similarity)


def may_restate(old: str, new: str, odds: float, rules: int = 0) -> bool:
    """
    Say whether two texts of one script may say the same, by the log odds that they do.

    These cannot tell "is" from "is not", 10 mg from 10 µg, nor Lena from Omar, in one and the same
    sentence; where the sentence is another one, no amount needs to be the same ("two dozen"), nor
    a negation ("nobody but Li", "Li alone"). Where one or both are `rules` the amounts must, and
    the odds be higher; a rule and a fact deny the same: "is open" is not "never open".
    """
    if has_han(old) != has_han(new):
        return False
    one, other = read_figures(old), read_figures(new)
    form = measure_form(one, other)
    same_amounts = read_amounts(one.text) == read_amounts(other.text)
    denies = count_negations(one.text) != count_negations(other.text)
    another = names_another(old, new)
    if form >= _LIKE_FORM and (another or not same_amounts):
        return False
    if denies and (form >= _ONE_FORM or odds < _DENYING):
        return False
    if not rules:
        return True
    if not same_amounts or odds < _LIKELY or (rules == 1 and denies):
        return False
    if odds < _PLAINLY and (another or adds_another(old, new)):
        return False
    return odds >= _SURELY or not (denies or tells_of_another(new, old))


def compare_words(old: str, new: str) -> float:
    """Return the Jaccard index of two texts, with figures and without words that add nothing."""
    return compute_overlap(fold(_write_figures(old)), fold(_write_figures(new)))


def read_figures(text: str) -> Statement:
    """Read a text with its amounts in figures and common units."""
    return read_statement(_write_figures(text))


@cache_texts(1024)
def _write_figures(text: str) -> str:
    return write_common_units(write_figures(fold(text)))


def corrects(old: str, new: str, similarity: float) -> bool:
    """Say whether a new text, which is not the same as an older one, corrects it."""
    one, other = read_statement(old), read_statement(new)
    signs = other.signs
    if not may_correct(new) or is_of_another(one, other):
        return False
    shared = overlap(one, other)
    if one.is_han != other.is_han:
        near = similarity >= 0.28
    else:
        near = (
            similarity >= 0.5
            or (shared >= 0.25 and similarity >= 0.3)
            or (shared >= 0.6 and similarity >= 0.1)
        )
    if not near or is_of_another_person(old, new):
        return False
    if signs.change:
        return names_subject(one, other)
    if names_another(old, new) or differs_in_slot(one, other):
        return False
    bounds = (one.signs.at_most and signs.at_most) or (one.signs.at_least and signs.at_least)
    if bounds and one.numbers != other.numbers:
        return True
    is_single = is_event(one) or is_event(other)
    return similarity >= 0.6 and not is_single and has_other_value(one, other)


_HAN_START = compile_pattern(
    '^(?:我们的?|咱们?的?|我的?|[这那][台个只把间扇]?|本|请)?([\u4e00-\u9fffa-z0-9]{2})'
)


def names_subject(one: Statement, other: Statement) -> bool:
    """
    Say whether either of two texts names what the other begins with.

    'The oven was moved to the hall' corrects where the oven stood, not where the kettle did. Texts
    of two scripts are not compared.
    """
    if one.is_han != other.is_han:
        return True
    if one.is_han:
        bare = [re.sub('[^\u4e00-\u9fffa-z0-9]', '', each.folded) for each in (one, other)]
        starts = [match[1] if (match := _HAN_START.match(text)) else text for text in bare]
        return starts[0] in bare[1] or starts[1] in bare[0]
    words = [
        [stem(word) for word in WORD.findall(each.folded) if word not in STOP]
        for each in (one, other)
    ]
    return any(found and found[0] in others for found, others in (words, words[::-1]))


def is_of_another(one: Statement, other: Statement) -> bool:
    """Say whether the older text begins with one thing of many, and the newer names others."""
    first = find_ids(one.folded[:24] if not one.is_han else one.folded[:6])
    others = find_ids(other.folded)
    return any(head in others and not numbers & others[head] for head, numbers in first.items())


_EVENT = compile_pattern(r'(?<![\w-])(?:was|were|had|[a-z]{3,}ed|yesterday|today|last)(?![\w-])')
_HAN_EVENT = compile_pattern('[了过](?!剩)|昨|今|刚')


def is_event(one: Statement) -> bool:
    """Say whether a text tells of what happened once, which nothing later corrects."""
    return bool((_HAN_EVENT if one.is_han else _EVENT).search(one.folded))


def differs_in_slot(one: Statement, other: Statement) -> bool:
    """Say whether two sentences of one form speak of other things in it."""
    if one.is_han or other.is_han:
        return False
    first, second = (
        [
            stem(word)
            for word in WORD.findall(each.folded)
            if word not in STOP and not word[0].isdigit()
        ]
        for each in (one, other)
    )
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    same = sum(b - a for kind, a, b, _, _ in codes if kind == 'equal')
    replaced = [kind for kind, *_ in codes if kind == 'replace']
    return bool(replaced) and same >= 0.5 * min(len(first), len(second))


def has_other_value(one: Statement, other: Statement) -> bool:
    """Say whether two texts of one subject give another number of one unit."""
    first, second = read_quantities(one.text), read_quantities(other.text)
    shared = {
        head
        for head, ids in find_ids(one.folded).items()
        if ids & find_ids(other.folded).get(head, set())
    }
    begins = next(iter(WORD.findall(one.folded)), '') if not one.is_han else one.folded[:2]
    anchored = bool(shared) or (begins in other.folded)
    return anchored and any(
        unit and unit in second and first[unit] != second[unit] for unit in first
    )


def is_stricter(new: str, old: str) -> bool:
    """Say whether the newer of two limits stands first: it does, unless the older is stricter."""
    signs = [read_statement(text).signs for text in (old, new)]
    before, after = dict(read_amounts(old)), dict(read_amounts(new))
    for unit in before.keys() & after.keys():
        first, second = float(before[unit]), float(after[unit])
        if first != second and any(one.at_most for one in signs):
            return second < first
        if first != second and any(one.at_least for one in signs):
            return second > first
    return True
