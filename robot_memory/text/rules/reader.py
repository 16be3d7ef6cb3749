"""
What condition a rule has, read from its words.

What a rule is about is its condition: who is near or served, what is touched, where, with which
tool, what is done. What it asks to be done is none: 'before you drill, clamp the workpiece' holds
where something is drilled. What it forbids is a condition again: 'no drilling near Li'. Mentions
of one kind are alternatives, and different kinds hold together but where 'or' joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from robot_memory.text.rules.alternatives import split_alternatives
from robot_memory.text.rules.conditions import Condition, is_guess, list_kinds
from robot_memory.text.rules.dangers import endangers
from robot_memory.text.rules.destinations import is_destination
from robot_memory.text.rules.lexicon import Mention, find_mentions, is_part_of_word
from robot_memory.text.rules.nearness import names_near
from robot_memory.text.rules.normalising import normalise
from robot_memory.text.rules.people import (
    ANYONE,
    Person,
    blank,
    find_people,
    find_unnamed,
    mask_people,
)
from robot_memory.text.rules.rewording import reword
from robot_memory.text.rules.rule_clauses import (
    Part,
    find_open,
    find_unknown,
    holds_anywhere,
    is_contingency,
    is_of_every_task,
    is_timed,
    load_reader,
    says_always,
    split_rule,
)
from robot_memory.text.rules.rule_quantities import read_quantities
from robot_memory.text.rules.rule_sites import find_numbered, is_left, is_place, number, read_sites
from robot_memory.text.rules.rule_things import is_modifier, read_named_before, read_thing
from robot_memory.text.rules.service import is_served
from robot_memory.text.rules.sites import find_sites
from robot_memory.text.rules.stating import Found, Read, select
from robot_memory.text.rules.tools import find_mounted

VERSION = 21
"""Raise it when the same rule would have another condition: stored ones are then read anew."""
_MANY = (ANYONE, 'worker', 'visitor')
_HOURS = frozenset({'hours', 'days'})
"""Atoms beside which what else a rule names may be a condition, too."""


def read_rule(text: str) -> Condition:
    """Return the condition of a rule, {} where it holds always."""
    for one, other in split_alternatives(text):
        found = [_read_clauses(one), _read_clauses(other)]
        kinds, others = map(list_kinds, found)
        if kinds - others and others - kinds and 'word' not in kinds | others:
            return _join('any', found)
    return _read_clauses(text)


def _read_clauses(text: str) -> Condition:
    """Return the condition of a rule, whose kinds of condition hold together."""
    shown, folded = normalise(reword(text))
    parts = split_rule(folded)
    if holds_anywhere(folded, parts):
        return {}
    people = find_people(shown)
    parts = _drop_reasons(parts, folded, people)
    required = [part for part in parts if part.is_required]
    parts = [part for part in parts if not part.is_required]
    lasting = [part for part in parts if not is_contingency(folded, part)]
    is_contingent, parts = len(lasting) < len(parts), lasting
    always = says_always(folded)
    sure: dict[str, list[Condition]] = {}
    unsure: dict[str, list[Condition]] = {}
    negated: list[Condition] = []
    read = [_read_part(part, folded, people) for part in parts]
    for part, found in select(folded, parts, read):
        if part.is_exception:
            negated.append(_count_people(found.atom, folded[part.start : part.end]))
        elif found.is_sure and not (always and (not part.is_marked or found.group == 'word')):
            atom = {'first': found.atom} if found.is_first else found.atom
            sure.setdefault(found.group, []).append(atom)
        elif not always:
            unsure.setdefault(found.group, []).append(found.atom)
    if not sure:
        sure = {group: [{'first': one} for one in atoms] for group, atoms in unsure.items()}
        unsure = {}
    for groups in (sure, unsure):
        if 'thing' in groups and 'word' in groups:
            groups['thing'] += groups.pop('word')
        if 'site' in groups:
            groups.setdefault('place', []).extend(groups.pop('site'))
    if 'person' in sure and 'served' in sure:
        del sure['person']
    if 'near' in sure and 'served' in sure:
        # 'Give Maren plenty of room when she is around' serves her nothing.
        near = {atom.get('person_near') for atom in sure['near']}
        served = [one for one in sure.pop('served') if one.get('person_served') not in near]
        if served:
            sure['served'] = served
    if not sure:
        main = [part for part in parts if not (negated and part.is_exception)]
        unknown = find_unknown(folded, main)
        if required and not unknown:
            return _read_permitted(main, required, folded, people)
        if negated:
            sure['word'] = unknown or _read_main(folded, parts)
        else:
            sure['word'] = unknown or _read_measured(parts, folded, people)
    conditions = [_join('any', atoms) for atoms in sure.values() if atoms]
    conditions += [{'not': atom} for atom in _unique(negated)]
    perhaps = _read_required([part for part in required if part.is_weak], folded, people)
    conditions += [{'unsure': perhaps}] if perhaps else []
    if not conditions:
        return {} if is_contingent else find_open(folded)
    if all(is_guess(one) or not _HOURS.isdisjoint(one) for one in conditions):
        conditions += [
            {'unsure': _join('any', atoms)} for group, atoms in unsure.items() if group not in sure
        ]
    return _join('all', conditions)


def _count_people(atom: Condition, clause: str) -> Condition:
    """Return an exception so that where it wants several people one who is near may not do."""
    words = load_reader()['several']
    match = re.search(f'{words["en"]}|{words["zh"]}', clause)
    if match is None or 'person_near' not in atom:
        return atom
    return {'all': [atom, {'unsure': {'word': match[0]}}]}


def _drop_reasons(parts: list[Part], folded: str, people: list[Person]) -> list[Part]:
    """
    Return the parts of a rule without why something is forbidden: that is no condition.

    Unless it says for whom: 'Anna is allergic to nuts: never give her any'.
    """
    says_whom = any(one.is_pronoun for one in people) or find_unnamed(folded, people)
    if says_whom or not any(part.forbids for part in parts):
        return parts
    return [
        part
        for part in parts
        if part.forbids or not endangers(text := folded[part.start : part.end]) or is_timed(text)
    ]


def _read_permitted(
    main: list[Part], required: list[Part], folded: str, people: list[Person]
) -> Condition:
    """Return the condition of a permission of which no table knows what it permits."""
    asked = _read_required(required, folded, people)
    if asked:
        return {'unsure': asked}
    named = [folded[part.start : part.end].strip(' ,.。') for part in main if part.forbids]
    return {'word': named[0]} if named else find_open(folded)


def _read_required(parts: list[Part], folded: str, people: list[Person]) -> Condition:
    """Return what must be so for what a rule permits; {} where no table knows it."""
    read = [found.atom for part in parts for *_, found in _read_part(part, folded, people)]
    return _join('all', read) if read else {}


def _unique(atoms: Iterable[Condition]) -> list[Condition]:
    kept: list[Condition] = []
    for atom in atoms:
        if not any(_same(atom, other) for other in kept):
            kept.append(atom)
    return kept


def _same(one: Condition, other: Condition) -> bool:
    return {k: v for k, v in one.items() if k != 'words'} == {
        k: v for k, v in other.items() if k != 'words'
    }


def _join(word: str, atoms: list[Condition]) -> Condition:
    kept = _unique(atoms)
    return kept[0] if len(kept) == 1 else {word: kept}


def _read_part(part: Part, folded: str, people: list[Person]) -> Read:
    """Return the atoms of a part of a rule, with where they are, in its order."""
    clause = folded[part.start : part.end]
    if part.is_condition and _tells_of_another(part, clause, folded, people):
        return [(part.start, part.end, Found('word', {'word': clause.strip(' ,:')}))]
    whole = [
        *_read_people(part, folded, people),
        *read_quantities(part, clause, folded),
        *_read_topics(part, clause),
    ]
    found = [(part.start, part.start, Found(*one)) for one in whole]
    mounted = find_mounted(clause) if part.is_condition else []
    found += [
        (part.start, part.start, Found('tool', {'tool': tool, 'words': clause[start:end]}))
        for start, end, tool in mounted
    ]
    words = load_reader()['serves']
    serves = re.search(f'{words["en"]}|{words["zh"]}', clause)
    if serves and not any(one.group == 'served' for *_, one in found):
        atom = {'person_served': ANYONE, 'words': serves[0]}
        found.append((part.start, part.start, Found('served', atom)))
        eaten = [{'thing': [kind], 'words': serves[0]} for kind in ('food', 'drink')]
        found.append((part.start, part.start, Found('eaten', {'any': eaten})))
    shown = _mask(folded, people)
    if not found:
        found += read_named_before(part, clause, shown)
    clause = shown[part.start : part.end]
    mentions = find_mentions(clause)
    sites = find_sites(clause)
    for place, mention in enumerate(mentions):
        if not part.is_condition and _is_measured_against(folded, mention, part):
            continue
        if part.is_condition and _is_asked_for(clause, mention):
            continue
        if part.is_exception and re.match(load_reader()['except']['opens'], mention.word):
            continue
        if not part.is_condition and not part.is_topic and _names_anything(mention):
            continue
        if any(start <= mention.start < end for start, end, _ in mounted):
            continue
        numbered = find_numbered(mention, sites)
        if numbered and not is_place(mention, numbered):
            continue
        if not numbered and is_part_of_word(clause, mentions, place):
            continue
        if serves and serves.start() <= mention.start < serves.end():
            continue
        follower = mentions[place + 1] if place + 1 < len(mentions) else None
        found += [
            (
                part.start + mention.start,
                part.start + mention.end,
                Found(group, number(atom, numbered, clause)),
            )
            for group, atom in _read_mention(part, clause, mention, follower, mentions)
        ]
    found += read_sites(part, clause, folded, mentions, sites)
    return sorted(found, key=lambda one: one[0])


def _mask(folded: str, people: list[Person]) -> str:
    """Return a rule without its names, and those who are near: 'the cook' cooks nothing."""
    near = [one for one in people if not one.is_pronoun and names_near(folded, one, people)]
    return mask_people(blank(folded, near), people)


def _read_main(folded: str, parts: list[Part]) -> list[Condition]:
    """Return as words what a rule with an exception is about, where no table knows it."""
    main = folded
    for part in parts:
        if part.is_exception:
            main = main[: part.start] + ' ' * (part.end - part.start) + main[part.end :]
    main = main.strip(' ,.;:，。')
    words = load_reader()['subject']
    handled = re.match(words['handled_zh'], main) or re.search(words['off_limits'], main)
    return [{'unsure': {'word': main}}] if handled and not is_of_every_task(handled[0]) else []


def _names_anything(mention: Mention) -> bool:
    """Say whether a word names no thing of its own: 'never fill a vessel'."""
    return bool(re.fullmatch(load_reader()['reference']['anything'], mention.word))


def _read_measured(parts: list[Part], folded: str, people: list[Person]) -> list[Condition]:
    """Return as words the things that a rule without any other only measures against."""
    if says_always(folded):
        return []
    shown = _mask(folded, people)
    return [
        {'word': mention.word}
        for part in parts
        if not part.is_condition
        for mention in find_mentions(shown[part.start : part.end])
        if any(sense.level == 'is' for sense in mention.list_concepts('thing'))
    ]


def _tells_of_another(part: Part, clause: str, folded: str, people: list[Person]) -> bool:
    """
    Say whether a condition is what somebody else does: 'while Tanja welds', 小谭焊接时.

    Or what a thing does, whatever is done with it: 'while the drum turns'.
    """
    opens = re.match(load_reader()['condition']['opens'], clause)
    start = part.start + (opens.end() if opens else 0)
    for person in people:
        if person.start == start and not (
            names_near(folded, person, people) or is_served(folded, person)
        ):
            rest = folded[person.end : part.end]
            verb = re.match(r'\s*(?:is |are |正?在)?', rest)
            at = person.end - part.start + (verb.end() if verb else 0)
            return any(
                mention.start == at and mention.list_concepts('action')
                for mention in find_mentions(clause)
            )
    itself = re.match(load_reader()['condition']['itself_en'], clause)
    return itself is not None and any(
        itself.span('thing') == (mention.start, mention.end) and mention.list_concepts('thing')
        for mention in find_mentions(clause)
    )


def _read_mention(
    part: Part, clause: str, mention: Mention, follower: Mention | None, mentions: list[Mention]
) -> list[tuple[str, Condition]]:
    """Return what a mention says of the condition."""
    found: list[tuple[str, Condition]] = []
    for sense in mention.senses:
        if sense.level == 'maybe' or (sense.level == 'so' and sense.kind != 'place'):
            continue
        if sense.level == 'so' and mention.list_concepts('thing'):
            continue  # an oven is meant, not the kitchen
        if sense.kind in ('place', 'tool'):
            found.append((sense.kind, {sense.kind: sense.concept, 'words': mention.word}))
        elif sense.concept == 'grasp' and not part.is_condition:
            continue  # anything is gripped: what it is says when
        elif sense.kind == 'action' and (part.is_condition or part.names_actions):
            found.append(('action', {'action': sense.concept, 'words': mention.word}))
    if mention.list_concepts('thing') and not (
        follower and is_modifier(clause, mention, follower)
    ):
        atom = read_thing(clause, mention, mentions)
        found.append(('temperature_c' if 'temperature_c' in atom else 'thing', atom))
    return found


def _is_measured_against(folded: str, mention: Mention, part: Part) -> bool:
    """Say whether a rule only measures against a thing: 'away from the walls'."""
    before = folded[part.start : part.start + mention.start]
    words = load_reader()['reference']
    if part.is_limit and re.search(
        r'\bon (?:the |a |an )?(?:\w+ )?$|\bfor (?:the |a )?(?:\w+ )?$', before
    ):
        return False
    if any(sense.kind == 'tool' for sense in mention.senses):
        return not part.forbids and bool(
            re.search(r'\b(?:with|by|using) (?:the |your )?$', before)
        )
    if any(sense.kind == 'place' and sense.level == 'is' for sense in mention.senses):
        if is_left(part, before):
            return True
        is_put = not part.forbids and is_destination(before, folded[part.start + mention.end :])
        return is_put or bool(re.search(r'(?:back to|away from|离)\s?(?:the )?$', before))
    after = folded[part.start + mention.end :]
    if not part.forbids and re.match(words['within_zh'], after) and is_destination(before, after):
        return True
    return bool(re.search(f'{words["en"]}|{words["zh"]}', before))


def _is_asked_for(clause: str, mention: Mention) -> bool:
    """Say whether a tool is what a rule asks for: 'for small parts use the suction cup'."""
    asked = re.search(load_reader()['reference']['asked_en'], clause[: mention.start])
    return bool(asked and asked.start() and mention.list_concepts('tool'))


def _read_people(part: Part, folded: str, people: list[Person]) -> list[tuple[str, Condition]]:
    """Return who must be near, or served."""
    found: list[tuple[str, Condition]] = []
    for person in people:
        if not part.start <= person.start < part.end:
            continue
        named = next((one for one in people if one.key == person.key), person)
        name = folded[named.start : named.end]  # not the pronoun that stands for it
        may_be_near = part.is_condition or not person.is_pronoun
        if may_be_near and names_near(folded, person, people):
            found.append(('near', {'person_near': person.key, 'words': name}))
        elif person.key not in _MANY and is_served(folded, person):
            found.append(('served', {'person_served': person.key, 'words': name}))
    return found


def _read_topics(part: Part, clause: str) -> list[tuple[str, Condition]]:
    """Return actions that a limit names by what it limits: 'base speed'."""
    topic = load_reader()['topic']
    found: list[tuple[str, Condition]] = []
    for action in ('drive', 'carry'):
        match = re.search(f'{topic[f"{action}_en"]}|{topic[f"{action}_zh"]}', clause)
        if match:
            found.append(('action', {'action': action, 'words': match[0]}))
    return found
