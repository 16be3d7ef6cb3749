"""Which of what a rule names states when it holds, and which how it is to be done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from robot_memory.text.rules.conditions import Condition
from robot_memory.text.rules.lexicon import find_mentions
from robot_memory.text.rules.rule_clauses import Part, find_unknown_condition, load_reader

_ADJACENT = 20
"""Characters between mentions that are read as one: 'hand knives', 'enter the charging bay'."""
ALONE = frozenset(
    {'near', 'served', 'eaten', 'payload_kg', 'temperature_c', 'hours', 'days', 'site'}
)
"""What states a condition wherever a rule names it."""


class Found(NamedTuple):
    """
    Hold an atom, the group that it belongs to, and whether it surely states the condition.

    `is_first`: it only does so as what is named first.
    """

    group: str
    atom: Condition
    is_sure: bool = True
    is_first: bool = False


Read: TypeAlias = list[tuple[int, int, Found]]
"""What a part of a rule mentions, with where that begins and ends."""


def select(
    folded: str, parts: Sequence[Part], read_parts: Sequence[Read]
) -> Iterator[tuple[Part, Found]]:
    """
    Yield what the parts of a rule mention, each with whether it states when the rule holds.

    What a condition names is sure. Without one, and where no person, amount or hour is named, what
    is named first is, and what stands right beside it.
    """
    forbids = any(part.forbids for part in parts)
    read_of = [
        (part, _drop_means(part, _drop_own(one), forbids))
        for part, one in zip(parts, read_parts, strict=True)
    ]
    strong = [_is_strong(folded, part, read) for part, read in read_of]
    states = any(one and not part.is_exception for one, part in zip(strong, parts, strict=True))
    states_alone = states or any(
        found.group in ALONE and not part.is_exception
        for part, read in read_of
        for *_, found in read
    )
    known = any(read for _, read in read_of)
    last: int | None = None
    named = ''
    for (part, read), is_strong in zip(read_of, strong, strict=True):
        if is_strong:
            is_manner = _may_tell_how(folded, part)
            for start, _, found in read:
                if _is_done_there(folded, part, read, start, found):
                    continue
                yield part, found._replace(is_first=is_manner and found.group == 'thing')
            if not read and not part.is_exception and not (known and _is_step(folded, part)):
                for word in find_unknown_condition(folded, part):
                    yield part, Found('word', {'word': word})
            continue
        for start, end, found in read:
            if found.group == 'thing' and part.forbids and _does_unknown(folded, part, start):
                if states:
                    continue
                found = found._replace(atom={'unsure': found.atom})
            is_first = last is None and not states_alone
            is_beside = last is not None and 0 <= start - last <= _ADJACENT
            is_beside = is_beside and (named == 'action' or found.group != 'action')
            forbidden = _names_forbidden(part, found)
            if forbidden and named == 'thing' and _lacks_object(folded, part, end):
                continue
            states_it = part.is_topic or found.group in ALONE or forbidden
            states_it = states_it or (states and _is_not_to_be_handled(folded, part, start, found))
            if is_first or is_beside:
                last, named = end, found.group
            yield (
                part,
                found._replace(
                    is_sure=states_it or is_first or is_beside,
                    is_first=not states_it and (is_first or is_beside),
                ),
            )


def _is_strong(folded: str, part: Part, read: Sequence[Any]) -> bool:
    """Say whether a part states a condition: 'in the rain', of which nothing is known, may not."""
    if not part.is_marked:
        return False
    words = load_reader()['condition']
    opens = f'{words["place"]}|{words["weak"]}'
    return bool(read) or part.opens or not re.match(opens, folded[part.start : part.end])


def _may_tell_how(folded: str, part: Part) -> bool:
    """Say whether a thing in a part may be what the rule asks to be used: 'in the logbook'."""
    if part.opens or part.is_exception:
        return False
    return bool(re.match(load_reader()['condition']['place'], folded[part.start : part.end]))


def _drop_means(part: Part, read: Read, forbids: bool) -> Read:
    """Drop the tool that a rule asks for: 'glass is held with the soft fingers'."""
    if forbids or not part.is_weak:
        return read
    return [one for one in read if one[2].group != 'tool']


def _drop_own(read: Read) -> Read:
    """Drop the robot's own parts where it is said when: at night the loudspeaker is to be off."""
    if not any(found.group in ALONE for *_, found in read):
        return read
    return [one for one in read if 'word' not in one[2].atom]


def _is_done_there(folded: str, part: Part, read: Sequence[Any], start: int, found: Found) -> bool:
    """Say whether what is named comes after a place: 'in the lab keep your sensors covered'."""
    places = [at for at, _, one in read if one.group in ('place', 'site')]
    opens = re.match(load_reader()['condition']['place'], folded[part.start : part.end])
    if re.search(load_reader()['forbid']['en'], folded[part.start : start]):
        return False
    return bool(
        opens
        and part.opens
        and places
        and start > places[0]
        and found.group in ('thing', 'action', 'tool')
    )


def _is_step(folded: str, part: Part) -> bool:
    """Say whether a part only says in which step of the work: 'before you go up'."""
    step = load_reader()['condition']['step']
    return bool(re.match(step, folded[part.start : part.end].strip(' ,:')))


def _does_unknown(folded: str, part: Part, at: int) -> bool:
    """Say whether what is forbidden to do with a thing, up to `at`, is known to no table."""
    words = load_reader()
    clause = folded[part.start : part.end]
    is_han = not clause.isascii()
    cue = None
    for match in re.finditer(words['forbid']['zh' if is_han else 'en'], clause):
        cue = match if part.start + match.start() < at else cue
    if cue is None or cue[0] in ('no', 'nobody may'):
        return False
    rest = clause[cue.end() :]
    if re.match(words['reference']['handled'], rest):
        return False
    reach = 4 if is_han else 16
    return not any(
        mention.start < reach and any(one.level == 'is' for one in mention.list_concepts('action'))
        for mention in find_mentions(rest)
    )


def _names_forbidden(part: Part, found: Found) -> bool:
    """Say whether an action is forbidden: where it is not done, the rule says nothing."""
    return part.forbids and found.atom.get('action') not in (None, 'carry', 'lift', 'grasp')


def _is_not_to_be_handled(folded: str, part: Part, at: int, found: Found) -> bool:
    """Say whether a thing is what may not be handled: 'with a child near do not carry knives'."""
    if not part.forbids or found.group != 'thing' or 'word' in found.atom:
        return False
    words = load_reader()
    clause = folded[part.start : at]
    is_han = bool(re.search('[\u4e00-\u9fff]', clause))
    for cue in re.finditer(words['forbid']['zh' if is_han else 'en'], clause):
        rest = clause[cue.end() :]
        verb = re.match(words['forbid']['handles'], rest)
        if verb and len(rest) - verb.end() <= (4 if is_han else 16):
            return True
    return False


def _lacks_object(folded: str, part: Part, end: int) -> bool:
    """Say whether what is forbidden is done to what was named before: 'never stack it'."""
    rest = folded[end : part.end]
    return bool(re.fullmatch(load_reader()['forbid']['named_before'], rest))
